/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From rings to a sink. The order of looking is what makes every record's definitions known when it
 * is read: first the heads of all rings of a process, then the definitions committed by then, then
 * the records up to those heads. (Between the first two, messages with further chunks are
 * received.)
 */
#ifndef WTI_COLLECT_DRAIN_H
#define WTI_COLLECT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "process.h"
#include "trace/sink.h"

struct wti_drain {
	struct wti_sink *sinks[WTI_SINKS_MAX];
	size_t sink_count;
	uint32_t clock_domain; /* for a process that never made a ring */
	uint8_t *batch;        /* private copy of what is being read */
	char device_note[256]; /* the first of an agent about its device; empty: none */
};

int wti_drain_init(struct wti_drain *drain, uint32_t clock_domain);
/* Before the first process joins. */
void wti_drain_add_sink(struct wti_drain *drain, struct wti_sink *sink);
void wti_drain_release(struct wti_drain *drain);

/* Step 1: true if there is something to read. */
bool wti_drain_look(struct wti_process *process);
/* How full the fullest ring was: it says how soon to come back. */
enum wti_fill {
	WTI_FILL_LOW,
	WTI_FILL_MIDDLE, /* above an eighth */
	WTI_FILL_HIGH,   /* above a quarter: at once */
};
/* Steps 2 and 3. */
enum wti_fill wti_drain_take(struct wti_drain *drain, struct wti_process *process);
/*
 * Lets go of rings whose thread has ended, or of all; records the losses that are only known then.
 * Returns the bytes of shared memory that were let go.
 */
uint64_t wti_drain_reap(struct wti_drain *drain, struct wti_process *process, bool all);

#endif
