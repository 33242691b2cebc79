/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to make stores of other processes visible: an expedited membarrier, where agents have
 * registered for it, interrupts the processors that run them. An interrupt comes between two
 * instructions: a producer before its mark has not taken the time yet, one after it has its mark
 * flushed. Without it (an older kernel, a seccomp filter) the candidate is set back by far more
 * than a store can stay in a processor's buffer.
 */
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "watermark.h"

#define WITHOUT_BARRIER_NS 10000000u
#define TICKS_PER_NS_MAX 8u

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

void wti_watermark_init(struct wti_watermark *watermark)
{
	long supported = membarrier(MEMBARRIER_CMD_QUERY);

	*watermark = (struct wti_watermark){
		.barrier = supported > 0 && (supported & MEMBARRIER_CMD_GLOBAL_EXPEDITED)};
}

void wti_watermark_begin(struct wti_watermark *watermark, const struct wti_recording_clock *clock)
{
	uint64_t set_back = WITHOUT_BARRIER_NS;
	uint64_t now = wti_clock_ticks(clock);

	if (clock->domain == WT_CLOCK_TSC)
		set_back *= TICKS_PER_NS_MAX;
	watermark->unfenced = now - (now > set_back ? set_back : now);
	watermark->candidate = now;
	if (watermark->barrier && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED))
		watermark->barrier = false;
}

void wti_watermark_consider(struct wti_watermark *watermark, const struct wti_process *process)
{
	for (size_t i = 0; i < process->ring_count; i++) {
		const struct wti_ring_view *view = &process->rings[i];
		bool fenced = watermark->barrier && (view->flags & 2);

		if (view->damaged)
			continue;
		if (!fenced && watermark->unfenced < watermark->candidate)
			watermark->candidate = watermark->unfenced;
		/* Its last event that was read is the latest moment that is certain. */
		if (wti_ring_busy(view->ring) && view->last_ticks < watermark->candidate)
			watermark->candidate = view->last_ticks;
	}
}

uint64_t wti_watermark_reach(struct wti_watermark *watermark)
{
	/* A ring that was quiet for long shows an old time when it is busy again. */
	if (watermark->candidate > watermark->reached)
		watermark->reached = watermark->candidate;
	return watermark->reached;
}
