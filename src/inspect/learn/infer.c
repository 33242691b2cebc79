/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `infer`: what held in a run, as tables. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/err.h"
#include "infer.h"
#include "inspect/core/inspectors.h"
#include "level.h"
#include "observer.h"

struct state {
	struct wti_training training;
	struct wti_observer observer;
	struct wti_tables tables;
	uint64_t identity; /* of the run */
	struct wti_learned *ret_learned;
	bool is_ready;
};

static void take(void *self, const struct wti_occasion *occasion)
{
	struct state *s = self;

	wti_tables_take(&s->tables, occasion);
}

static void report(void *self, const struct wti_moment *moment)
{
	struct state *s = self;

	wti_observer_moment(&s->observer, moment);
}

/* The same run gives the same number, wherever its folder lies. */
static uint64_t identity_of(const struct wt_trace *trace)
{
	uint64_t identity = 0;

	for (size_t i = 0; trace && i < wt_trace_stream_count(trace); i++) {
		const struct wt_identity *stream = wt_reader_identity(wt_trace_stream(trace, i));

		identity += XXH3_64bits(stream->boot, sizeof(stream->boot)) ^
			    stream->start_time * 0x9e3779b97f4a7c15u ^ stream->pid;
	}
	return identity;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *opaque_options,
		 struct wt_err *err)
{
	const struct wti_infer_options *options = opaque_options;
	struct state *s = opaque;
	int r = wti_training_init(&s->training, report, s, err);

	if (!options)
		return wti_err(err, WT_E_ARG, "infer needs a place for what it learns");
	s->ret_learned = options->ret_learned;
	s->identity = identity_of(trace);
	r = r ? r : wti_tables_init(&s->tables, s->training.symbols, err);
	r = r ? r
	      : wti_observer_init(&s->observer, &s->training,
				  (struct wti_sink_of_occasions){s, take}, UINT32_MAX, err);
	s->is_ready = !r;
	return r;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	wti_levels_take(&s->tables.levels, event);
	return wti_training_event(&s->training, event, err);
}

/* The tables go to whoever asked, with their symbols; the program is known by the name of a file.
 */
static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;
	const char *program;

	wti_training_finish(&s->training);
	wti_observer_finish(&s->observer);
	program = wti_symbol_text(s->training.symbols, s->observer.scene.program);
	wti_tables_source(&s->tables, (uint32_t)(s->identity ^ s->identity >> 32),
			  (uint32_t)XXH3_64bits(program, strlen(program)));
	if (s->observer.scene.lost_count)
		wt_result_note(result, "events were lost: what did not happen may have happened");
	if (s->tables.failed)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	s->ret_learned->symbols = *s->training.symbols;
	*s->training.symbols = (struct wti_symbols){0};
	s->ret_learned->tables = s->tables;
	s->ret_learned->tables.symbols = &s->ret_learned->symbols;
	s->tables = (struct wti_tables){0};
	return 0;
}

static void release(void *opaque)
{
	struct state *s = opaque;

	if (s->is_ready)
		wti_observer_release(&s->observer);
	wti_tables_release(&s->tables);
	wti_training_release(&s->training);
}

void wti_learned_release(struct wti_learned *learned)
{
	wti_tables_release(&learned->tables);
	wti_symbols_release(&learned->symbols);
}

const struct wt_inspector wti_inspector_infer = {
	.name = "infer",
	.summary = "learn what holds in a run",
	.state_bytes = sizeof(struct state),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
