/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of training steps goes: waiting for data, forward, backward, optimizer, the rest.
 * A step of a track is the time between two of its contexts `step`; the calls that say what it is
 * about are those that the Python agent emits. The first step begins with the first of them: before
 * that a program imports, builds and reads.
 */
#ifndef WTI_INSPECT_PHASES_H
#define WTI_INSPECT_PHASES_H

#include <wheeltap/inspect.h>
#include <wheeltap/trace.h>

#include "base/map.h"
#include "inspect/core/phase.h"
#include "inspect/core/roles.h"
#include "inspect/core/sketch.h"

struct wti_phase_track; /* what a track does now, and what its whole steps took */

struct wti_phases {
	struct wti_map index; /* stream and track: entry plus one */
	struct wti_phase_track *tracks;
	size_t count, capacity;
};

void wti_phases_init(struct wti_phases *phases);
void wti_phases_release(struct wti_phases *phases);
/* Takes context, tensors and the begin and end of calls; ignores others. 0 or WT_E_NOMEM. */
int wti_phases_event(struct wti_phases *phases, const struct wt_event *event);
/* A table `steps` and one `speed`, if there were whole steps in which something of that happened;
 * by rank. */
void wti_phases_tables(struct wti_phases *phases, const struct wti_roles *roles,
		       struct wt_result *result);

#endif
