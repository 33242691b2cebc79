/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds as they stand in a stream: writing a schema block, reading what one says. */
#ifndef WTI_TRACE_SCHEMA_H
#define WTI_TRACE_SCHEMA_H

#include <wheeltap/trace.h>

#include "base/arena.h"
#include "base/buf.h"

struct wti_schema {
	struct wti_arena arena;
	const struct wt_kind **kinds; /* in order of appearance */
	size_t count;
	size_t capacity;
};

void wti_schema_init(struct wti_schema *schema);
void wti_schema_release(struct wti_schema *schema);
/* Appends the entry of one kind to a schema payload. */
int wti_schema_write(struct wti_buf *out, const struct wt_kind *kind);
/* Takes in a schema payload that stands at `offset` of the file. */
int wti_schema_read(struct wti_schema *schema, const uint8_t *payload, size_t bytes, uint32_t rows,
		    uint64_t offset, struct wt_err *err);
const struct wt_kind *wti_schema_kind(const struct wti_schema *schema, uint16_t number);
/* Index of the first field of type name, or -1: what name filters and name globs look at. */
int wti_kind_name_field(const struct wt_kind *kind);

#endif
