/* SPDX-License-Identifier: Apache-2.0 */
/* What it means where the tensors of a file were seen: the save that it should be, and what is not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "own.h"

enum verdict {
	EQUAL,
	DIFFERS,    /* from what was saved, and was never seen */
	EARLIER,    /* saved as it is, but the model had moved on */
	OTHER_STEP, /* the value that it had in another step */
	EXCHANGED,  /* the value of another tensor */
	AVERAGE,    /* the value of a copy of the model */
	CHANGED,    /* saved as it is, but the model held something else, and never this */
	EXTRA,
	MISSING,
	VERDICTS,
};

static const char *const verdict_words[VERDICTS] = {"equal",      "differs",   "earlier",
						    "other step", "exchanged", "average",
						    "changed",    "extra",     "missing"};
static const char *const verdict_codes[VERDICTS] = {NULL,         "WT-LIN-001", "WT-LIN-002",
						    "WT-LIN-003", "WT-LIN-004", "WT-LIN-009",
						    "WT-LIN-011", "WT-LIN-006", "WT-LIN-005"};

#define NO_GROUP UINT32_MAX

struct judging {
	struct wti_origin *origin;
	struct wt_result *result;
	struct wt_table *table;
	uint32_t group;   /* of saves that the file should be */
	uint32_t *scores; /* by group: tensors that are equal */
	size_t counts[VERDICTS];
	size_t sharded;                 /* tensors of which each rank recorded its own part alone */
	struct wti_buf first[VERDICTS]; /* evidence of the first */
	int64_t steps[VERDICTS];
};

static const struct wti_origin_save *save_of(const struct judging *judging)
{
	return &judging->origin->saves[judging->group];
}

/* ---- Which save it should be ---------------------------------------------------------------- */

static void count_scores(struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;

	for (size_t i = 0; i < origin->options.count; i++) {
		uint32_t last = NO_GROUP;

		for (uint32_t at = origin->sighted[i]; at; at = origin->sightings[at - 1].next) {
			const struct wti_origin_sighting *seen = &origin->sightings[at - 1];
			uint32_t group;

			if (seen->how != WTI_ORIGIN_SAVED || seen->is_turned ||
			    strcmp(wti_origin_text(origin, seen->name),
				   origin->options.tensors[i].name))
				continue;
			group = origin->saves[seen->save].group;
			judging->scores[group] += group != last;
			last = group;
		}
	}
}

/* The last one to this name; NO_GROUP: none was. */
static uint32_t find_by_name(const struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	const char *base = wti_origin_base(origin->options.path);
	uint32_t found = NO_GROUP;

	for (size_t i = 0; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];

		if (!save->is_load && save->path != WTI_SYMBOL_NONE &&
		    !strcmp(wti_origin_base(wti_origin_text(origin, save->path)), base))
			found = save->group;
	}
	return found;
}

static uint32_t find_best(const struct judging *judging)
{
	uint32_t best = NO_GROUP;

	for (uint32_t i = 0; i < judging->origin->save_count; i++)
		if (judging->scores[i] &&
		    (best == NO_GROUP || judging->scores[i] >= judging->scores[best]))
			best = i;
	return best;
}

/* ---- Adding --------------------------------------------------------------------------------- */

static void put_step(struct wti_buf *out, int64_t step)
{
	if (step >= 0)
		wti_textf(out, " in step %" PRId64, step);
}

/* One tensor; `text` is what is to be said of it. */
static void add(struct judging *judging, enum verdict verdict, const char *name, const char *file,
		int64_t step, const char *text)
{
	if (!judging->counts[verdict]++) {
		wti_textf(&judging->first[verdict], "%s: '%s' %s", wti_origin_base(file), name,
			  text);
		judging->steps[verdict] = step;
	}
	if (verdict == EQUAL)
		return;
	wt_table_row(judging->table);
	wt_table_text(judging->table, name, strlen(name));
	wt_table_text(judging->table, verdict_words[verdict], strlen(verdict_words[verdict]));
	wt_table_text(judging->table, text, strlen(text));
	wt_table_text(judging->table, file, strlen(file));
}

static void add_tensor(struct judging *judging, size_t tensor, enum verdict verdict, int64_t step,
		       struct wti_buf *text)
{
	const struct wti_origin_tensor *of = &judging->origin->options.tensors[tensor];

	add(judging, verdict, of->name, of->file, step, wti_buf_cstr(text));
}

/* ---- Of each tensor ------------------------------------------------------------------------- */

/* Where it was seen under its own name, the latest first: in the model, or saved elsewhere. */
static const struct wti_origin_sighting *seen_as_itself(const struct judging *judging,
							size_t tensor)
{
	const struct wti_origin *origin = judging->origin;
	const char *name = origin->options.tensors[tensor].name;
	const struct wti_origin_sighting *saved = NULL;

	for (uint32_t at = origin->sighted[tensor]; at; at = origin->sightings[at - 1].next) {
		const struct wti_origin_sighting *seen = &origin->sightings[at - 1];

		if (seen->is_turned ||
		    !wti_origin_ends_with(name, wti_origin_text(origin, seen->name)))
			continue;
		if (seen->how == WTI_ORIGIN_LIVE && !seen->is_average)
			return seen;
		if (seen->how == WTI_ORIGIN_SAVED)
			saved = seen;
	}
	return saved;
}

static const struct wti_origin_sighting *seen_as(const struct judging *judging, size_t tensor,
						 bool is_average, bool is_turned)
{
	const struct wti_origin *origin = judging->origin;

	for (uint32_t at = origin->sighted[tensor]; at; at = origin->sightings[at - 1].next) {
		const struct wti_origin_sighting *seen = &origin->sightings[at - 1];

		if (seen->is_turned == is_turned &&
		    (!is_average || (seen->how == WTI_ORIGIN_LIVE && seen->is_average)) &&
		    (!is_turned || wti_origin_ends_with(origin->options.tensors[tensor].name,
							wti_origin_text(origin, seen->name))))
			return seen;
	}
	return NULL;
}

static void judge_other(struct judging *judging, size_t tensor,
			const struct wti_origin_value *saved)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_sighting *seen = seen_as_itself(judging, tensor);
	enum verdict verdict = OTHER_STEP;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	if (seen) {
		wti_textf(&text, "has the value that it %s",
			  seen->how == WTI_ORIGIN_LIVE ? "got" : "was saved with");
		put_step(&text, seen->step);
		wti_textf(&text, ", not the one that was saved");
		put_step(&text, save_of(judging)->step);
	} else if ((seen = seen_as(judging, tensor, true, false))) {
		verdict = AVERAGE;
		wti_textf(&text, "has the value of '%s' in the copy '%s'",
			  wti_origin_text(origin, seen->name),
			  wti_origin_text(origin, seen->owner));
		put_step(&text, seen->step);
	} else if ((seen = seen_as(judging, tensor, false, false))) {
		verdict = EXCHANGED;
		wti_textf(&text, "has the value of '%s'", wti_origin_text(origin, seen->name));
		put_step(&text, seen->step);
	} else {
		verdict = DIFFERS;
		seen = seen_as(judging, tensor, false, true);
		wti_textf(&text, "differs from what was saved");
		put_step(&text, save_of(judging)->step);
		if (seen)
			wti_textf(&text, ": it is transposed");
		else if (origin->options.explain)
			origin->options.explain(origin->options.cookie, tensor, &saved->digest,
						&text);
	}
	add_tensor(judging, tensor, verdict, seen ? seen->step : save_of(judging)->step, &text);
	wti_buf_release(&text);
}

/* Whether more of what was saved is the average's than the model's. */
static bool is_of_average(const struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	size_t counts[WTI_LIVE_OTHER + 1] = {0};

	for (size_t i = judging->group; i < origin->save_count; i++)
		for (size_t j = 0;
		     origin->saves[i].group == judging->group && j < origin->saves[i].count; j++)
			counts[origin->values[origin->saves[i].first + j].live]++;
	return counts[WTI_LIVE_AVERAGE] > counts[WTI_LIVE_EQUAL];
}

/* It is what was saved: and was that what the model held? */
static void judge_equal(struct judging *judging, size_t tensor,
			const struct wti_origin_value *saved, bool is_average)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_save *save = save_of(judging);
	const struct wti_origin_sighting *seen = NULL;
	enum verdict verdict = EQUAL;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	if (saved->live == WTI_LIVE_AVERAGE && is_average) {
		verdict = AVERAGE;
		wti_textf(&text, "has the value of the copy '%s'",
			  wti_origin_text(origin, saved->owner));
		put_step(&text, save->step);
	} else if (saved->live == WTI_LIVE_OTHER) {
		seen = seen_as_itself(judging, tensor);
		seen = seen && seen->how == WTI_ORIGIN_LIVE ? seen : NULL;
		verdict = seen ? EARLIER : CHANGED;
		if (seen) {
			wti_textf(&text, "has the value that '%s' got",
				  wti_origin_text(origin, seen->owner));
			put_step(&text, seen->step);
			wti_textf(&text, ", and was saved");
			put_step(&text, save->step);
		} else {
			wti_textf(&text, "was saved");
			put_step(&text, save->step);
			wti_textf(&text, ", and '%s' never held it",
				  wti_origin_text(origin, saved->owner));
		}
	}
	add_tensor(judging, tensor, verdict, seen ? seen->step : save->step, &text);
	wti_buf_release(&text);
}

/* The name is new: is it what was saved under another one that the file does not have? */
static void judge_new(struct judging *judging, size_t tensor)
{
	const struct wti_origin_sighting *seen = seen_as(judging, tensor, false, false);
	struct wti_buf text;

	if (save_of(judging)->is_cut)
		return;
	wti_buf_init(&text, 4096);
	wti_textf(&text, "was not saved");
	put_step(&text, save_of(judging)->step);
	if (seen)
		wti_textf(&text, "; it has the value of '%s'",
			  wti_origin_text(judging->origin, seen->name));
	add_tensor(judging, tensor, EXTRA, save_of(judging)->step, &text);
	wti_buf_release(&text);
}

/* Whether ranks saved parts of it: the file has it as a whole, with another hash. */
static bool is_sharded(const struct judging *judging, const struct wti_origin_tensor *tensor,
		       const struct wti_origin_value *saved)
{
	const struct wti_origin *origin = judging->origin;

	if (saved->digest.count >= tensor->count)
		return false;
	for (size_t i = judging->group + 1; i < origin->save_count; i++)
		if (origin->saves[i].group == judging->group)
			return true;
	return false;
}

static void judge_tensors(struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	bool is_average = is_of_average(judging);

	for (size_t i = 0; i < origin->options.count; i++) {
		const struct wti_origin_tensor *tensor = &origin->options.tensors[i];
		const struct wti_origin_value *saved =
			wti_origin_find(origin, judging->group, tensor->name, tensor->hash);

		if (!saved)
			judge_new(judging, i);
		else if (saved->digest.hash == tensor->hash)
			judge_equal(judging, i, saved, is_average);
		else if (is_sharded(judging, tensor, saved))
			judging->sharded++;
		else
			judge_other(judging, i, saved);
	}
}

static void judge_missing(struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	struct wti_buf text;
	struct wti_map names;

	wti_map_init(&names, origin->options.count + 1);
	for (size_t i = 0; i < origin->options.count; i++)
		wti_map_text(&names, origin->options.tensors[i].name,
			     strlen(origin->options.tensors[i].name));
	wti_buf_init(&text, 4096);
	wti_textf(&text, "was saved");
	put_step(&text, save_of(judging)->step);
	wti_textf(&text, " and is not there");
	for (size_t i = judging->group; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];

		for (size_t j = 0; save->group == judging->group && j < save->count; j++) {
			const char *name =
				wti_origin_text(origin, origin->values[save->first + j].name);

			if (!wti_map_find_text(&names, name, strlen(name)))
				add(judging, MISSING, name, origin->options.path, save->step,
				    wti_buf_cstr(&text));
		}
	}
	wti_buf_release(&text);
	wti_map_release(&names);
}

/* ---- Findings ------------------------------------------------------------------------------- */

static void add_finding(struct judging *judging, const char *code, enum wt_severity severity,
			const char *evidence, int64_t step, uint64_t count)
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
static bool claims_its_step(const struct judging *judging)
{
	const struct wti_origin_save *save = save_of(judging);
	const char *path = wti_origin_text(judging->origin, save->path);

	for (int64_t near = -1; near <= 1; near++) {
		int64_t step = save->step + near, made = (int64_t)save->optimizer_steps + near;

		if (save->claimed == step || save->claimed == made || name_has_number(path, step) ||
		    name_has_number(path, made))
			return true;
	}
	return false;
}

static enum wt_severity severity_of(const struct judging *judging, enum verdict verdict)
{
	if (verdict == EXTRA)
		return WT_WARNING;
	if (verdict == EARLIER)
		return claims_its_step(judging) ? WT_ERROR : WT_NOTE;
	return WT_ERROR;
}

static void judge_optimizer(struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_save *save = save_of(judging);

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
		put_step(&text, save->step);
		wti_textf(&text, "; '%s' has it", wti_origin_text(origin, other->path));
		add_finding(judging, "WT-LIN-010", WT_ERROR, wti_buf_cstr(&text), save->step, 1);
		wti_buf_release(&text);
		return;
	}
}

static void add_findings(struct judging *judging)
{
	for (int i = EQUAL + 1; i < VERDICTS; i++)
		if (judging->counts[i])
			add_finding(judging, verdict_codes[i], severity_of(judging, i),
				    wti_buf_cstr(&judging->first[i]), judging->steps[i],
				    judging->counts[i]);
	judge_optimizer(judging);
}

/* The file is all of another save. */
static void add_renamed(struct judging *judging, uint32_t expected)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_save *save = save_of(judging);
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	wti_textf(&text, "%s: '%s' and all other tensors are what was saved as '%s'",
		  wti_origin_base(origin->options.path), origin->options.tensors[0].name,
		  wti_origin_text(origin, save->path));
	put_step(&text, save->step);
	wti_textf(&text, "; this name was saved");
	put_step(&text, origin->saves[expected].step);
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

/* ---- All of it ------------------------------------------------------------------------------ */

/* Nothing that was saved is in the file. */
static void judge_stranger(struct judging *judging, size_t seen)
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

static void judge(struct judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	uint32_t expected = find_by_name(judging), best = find_best(judging);
	size_t seen = count_seen(origin);

	wt_result_fact_count(judging->result, "seen", "", WT_CELL_COUNT, seen);
	judging->group = expected != NO_GROUP ? expected : best;
	if (judging->group == NO_GROUP || (best == NO_GROUP && !seen)) {
		judge_stranger(judging, seen);
		return;
	}
	if (best != NO_GROUP && judging->scores[best] == origin->options.count &&
	    judging->scores[judging->group] < origin->options.count) {
		judging->group = best;
		add_renamed(judging, expected);
	}
	judge_tensors(judging);
	judge_missing(judging);
	add_findings(judging);
	wt_result_fact_text(judging->result, "compared", "compared with the save to",
			    wti_origin_text(origin, save_of(judging)->path));
	if (save_of(judging)->step >= 0)
		wt_result_fact_count(judging->result, "saved_step", "saved in step", WT_CELL_ID,
				     (uint64_t)save_of(judging)->step);
	wt_result_fact_count(judging->result, "equal", "tensors as they were saved", WT_CELL_COUNT,
			     judging->counts[EQUAL]);
}

static void describe_table(struct wt_table *table)
{
	wt_table_column(table, "tensor", "tensor", WT_CELL_TEXT);
	wt_table_column(table, "verdict", "verdict", WT_CELL_TEXT);
	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_hide(table, 1);
}

int wti_origin_judge(struct wti_origin *origin, struct wt_result *result)
{
	struct judging judging = {.origin = origin, .result = result, .group = NO_GROUP};
	bool has_saved = false;

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
	judging.scores = calloc(origin->save_count, sizeof(*judging.scores));
	if (!judging.scores)
		return WT_E_NOMEM;
	for (int i = 0; i < VERDICTS; i++)
		wti_buf_init(&judging.first[i], 8192);
	judging.table = wt_result_table(result, "lineage", "Tensors that are not what was saved");
	describe_table(judging.table);
	count_scores(&judging);
	judge(&judging);
	for (int i = 0; i < VERDICTS; i++)
		wti_buf_release(&judging.first[i]);
	free(judging.scores);
	wt_result_set_status(result, result->finding_count ? "findings" : "clean");
	if (judging.sharded)
		wt_result_note(result,
			       "not measured: %zu tensors are spread over ranks, of which each "
			       "recorded its own part alone",
			       judging.sharded);
	if (origin->dropped)
		wt_result_note(result, "not measured: %" PRIu64 " values of the run found no room",
			       origin->dropped);
	return wt_result_status(result);
}
