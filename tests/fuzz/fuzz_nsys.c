/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite of Nsight Systems. Changing bytes of a database mostly shows that SQLite finds damage, so
 * an input that is none is a description of one: which columns each table has, then rows, with
 * values of any type in any column.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/bytes.h"
#include "fuzz_import.h"

#define MAGIC "SQLite format 3"
#define COLUMNS_MAX 13

static const struct {
	const char *name;
	const char *columns[COLUMNS_MAX];
} tables[] = {
	{"StringIds", {"id INTEGER PRIMARY KEY", "value"}},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"}},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "demangledName",
	  "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "bytes",
	  "copyKind"}},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
	 {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "bytes"}},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	 {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "syncType"}},
	{"NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text", "textId"}},
	{"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}},
};

struct description {
	const uint8_t *at, *end;
};

static uint64_t take(struct description *from, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes && from->at < from->end; i++)
		value = value << 8 | *from->at++;
	return value;
}

/* The columns that the table is made with; 0: it is not there. */
static unsigned make_table(sqlite3 *database, size_t table, unsigned wanted)
{
	char sql[512];
	size_t used = (size_t)snprintf(sql, sizeof(sql), "CREATE TABLE %s(", tables[table].name);
	unsigned columns = 0;

	for (size_t i = 0; i < COLUMNS_MAX && tables[table].columns[i]; i++) {
		if (!(wanted >> i & 1))
			continue;
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, "%s%s",
					 columns++ ? ", " : "", tables[table].columns[i]);
	}
	snprintf(sql + used, sizeof(sql) - used, ")");
	if (columns)
		PROMISE(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK);
	return columns;
}

static void bind_value(sqlite3_stmt *row, int column, struct description *from)
{
	unsigned type = (unsigned)take(from, 1);
	size_t bytes = type >> 3, left = (size_t)(from->end - from->at);

	bytes = bytes < left ? bytes : left;
	switch (type & 7) {
	case 0:
		break; /* NULL */
	case 1:
		sqlite3_bind_double(row, column, (double)(int64_t)take(from, 8) / 3);
		break;
	case 2:
		sqlite3_bind_blob(row, column, from->at, (int)bytes, SQLITE_TRANSIENT);
		from->at += bytes;
		break;
	case 3:
		sqlite3_bind_text(row, column, (const char *)from->at, (int)bytes,
				  SQLITE_TRANSIENT);
		from->at += bytes;
		break;
	case 4:
		sqlite3_bind_int64(row, column, (int64_t)take(from, 8));
		break;
	default:
		sqlite3_bind_int64(row, column, (int64_t)take(from, (type >> 3) % 4));
	}
}

static void add_row(sqlite3 *database, struct description *from, const unsigned *columns)
{
	size_t table = take(from, 1) % WTI_COUNT(tables);
	sqlite3_stmt *row;
	char sql[128];
	size_t used =
		(size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", tables[table].name);

	if (!columns[table])
		return;
	for (unsigned i = 1; i < columns[table]; i++)
		used += (size_t)snprintf(sql + used, sizeof(sql) - used, ",?");
	snprintf(sql + used, sizeof(sql) - used, ")");
	PROMISE(sqlite3_prepare_v2(database, sql, -1, &row, NULL) == SQLITE_OK);
	for (unsigned i = 0; i < columns[table]; i++)
		bind_value(row, (int)i + 1, from);
	sqlite3_step(row); /* a string may be there already */
	sqlite3_finalize(row);
}

static int from_description(const uint8_t *data, size_t bytes)
{
	struct description from = {data, data + bytes};
	unsigned columns[WTI_COUNT(tables)];
	sqlite3_int64 made;
	sqlite3 *database;
	uint8_t *file;

	PROMISE(sqlite3_open(":memory:", &database) == SQLITE_OK);
	sqlite3_exec(database, "PRAGMA page_size = 512; BEGIN", NULL, NULL, NULL);
	for (size_t i = 0; i < WTI_COUNT(tables); i++)
		columns[i] = make_table(database, i, (unsigned)take(&from, 2));
	while (from.at < from.end)
		add_row(database, &from, columns);
	sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
	file = sqlite3_serialize(database, "main", &made, 0);
	sqlite3_close(database);
	if (file)
		fuzz_import("nsys", file, (size_t)made);
	sqlite3_free(file);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes >= sizeof(MAGIC) && !memcmp(data, MAGIC, sizeof(MAGIC)))
		return fuzz_import("nsys", data, bytes);
	return from_description(data, bytes);
}
