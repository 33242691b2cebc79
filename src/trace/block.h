/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of files and blocks, chunks and footers: the bytes of docs/format.md, 1 and 5. */
#ifndef WTI_TRACE_BLOCK_H
#define WTI_TRACE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <zstd.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/bytes.h"

#define WTI_FILE_HEADER_BYTES 128u
#define WTI_BLOCK_HEADER_BYTES 64u
#define WTI_FOOTER_BYTES 24u
#define WTI_PAYLOAD_MAX (64u << 20)
#define WTI_FORMAT_MAJOR 1u
#define WTI_FORMAT_MINOR 0u
#define WTI_WRITER_BYTES 16u /* the version of the wheeltap that wrote a file */

enum wti_block_type {
	WTI_BLOCK_SCHEMA = 1,
	WTI_BLOCK_DEFINITIONS = 2,
	WTI_BLOCK_EVENTS = 3,
	WTI_BLOCK_INDEX = 4,
};

/* Columns of an events block (docs/format.md, 4): written by encode.c, read by batch.c. */
#define WTI_COLUMN_HEAD_BYTES 24u

enum wti_column_encoding {
	WTI_ENCODING_NUMBERS = 0,
	WTI_ENCODING_TEXT = 1,
	WTI_ENCODING_PATCHED = 128, /* added to either */
};

enum wti_plane_mode {
	WTI_PLANE_RAW = 0,
	WTI_PLANE_ZSTD = 1,
	WTI_PLANE_CONSTANT = 2,
};

struct wti_block_header {
	uint16_t type;
	uint16_t kind;
	uint32_t rows;
	uint32_t payload_bytes;
	uint64_t time_min;
	uint64_t time_max;
	uint64_t track_filter;
	uint64_t name_filter;
	uint64_t payload_hash;
};

void wti_file_header_write(const struct wt_identity *identity, uint8_t out[WTI_FILE_HEADER_BYTES]);
/* `bytes` may be less than a header: then it says what is missing. */
int wti_file_header_read(const uint8_t *in, size_t bytes, struct wt_identity *ret_identity,
			 struct wt_err *err);

void wti_block_header_write(const struct wti_block_header *header,
			    uint8_t out[WTI_BLOCK_HEADER_BYTES]);
/* WT_E_FORMAT if it is not a sound header; `offset` is for the message. */
int wti_block_header_read(const uint8_t in[WTI_BLOCK_HEADER_BYTES], uint64_t offset,
			  struct wti_block_header *ret_header, struct wt_err *err);

void wti_footer_write(uint64_t index_offset, uint8_t out[WTI_FOOTER_BYTES]);
bool wti_footer_read(const uint8_t in[WTI_FOOTER_BYTES], uint64_t *ret_index_offset);

uint64_t wti_hash(const void *data, size_t bytes);

/* A chunk: content as it is or, if `zstd` is given and it helps, compressed. */
int wti_chunk_write(struct wti_buf *out, ZSTD_CCtx *zstd, int level, const void *data,
		    size_t bytes);
/* Takes a chunk off `in` and puts its content, at most `ceiling` bytes, into `out`. */
int wti_chunk_read(struct wti_bytes *in, ZSTD_DCtx *zstd, size_t ceiling, struct wti_buf *out);

#endif
