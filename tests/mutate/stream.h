/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream as the mutator sees it: a file header and a list of blocks, each with its header as
 * numbers and its payload as bytes. Saving computes all checksums anew, so that a change is found
 * by the checks behind them or not at all.
 */
#ifndef MUTATE_STREAM_H
#define MUTATE_STREAM_H

#include <zstd.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "chance.h"
#include "trace/block.h"

#define STREAM_BLOCKS_MAX 4096u

struct block {
	struct wti_block_header header; /* payload_bytes and payload_hash are set by saving */
	struct wti_buf payload;
	size_t number; /* of the events block in the reader; SIZE_MAX: of no events block */
	bool is_lying; /* its header says another size than it has */
	uint32_t said_bytes;
};

enum ending {
	ENDING_RIGHT, /* an index of what is there */
	ENDING_NONE,  /* as if the recorder had been killed */
	ENDING_STALE, /* the index from before the changes */
	ENDING_WILD,  /* an index with changes of its own */
};

struct stream {
	struct chance chance;
	uint8_t header[WTI_FILE_HEADER_BYTES];
	struct block *blocks;
	size_t count;
	struct wt_reader *reader; /* of the file as it was */
	ZSTD_CCtx *zstd;
	ZSTD_DCtx *unzstd;
	struct wti_buf old_index; /* payload */
	uint32_t old_index_rows;
	enum ending ending;
	struct wti_buf file; /* as saved */
	struct wti_buf said; /* what was done to it */
};

void stream_load(struct stream *stream, const char *path, uint64_t seed);
void stream_release(struct stream *stream);
/* Puts the file together. */
void stream_build(struct stream *stream);
/* Makes room for a block at `at`: a copy of `from`. */
void stream_insert(struct stream *stream, size_t at, const struct block *from);
void stream_remove(struct stream *stream, size_t at);

/* Ends the program unless `ok`. */
void must(bool ok, const char *what);
/* A few bytes of it become others, are doubled, or go. */
void change_bytes(struct stream *stream, struct wti_buf *bytes);
/* Rows of an events block (rows.c), entries of a definitions or a schema block (entries.c). */
void change_rows(struct stream *stream, struct block *block);
void change_definitions(struct stream *stream, struct block *block);
void change_schema(struct stream *stream, struct block *block);

#endif
