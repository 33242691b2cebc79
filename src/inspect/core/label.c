/* SPDX-License-Identifier: Apache-2.0 */
/* Names for tracks and device operations. */
#include <stdio.h>
#include <string.h>

#include "label.h"

static struct wt_text finish(char *out, int length)
{
	size_t bytes = length < 0 ? 0 : (size_t)length;

	return (struct wt_text){out, bytes < WTI_LABEL_BYTES ? bytes : WTI_LABEL_BYTES - 1};
}

struct wt_text wti_label_number(char out[WTI_LABEL_BYTES], const char *what, uint64_t number)
{
	return finish(out,
		      snprintf(out, WTI_LABEL_BYTES, "%s%llu", what, (unsigned long long)number));
}

/* A queue's name that has its device's number in it needs no other. */
static bool names_device(const struct wt_track *track)
{
	char number[16];
	int bytes = snprintf(number, sizeof(number), "%u", track->device);

	return memmem(track->name, track->name_bytes, number, (size_t)bytes) != NULL;
}

static struct wt_text named(char *out, const struct wt_track *track, uint32_t pid)
{
	int bytes = (int)(track->name_bytes < 200 ? track->name_bytes : 200);

	/* A main thread is called after the process; others add their own number. */
	if (track->type == WT_TRACK_THREAD && track->tid && track->tid != pid)
		return finish(out, snprintf(out, WTI_LABEL_BYTES, "%.*s (%u)", bytes, track->name,
					    track->tid));
	if (track->type == WT_TRACK_QUEUE && !names_device(track))
		return finish(out, snprintf(out, WTI_LABEL_BYTES, "device %u %.*s", track->device,
					    bytes, track->name));
	return finish(out, snprintf(out, WTI_LABEL_BYTES, "%.*s", bytes, track->name));
}

struct wt_text wti_label_track(char out[WTI_LABEL_BYTES], const struct wt_trace *trace,
			       size_t stream, uint32_t id)
{
	const struct wt_reader *reader = wt_trace_stream(trace, stream);
	const struct wt_track *track = wt_reader_track(reader, id);
	const struct wt_identity *who = wt_reader_identity(reader);

	if (!id) /* what is said of the process as a whole */
		return finish(out, snprintf(out, WTI_LABEL_BYTES, "%.16s (process)", who->command));
	if (track && track->name_bytes)
		return named(out, track, who->pid);
	if (track && track->type == WT_TRACK_QUEUE)
		return finish(out, snprintf(out, WTI_LABEL_BYTES, "device %u queue %u",
					    track->device, id));
	if (track && track->tid)
		return finish(out, snprintf(out, WTI_LABEL_BYTES, "%.16s (%u)",
					    *who->command ? who->command : "thread", track->tid));
	return finish(out, snprintf(out, WTI_LABEL_BYTES, "%.16s track %u", who->command, id));
}

bool wti_device_op_has_times(const struct wt_event *event)
{
	return !event->ticks || wt_event_u64(event, WT_DEVICE_OP_FIELD_STARTED) ||
	       wt_event_u64(event, WT_DEVICE_OP_FIELD_ENDED);
}

void wti_device_op_read(struct wti_device_op *op, const struct wt_event *event)
{
	struct wt_text type = wt_event_text(event, WT_DEVICE_OP_FIELD_OP);
	uint32_t clock = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_CLOCK);
	uint64_t started = wt_event_u64(event, WT_DEVICE_OP_FIELD_STARTED);
	uint64_t ended = wt_event_u64(event, WT_DEVICE_OP_FIELD_ENDED);

	op->op = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_OP);
	op->type = type.bytes ? type.data : "?"; /* names of enums end with NUL */
	op->device = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_DEVICE);
	op->queue = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_QUEUE);
	if (!op->queue)
		op->queue = event->track;
	op->has_times = wti_device_op_has_times(event);
	op->started_ns = wt_trace_domain_ns(event->trace, event->stream, clock, started);
	op->ended_ns = wt_trace_domain_ns(event->trace, event->stream, clock, ended);
}

bool wti_device_op_is_work(uint32_t op)
{
	switch (op) {
	case WT_OP_KERNEL:
	case WT_OP_COPY:
	case WT_OP_FILL:
	case WT_OP_COLLECTIVE:
	case WT_OP_OTHER:
		return true;
	default:
		return false;
	}
}

bool wti_is_worker(const struct wt_event *event)
{
	static const char name[] = WTI_WORKER_NAME;
	struct wt_text callee;

	if (event->kind->number != WT_KIND_CALL_BEGIN)
		return false;
	callee = wt_event_text(event, WT_CALL_BEGIN_FIELD_CALLEE);
	return callee.bytes == sizeof(name) - 1 && !memcmp(callee.data, name, callee.bytes);
}
