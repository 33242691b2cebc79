/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drivers compile a kernel when it is launched for the first time with a work-group of some size.
 * What lies between the moment when such a launch could have started and its start is reported as
 * an operation of its own. It could have started when it was submitted, what is in front of it in
 * an ordered queue had ended, and so had everything in its wait list: that may be known only when
 * other queues have been harvested, so the report waits for that.
 *
 * Hides when commands ended: a table of the latest.
 */
#include "own.h"

#include <stdlib.h>

enum {
	ENDED = 1 << 12,   /* a power of two; what is older ended before the launch was made */
	LATER_NS = 500000, /* less is no compilation */
};

struct wti_cl_first {
	struct wti_cl_first *next;
	struct wt_name *kernel;
	uint64_t correlation;
	uint32_t device, track, clock;
	uint64_t could_start, started;
	uint32_t count;
	uint64_t waits[]; /* correlations */
};

struct ended {
	uint64_t correlation;
	uint32_t clock;             /* 0: of the program itself, in each clock of the system */
	uint64_t ns[WTI_CL_CLOCKS]; /* of a device the first */
};

static struct {
	_Atomic(struct wti_cl_first *) waiting;
	struct ended ended[ENDED]; /* by correlation; WTI_CL_LOCK_ENDED */
} firsts;

struct wti_cl_first *wti_cl_first_make(struct wt_name *kernel, uint64_t correlation, cl_uint count,
				       const cl_event *list)
{
	struct wti_cl_first *first = malloc(sizeof(*first) + count * sizeof(*first->waits));

	if (!first)
		return NULL;
	*first = (struct wti_cl_first){.kernel = kernel, .correlation = correlation};
	for (cl_uint i = 0; i < count; i++) {
		first->waits[first->count] = wti_cl_event_correlation(list[i]);
		first->count += first->waits[first->count] != 0;
	}
	return first;
}

void wti_cl_first_free(struct wti_cl_first *first)
{
	free(first);
}

void wti_cl_first_note(uint64_t correlation, uint32_t clock, uint64_t ended)
{
	struct ended row = {.correlation = correlation, .clock = clock, .ns = {ended}};

	if (!clock)
		wti_cl_clocks_read(row.ns);
	wti_cl_lock(WTI_CL_LOCK_ENDED);
	firsts.ended[correlation % ENDED] = row;
	wti_cl_unlock(WTI_CL_LOCK_ENDED);
}

/* When that ended, in this clock; 0: before all this. False: in a clock that says nothing here. */
static bool when_ended(uint64_t correlation, uint32_t clock, uint64_t *ret)
{
	struct ended row;
	int index = 0;

	wti_cl_lock(WTI_CL_LOCK_ENDED);
	row = firsts.ended[correlation % ENDED];
	wti_cl_unlock(WTI_CL_LOCK_ENDED);
	*ret = 0;
	if (row.correlation != correlation)
		return true;
	if (!row.clock)
		index = wti_cl_clock_index(clock);
	else if (row.clock != clock)
		return false;
	if (index < 0)
		return false;
	*ret = row.ns[index];
	return true;
}

static void emit(struct wti_here here, const struct wti_cl_first *first)
{
	struct wt_name *name = WT_NAME("first launch (compilation)");
	const uint64_t correlation = wti_cl_number();
	uint64_t from = first->could_start, ended;

	for (uint32_t i = 0; i < first->count; i++) {
		if (!when_ended(first->waits[i], first->clock, &ended))
			return;
		from = ended > from ? ended : from;
	}
	if (!from || first->started < from + LATER_NS)
		return;
	wti_emit_device_op(here, &(struct wti_record_device_op){
					 .op = WT_OP_WAIT,
					 .name = wti_name(here, name),
					 .device = first->device,
					 .queue = first->track,
					 .clock = first->clock,
					 .geometry = wti_name(here, first->kernel),
					 .correlation = correlation,
					 .started = from,
					 .ended = first->started,
				 });
	wti_cl_edge(here, WT_EDGE_RECORD_WAIT, correlation, first->correlation);
}

void wti_cl_first_ended(struct wti_cl_first *first, struct wti_here here,
			const struct wti_cl_queue *queue, uint64_t submitted, uint64_t started)
{
	first->device = queue->device;
	first->track = queue->track;
	first->clock = queue->clock;
	first->could_start = submitted;
	first->started = started;
	if (queue->is_ordered && queue->ended_last > submitted)
		first->could_start = queue->ended_last;
	if (!first->count) {
		emit(here, first);
		free(first);
		return;
	}
	first->next = atomic_load(&firsts.waiting);
	while (!atomic_compare_exchange_weak(&firsts.waiting, &first->next, first))
		;
}

bool wti_cl_first_waits(void)
{
	return atomic_load_explicit(&firsts.waiting, memory_order_relaxed) != NULL;
}

struct wti_cl_first *wti_cl_first_take(void)
{
	return atomic_exchange(&firsts.waiting, NULL);
}

void wti_cl_first_report(struct wti_here here, struct wti_cl_first *list)
{
	while (list) {
		struct wti_cl_first *next = list->next;

		emit(here, list);
		free(list);
		list = next;
	}
}
