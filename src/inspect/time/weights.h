/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an event takes in its file. Blocks are compressed as a whole, so it is the mean over the
 * events of its kind in its stream.
 */
#ifndef WTI_INSPECT_WEIGHTS_H
#define WTI_INSPECT_WEIGHTS_H

#include <wheeltap/trace.h>

struct wti_weights {
	double *bytes; /* of an event, by stream and kind number */
	size_t stream_count;
};

int wti_weights_init(struct wti_weights *weights, const struct wt_trace *trace);
void wti_weights_release(struct wti_weights *weights);
double wti_weights_of(const struct wti_weights *weights, const struct wt_event *event);

#endif
