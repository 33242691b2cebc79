/* SPDX-License-Identifier: Apache-2.0 */
/* Gathered columns to the payload of an events block (docs/format.md, 4). */
#ifndef WTI_TRACE_ENCODE_H
#define WTI_TRACE_ENCODE_H

#include <zstd.h>

#include "base/buf.h"
#include "block.h"
#include "columns.h"

struct wti_encoder {
	ZSTD_CCtx *zstd;
	int level;           /* 0: planes are stored as they are */
	uint64_t *residuals; /* WTI_ROWS_SEAL values */
};

int wti_encoder_init(struct wti_encoder *encoder, int level);
void wti_encoder_release(struct wti_encoder *encoder);
/* Appends the payload to `out` and fills in what the header says about rows, times and filters. */
int wti_encode_events(struct wti_encoder *encoder, const struct wti_columns *columns,
		      struct wti_buf *out, struct wti_block_header *ret_header);

#endif
