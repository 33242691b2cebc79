/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspector `infer`. */
#ifndef WTI_LEARN_INFER_H
#define WTI_LEARN_INFER_H

#include "pack.h"

/* What was seen in one run; release with wti_learned_release(). */
struct wti_learned {
	struct wti_symbols symbols;
	struct wti_tables tables;
};

void wti_learned_release(struct wti_learned *learned);

struct wti_infer_options {
	struct wti_learned *ret_learned;
};

#endif
