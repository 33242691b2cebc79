/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes as traces name them: extents joined by x. */
#ifndef WTI_INSPECT_SHAPE_H
#define WTI_INSPECT_SHAPE_H

#include <stdint.h>

enum { WTI_EXTENTS_MAX = 8 };

struct wti_shape {
	uint32_t rank; /* 0: a scalar */
	uint64_t extents[WTI_EXTENTS_MAX];
};

struct wti_shape wti_shape_read(const char *text);

#endif
