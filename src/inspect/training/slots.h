/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule keeps of each object or parameter: zeroed memory, made when first asked for. It
 * stays where it is until all are released, so that a rule may hold two at a time.
 */
#ifndef WTI_INSPECT_SLOTS_H
#define WTI_INSPECT_SLOTS_H

#include "base/steady.h"
#include "training.h"

struct wti_slots {
	struct wti_map index; /* key: place, from 1 */
	struct wti_steady memory;
	size_t count;
};

/* NULL: never made. */
void *wti_slot_find(const struct wti_slots *slots, uint64_t key);
/* NULL: no room, or nothing to be asked about. All slots of one `slots` have the same size. */
void *wti_slot(struct wti_slots *slots, uint64_t key, size_t bytes);
void *wti_slot_of_object(struct wti_slots *slots, const struct wti_object *object, size_t bytes);
void *wti_slot_of_parameter(struct wti_slots *slots, const struct wti_parameter *parameter,
			    size_t bytes);
/* A function on a line: two that stand on one line are not to be confused. */
uint64_t wti_line_of(const struct wti_call *call);
void wti_slots_release(struct wti_slots *slots);

#endif
