/* SPDX-License-Identifier: Apache-2.0 */
/* What inspectors call things: tracks, numbered things, device operations. */
#ifndef WTI_INSPECT_LABEL_H
#define WTI_INSPECT_LABEL_H

#include <wheeltap/trace.h>

#define WTI_LABEL_BYTES 256

/* "train (4242)", "gpu 0 stream 7": the track's own name, or one made from what is known. */
struct wt_text wti_label_track(char out[WTI_LABEL_BYTES], const struct wt_trace *trace,
			       size_t stream, uint32_t track);
struct wt_text wti_label_number(char out[WTI_LABEL_BYTES], const char *what, uint64_t number);

/*
 * The begin of the call in which a worker process of a DataLoader spends all its life: what it does
 * are the calls inside, the rest is waiting.
 */
#define WTI_WORKER_NAME "DataLoader.worker"
bool wti_is_worker(const struct wt_event *event);

struct wti_device_op {
	uint32_t op;      /* enum wt_op */
	const char *type; /* its name, "?" if this build does not know it */
	uint32_t device;
	uint32_t queue; /* a track of its stream */
	bool has_times; /* otherwise it had not ended when recording ended, or nobody knows */
	int64_t started_ns;
	int64_t ended_ns;
};

/* Whether it is known when an operation ran: 0 alone says nothing, a device's clock may begin
 * there. */
bool wti_device_op_has_times(const struct wt_event *event);
/* Of an event of kind device_op with the fields 0 to 10 decoded. */
void wti_device_op_read(struct wti_device_op *op, const struct wt_event *event);
/* Whether the device works during such an operation; waits and bookkeeping are none. */
bool wti_device_op_is_work(uint32_t op);

#endif
