/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one kind as they are gathered, before they become a block: an array of 64-bit values
 * a column. Text columns hold lengths, their bytes are gathered beside.
 */
#ifndef WTI_TRACE_COLUMNS_H
#define WTI_TRACE_COLUMNS_H

#include <stdint.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "base/buf.h"

#define WTI_ROWS_MAX 65536u  /* of a block, by the format */
#define WTI_ROWS_SEAL 16384u /* where this writer ends a block: see ARCHITECTURE.md */
#define WTI_TEXT_BLOCK_MAX ((size_t)16 << 20)  /* bytes of one text column in a block */
#define WTI_TEXTS_BLOCK_MAX ((size_t)64 << 20) /* of all text columns of a block together */
#define WTI_TEXT_SEAL_BYTES ((size_t)4 << 20)  /* a writer seals a block that has more */

struct wti_columns {
	const struct wt_kind *kind;
	uint32_t rows;
	uint32_t own_rows; /* of them, the recorder's own (wt_writer_own()) */
	uint32_t capacity;
	size_t stride; /* from one column to the next: time, track, seq, then the fields */
	uint64_t *time;
	uint64_t *track;
	uint64_t *seq;
	uint64_t *values[WT_FIELDS_MAX];
	struct wti_buf *texts; /* one a field; only those of text fields are used */
	size_t text_bytes;     /* of all fields together */
	bool has_text;
	bool described; /* its schema is in the stream already */
};

void wti_columns_init(struct wti_columns *columns, const struct wt_kind *kind);
void wti_columns_release(struct wti_columns *columns);
void wti_columns_clear(struct wti_columns *columns);
int wti_columns_grow(struct wti_columns *columns);
int wti_columns_text(struct wti_columns *columns, int field, uint32_t row, const char *text,
		     size_t bytes);

/* Forgets the texts of a row that could not be completed. */
void wti_columns_rollback(struct wti_columns *columns);

/* Generated: spreads a ring record over its kind's columns at `row`. The record is untrusted. */
struct wti_record;
int wti_unpack(struct wti_columns *columns, uint32_t row, const struct wti_record *record);

static inline uint64_t wti_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

#endif
