/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `contents`: what a training run consists of, as far as agents emitted it. */
#include "contents.h"

#include <string.h>

#include "base/err.h"
#include "inspect/core/inspectors.h"

struct state {
	struct wti_symbols symbols;
	struct wti_steps steps;
	struct wti_leader leader;
	struct wti_found found;
	struct wti_kept_settings settings;
	struct wti_traffic traffic;
	uint32_t world; /* ranks */
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"object",   "member",    "state",    "setting",
					    "context",  "rank",      "argument", "tensor",
					    "call_end", "call_begin"};

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	wti_symbols_init(&s->symbols);
	wti_steps_init(&s->steps, NULL);
	wti_found_init(&s->found, &s->symbols);
	wti_kept_settings_init(&s->settings, &s->symbols);
	wti_traffic_init(&s->traffic, &s->symbols);
	return 0;
}

static int take_context(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	uint32_t world = event->kind->number == WT_KIND_RANK
				 ? (uint32_t)wt_event_u64(event, WT_RANK_FIELD_WORLD)
				 : 0;

	wti_leader_event(&s->leader, event);
	s->world = world > s->world ? world : s->world;
	return wti_steps_event(&s->steps, event, err);
}

static int take(struct state *s, const struct wt_event *event, int64_t step)
{
	switch (event->kind->number) {
	case WT_KIND_OBJECT:
		return wti_found_object(&s->found, event);
	case WT_KIND_MEMBER:
		return wti_found_member(&s->found, event);
	case WT_KIND_STATE:
		return wti_kept_settings_state(&s->settings, event, step);
	case WT_KIND_SETTING:
		return wti_kept_settings_agent(&s->settings, event);
	default:
		return wti_traffic_event(&s->traffic, event, step);
	}
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;
	int64_t step;

	if (event->kind->number == WT_KIND_CONTEXT || event->kind->number == WT_KIND_RANK)
		return take_context(s, event, err);
	if (event->kind->number == WT_KIND_CALL_BEGIN)
		wti_leader_event(&s->leader, event);
	step = wti_steps_scope(&s->steps, event->stream, event->track).step;
	return take(s, event, step) ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	uint64_t overflow =
		s->found.overflow_count + s->settings.overflow_count + s->traffic.overflow_count;

	wt_result_set_status(result, s->found.object_count ? "clean" : "not_measured");
	wt_result_fact_count(result, "steps", "steps", WT_CELL_COUNT, wti_leader_steps(&s->leader));
	if (s->world > 1)
		wt_result_fact_count(result, "ranks", "ranks", WT_CELL_COUNT, s->world);
	wti_found_tables(&s->found, result);
	wti_kept_settings_tables(&s->settings, &s->found, result);
	wti_traffic_tables(&s->traffic, result);
	if (overflow)
		wt_result_note(result,
			       "too many objects, tensors, settings or files: %llu are not shown",
			       (unsigned long long)overflow);
	return wt_result_status(result);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_traffic_release(&s->traffic);
	wti_kept_settings_release(&s->settings);
	wti_found_release(&s->found);
	wti_steps_release(&s->steps);
	wti_symbols_release(&s->symbols);
}

uint32_t wti_symbol_of_word(struct wti_symbols *symbols, const struct wt_event *event, int field)
{
	struct wt_text text = wt_event_text(event, field);

	return wti_symbol(symbols, text.data, text.bytes);
}

void wti_symbol_cell(struct wt_table *table, const struct wti_symbols *symbols, uint32_t symbol)
{
	const char *text = wti_symbol_text(symbols, symbol);

	if (symbol == WTI_SYMBOL_NONE)
		wt_table_empty(table);
	else
		wt_table_text(table, text, strlen(text));
}

const struct wt_inspector wti_inspector_contents = {
	.name = "contents",
	.summary = "what a training run consists of",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
