/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column of a table: an array that grows while rows are gathered and does not change any more
 * once it has been handed out. It is handed out without copying, to any number of takers, and lives
 * as long as one of them refers to it. Nothing here knows Python, so that the last reference may be
 * let go from any thread.
 *
 * Texts are numbers into a list of different texts, each valid UTF-8, as Arrow's dictionaries and
 * pandas' categories are.
 */
#ifndef WTI_PYTHON_COLUMN_H
#define WTI_PYTHON_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/map.h"

enum wti_column_type {
	WTI_COLUMN_FLAG, /* a byte, 0 or 1 */
	WTI_COLUMN_I32,
	WTI_COLUMN_U32,
	WTI_COLUMN_I64,
	WTI_COLUMN_U64,
	WTI_COLUMN_F64,
	WTI_COLUMN_TEXT, /* i32: which of the texts; -1: null */
	WTI_COLUMN_TYPES,
};

/* What stands where there is no value, for those who do not look at the validity bits. */
#define WTI_NULL_I64 INT64_MIN
#define WTI_NULL_CODE (-1)

struct wti_texts {
	struct wti_buf bytes;
	int32_t *ends; /* ends[0] is 0; text i lies from ends[i] to ends[i + 1] */
	size_t count;
	size_t capacity;
	struct wti_map index; /* text: number plus one; given back when all rows are gathered */
	struct wti_buf scratch;
};

struct wti_column {
	_Atomic uint64_t references;
	enum wti_column_type type;
	char *name;
	char *unit;
	char *doc;
	size_t rows;
	size_t capacity;
	void *data;
	uint8_t *valid; /* a bit a row, 1: there is a value; NULL: everywhere */
	size_t null_count;
	struct wti_texts texts;
};

struct wti_column_format {
	const char *name;   /* as numpy and Arrow call the type */
	const char *buffer; /* in the buffer protocol */
	const char *arrow;  /* of the C data interface */
	size_t width;
};

const struct wti_column_format *wti_column_format(enum wti_column_type type);

/* The same text, or a copy in `scratch` with U+FFFD for each byte that is not UTF-8. */
struct wt_text wti_utf8_text(struct wti_buf *scratch, struct wt_text text);

/* With one reference; NULL without memory. */
struct wti_column *wti_column_new(enum wti_column_type type, const char *name, const char *unit,
				  const char *doc);
struct wti_column *wti_column_ref(struct wti_column *column);
void wti_column_unref(struct wti_column *column);

/* Room for `count` more rows: where they go, to be counted by wti_column_added(). NULL: no memory
 */
void *wti_column_reserve(struct wti_column *column, size_t count);
/* All of them have values, but for those that wti_column_null() says. */
void wti_column_added(struct wti_column *column, size_t count);
int wti_column_null(struct wti_column *column, size_t row);
/* A value after all. */
void wti_column_not_null(struct wti_column *column, size_t row);
bool wti_column_is_null(const struct wti_column *column, size_t row);
/* The number of a text in the column, made if it is new, or an error. */
int wti_column_code(struct wti_column *column, struct wt_text text, int32_t *ret_code);
struct wt_text wti_column_text(const struct wti_column *column, int32_t code);
/* No more rows will come: what was only needed for gathering is given back. */
void wti_column_seal(struct wti_column *column);
size_t wti_column_bytes(const struct wti_column *column);

#endif
