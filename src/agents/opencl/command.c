/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a command: its call is a span on the program's thread, in which stand what it touches,
 * the edge of its launch and an edge for each event that it waits for. Its times come later, from
 * an event: the program's, or our own where the program wants none.
 */
#include "own.h"

#include <errno.h>

#include "common/stack.h"

void wti_cl_span_begin(struct wti_here here, struct wt_name *name)
{
	wti_emit_span_begin(here, &(struct wti_record_span_begin){.name = wti_name(here, name),
								  .flags = WT_SPAN_RUNTIME});
}

void wti_cl_span_end(struct wti_here here, struct wt_name *name)
{
	wti_emit_span_end(here, &(struct wti_record_span_end){.name = wti_name(here, name)});
}

void wti_cl_edge(struct wti_here here, uint32_t type, uint64_t from, uint64_t to)
{
	wti_emit_edge(here, &(struct wti_record_edge){.type = type, .from = from, .to = to});
}

void wti_cl_command_begin(struct wti_cl_command *command, struct wt_name *call, uint32_t op,
			  cl_command_queue queue)
{
	*command = (struct wti_cl_command){
		.here = wti_cl_here(),
		.call = call,
		.name = call,
		.op = op,
		.event = &command->own,
	};
	if (!command->here.ring)
		return;
	command->object = wti_cl_object_get(queue);
	if (!command->object)
		return;
	command->queue = command->object->more;
	command->correlation = wti_cl_number();
	command->begin_ticks = wti_cl_ticks();
	wti_cl_span_begin(command->here, call);
}

void wti_cl_command_events(struct wti_cl_command *command, cl_uint count, const cl_event *list,
			   cl_event **event)
{
	if (!command->object)
		return;
	command->wait_count = list ? count : 0;
	command->wait_list = list;
	if (*event)
		command->event = *event;
	else
		*event = command->event;
}

void wti_cl_command_access(struct wti_cl_command *command,
			   const struct wti_record_device_access *access, const void *value)
{
	struct wti_record_device_access row = *access;

	if (!command->object)
		return;
	row.correlation = command->correlation;
	if (wti_cl.replayable && row.object &&
	    (row.mode == WT_ACCESS_MODE_WRITE || row.mode == WT_ACCESS_MODE_BOTH))
		wti_cl_written(row.object);
	wti_emit_device_access(command->here, &row, value);
}

/* Of a sub-buffer the memory is its parent's; which sub-buffer it was is in the value. */
void wti_cl_command_touch(struct wti_cl_command *command, const struct wti_cl_touch *touch)
{
	struct wti_record_device_access row = {.mode = touch->mode,
					       .argument = touch->argument,
					       .offset = touch->offset,
					       .bytes = touch->bytes,
					       .hash = touch->hash,
					       .value_bytes = touch->value_bytes};
	struct wti_cl_object *object;
	const void *value = touch->value;
	uint64_t id;

	if (!command->object)
		return;
	object = wti_cl_object_get(touch->mem);
	if (object) {
		id = object->id;
		row.object = object->root;
		row.offset += object->offset;
		if (!value && object->root != id) {
			value = &id;
			row.value_bytes = sizeof(id);
		}
	}
	if (!object && touch->mem) {
		const struct wti_cl_place place = wti_cl_svm_find(touch->mem);

		row.object = place.object;
		row.offset += place.offset;
	}
	wti_cl_command_access(command, &row, value);
	wti_cl_object_put(object);
}

static void emit_stack(struct wti_here here)
{
	int saved_errno = errno;
	uint32_t id = wti_stack_capture(2);

	errno = saved_errno;
	wti_emit_stack(here, &(struct wti_record_stack){.stack = id});
}

void wti_cl_command_launch(struct wti_cl_command *command)
{
	if (!command->object)
		return;
	if (wti_cl.stacks)
		emit_stack(command->here);
	if (command->is_first) /* now: the list may lie where the driver puts the event */
		command->first = wti_cl_first_make(command->name, command->correlation,
						   command->wait_count, command->wait_list);
	for (cl_uint i = 0; i < command->wait_count; i++) {
		uint64_t from = wti_cl_event_correlation(command->wait_list[i]);

		if (from)
			wti_cl_edge(command->here, WT_EDGE_RECORD_WAIT, from, command->correlation);
	}
	wti_cl_edge(command->here, WT_EDGE_LAUNCH, command->correlation, command->correlation);
}

uint64_t wti_cl_sync(struct wti_here here, struct wt_name *name, const struct wti_cl_queue *queue,
		     uint64_t begin_ticks)
{
	uint64_t correlation = wti_cl_number();

	wti_emit_device_op(here, &(struct wti_record_device_op){
					 .op = WT_OP_SYNC,
					 .name = wti_name(here, name),
					 .device = queue ? queue->device : 0,
					 .queue = queue ? queue->track : 0,
					 .correlation = correlation,
					 .started = begin_ticks,
					 .ended = wti_cl_ticks(),
				 });
	return correlation;
}

/* The event is the driver's gift to the program, who may let go of it at any time. */
static void await_end(struct wti_cl_command *command)
{
	cl_event event = *command->event;
	const struct wti_cl_pending pending = {
		.event = event,
		.correlation = command->correlation,
		.name = command->name,
		.geometry = command->geometry,
		.bytes = command->bytes,
		.op = command->op,
		.first = command->first,
	};

	if (!event) { /* of OpenCL 1.0: nobody will ever know when it has ended */
		wti_emit_device_op(command->here,
				   &(struct wti_record_device_op){
					   .op = command->op,
					   .name = wti_name(command->here, command->name),
					   .device = command->queue->device,
					   .queue = command->queue->track,
					   .clock = command->queue->clock,
					   .correlation = command->correlation});
		wti_cl_first_free(command->first);
		return;
	}
	if (command->event != &command->own) {
		wti_cl_event_is(event, command->correlation);
		wti_cl.real.clRetainEvent(event);
	}
	atomic_store_explicit(&command->queue->correlation_last, command->correlation,
			      memory_order_relaxed);
	wti_cl_harvest_later(command->queue, &pending);
}

/* What came back to the program is known now: its hash is what a replay compares with. */
static void has_waited(struct wti_cl_command *command)
{
	wti_cl_harvest(command->queue, *command->event);
	wti_cl_edge(
		command->here, WT_EDGE_SYNC, command->correlation,
		wti_cl_sync(command->here, command->call, command->queue, command->begin_ticks));
	if (wti_cl.replayable && command->host)
		wti_cl_command_touch(command, &(struct wti_cl_touch){
						      .mode = WT_ACCESS_MODE_WRITE,
						      .argument = -1,
						      .bytes = command->host_bytes,
						      .hash = wti_cl_content(command->host,
									     command->host_bytes)});
}

static void emit_failure(struct wti_cl_command *command, cl_int status)
{
	wti_emit_mark(command->here,
		      &(struct wti_record_mark){
			      .name = wti_name(command->here, WT_NAME("OpenCL command failed")),
			      .value = (uint64_t)(int64_t)status});
}

cl_int wti_cl_command_end(struct wti_cl_command *command, cl_int status)
{
	if (!command->object)
		return status;
	if (status == CL_SUCCESS) {
		await_end(command);
	} else {
		emit_failure(command, status);
		wti_cl_first_free(command->first);
	}
	if (command->is_blocking && status == CL_SUCCESS)
		has_waited(command);
	wti_cl_span_end(command->here, command->call);
	wti_cl_object_put(command->object);
	return status;
}
