/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which calls hand over a batch, and where its rows stand. */
#include "samples.h"

#include "inspect/training/training.h"

static void await(struct wti_samples *samples, const struct wt_event *event, bool is_batch)
{
	samples->call = (uint32_t)event->seq;
	samples->is_batch = is_batch;
}

/* Without gradients it is an evaluation: what was loaded was for it. */
static void model_called(struct wti_samples *samples, const struct wt_event *event, uint64_t flags)
{
	bool trains = flags & WT_CALL_GRAD;

	samples->now += trains ? samples->taken : 0;
	samples->taken = 0;
	if (!trains || samples->has_loader || samples->has_input)
		return;
	samples->has_input = true;
	await(samples, event, false);
}

static void call_begins(struct wti_samples *samples, const struct wt_event *event)
{
	enum wt_action action = wti_action_of(event);
	uint64_t flags = wt_event_u64(event, WT_CALL_BEGIN_FIELD_FLAGS);

	if (action == WT_ACTION_BATCH)
		await(samples, event, true);
	else if (action == WT_ACTION_BACKWARD)
		samples->has_input = false;
	else if (flags & WT_CALL_OUTERMOST)
		model_called(samples, event, flags);
}

/* The first extent; 0: a scalar. */
static uint64_t rows_of(struct wt_text shape)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < shape.bytes && shape.data[i] >= '0' && shape.data[i] <= '9'; i++)
		rows = rows < UINT32_MAX ? 10 * rows + (uint64_t)(shape.data[i] - '0') : rows;
	return rows;
}

static void tensor(struct wti_samples *samples, const struct wt_event *event)
{
	bool is_returned = wt_event_i64(event, WT_TENSOR_FIELD_POSITION) < 0;
	uint64_t rows;

	if (!samples->call || samples->is_batch != is_returned ||
	    wt_event_u64(event, WT_TENSOR_FIELD_CALL) != samples->call)
		return;
	rows = rows_of(wt_event_text(event, WT_TENSOR_FIELD_SHAPE));
	if (!rows) /* a number beside the batch */
		return;
	samples->call = 0;
	samples->has_loader |= samples->is_batch;
	if (samples->is_batch)
		samples->taken += rows;
	else
		samples->now += rows;
}

void wti_samples_event(struct wti_samples *samples, const struct wt_event *event)
{
	if (event->kind->number == WT_KIND_CALL_BEGIN)
		call_begins(samples, event);
	else if (event->kind->number == WT_KIND_TENSOR)
		tensor(samples, event);
}

uint64_t wti_samples_step(struct wti_samples *samples)
{
	uint64_t rows = samples->now;

	samples->now = 0;
	samples->has_input = false;
	return rows;
}
