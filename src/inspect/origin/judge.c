/* SPDX-License-Identifier: Apache-2.0 */
/* What it means where the tensors of a file were seen: findings, and what could not be measured. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "judging.h"

static const char *const verdict_codes[WTI_VERDICTS] = {NULL,         "WT-LIN-001", "WT-LIN-002",
							"WT-LIN-003", "WT-LIN-004", "WT-LIN-009",
							"WT-LIN-011", "WT-LIN-006", "WT-LIN-005"};

/* ---- Findings ------------------------------------------------------------------------------- */

static void add_finding(struct wti_origin_judging *judging, const char *code,
			enum wt_severity severity, const char *evidence, int64_t step,
			uint64_t count)
{
	wti_origin_finding(judging->origin, judging->result, code, severity, evidence, step, count);
}

/* A number in the name of the file: "step_5.pt". */
static bool name_has_number(const char *path, int64_t number)
{
	for (const char *at = wti_origin_base(path); *at; at++) {
		char *end;

		if (*at < '0' || *at > '9')
			continue;
		if (strtoll(at, &end, 10) == number)
			return true;
		at = end - 1;
	}
	return false;
}

/* Whether it says that it is of the step in which it was saved: the best one so far does not. */
static bool claims_its_step(const struct wti_origin_judging *judging)
{
	const struct wti_origin_save *save = wti_judged_save(judging);
	const char *path = wti_origin_text(judging->origin, save->path);

	for (int64_t near = -1; near <= 1; near++) {
		int64_t step = save->step + near, made = (int64_t)save->optimizer_steps + near;

		if (save->claimed == step || save->claimed == made || name_has_number(path, step) ||
		    name_has_number(path, made))
			return true;
	}
	return false;
}

static enum wt_severity severity_of(const struct wti_origin_judging *judging,
				    enum wti_origin_verdict verdict)
{
	if (verdict == WTI_VERDICT_EXTRA)
		return WT_WARNING;
	if (verdict == WTI_VERDICT_EARLIER)
		return claims_its_step(judging) ? WT_ERROR : WT_NOTE;
	return WT_ERROR;
}

static void judge_optimizer(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_save *save = wti_judged_save(judging);

	/* A model alone is saved for its use; what has a step besides is meant to go on from. */
	if (save->has_optimizer || save->is_cut || !save->optimizer_steps || save->claimed < 0)
		return;
	for (size_t i = 0; i < origin->save_count; i++) {
		const struct wti_origin_save *other = &origin->saves[i];
		struct wti_buf text;

		if (!other->has_optimizer || other->is_load)
			continue;
		wti_buf_init(&text, 4096);
		wti_textf(&text,
			  "%s: no state of an optimizer, such as 'exp_avg' or 'momentum_buffer', "
			  "was saved",
			  wti_origin_base(origin->options.path));
		wti_put_step(&text, save->step);
		wti_textf(&text, "; '%s' has it", wti_origin_text(origin, other->path));
		add_finding(judging, "WT-LIN-010", WT_ERROR, wti_buf_cstr(&text), save->step, 1);
		wti_buf_release(&text);
		return;
	}
}

static void add_findings(struct wti_origin_judging *judging)
{
	for (int i = WTI_VERDICT_EQUAL + 1; i < WTI_VERDICTS; i++)
		if (judging->counts[i])
			add_finding(judging, verdict_codes[i], severity_of(judging, i),
				    wti_buf_cstr(&judging->first[i]), judging->steps[i],
				    judging->counts[i]);
	judge_optimizer(judging);
}

/* The file is all of another save. */
static void add_renamed(struct wti_origin_judging *judging, uint32_t expected)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_save *save = wti_judged_save(judging);
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	wti_textf(&text, "%s: '%s' and all other tensors are what was saved as '%s'",
		  wti_origin_base(origin->options.path), origin->options.tensors[0].name,
		  wti_origin_text(origin, save->path));
	wti_put_step(&text, save->step);
	wti_textf(&text, "; this name was saved");
	wti_put_step(&text, origin->saves[expected].step);
	add_finding(judging, "WT-LIN-007", WT_ERROR, wti_buf_cstr(&text), save->step,
		    origin->options.count);
	wti_buf_release(&text);
}

static size_t count_seen(const struct wti_origin *origin)
{
	size_t seen = 0;

	for (size_t i = 0; i < origin->options.count; i++)
		seen += origin->sighted[i] != 0;
	return seen;
}

/* ---- What could not be measured ------------------------------------------------------------- */

static const char *const reasons[WTI_UNMEASURED_REASONS] = {
	[WTI_UNMEASURED_PART] = "are spread over ranks, of which each recorded its own part alone",
	[WTI_UNMEASURED_NO_HASH] = "are in the trace without a hash: sharded (DTensor), on another "
				   "device, sparse, or not to be read",
	[WTI_UNMEASURED_CUT] = "may be in what was saved: the trace has not all of it",
};

static void note_unmeasured(const struct wti_origin_judging *judging)
{
	size_t count = 0;

	for (int i = 0; i < WTI_UNMEASURED_REASONS; i++) {
		if (!judging->unmeasured[i])
			continue;
		if (!count)
			wt_result_fact_text(judging->result, "unmeasured_why", "", reasons[i]);
		count += judging->unmeasured[i];
		wt_result_note(judging->result, "not measured: %zu of %zu tensors %s",
			       judging->unmeasured[i], judging->origin->options.count, reasons[i]);
	}
	if (count)
		wt_result_fact_count(judging->result, "unmeasured", "", WT_CELL_COUNT, count);
	if (judging->origin->dropped)
		wt_result_note(judging->result,
			       "not measured: %" PRIu64 " values of the run found no room",
			       judging->origin->dropped);
}

/* Whether the save of this name has tensors that the trace does not know the hash of. */
static bool may_hold_more(const struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;

	for (size_t i = judging->group; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];

		if (save->group != judging->group)
			continue;
		if (save->is_cut)
			return true;
		for (size_t j = 0; j < save->count; j++)
			if (origin->values[save->first + j].digest.flags & WT_TENSOR_NO_HASH)
				return true;
	}
	return false;
}

/* ---- All of it ------------------------------------------------------------------------------ */

/* Nothing that was saved is in the file. */
static void judge_stranger(struct wti_origin_judging *judging, size_t seen)
{
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	wti_textf(&text, "%s: none of %zu tensors, '%s' first, was saved by the run",
		  wti_origin_base(judging->origin->options.path), judging->origin->options.count,
		  judging->origin->options.tensors[0].name);
	if (seen)
		wti_textf(&text, "; %zu were held or loaded", seen);
	add_finding(judging, "WT-LIN-008", WT_ERROR, wti_buf_cstr(&text), -1,
		    judging->origin->options.count);
	wti_buf_release(&text);
}

/* Files without a save of their name are compared with this one. */
static void take_group(struct wti_origin_judging *judging, uint32_t group, bool is_for_all)
{
	for (size_t i = 0; i < judging->part_count; i++)
		if (is_for_all || judging->parts[i].group == WTI_NO_GROUP)
			judging->parts[i].group = group;
}

static void add_facts(struct wti_origin_judging *judging)
{
	const struct wti_origin_save *save = wti_judged_save(judging);

	wt_result_fact_text(judging->result, "compared", "compared with the save to",
			    wti_origin_text(judging->origin, save->path));
	if (save->step >= 0)
		wt_result_fact_count(judging->result, "saved_step", "saved in step", WT_CELL_ID,
				     (uint64_t)save->step);
	wt_result_fact_count(judging->result, "equal", "tensors as they were saved", WT_CELL_COUNT,
			     judging->counts[WTI_VERDICT_EQUAL]);
}

static bool was_saved(const struct wti_origin_judging *judging, uint64_t hash)
{
	const struct wti_origin *origin = judging->origin;

	for (size_t i = judging->group; i < origin->save_count; i++)
		for (size_t j = 0;
		     origin->saves[i].group == judging->group && j < origin->saves[i].count; j++)
			if (origin->values[origin->saves[i].first + j].digest.hash == hash)
				return true;
	return false;
}

/* Formats without names, such as Burn's .bin: all that is in the file was saved, and no name. */
static bool has_no_names(const struct wti_origin_judging *judging)
{
	const struct wti_origin_options *options = &judging->origin->options;

	for (size_t i = 0; i < options->count; i++)
		if (wti_origin_find(judging->origin, judging->group, options->tensors[i].name,
				    options->tensors[i].hash) ||
		    !was_saved(judging, options->tensors[i].hash))
			return false;
	return judging->is_whole && options->count == wti_judged_save(judging)->count;
}

static void judge(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	uint32_t expected = judging->group, best = wti_match_best(judging);
	size_t seen = count_seen(origin);

	wt_result_fact_count(judging->result, "seen", "", WT_CELL_COUNT, seen);
	if (expected == WTI_NO_GROUP)
		judging->group = best;
	if (judging->group == WTI_NO_GROUP ||
	    (best == WTI_NO_GROUP && !seen && !may_hold_more(judging))) {
		judge_stranger(judging, seen);
		return;
	}
	take_group(judging, judging->group, false);
	if (judging->is_whole && best != WTI_NO_GROUP &&
	    judging->scores[best] == origin->options.count &&
	    judging->scores[judging->group] < origin->options.count) {
		judging->group = best;
		take_group(judging, best, true);
		add_renamed(judging, expected);
	}
	if (has_no_names(judging)) {
		judging->counts[WTI_VERDICT_EQUAL] = origin->options.count;
		wt_result_note(judging->result, "the names of tensors in the file are not those "
						"that the run saved: compared by values alone");
	} else {
		wti_judge_tensors(judging);
	}
	add_findings(judging);
	add_facts(judging);
}

static int judge_saved(struct wti_origin_judging *judging)
{
	int r = wti_match_parts(judging);

	for (int i = 0; i < WTI_VERDICTS; i++)
		wti_buf_init(&judging->first[i], 8192);
	if (!r) {
		judging->table = wt_result_table(judging->result, "lineage",
						 "Tensors that are not what was saved");
		wti_verdict_columns(judging->table);
		judge(judging);
		wt_result_set_status(judging->result,
				     judging->result->finding_count ? "findings" : "clean");
		note_unmeasured(judging);
	}
	for (int i = 0; i < WTI_VERDICTS; i++)
		wti_buf_release(&judging->first[i]);
	free(judging->scores);
	free(judging->parts);
	free(judging->part_of);
	return r;
}

int wti_origin_judge(struct wti_origin *origin, struct wt_result *result)
{
	struct wti_origin_judging judging = {
		.origin = origin, .result = result, .group = WTI_NO_GROUP};
	bool has_saved = false;
	int r;

	for (size_t i = 0; i < origin->save_count; i++)
		has_saved |= !origin->saves[i].is_load;
	if (origin->options.count && wti_origin_judge_loaded(origin, result))
		return wt_result_status(result);
	if (!has_saved || !origin->options.count) {
		wt_result_set_status(result, "not_measured");
		wt_result_note(result, "not measured: %s",
			       has_saved ? "the file has no tensors" : "the run saved nothing");
		return wt_result_status(result);
	}
	r = judge_saved(&judging);
	return r ? r : wt_result_status(result);
}
