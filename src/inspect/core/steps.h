/* SPDX-License-Identifier: Apache-2.0 */
/* The last step, stage and epoch of each track, as the events go by. */
#ifndef WTI_INSPECT_CONTEXT_H
#define WTI_INSPECT_CONTEXT_H

#include <wheeltap/trace.h>

#include "base/map.h"
#include "label.h"

/* What an event of kind context sets, as far as everybody asks. */
enum wti_context_key {
	WTI_CONTEXT_OTHER,
	WTI_CONTEXT_STEP,
	WTI_CONTEXT_EPOCH,
	WTI_CONTEXT_STAGE,
};
enum wti_context_key wti_context_key(const struct wt_event *event);

struct wti_step {
	size_t stream;
	uint32_t track;
	bool has_step, has_epoch;
	int64_t step;
	int64_t epoch;
	char stage[64];  /* cut */
	int64_t time_ns; /* of the last change */
};

struct wti_steps {
	struct wti_map index; /* stream and track: entry plus one */
	struct wti_step *entries;
	size_t count, capacity;
};

void wti_steps_init(struct wti_steps *steps);
void wti_steps_release(struct wti_steps *steps);
/* Takes an event of kind context. */
int wti_steps_event(struct wti_steps *steps, const struct wt_event *event, struct wt_err *err);
/* "12", or "(no step)": of the event's track at this moment. */
struct wt_text wti_steps_label(const struct wti_steps *steps, char out[WTI_LABEL_BYTES],
			       const struct wt_event *event);

#endif
