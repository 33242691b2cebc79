/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call made an infinity: calls whose results have some are followed by the hashes of these
 * results, from one whose arguments had none.
 */
#ifndef WTI_RULES_INFINITY_H
#define WTI_RULES_INFINITY_H

#include "inspect/training/training.h"

#define WTI_INFINITIES_MAX 16u

struct wti_infinities {
	struct wti_infinity {
		uint64_t hash;
		struct wti_call from; /* without its values */
	} latest[WTI_INFINITIES_MAX];
	uint64_t count; /* more than are kept */
};

/* A call that has ended. */
void wti_infinities_see(struct wti_infinities *infinities, const struct wti_moment *moment);
/* That made the infinity among these arguments; NULL: that was not seen. */
const struct wti_call *wti_infinity_source(const struct wti_infinities *infinities,
					   const struct wti_call *call);

#endif
