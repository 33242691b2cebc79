/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a replay: plan, races, one execution at a time with repetitions, one in the order that
 * was asked for, both orders of each race; then the verdict over all processes.
 */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "emit.h"
#include "report.h"
#include "store.h"

enum { RACES_TRIED_MAX = 8, REPEATS_DEFAULT = 3, REPEATS_MORE = 10, ULP_DEFAULT = 4 };
#define MEMORY_BYTES_DEFAULT (UINT64_C(2) << 30)

/* Verdicts of several processes, the worst last. */
enum word { BIT_EXACT, TOLERANT, DETERMINISTIC, PARTIAL, NOT_MEASURED, DIVERGENT };
static const char *const words[] = {"bit_exact", "within_tolerance", "deterministic",
				    "partial",   "not_measured",     "divergent"};

void wti_replay_options_init(struct wti_replay_options *options)
{
	*options = (struct wti_replay_options){.to = UINT64_MAX,
					       .to_ns = INT64_MAX,
					       .from_ns = INT64_MIN,
					       .repeats = REPEATS_DEFAULT,
					       .ulp = ULP_DEFAULT,
					       .memory_bytes = MEMORY_BYTES_DEFAULT};
}

/* ---- Races ----------------------------------------------------------------------------------- */

/* What is left, and what went to the host, against the order of the calls. */
static bool passes_differ(const struct wti_replay_plan *plan, const struct wti_replay_pass *a,
			  const struct wti_replay_pass *b)
{
	for (size_t i = 0; i < plan->object_count; i++)
		if (a->contents[i] != b->contents[i])
			return true;
	for (size_t i = 0; i < plan->op_count; i++)
		if (a->outcomes[i].recorded != b->outcomes[i].recorded)
			return true;
	return false;
}

/* The second one first. Where something is nondeterministic by itself, nothing is confirmed. */
static int try_race(struct wti_replay_session *session,
		    const struct wti_replay_selection *selection,
		    const struct wti_replay_pass *serial, struct wti_replay_race *race,
		    struct wt_err *err)
{
	const struct wti_replay_plan *plan = session->plan;
	const struct wti_replay_order order = {.type = WTI_ORDER_FIRST, .first = race->second};
	struct wti_replay_pass_how how = {.is_selected = selection->is_selected, .repeats = 1};
	uint32_t *ops = malloc((plan->op_count + 1) * sizeof(*ops));
	struct wti_replay_pass pass;
	int r = ops ? 0 : wti_err(err, WT_E_NOMEM, "out of memory for an order");

	if (!r)
		r = wti_replay_plan_arrange(plan, &order, ops, &how.count, err);
	how.order = ops;
	if (!r)
		r = wti_replay_pass_run(session, &how, &pass, err);
	free(ops);
	if (r)
		return r;
	race->is_tried = true;
	race->is_confirmed = passes_differ(plan, serial, &pass);
	wti_replay_pass_release(&pass);
	return 0;
}

static int try_races(struct wti_replay_session *session,
		     const struct wti_replay_selection *selection,
		     const struct wti_replay_pass *serial, struct wti_replay_races *races,
		     struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < races->count && i < RACES_TRIED_MAX; i++)
		r = try_race(session, selection, serial, &races->all[i], err);
	return r;
}

/* ---- One process ----------------------------------------------------------------------------- */

/* All that one process needs, and gives back. */
struct process {
	const struct wti_replay_options *options;
	struct wti_replay_plan plan;
	struct wti_replay_races races;
	struct wti_replay_selection selection;
	struct wti_replay_session session;
	struct wti_replay_pass serial, other;
	struct wti_replay_uninitialised uninitialised;
	struct wti_replay_verdicts verdicts;
	bool has_session, has_other;
};

static int run_serial(struct process *p, uint32_t repeats, struct wt_err *err)
{
	const struct wti_replay_pass_how how = {.order = p->plan.serial,
						.count = p->plan.serial_count,
						.is_selected = p->selection.is_selected,
						.is_asked = p->selection.is_asked,
						.repeats = repeats,
						.progress = p->options->progress,
						.cookie = p->options->cookie};

	return wti_replay_pass_run(&p->session, &how, &p->serial, err);
}

/* Original: all at once. Serial was executed already. */
static int run_other(struct process *p, struct wt_err *err)
{
	struct wti_replay_pass_how how = {.is_selected = p->selection.is_selected,
					  .is_asked = p->selection.is_asked,
					  .repeats = 1,
					  .speed = p->options->speed,
					  .is_at_once =
						  p->options->order.type == WTI_ORDER_ORIGINAL};
	uint32_t *ops;
	int r;

	if (p->options->order.type == WTI_ORDER_SERIAL)
		return 0;
	ops = malloc((p->plan.op_count + 1) * sizeof(*ops));
	r = ops ? wti_replay_plan_arrange(&p->plan, &p->options->order, ops, &how.count, err)
		: wti_err(err, WT_E_NOMEM, "out of memory for an order");
	how.order = ops;
	if (!r)
		r = wti_replay_pass_run(&p->session, &how, &p->other, err);
	p->has_other = !r;
	free(ops);
	return r;
}

static bool any_differs(const struct wti_replay_plan *plan, const struct wti_replay_pass *pass)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if (pass->outcomes[i].recorded == WTI_RECORDED_DIFFERS)
			return true;
	return false;
}

static bool any_intrinsic(const struct wti_replay_plan *plan, const struct wti_replay_pass *serial)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if (serial->outcomes[i].distinct > 1)
			return true;
	return false;
}

/* A result is not the recorded one, and no kernel differs from itself. */
static bool is_unexplained(const struct process *p)
{
	return !any_intrinsic(&p->plan, &p->serial) &&
	       (any_differs(&p->plan, &p->serial) ||
		(p->has_other && any_differs(&p->plan, &p->other)));
}

/*
 * A few repetitions of a kernel that is not deterministic may agree by chance. Where nothing
 * explains a result so far, more of them are worth their time.
 */
static int repeat_more(struct process *p, uint64_t repeats, struct wt_err *err)
{
	uint64_t more = repeats < UINT32_MAX / REPEATS_MORE ? repeats * REPEATS_MORE : UINT32_MAX;

	if (!is_unexplained(p))
		return 0;
	wti_replay_pass_release(&p->serial);
	return run_serial(p, (uint32_t)more, err);
}

static int look_at_uninitialised(struct process *p, struct wt_err *err)
{
	const struct wti_replay_pass_how how = {.order = p->plan.serial,
						.count = p->plan.serial_count,
						.is_selected = p->selection.is_selected,
						.is_asked = p->selection.is_asked};

	return is_unexplained(p)
		       ? wti_replay_uninitialised_find(&p->session, &how, &p->uninitialised, err)
		       : 0;
}

static int execute(struct process *p, int store, struct wt_err *err)
{
	const struct wti_replay_session_how how = {p->options->device, p->options->binaries,
						   p->options->memory_bytes, 0};
	uint64_t repeats = p->options->repeats < UINT32_MAX ? p->options->repeats : UINT32_MAX;
	int r = wti_replay_session_open(&p->session, &p->plan, store, &how, err);

	if (r)
		return r;
	p->has_session = true;
	r = run_serial(p, (uint32_t)repeats, err);
	if (!r)
		r = run_other(p, err);
	if (!r)
		r = repeat_more(p, repeats, err);
	if (!r)
		r = look_at_uninitialised(p, err);
	if (!r)
		r = try_races(&p->session, &p->selection, &p->serial, &p->races, err);
	if (!r)
		r = wti_replay_verdicts_judge(&p->plan, &p->races, &p->serial,
					      p->has_other ? &p->other : NULL, &p->uninitialised,
					      &p->verdicts, err);
	return r;
}

static bool any_confirmed(const struct wti_replay_races *races)
{
	for (size_t i = 0; i < races->count; i++)
		if (races->all[i].is_confirmed)
			return true;
	return false;
}

/* On another device every origin has to be within the tolerance. */
static bool is_tolerable(const struct process *p)
{
	for (size_t i = 0; i < p->plan.op_count; i++) {
		const struct wti_replay_judged *judged = &p->verdicts.ops[i];

		if (judged->verdict == WTI_VERDICT_ORIGIN &&
		    (judged->reason == WTI_ORIGIN_INTRINSIC ||
		     judged->reason == WTI_ORIGIN_UNINITIALISED || !judged->found ||
		     !wti_replay_difference_is_within(&judged->found->difference, p->options->ulp)))
			return false;
	}
	return true;
}

static enum word word_of(const struct process *p)
{
	const uint64_t *counts = p->verdicts.counts;
	uint64_t compared = p->serial.compared_count + (p->has_other ? p->other.compared_count : 0);
	bool is_same = wti_replay_session_is_same(&p->session);

	if (!p->serial.executed_count)
		return NOT_MEASURED;
	if (any_confirmed(&p->races) ||
	    (counts[WTI_VERDICT_ORIGIN] && (is_same || !is_tolerable(p))))
		return DIVERGENT;
	if (counts[WTI_VERDICT_MISSING] || counts[WTI_VERDICT_UNKNOWN] || p->plan.lost_count ||
	    p->serial.uncompared_count || p->plan.serial_count < p->plan.op_count)
		return PARTIAL;
	if (!compared)
		return DETERMINISTIC;
	return is_same ? BIT_EXACT : TOLERANT;
}

static void process_release(struct process *p)
{
	wti_replay_verdicts_release(&p->verdicts);
	wti_replay_uninitialised_release(&p->uninitialised);
	wti_replay_pass_release(&p->serial);
	wti_replay_pass_release(&p->other);
	if (p->has_session)
		wti_replay_session_close(&p->session);
	wti_replay_selection_release(&p->selection);
	wti_replay_races_release(&p->races);
	wti_replay_plan_release(&p->plan);
}

static void add_pass(struct wti_replay_total *total, const struct wti_replay_pass *pass)
{
	total->compared += pass->compared_count;
	total->compared_bytes += pass->compared_bytes;
}

static void add_up(struct wti_replay_total *total, const struct process *p)
{
	total->executed += p->serial.executed_count;
	for (size_t i = 0; i < WTI_VERDICTS; i++)
		total->counts[i] += p->verdicts.counts[i];
	add_pass(total, &p->serial);
	add_pass(total, &p->other);
}

/* The verdict stands, whether a program can be made of it or not. */
static void emit(struct process *p, struct wt_result *result)
{
	struct wt_err err = {.offset = -1};

	if (!p->options->emit || word_of(p) != DIVERGENT)
		return;
	if (wti_replay_emit(&p->session, &p->verdicts, &p->races, p->options->emit, &err))
		wt_result_note(result, "no program was written to '%.200s': %s", p->options->emit,
			       err.message);
	else
		wt_result_fact_text(result, "emitted", "emitted", p->options->emit);
}

static int judge_process(struct process *p, int store, struct wti_replay_total *total,
			 enum word *word, struct wt_result *result, struct wt_err *err)
{
	struct wti_replayed replayed = {.plan = &p->plan,
					.options = p->options,
					.races = &p->races,
					.selection = &p->selection};
	int r = wti_replay_races_find(&p->plan, &p->races, err);

	if (!r)
		r = wti_replay_select(&p->plan, p->options, &p->selection, err);
	if (r)
		return r;
	total->processes++;
	total->operations += p->selection.asked_count;
	total->needed += p->selection.needed_count;
	total->restored += p->selection.restored_count;
	total->is_all &= p->selection.is_all;
	total->extra += p->plan.extra_count;
	total->races += p->races.count;
	if (p->options->mode == WTI_REPLAY_DRY_RUN) {
		wti_replay_report_plan(&replayed, result);
		wti_replay_report_replayed(&replayed, result);
		return 0;
	}
	r = execute(p, store, err);
	if (r == WT_E_MISSING && !p->has_session) {
		wt_result_note(result, "%s", err->message);
		wti_replay_report_replayed(&replayed, result);
		*word = NOT_MEASURED > *word ? NOT_MEASURED : *word;
		return 0;
	}
	if (r)
		return r;
	replayed.session = &p->session;
	replayed.serial = &p->serial;
	replayed.other = p->has_other ? &p->other : NULL;
	replayed.verdicts = &p->verdicts;
	replayed.uninitialised = &p->uninitialised;
	wti_replay_report_replayed(&replayed, result);
	add_up(total, p);
	*word = word_of(p) > *word ? word_of(p) : *word;
	emit(p, result);
	return 0;
}

/* ---- The run --------------------------------------------------------------------------------- */

static void say(const struct wti_replay_total *total, enum word word,
		const struct wti_replay_options *options, struct wt_result *result)
{
	struct wti_buf line;

	wti_buf_init(&line, 1024);
	if (word == BIT_EXACT)
		wti_textf(&line,
			  "BIT-EXACT: %" PRIu64 " operations executed, %" PRIu64
			  " results compared bit by bit",
			  total->executed, total->compared);
	else if (word == TOLERANT)
		wti_textf(&line,
			  "within %" PRIu64 " ULP of the recording on another device, %" PRIu64
			  " results compared",
			  options->ulp, total->compared);
	else if (word == DETERMINISTIC)
		wti_textf(&line,
			  "deterministic in %" PRIu64 " repetitions; NOT MEASURED against the "
			  "recording, which has no results",
			  options->repeats);
	else if (word == PARTIAL)
		wti_textf(&line,
			  "PARTIAL: %" PRIu64 " operations executed, %" PRIu64
			  " missing or unknown; no difference in the rest",
			  total->executed,
			  total->counts[WTI_VERDICT_MISSING] + total->counts[WTI_VERDICT_UNKNOWN]);
	else
		wti_textf(&line, "%s",
			  word == DIVERGENT ? "DIVERGENT" : "NOT MEASURED: nothing was executed");
	wt_result_fact_text(result, "verdict", "verdict", wti_buf_cstr(&line));
	wt_result_set_status(result, words[word]);
	wti_buf_release(&line);
}

int wti_replay(const struct wt_trace *trace, const char *folder,
	       const struct wti_replay_options *options, struct wt_result *result,
	       struct wt_err *err)
{
	struct wti_replay_total total = {.is_all = true};
	enum word word = BIT_EXACT;
	int store = wti_replay_store_open(folder);
	int r = 0;

	for (size_t i = 0; !r && i < wt_trace_stream_count(trace); i++) {
		uint32_t pid = wt_reader_identity(wt_trace_stream(trace, i))->pid;
		struct process p = {.options = options};

		if (options->pid && options->pid != pid)
			continue;
		r = wti_replay_plan_read(trace, i, &p.plan, err);
		if (!r && p.plan.op_count)
			r = judge_process(&p, store, &total, &word, result, err);
		process_release(&p);
	}
	wti_replay_store_close(store);
	if (r)
		return r;
	if (!total.processes)
		return wti_replay_no_work(err);
	if (options->mode == WTI_REPLAY_DRY_RUN)
		wt_result_set_status(result, "planned");
	else
		say(&total, word, options, result);
	if (options->emit && word != DIVERGENT)
		wt_result_note(result, "no program was written to '%.200s': nothing diverges",
			       options->emit);
	wti_replay_report_total(&total, result);
	return wt_result_status(result);
}
