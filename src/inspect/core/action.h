/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call is to a training run, and where the outcome of a step ends. The agent knows both and
 * emits them (call_begin.action, step_end); inspect reads them here and nowhere else.
 *
 * Streams of 0.1 have neither. What they mean is derived here from names, objects and the order of
 * events, so that nobody else has to know that there are such streams.
 */
#ifndef WTI_INSPECT_ACTION_H
#define WTI_INSPECT_ACTION_H

#include <stdbool.h>

#include <wheeltap/trace.h>

enum { WTI_OBJECT_UNKNOWN = UINT32_MAX }; /* beside enum wt_object_type */

/* Whether the stream of this call_begin has actions, and marks the ends of steps. */
bool wti_action_is_recorded(const struct wt_event *begin);
/* As it was recorded; of a stream of 0.1: by the name of the function, and by what the object is
 * whose method it is (enum wt_object_type, or WTI_OBJECT_UNKNOWN). */
enum wt_action wti_action_recorded(const struct wt_event *begin);
enum wt_action wti_action_derived(struct wt_text callee, uint32_t object_type);
/* One or the other, for those who do not follow objects. */
enum wt_action wti_action_of(const struct wt_event *begin);
/* Whether this event, on the track of a step that has returned, ends the outcome of the step. */
bool wti_action_ends_step(const struct wt_event *event, bool is_recorded);

#endif
