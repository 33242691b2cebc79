/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Until when the calls of a stream are known. Blocks of different kinds are written one after the
 * other: where a stream is cut, calls may be missing of a time whose steps and counters are there.
 */
#ifndef WTI_INSPECT_HORIZON_H
#define WTI_INSPECT_HORIZON_H

#include <wheeltap/trace.h>

struct wti_horizons {
	int64_t *streams; /* one a stream; INT64_MAX: until its end */
	int64_t *ends;    /* of each stream: its last event, of whatever kind */
	size_t count;
};

int wti_horizons_init(struct wti_horizons *horizons, const struct wt_trace *trace);
void wti_horizons_release(struct wti_horizons *horizons);
/* Whether calls of that stream at that time may be missing. */
bool wti_is_beyond(const struct wti_horizons *horizons, size_t stream, int64_t time_ns);

#endif
