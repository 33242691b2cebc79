/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `device`: what devices did. It takes the work in, in one pass, and asks every
 * question about it; with an option, one of them alone.
 */
#include "device.h"

#include "inspect/core/inspectors.h"

struct state {
	struct wti_device_options options;
	struct wti_work work;
};

/* In the order in which people ask. */
static wti_device_question *const questions[] = {
	wti_device_breakdown, wti_device_idle,     wti_device_kernels,    wti_device_annotations,
	wti_device_queues,    wti_device_launches, wti_device_bandwidth,  wti_device_memory,
	wti_device_patterns,  wti_device_gaps,     wti_device_stragglers, wti_device_dependencies,
};

static void ask(struct wt_query *query, const void *options)
{
	(void)options;
	query->kinds = wti_work_kinds;
	for (query->kind_count = 0; wti_work_kinds[query->kind_count];)
		query->kind_count++;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	if (options)
		s->options = *(const struct wti_device_options *)options;
	return wti_work_init(&s->work, trace, err);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	return wti_work_event(&((struct state *)opaque)->work, event, err);
}

static void add_facts(const struct wti_work *work, struct wt_result *result)
{
	wt_result_fact_count(result, "operations", "operations", WT_CELL_COUNT, work->work_count);
	wt_result_fact_count(result, "devices", "devices", WT_CELL_COUNT, work->unit_count);
	wt_result_fact_count(result, "queues", "queues", WT_CELL_COUNT, work->queue_count);
	wt_result_fact_count(result, "calls", "", WT_CELL_COUNT, work->call_count);
}

static void add_notes(const struct wti_work *work, struct wt_result *result)
{
	if (work->lost_count)
		wt_result_note(result, "%llu events were lost: figures may be too low",
			       (unsigned long long)work->lost_count);
	if (work->reversed_count)
		wt_result_note(result, "%llu device operations end before they start: left out",
			       (unsigned long long)work->reversed_count);
	if (work->timeless_count)
		wt_result_note(result, "%llu device operations have no times: left out",
			       (unsigned long long)work->timeless_count);
	if (work->unlaunched_count)
		wt_result_note(result,
			       "of %llu operations the call that launched them is not recorded",
			       (unsigned long long)work->unlaunched_count);
}

static int answer(const struct state *s, struct wt_result *result, struct wt_err *err)
{
	int r = 0;

	if (s->options.critical_path)
		return wti_device_critical_path(&s->work, &s->options, result, err);
	if (s->options.dependencies)
		return wti_device_dependencies(&s->work, &s->options, result, err);
	for (size_t i = 0; !r && i < sizeof(questions) / sizeof(questions[0]); i++)
		r = questions[i](&s->work, &s->options, result, err);
	return r;
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	int r = wti_work_finish(&s->work, err);

	if (r)
		return r;
	if (!s->work.work_count) {
		wt_result_set_status(result, "not_measured");
		wt_result_note(result, "no device operations in this run");
		return wt_result_status(result);
	}
	add_facts(&s->work, result);
	if (s->options.critical_path)
		wti_work_forget_memory(&s->work);
	r = answer(s, result, err);
	if (r)
		return r;
	add_notes(&s->work, result);
	return wt_result_status(result);
}

static void release(void *opaque)
{
	wti_work_release(&((struct state *)opaque)->work);
}

const struct wt_inspector wti_inspector_device = {
	.name = "device",
	.summary = "what devices did: where their time went, and why they were idle",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
