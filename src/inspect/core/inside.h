/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which call of a function each thread is, as agents emit them: so that a system call has a line
 * of the program, and not of a library, in a language that has no native frames of its own.
 */
#ifndef WTI_INSPECT_INSIDE_H
#define WTI_INSPECT_INSIDE_H

#include <wheeltap/trace.h>

#include "base/map.h"

#define WTI_INSIDE_DEPTH_MAX 64

struct wti_inside_site {
	size_t stream;
	uint32_t site; /* 0: none */
};

struct wti_inside_calls {
	uint32_t depth; /* may be beyond the array: what is deeper has the site of the last */
	struct wti_inside_site sites[WTI_INSIDE_DEPTH_MAX];
};

struct wti_inside {
	struct wti_map of_tid; /* index plus one */
	struct wti_inside_calls *all;
	size_t count, capacity;
};

void wti_inside_init(struct wti_inside *inside);
void wti_inside_release(struct wti_inside *inside);
/* Begins and ends of calls; others are passed over. */
void wti_inside_event(struct wti_inside *inside, const struct wt_event *event);
/* Of the innermost call of the program's own code that the thread is in. */
struct wti_inside_site wti_inside_of(const struct wti_inside *inside, uint32_t tid);

#endif
