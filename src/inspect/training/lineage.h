/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a loss comes from: the last calls of a track that returned one number, with the numbers
 * they were made of. Tensors are known by their content: two losses of the same value are taken
 * for one, so nothing is said about values that are common, such as 0.
 */
#ifndef WTI_INSPECT_LINEAGE_H
#define WTI_INSPECT_LINEAGE_H

#include "training.h"

enum { WTI_LINEAGE_MAX = 64, WTI_PARENTS_MAX = 4 };

struct wti_scalar {
	uint64_t hash;
	uint64_t parents[WTI_PARENTS_MAX];
	uint32_t parent_count;
	uint32_t what; /* enum wti_callee */
	uint32_t site;
	bool is_mean;  /* a loss or a mean over several elements */
	double factor; /* of a product with a number; 0: none */
};

struct wti_lineage {
	struct wti_scalar scalars[WTI_LINEAGE_MAX]; /* a ring */
	uint64_t count;
};

/* Takes a call that has ended. */
void wti_lineage_call(struct wti_lineage *lineage, const struct wti_moment *moment);
/* The call that last returned this number; NULL: not known. */
const struct wti_scalar *wti_lineage_find(const struct wti_lineage *lineage, uint64_t hash);
/* The tensor on which backward() is called; NULL: it was not read. */
const struct wti_digest_row *wti_backward_loss(const struct wti_call *call);

#endif
