/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of devices, what ran on them, what had to come before what, and their clocks. */
#include "common/agent.h"

#include <string.h>

#include "common/private.h"

uint32_t wt_queue(uint32_t device, const char *name)
{
	struct {
		struct wti_track_definition track;
		char name[256];
	} definition = {.track = {.type = WTI_TRACK_QUEUE, .device = device}};
	const size_t head = sizeof(definition.track);
	size_t bytes = name ? strlen(name) : 0;
	size_t kept;

	if (!wti_recording())
		return 0;
	bytes = wti_text_cut(name, bytes, sizeof(definition.name));
	if (bytes)
		memcpy(definition.name, name, bytes);
	kept = wti_agent.control->strings_keep ? bytes : wti_secret_mask(definition.name, bytes);
	return wti_define(WTI_DEF_TRACK, &definition, head + kept, &definition, head + kept);
}

/* A struct from a program built with an older header is shorter: what it lacks is zero. */
static void op_copy(struct wt_device_op *copy, const struct wt_device_op *op)
{
	size_t size = op->size < sizeof(*copy) ? op->size : sizeof(*copy);

	memset(copy, 0, sizeof(*copy));
	memcpy(copy, op, size);
}

bool wt_device_op(const struct wt_device_op *given)
{
	const struct wti_here here = wti_here();
	struct wti_record_device_op *record;
	struct wt_device_op op;
	uint32_t name;
	uint32_t geometry;

	if (!here.ring)
		return false;
	op_copy(&op, given);
	name = op.name ? wti_name(here, op.name) : 0;
	geometry = op.geometry ? wti_name(here, op.geometry) : 0;
	record = wti_open(here, WT_KIND_DEVICE_OP, sizeof(*record));
	if (!record)
		return false;
	record->op = op.op;
	record->name = name;
	record->device = op.device;
	record->queue = op.queue;
	record->clock = op.clock;
	record->geometry = geometry;
	record->correlation = op.correlation;
	record->queued = op.queued;
	record->submitted = op.submitted;
	record->started = op.started;
	record->ended = op.ended;
	record->bytes = op.bytes;
	return wti_commit(here, sizeof(*record));
}

bool wt_edge(uint32_t type, uint64_t from, uint64_t to)
{
	const struct wti_here here = wti_here();
	struct wti_record_edge *record;

	if (!here.ring)
		return false;
	record = wti_open(here, WT_KIND_EDGE, sizeof(*record));
	if (!record)
		return false;
	record->type = type;
	record->flags = 0;
	record->from = from;
	record->to = to;
	return wti_commit(here, sizeof(*record));
}

bool wt_clock(uint32_t domain, uint64_t value, uint32_t error_ns)
{
	const struct wti_here here = wti_here();
	struct wti_record_clock *record;

	if (!here.ring)
		return false;
	record = wti_open(here, WT_KIND_CLOCK, sizeof(*record));
	if (!record)
		return false;
	record->domain = domain;
	record->error = error_ns;
	record->value = value;
	return wti_commit(here, sizeof(*record));
}
