/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which clock time stamps come from and how to read two clocks at once: the other clock is
 * read between two readings of ours, several times, and the narrowest bracket wins.
 */
#include <stdbool.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <wheeltap/trace.h>

#include "trace/ring.h"

#include "clock.h"

#define BRACKETS 7
#define CALIBRATION_NS 1000000

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
	return false;
#endif
}

uint64_t wti_clock_ns(int id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t wti_clock_ticks(const struct wti_recording_clock *clock)
{
	return wti_ticks(clock->ring_flags);
}

void wti_clock_init(struct wti_recording_clock *clock)
{
	struct timespec pause = {0, CALIBRATION_NS};
	bool tsc = tsc_is_invariant();

	clock->ring_flags = tsc ? 0 : 1;
	clock->domain = tsc ? WT_CLOCK_TSC : WT_CLOCK_MONOTONIC;
	clock->base_ticks = wti_clock_ticks(clock);
	clock->base_ns = wti_clock_ns(CLOCK_MONOTONIC_RAW);
	/* The width of a bracket is wanted in ns from the first snapshot on. */
	if (tsc)
		nanosleep(&pause, NULL);
}

void wti_clock_init_monotonic(struct wti_recording_clock *clock)
{
	clock->ring_flags = 1;
	clock->domain = WT_CLOCK_MONOTONIC;
	clock->base_ticks = wti_clock_ticks(clock);
	clock->base_ns = wti_clock_ns(CLOCK_MONOTONIC_RAW);
}

static uint32_t width_ns(const struct wti_recording_clock *clock, uint64_t ticks)
{
	uint64_t passed_ticks = wti_clock_ticks(clock) - clock->base_ticks;
	uint64_t passed_ns = wti_clock_ns(CLOCK_MONOTONIC_RAW) - clock->base_ns;
	double ns = (double)ticks;

	if (clock->domain == WT_CLOCK_TSC && passed_ticks)
		ns *= (double)passed_ns / (double)passed_ticks;
	return ns < UINT32_MAX - 1 ? (uint32_t)ns + 1 : UINT32_MAX;
}

static struct wti_clock_reading bracket(const struct wti_recording_clock *clock, int id,
					uint32_t domain)
{
	struct wti_clock_reading best = {.domain = domain};
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = wti_clock_ticks(clock);
		uint64_t value = wti_clock_ns(id);
		uint64_t after = wti_clock_ticks(clock);

		if (after - before >= narrowest)
			continue;
		narrowest = after - before;
		best.ticks = before + narrowest / 2;
		best.value = value;
	}
	best.error_ns = width_ns(clock, narrowest / 2);
	return best;
}

size_t wti_clock_moments(const struct wti_recording_clock *clock,
			 struct wti_clock_reading out[WTI_MOMENTS_MAX])
{
	size_t count = 0;

	if (clock->domain != WT_CLOCK_MONOTONIC)
		out[count++] = bracket(clock, CLOCK_MONOTONIC, WT_CLOCK_MONOTONIC);
	out[count++] = bracket(clock, CLOCK_REALTIME, WT_CLOCK_REALTIME);
	out[count++] = bracket(clock, CLOCK_MONOTONIC_RAW, WT_CLOCK_MONOTONIC_RAW);
	return count;
}
