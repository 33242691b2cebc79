/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that is open for reading, as the files of the trace library see it. */
#ifndef WTI_TRACE_READER_H
#define WTI_TRACE_READER_H

#include <zstd.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "block.h"
#include "definitions.h"
#include "schema.h"

enum wti_damage_state { WTI_DAMAGE_NONE, WTI_DAMAGE_WRITTEN, WTI_DAMAGE_TOLD };

struct wt_reader {
	int fd;
	char *path;
	struct wt_identity identity;
	uint64_t file_bytes; /* when last looked at */
	uint64_t scanned;    /* end of the last block that was taken in */
	bool finished;
	bool has_met_index;      /* whole or not: all blocks of events stand before it */
	struct wt_block *blocks; /* of events */
	size_t block_count;
	size_t block_capacity;
	struct wti_schema schema;
	struct wti_definitions definitions;
	struct wt_err damage; /* the first; valid once it is reported */
	_Atomic int
		damage_state; /* enum wti_damage_state: cursors of several threads may find it */
	struct wti_buf scratch;
	ZSTD_DCtx *zstd;
};

/* Remembers the first damage of a stream. */
void wti_reader_damaged(struct wt_reader *reader, const struct wt_err *err);
/* Whether the blocks of a stream end before those that were written: it is cut, and not only its
 * index is damaged. */
bool wti_reader_is_cut(const struct wt_reader *reader);
/* Reads a block's payload into `out` and checks it against its header. */
int wti_reader_payload(const struct wt_reader *reader, const struct wt_block *block,
		       struct wti_block_header *ret_header, struct wti_buf *out,
		       struct wt_err *err);

#endif
