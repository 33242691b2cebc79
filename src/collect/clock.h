/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the recording, and the same moments in other clocks. */
#ifndef WTI_COLLECT_CLOCK_H
#define WTI_COLLECT_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define WTI_MOMENTS_MAX 3

struct wti_recording_clock {
	uint64_t ring_flags; /* as in struct wti_ring: bit 0 set if time stamps are MONOTONIC ns */
	uint32_t domain;     /* enum wt_clock_domain */
	uint64_t base_ticks;
	uint64_t base_ns;
};

struct wti_clock_reading {
	uint64_t ticks;
	uint32_t domain;
	uint32_t error_ns;
	uint64_t value;
};

void wti_clock_init(struct wti_recording_clock *clock);
/* For streams whose time stamps are CLOCK_MONOTONIC, whatever the recorder counts in. */
void wti_clock_init_monotonic(struct wti_recording_clock *clock);
uint64_t wti_clock_ticks(const struct wti_recording_clock *clock);
uint64_t wti_clock_ns(int id); /* of a clockid_t */
/* The present in all other clocks, each from the narrowest of several brackets. */
size_t wti_clock_moments(const struct wti_recording_clock *clock,
			 struct wti_clock_reading out[WTI_MOMENTS_MAX]);

#endif
