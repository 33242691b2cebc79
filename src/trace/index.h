/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all blocks of a stream: gathered by the writer, read or rebuilt by the reader. */
#ifndef WTI_TRACE_INDEX_H
#define WTI_TRACE_INDEX_H

#include <zstd.h>

#include "base/buf.h"
#include "block.h"

#define WTI_INDEX_ENTRY_BYTES 56u

struct wti_index_entry {
	struct wt_block block;
	uint16_t type; /* enum wti_block_type */
};

struct wti_index {
	struct wti_index_entry *entries;
	size_t count;
	size_t capacity;
};

void wti_index_init(struct wti_index *index);
void wti_index_release(struct wti_index *index);
int wti_index_add(struct wti_index *index, const struct wti_block_header *header, uint64_t offset);
/* The payload of an index block. */
int wti_index_write(const struct wti_index *index, ZSTD_CCtx *zstd, int level, struct wti_buf *out);
/* Takes in such a payload; the blocks must follow one another and end at `end`. */
int wti_index_read(struct wti_index *index, const uint8_t *payload, size_t bytes, uint32_t rows,
		   uint64_t end);

#endif
