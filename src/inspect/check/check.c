/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspectors that judge a run: `check` holds it against a pack, against the rules, or both, as
 * it is asked to; `doctor` checks the rules alone.
 */
#include "base/err.h"
#include "check.h"
#include "inspect/core/ended.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/steps.h"
#include "inspect/core/missing.h"
#include "inspect/device/survey.h"
#include "inspect/habits/habits.h"
#include "inspect/habits/ledger.h"
#include "inspect/judge/judge.h"
#include "inspect/learn/checker.h"
#include "inspect/learn/level.h"
#include "inspect/learn/observer.h"
#include "inspect/training/transfers.h"
#include "inspect/traincheck/traincheck.h"

struct state {
	struct wti_check_options options;
	struct wti_training training;
	struct wti_observer observer;
	struct wti_checker checker;
	struct wti_judge judge;
	struct wti_ledger ledger;
	struct wti_work work;           /* of devices */
	struct wti_tc_judge *published; /* invariants of TrainCheck's; NULL: the pack has none */
	struct wti_missing missing;
	struct wti_leader leader;
	struct wti_ended ended; /* of the leader */
	int64_t last_trained;   /* the last step in which an optimizer stepped; -1: none */
	bool has_pack;
	bool has_devices;
};

static void report(void *self, const struct wti_moment *moment)
{
	struct state *s = self;

	if (moment->type & WTI_MOMENT_STEP && moment->scope.step > s->last_trained)
		s->last_trained = moment->scope.step;
	if (s->has_pack)
		wti_observer_moment(&s->observer, moment);
	if (s->published)
		wti_tc_judge_moment(s->published, moment);
	if (s->options.with_rules)
		wti_judge_moment(&s->judge, moment);
	if (s->options.transfers)
		wti_transfers_take(s->options.transfers, moment);
}

/* The step in which a rule about training had something to say first; INT64_MAX: none had. */
static int64_t rules_since(const struct state *s)
{
	int64_t since = INT64_MAX;

	for (size_t i = 0; s->options.with_rules && i < s->judge.count; i++) {
		const struct wti_case *account = &s->judge.cases[i];

		if (account->violation_count && !account->rule->audit && !account->rule->survey &&
		    account->severity >= WT_WARNING && account->first_step < since)
			since = account->first_step;
	}
	return since;
}

/* Whether there is device work at all: taking it in needs memory. Of a run that goes on nobody
 * knows.
 */
static bool has_devices(const struct wt_trace *trace)
{
	for (size_t i = 0; trace && i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t b = 0; b < wt_reader_block_count(reader); b++)
			if (wt_reader_block(reader, b)->kind == WT_KIND_DEVICE_OP)
				return true;
	}
	return false;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *opaque_options,
		 struct wt_err *err)
{
	static const struct wti_check_options rules_alone = {.with_rules = true};
	struct state *s = opaque;
	int r = wti_training_init(&s->training, report, s, err);

	s->last_trained = -1;
	s->options =
		*(opaque_options ? (const struct wti_check_options *)opaque_options : &rules_alone);
	s->has_pack = s->options.pack;
	if (!r && s->has_pack)
		r = wti_checker_init(&s->checker, s->options.pack, s->training.symbols,
				     s->options.today ? s->options.today : "", err);
	s->checker.is_builtin = s->options.is_builtin;
	s->checker.beside_rules = s->options.with_rules;
	s->checker.pack_names = s->options.pack_names;
	s->checker.pack_count = s->options.pack_count;
	if (!r && s->has_pack)
		r = wti_observer_init(&s->observer, &s->training,
				      (struct wti_sink_of_occasions){&s->checker, wti_checker_take},
				      s->checker.relations, err);
	if (!r && s->has_pack)
		r = wti_tc_judge_open(&s->published, s->options.pack, &s->training,
				      (struct wti_sink_of_occasions){&s->checker, wti_checker_take},
				      &s->checker.levels, err);
	if (!r && s->options.with_rules)
		r = wti_judge_init(&s->judge, &s->training, err);
	if (r || !s->options.with_rules)
		return r;
	s->has_devices = has_devices(trace);
	if (s->has_devices) {
		r = wti_work_init(&s->work, trace, err);
		if (r)
			return r;
	}
	wti_judge_set(&s->judge, s->options.settings, s->options.setting_count);
	return wti_ledger_init(&s->ledger, wti_blocked_percent(&s->judge), &s->training.calls, err);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;
	int r;

	wti_missing_take(&s->missing, event);
	wti_leader_event(&s->leader, event);
	if (wti_may_lead(&s->leader, event))
		wti_ended_take(&s->ended, event);
	if (s->has_pack)
		wti_levels_take(&s->checker.levels, event);
	r = wti_training_event(&s->training, event, err);
	if (!r && s->published)
		r = wti_tc_judge_event(s->published, event, err);
	if (!r && s->options.with_rules)
		r = wti_ledger_event(&s->ledger, event, err);
	if (!r && s->has_devices)
		r = wti_work_event(&s->work, event, err);
	return r;
}

/* Agents take each backward() for a step where an optimizer has not stepped for long: it has not.
 */
static bool is_never_stepped(const struct wti_training *training)
{
	bool has_optimizer = false;

	for (size_t i = 0; i < training->processes.count; i++)
		if (wti_process_at(training, i)->step_count)
			return false;
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);

		has_optimizer |= object->type == WT_OBJECT_TYPE_OPTIMIZER && object->backward_count;
	}
	return has_optimizer;
}

/* How many steps there were, the last of them, and the one in which the run was when it ended: as
 * an agent counts, that is one more. None: no facts. */
static void add_steps(const struct state *s, struct wt_result *result)
{
	const struct wti_training *training = &s->training;
	uint64_t count = wti_leader_steps(&s->leader);
	int64_t last = -1;

	for (size_t i = 0; i < training->processes.count; i++)
		if (wti_process_at(training, i)->scope.step > last)
			last = wti_process_at(training, i)->scope.step;
	if (last >= 0) {
		bool is_after = wti_ended_is_after(&s->ended, last);

		wt_result_fact_count(result, "ended_in_step", "", WT_CELL_COUNT, (uint64_t)last);
		wt_result_fact_count(result, "last_step", "", WT_CELL_COUNT,
				     (uint64_t)last - is_after);
	}
	if (!count && last > 0) /* those of a process that does not lead */
		count = (uint64_t)last;
	if (count && !is_never_stepped(training))
		wt_result_fact_count(result, "steps", "", WT_CELL_COUNT, count);
}

/* The step that a program is in when it ends is one more, if it was to begin after the last. */
static void mark_to_end(const struct state *s, struct wt_result *result)
{
	for (size_t i = 0; s->last_trained >= 0 && i < result->finding_count; i++)
		result->findings[i].is_to_end = result->findings[i].last_step >= s->last_trained;
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;

	wti_training_finish(&s->training);
	add_steps(s, result);
	wti_missing_note(&s->missing, result);
	if (s->options.with_rules) {
		wti_ledger_finish(&s->ledger);
		wti_habits_audit(&s->judge, &s->ledger, !s->options.some_calls);
		if (s->has_devices) {
			int r = wti_work_finish(&s->work, err);

			if (r)
				return r;
			wti_device_survey(&s->judge, &s->work);
		}
		wti_judge_finish(&s->judge, result);
	}
	if (s->has_pack) {
		wti_observer_finish(&s->observer);
		if (s->published && wti_tc_judge_finish(s->published, err))
			return err->code;
		if (s->published && wti_tc_judge_is_cut(s->published))
			wt_result_note(result,
				       "variables have more values than can be compared: "
				       "TrainCheck's invariants were judged on a part of them");
		s->checker.lost_count = s->observer.scene.lost_count;
		s->checker.rules_since = rules_since(s);
		wti_checker_finish(&s->checker, result);
	}
	mark_to_end(s, result);
	return wt_result_status(result);
}

static size_t news(void *opaque, struct wt_result *result)
{
	struct state *s = opaque;
	size_t count = s->options.with_rules ? wti_judge_news(&s->judge, result) : 0;

	s->checker.rules_since = rules_since(s);
	count += s->has_pack ? wti_checker_news(&s->checker, result) : 0;
	if (count)
		wt_result_set_status(result, "findings");
	return count;
}

static void release(void *opaque)
{
	struct state *s = opaque;

	if (s->has_pack) {
		wti_tc_judge_free(s->published);
		wti_observer_release(&s->observer);
		wti_checker_release(&s->checker);
	}
	if (s->options.with_rules) {
		wti_judge_release(&s->judge);
		wti_ledger_release(&s->ledger);
		if (s->has_devices)
			wti_work_release(&s->work);
	}
	wti_missing_release(&s->missing);
	wti_training_release(&s->training);
}

const struct wt_inspector wti_inspector_doctor = {
	.name = "doctor",
	.summary = "find silent errors by rules that hold for every training run",
	.state_bytes = sizeof(struct state),
	.begin = begin,
	.event = event,
	.finish = finish,
	.news = news,
	.release = release,
};

const struct wt_inspector wti_inspector_check = {
	.name = "check",
	.summary = "hold a run against what was learned from others",
	.state_bytes = sizeof(struct state),
	.begin = begin,
	.event = event,
	.finish = finish,
	.news = news,
	.release = release,
};
