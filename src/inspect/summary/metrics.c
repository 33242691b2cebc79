/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `metrics`: curves of what a run measured of itself. Counters as they were emitted,
 * learning rates of each group, the norm of all gradients at an optimizer's step, and how long
 * steps took. A norm is shown only of steps whose every gradient was measured.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/steps.h"
#include "metric_list.h"

#define STREAMS_MAX 65536u

static const char gradient_end[] = ".grad";

/* Gradients of a process since its last step. */
struct gradients {
	double squares;
	uint32_t measured;
	bool has_gap; /* one was not measured */
};

struct state {
	struct wti_metric_list list;
	struct wti_steps steps;
	struct wti_roles roles;
	struct wti_leader leader;
	int64_t step_ns; /* when the step of the run began */
	int64_t step;
	struct wti_map gradient_index; /* stream: place plus one */
	struct gradients *gradients;
	size_t gradient_count, gradient_capacity;
};

#define FIELDS_TENSOR                                                                              \
	(1u << WT_TENSOR_FIELD_NAME | 1u << WT_TENSOR_FIELD_FLAGS | 1u << WT_TENSOR_FIELD_COUNT |  \
	 1u << WT_TENSOR_FIELD_MEAN | 1u << WT_TENSOR_FIELD_M2 | 1u << WT_TENSOR_FIELD_CALL |      \
	 1u << WT_TENSOR_FIELD_NAN | 1u << WT_TENSOR_FIELD_INF)

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"counter", "context",    "rank",     "state",
					    "tensor",  "call_begin", "gradients"};

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
	/* All kinds but tensors have what is needed in the first six. */
	query->fields = FIELDS_TENSOR | 0x7f;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	wti_metric_list_init(&s->list);
	wti_steps_init(&s->steps, NULL);
	wti_map_init(&s->gradient_index, STREAMS_MAX);
	s->step_ns = -1;
	return wti_roles_init(&s->roles, trace, err);
}

static int out_of_memory(struct wt_err *err)
{
	return wti_err(err, WT_E_NOMEM, "out of memory");
}

static struct wt_text word(const char *text)
{
	return (struct wt_text){text, strlen(text)};
}

static int add(struct state *s, struct wti_metric *metric, int64_t step, double value,
	       struct wt_err *err)
{
	if (!metric)
		return s->list.index.failed ? out_of_memory(err) : 0;
	return wti_metric_add(metric, step, value) ? out_of_memory(err) : 0;
}

static int64_t step_of(const struct state *s, const struct wt_event *event)
{
	return wti_steps_scope(&s->steps, event->stream, event->track).step;
}

static int take_counter(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	return add(s,
		   wti_metric_of(&s->list, WTI_METRIC_COUNTER, event->stream,
				 wt_event_text(event, WT_COUNTER_FIELD_NAME),
				 wt_event_text(event, WT_COUNTER_FIELD_UNIT)),
		   step_of(s, event), wt_event_f64(event, WT_COUNTER_FIELD_VALUE), err);
}

/* ---- Learning rates -------------------------------------------------------------------------- */

/* "lr", or "group2.lr". */
static bool is_rate(struct wt_text attribute)
{
	return (attribute.bytes == 2 && !memcmp(attribute.data, "lr", 2)) ||
	       (attribute.bytes > 3 && !memcmp(attribute.data, "group", 5) &&
		!memcmp(attribute.data + attribute.bytes - 3, ".lr", 3));
}

/* Held from here on; a point is added with every step. */
static int take_state(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wt_text attribute = wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE);
	struct wt_text owner = wt_event_text(event, WT_STATE_FIELD_OWNER);
	uint64_t type = wt_event_u64(event, WT_STATE_FIELD_TYPE);
	uint64_t bits = wt_event_u64(event, WT_STATE_FIELD_NEW);
	struct wti_metric *metric;
	char name[200];

	if ((type != WT_VALUE_TYPE_FLOAT && type != WT_VALUE_TYPE_INT) || !is_rate(attribute))
		return 0;
	snprintf(name, sizeof(name), "%.*s of %.*s",
		 (int)(attribute.bytes < 64 ? attribute.bytes : 64), attribute.data,
		 (int)(owner.bytes < 100 ? owner.bytes : 100), owner.data);
	metric = wti_metric_of(&s->list, WTI_METRIC_RATE, event->stream, word(name), word(""));
	if (!metric)
		return s->list.index.failed ? out_of_memory(err) : 0;
	if (type == WT_VALUE_TYPE_FLOAT)
		memcpy(&metric->held, &bits, sizeof(bits));
	else
		metric->held = (double)(int64_t)bits;
	return 0;
}

/* The rates with which a step of this process was made. */
static int add_rates(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < s->list.count && !r; i++) {
		struct wti_metric *metric = &s->list.items[i];

		if (metric->type == WTI_METRIC_RATE && metric->stream == event->stream)
			r = add(s, metric, step_of(s, event), metric->held, err);
	}
	return r;
}

/* ---- Gradients ------------------------------------------------------------------------------- */

static struct gradients *gradients_of(struct state *s, size_t stream)
{
	uint64_t *slot = wti_map_number(&s->gradient_index, stream);

	if (!slot)
		return NULL;
	if (*slot)
		return &s->gradients[*slot - 1];
	if (wti_grow_zeroed(&s->gradients, s->gradient_count + 1, &s->gradient_capacity,
			    (size_t)STREAMS_MAX))
		return NULL;
	*slot = ++s->gradient_count;
	return &s->gradients[*slot - 1];
}

static int take_tensor(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wt_text name = wt_event_text(event, WT_TENSOR_FIELD_NAME);
	size_t end = sizeof(gradient_end) - 1;
	double count = (double)wt_event_u64(event, WT_TENSOR_FIELD_COUNT);
	double mean = wt_event_f64(event, WT_TENSOR_FIELD_MEAN);
	struct gradients *gradients;

	if (wt_event_u64(event, WT_TENSOR_FIELD_CALL) || name.bytes <= end ||
	    memcmp(name.data + name.bytes - end, gradient_end, end) != 0)
		return 0;
	gradients = gradients_of(s, event->stream);
	if (!gradients)
		return out_of_memory(err);
	if (wt_event_u64(event, WT_TENSOR_FIELD_FLAGS) & WT_TENSOR_NO_STATISTICS) {
		gradients->has_gap = true;
		return 0;
	}
	gradients->measured++;
	if (wt_event_u64(event, WT_TENSOR_FIELD_NAN) || wt_event_u64(event, WT_TENSOR_FIELD_INF))
		gradients->squares = NAN;
	gradients->squares += wt_event_f64(event, WT_TENSOR_FIELD_M2) + count * mean * mean;
	return 0;
}

/* What an optimizer has at its step: a norm, if all of it was measured. */
static int take_gradients(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	struct gradients *gradients = gradients_of(s, event->stream);
	uint64_t wanted = wt_event_u64(event, WT_GRADIENTS_FIELD_ZERO) +
			  wt_event_u64(event, WT_GRADIENTS_FIELD_NONZERO);
	struct wt_text owner = wt_event_text(event, WT_GRADIENTS_FIELD_OBJECT);
	struct gradients seen;
	char name[160];

	if (!gradients)
		return out_of_memory(err);
	if (wt_event_u64(event, WT_GRADIENTS_FIELD_MOMENT) != WT_MOMENT_STEP)
		return 0;
	seen = *gradients;
	*gradients = (struct gradients){0};
	if (!wanted || seen.measured != wanted || seen.has_gap ||
	    wt_event_u64(event, WT_GRADIENTS_FIELD_UNKNOWN))
		return 0;
	snprintf(name, sizeof(name), "gradient norm at %.*s.step()",
		 (int)(owner.bytes < 100 ? owner.bytes : 100), owner.data);
	return add(
		s,
		wti_metric_of(&s->list, WTI_METRIC_GRADIENT, event->stream, word(name), word("")),
		step_of(s, event), sqrt(seen.squares), err);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static int take_leader(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	unsigned change = wti_leader_event(&s->leader, event);
	int r = 0;

	if (change & WTI_STEP_FORGET)
		s->step_ns = -1;
	if (change & WTI_STEP_ENDS && s->step_ns >= 0)
		r = add(s,
			wti_metric_of(&s->list, WTI_METRIC_STEP_TIME, s->leader.stream,
				      word("step time"), word("ms")),
			s->step, (double)(event->time_ns - s->step_ns) / 1e6, err);
	if (change & WTI_STEP_BEGINS) {
		s->step_ns = event->time_ns;
		s->step = s->leader.step;
	} else if (change & WTI_STEP_ENDS) {
		s->step_ns = -1;
	}
	return r;
}

static int take_context(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	int r = wti_context_key(event) == WTI_CONTEXT_STEP ? add_rates(s, event, err) : 0;

	if (!r)
		r = wti_steps_event(&s->steps, event, err);
	return r ? r : take_leader(s, event, err);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	switch (event->kind->number) {
	case WT_KIND_COUNTER:
		return take_counter(s, event, err);
	case WT_KIND_CONTEXT:
	case WT_KIND_RANK:
		return take_context(s, event, err);
	case WT_KIND_CALL_BEGIN:
		return take_leader(s, event, err);
	case WT_KIND_STATE:
		return take_state(s, event, err);
	case WT_KIND_TENSOR:
		return take_tensor(s, event, err);
	case WT_KIND_GRADIENTS:
		return take_gradients(s, event, err);
	default:
		return 0;
	}
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;

	wt_result_set_status(result, s->list.count ? "clean" : "not_measured");
	wti_metric_list_show(&s->list, &s->roles, result);
	return wt_result_status(result);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_metric_list_release(&s->list);
	wti_steps_release(&s->steps);
	wti_roles_release(&s->roles);
	wti_map_release(&s->gradient_index);
	free(s->gradients);
}

const struct wt_inspector wti_inspector_metrics = {
	.name = "metrics",
	.summary = "curves of what a run measured of itself",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
