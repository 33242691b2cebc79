/* SPDX-License-Identifier: Apache-2.0 */
/* The relations at work: shows them the moments of a run, in learning as in checking. */
#ifndef WTI_LEARN_OBSERVER_H
#define WTI_LEARN_OBSERVER_H

#include "relation.h"

struct wti_observer {
	struct wti_scene scene;
	void *states[WTI_RELATIONS_MAX];
	struct wti_keep keeps[WTI_RELATIONS_MAX][WTI_MEMORIES_MAX];
	uint32_t wanted;  /* a bit for each relation; others are not shown anything */
	uint32_t omitted; /* enum wt_thinned_flags, in any process */
};

int wti_observer_init(struct wti_observer *observer, const struct wti_training *training,
		      struct wti_sink_of_occasions sink, uint32_t wanted, struct wt_err *err);
void wti_observer_release(struct wti_observer *observer);
void wti_observer_moment(struct wti_observer *observer, const struct wti_moment *moment);
/* The run has ended. */
void wti_observer_finish(struct wti_observer *observer);

#endif
