/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and reads every trace of errors/expected.tsv. Each is broken in one place, and the reader
 * must say so with a code, a byte and a word that fit, and still give all other events.
 *
 *	broken_traces DIR
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

struct expected {
	char name[64];
	char where[8];  /* "open", "read", or "fine": nothing to complain about */
	char codes[64]; /* joined by | */
	int64_t low;
	int64_t high;
	char events[24]; /* a number, and + for "or more" */
	char word[64];   /* "-": any */
};

struct found {
	const char *where;
	struct wt_err first; /* complaint */
	uint64_t events;
};

static const char *code_name(int code)
{
	static const char *const names[] = {"OK",    "IO",  "FORMAT",  "VERSION", "LIMIT",
					    "NOMEM", "ARG", "MISSING", "EXISTS",  "BUSY"};

	return code <= 0 && code > -10 ? names[-code] : "?";
}

static void keep_first(struct found *found, const struct wt_err *err)
{
	if (!found->first.code)
		found->first = *err;
}

static void read_blocks(const struct wt_reader *reader, struct found *found)
{
	struct wt_batch batch = {0};

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		struct wt_err err;

		if (wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, &err) < 0)
			keep_first(found, &err);
		else
			found->events += batch.rows;
	}
	wt_batch_release(&batch);
}

static void look(const char *path, struct found *ret_found)
{
	struct wt_reader *reader;
	struct wt_err err;

	*ret_found = (struct found){.where = "open"};
	if (wt_reader_open(path, &reader, &err) < 0) {
		keep_first(ret_found, &err);
		return;
	}
	keep_first(ret_found, wt_reader_damage(reader));
	read_blocks(reader, ret_found);
	ret_found->where = ret_found->first.code ? "read" : "fine";
	wt_reader_free(reader);
}

static bool code_fits(const struct expected *expected, int code)
{
	char codes[sizeof(expected->codes)];
	char *rest;

	memcpy(codes, expected->codes, sizeof(codes));
	for (char *one = strtok_r(codes, "|", &rest); one; one = strtok_r(NULL, "|", &rest))
		if (!strcmp(one, code_name(code)))
			return true;
	return false;
}

static bool events_fit(const struct expected *expected, uint64_t events)
{
	char *rest;
	uint64_t wanted = strtoull(expected->events, &rest, 10);

	return *rest == '+' ? events >= wanted : events == wanted;
}

static bool fits(const struct expected *expected, const struct found *found)
{
	const struct wt_err *err = &found->first;

	return !strcmp(expected->where, found->where) && code_fits(expected, err->code) &&
	       err->offset >= expected->low && err->offset <= expected->high &&
	       events_fit(expected, found->events) && (!err->code || err->message[0]) &&
	       (!strcmp(expected->word, "-") || strstr(err->message, expected->word));
}

static bool check(const char *dir, const struct expected *expected)
{
	struct found found;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.wt", dir, expected->name);
	look(path, &found);
	if (fits(expected, &found))
		return true;
	printf("%s: expected %s %s, byte %" PRId64 " to %" PRId64 ", %s events, word '%s'\n",
	       expected->name, expected->where, expected->codes, expected->low, expected->high,
	       expected->events, expected->word);
	printf("\tfound %s %s, byte %" PRId64 ", %" PRIu64 " events: %s\n", found.where,
	       code_name(found.first.code), found.first.offset, found.events, found.first.message);
	return false;
}

int main(int argc, char **argv)
{
	unsigned count = 0, failed = 0;
	char path[4096], line[512];
	FILE *table;

	snprintf(path, sizeof(path), "%s/expected.tsv", argc == 2 ? argv[1] : ".");
	table = fopen(path, "r");
	if (!table) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), table)) {
		struct expected e;

		if (line[0] == '#')
			continue;
		if (sscanf(line, "%63s %7s %63s %" SCNd64 " %" SCNd64 " %23s %63s", e.name, e.where,
			   e.codes, &e.low, &e.high, e.events, e.word) != 7) {
			fprintf(stderr, "'%s': not a line of the table: %s", path, line);
			return 2;
		}
		count++;
		failed += !check(argv[1], &e);
	}
	fclose(table);
	printf("%u broken traces, %u not told as they should be\n", count, failed);
	return failed || !count;
}
