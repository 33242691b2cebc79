/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns through Arrow's C data interface: three structs with a layout that its specification
 * fixes, and functions that whoever takes them calls to let them go. Nothing is copied: the arrays
 * point into the columns and hold references to them.
 */
#ifndef WTI_PYTHON_ARROW_H
#define WTI_PYTHON_ARROW_H

#include <stdint.h>

#include "column.h"

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *ret);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *ret);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

/* A part of a column. */
struct wti_column_slice {
	struct wti_column *column;
	size_t offset;
	size_t rows;
	bool codes; /* of texts: the numbers alone */
};

/* 0, or WT_E_NOMEM. The structs are empty on failure. */
int wti_arrow_schema(const struct wti_column_slice *slice, struct ArrowSchema *ret);
int wti_arrow_array(const struct wti_column_slice *slice, struct ArrowArray *ret);
/* A record batch: all slices have as many rows. */
int wti_arrow_table_schema(const struct wti_column_slice *slices, size_t count,
			   struct ArrowSchema *ret);
/* A stream with one chunk: of a table, or (`is_table` false) of one column. */
int wti_arrow_stream(const struct wti_column_slice *slices, size_t count, bool is_table,
		     struct ArrowArrayStream *ret);

#endif
