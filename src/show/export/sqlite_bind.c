/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, and what becomes of values that SQLite has no type for. */
#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "put.h"
#include "sqlite.h"

int wti_sqlite_failed(struct wti_sqlite *s, struct wt_err *err)
{
	int code = sqlite3_errcode(s->db);

	if (code == SQLITE_NOMEM)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_err(err, WT_E_IO, "cannot write '%s': %s", s->export->path,
		       sqlite3_errmsg(s->db));
}

int wti_sqlite_run(struct wti_sqlite *s, const char *sql, struct wt_err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
								       : wti_sqlite_failed(s, err);
}

int wti_sqlite_prepare(struct wti_sqlite *s, const char *sql, sqlite3_stmt **ret_stmt,
		       struct wt_err *err)
{
	return sqlite3_prepare_v2(s->db, sql, -1, ret_stmt, NULL) == SQLITE_OK
		       ? 0
		       : wti_sqlite_failed(s, err);
}

int wti_sqlite_insert(struct wti_sqlite *s, sqlite3_stmt *stmt, struct wt_err *err)
{
	int status = sqlite3_step(stmt) == SQLITE_DONE ? 0 : wti_sqlite_failed(s, err);

	sqlite3_reset(stmt);
	return status;
}

static bool is_clean(struct wt_text text)
{
	for (size_t i = 0; i < text.bytes; i++) {
		if ((uint8_t)text.data[i] >= 0x80 || !text.data[i])
			return false;
	}
	return true;
}

void wti_sqlite_bind_text(sqlite3_stmt *stmt, int column, struct wt_text text, struct wti_buf *buf)
{
	if (!is_clean(text)) {
		wti_buf_clear(buf);
		wti_put_utf8(buf, text);
		text = (struct wt_text){(const char *)buf->data, buf->bytes};
	}
	sqlite3_bind_text64(stmt, column, text.data ? text.data : "", text.bytes, SQLITE_STATIC,
			    SQLITE_UTF8);
}

static void bind_hash(sqlite3_stmt *stmt, int column, uint64_t bits)
{
	char text[32];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)bits);
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_TRANSIENT);
}

/* What does not fit a signed number is text that no column turns into a rounded one. */
void wti_sqlite_bind_u64(sqlite3_stmt *stmt, int column, uint64_t value)
{
	char text[32];

	if (value <= INT64_MAX) {
		sqlite3_bind_int64(stmt, column, (int64_t)value);
		return;
	}
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)value);
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_TRANSIENT);
}

void wti_sqlite_bind_value(sqlite3_stmt *stmt, int column, const struct wti_shown *value,
			   struct wti_buf *buf)
{
	switch (value->type) {
	case WTI_SHOWN_ABSENT:
		sqlite3_bind_null(stmt, column);
		break;
	case WTI_SHOWN_BOOL:
		sqlite3_bind_int(stmt, column, value->u != 0);
		break;
	case WTI_SHOWN_UINT:
		wti_sqlite_bind_u64(stmt, column, value->u);
		break;
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		sqlite3_bind_int64(stmt, column, value->i);
		break;
	case WTI_SHOWN_FLOAT:
		if (isnan(value->f)) /* which SQLite would make NULL */
			sqlite3_bind_text(stmt, column, "nan", 3, SQLITE_STATIC);
		else
			sqlite3_bind_double(stmt, column, value->f);
		break;
	case WTI_SHOWN_HASH:
		bind_hash(stmt, column, value->u);
		break;
	case WTI_SHOWN_TEXT:
		wti_sqlite_bind_text(stmt, column, value->text, buf);
		break;
	case WTI_SHOWN_BYTES:
		wti_buf_clear(buf);
		wti_buf_hex(buf, value->text.data, value->text.bytes);
		sqlite3_bind_text(stmt, column, (const char *)buf->data, (int)buf->bytes,
				  SQLITE_TRANSIENT);
		break;
	}
}
