/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of devices, what ran on them, what had to come before what, and their clocks. */
#include "common/agent.h"

#include <string.h>

#include "common/queue.h"
#include "emit.h"

uint32_t wt_queue(uint32_t device, const char *name)
{
	return wti_queue_track(device, name);
}

/* A struct from a program built with an older header is shorter: what it does not have is zero. */
static void op_copy(struct wt_device_op *copy, const struct wt_device_op *op)
{
	size_t size = op->size < sizeof(*copy) ? op->size : sizeof(*copy);

	memset(copy, 0, sizeof(*copy));
	memcpy(copy, op, size);
}

bool wt_device_op(const struct wt_device_op *given)
{
	const struct wti_here here = wti_here();
	struct wti_record_device_op ran;
	struct wt_device_op op;

	if (!here.ring)
		return false;
	op_copy(&op, given);
	ran = (struct wti_record_device_op){
		.op = op.op,
		.name = op.name ? wti_name(here, op.name) : 0,
		.device = op.device,
		.queue = op.queue,
		.clock = op.clock,
		.geometry = op.geometry ? wti_name(here, op.geometry) : 0,
		.correlation = op.correlation,
		.queued = op.queued,
		.submitted = op.submitted,
		.started = op.started,
		.ended = op.ended,
		.bytes = op.bytes,
	};
	return wti_emit_device_op(here, &ran);
}

bool wt_edge(uint32_t type, uint64_t from, uint64_t to)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_edge(here, &(struct wti_record_edge){.type = type, .from = from, .to = to});
}

bool wt_clock(uint32_t domain, uint64_t value, uint32_t error_ns)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_clock(here, &(struct wti_record_clock){
					    .domain = domain, .error = error_ns, .value = value});
}
