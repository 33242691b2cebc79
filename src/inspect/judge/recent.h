/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors that were seen last, a ring: by their content, with the shape they had and what a rule
 * wants to remember of them. Contents of one element, and of one value throughout, are too common
 * to know a tensor by, and are not kept.
 */
#ifndef WTI_INSPECT_RECENT_H
#define WTI_INSPECT_RECENT_H

#include "inspect/training/shape.h"
#include "inspect/training/training.h"

enum { WTI_RECENT_MAX = 32 };

struct wti_recent_tensor {
	uint64_t hash;
	uint32_t shape; /* symbol */
	uint32_t note;  /* the rule's own */
	uint32_t site;
	uint32_t callee;
};

struct wti_recent {
	struct wti_recent_tensor tensors[WTI_RECENT_MAX];
	uint64_t count;
};

/* Takes a tensor of a call; nothing if it cannot be known again. */
void wti_recent_add(struct wti_recent *recent, const struct wti_call *call,
		    const struct wti_value_row *value, uint32_t note);
/* The newest of this content; NULL: there is none. */
const struct wti_recent_tensor *wti_recent_find(const struct wti_recent *recent,
						const struct wti_value_row *value);
struct wti_shape wti_value_shape(const struct wti_moment *moment,
				 const struct wti_value_row *value);

#endif
