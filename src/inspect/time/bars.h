/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a track did, as bars of a picture: at most so many, whatever the length of the run. What is
 * too near together to be told apart becomes one bar, which knows how many it stands for, how much
 * of it was busy, and the name of the longest.
 */
#ifndef WTI_INSPECT_BARS_H
#define WTI_INSPECT_BARS_H

#include <wheeltap/trace.h>

struct wti_bar {
	int64_t from_ns, to_ns;
	uint64_t busy_ns; /* sum of their lengths */
	uint64_t longest_ns;
	struct wt_text name; /* of the longest; as long as the trace */
	uint32_t count;
};

struct wti_bars {
	struct wti_bar *all;
	size_t count, capacity;
	uint64_t unit_ns; /* what lies within that is one bar */
};

/* That many are kept, so that a picture may have half of them. */
#define WTI_BARS_KEPT 2048u

void wti_bars_release(struct wti_bars *bars);
/* In any order. 0 or WT_E_NOMEM. */
int wti_bars_add(struct wti_bars *bars, int64_t from_ns, int64_t to_ns, struct wt_text name);
/* By time, at most `most` of them; what lies within that part of the window is one. */
void wti_bars_settle(struct wti_bars *bars, uint64_t window_ns, size_t most);

#endif
