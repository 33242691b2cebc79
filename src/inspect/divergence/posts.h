/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracks of a run that computed something, by what they correspond to in another run: rank,
 * worker, and the order in which processes and threads began. That order means something only where
 * the program decides it; what is shared out among threads is compared otherwise (crew.h).
 */
#ifndef WTI_DIVERGENCE_POSTS_H
#define WTI_DIVERGENCE_POSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#define WTI_POSTS_MAX 65536u

struct wti_post {
	size_t stream;
	uint32_t track;
	uint32_t rank, worker; /* as of struct wti_role */
	uint32_t seat;         /* its rank; of a run without ranks the first, as of one process */
	uint32_t process;      /* its number among those of the same role */
	uint32_t thread;       /* its number in its process */
	bool is_chief;         /* the first thread of the first process of its rank */
	bool is_taken;
};

struct wti_posts {
	struct wti_post *all;
	size_t count, capacity;
};

int wti_posts_find(const struct wt_trace *trace, struct wti_posts *ret_places, struct wt_err *err);
/* Of the same rank: a run without ranks corresponds to the first rank of another, whose launcher
 * has none. */
bool wti_posts_same_rank(const struct wti_post *a, const struct wti_post *b);
/* NULL: there is none that is not taken. */
struct wti_post *wti_post_partner(const struct wti_post *place, struct wti_posts *others);

#endif
