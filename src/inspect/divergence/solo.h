/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that only one run does, as far as they may explain a difference behind them: how many
 * there are, which is the first, and what they made. Beside them, how often optimizers stepped.
 */
#ifndef WTI_DIVERGENCE_SOLO_H
#define WTI_DIVERGENCE_SOLO_H

#include "base/map.h"
#include "judgement.h"

struct wti_solo {
	bool has_order; /* false: a crew's, what is before what is not known */
	uint64_t single[2], steps[2];
	uint32_t lowest[2]; /* depth since the last step */
	struct wti_only first;
	/* Those that may be named, and by their results (key and run) the place in them plus one.
	 */
	struct wti_first_difference *kept;
	size_t kept_count, kept_capacity;
	struct wti_map made;
};

void wti_solo_init(struct wti_solo *solo);
void wti_solo_release(struct wti_solo *solo);
/* Counts steps of optimizers; one of `a` and `b` may be NULL. */
void wti_solo_step(struct wti_solo *solo, const struct wti_computed *a,
		   const struct wti_computed *b);
/* `seen` describes the item. `may_begin`: a difference may begin there. */
void wti_solo_take(struct wti_solo *solo, unsigned run, const struct wti_computed *item,
		   const struct wti_first_difference *seen, bool may_begin);
void wti_solo_before(const struct wti_solo *solo, struct wti_first_difference *first);
/* Whether an input of `a` and `b` that differs was made by one of them, which is set then. */
bool wti_solo_made(const struct wti_solo *solo, const struct wti_computed *a,
		   const struct wti_computed *b, struct wti_first_difference *ret_first);

#endif
