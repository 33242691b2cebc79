/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of each tensor of a model: equal to what was saved, or in which way it is not. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "judging.h"

static const char *const verdict_words[WTI_VERDICTS] = {"equal",      "differs",   "earlier",
							"other step", "exchanged", "average",
							"changed",    "extra",     "missing"};

/* ---- Adding --------------------------------------------------------------------------------- */

void wti_put_step(struct wti_buf *out, int64_t step)
{
	if (step >= 0)
		wti_textf(out, " in step %" PRId64, step);
}

/* One tensor; `text` is what is to be said of it. */
static void add(struct wti_origin_judging *judging, enum wti_origin_verdict verdict,
		const char *name, const char *file, int64_t step, const char *text)
{
	if (!judging->counts[verdict]++) {
		wti_textf(&judging->first[verdict], "%s: '%s' %s", wti_origin_base(file), name,
			  text);
		judging->steps[verdict] = step;
	}
	if (verdict == WTI_VERDICT_EQUAL)
		return;
	wt_table_row(judging->table);
	wt_table_text(judging->table, name, strlen(name));
	wt_table_text(judging->table, verdict_words[verdict], strlen(verdict_words[verdict]));
	wt_table_text(judging->table, text, strlen(text));
	wt_table_text(judging->table, file, strlen(file));
}

static void add_tensor(struct wti_origin_judging *judging, size_t tensor,
		       enum wti_origin_verdict verdict, int64_t step, struct wti_buf *text)
{
	const struct wti_origin_tensor *of = &judging->origin->options.tensors[tensor];

	add(judging, verdict, of->name, of->file, step, wti_buf_cstr(text));
}

/* ---- Of each tensor ------------------------------------------------------------------------- */

/* Where it was seen under its own name, the latest first: in the model, or saved elsewhere. */
static const struct wti_origin_sighting *seen_as_itself(const struct wti_origin_judging *judging,
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

static const struct wti_origin_sighting *seen_as(const struct wti_origin_judging *judging,
						 size_t tensor, bool is_average, bool is_turned)
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

static void judge_other(struct wti_origin_judging *judging, size_t tensor,
			const struct wti_origin_value *saved)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_sighting *seen = seen_as_itself(judging, tensor);
	enum wti_origin_verdict verdict = WTI_VERDICT_OTHER_STEP;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	if (seen) {
		wti_textf(&text, "has the value that it %s",
			  seen->how == WTI_ORIGIN_LIVE ? "got" : "was saved with");
		wti_put_step(&text, seen->step);
		wti_textf(&text, ", not the one that was saved");
		wti_put_step(&text, wti_judged_save(judging)->step);
	} else if ((seen = seen_as(judging, tensor, true, false))) {
		verdict = WTI_VERDICT_AVERAGE;
		wti_textf(&text, "has the value of '%s' in the copy '%s'",
			  wti_origin_text(origin, seen->name),
			  wti_origin_text(origin, seen->owner));
		wti_put_step(&text, seen->step);
	} else if ((seen = seen_as(judging, tensor, false, false))) {
		verdict = WTI_VERDICT_EXCHANGED;
		wti_textf(&text, "has the value of '%s'", wti_origin_text(origin, seen->name));
		wti_put_step(&text, seen->step);
	} else {
		verdict = WTI_VERDICT_DIFFERS;
		seen = seen_as(judging, tensor, false, true);
		wti_textf(&text, "differs from what was saved");
		wti_put_step(&text, wti_judged_save(judging)->step);
		if (seen)
			wti_textf(&text, ": it is transposed");
		else if (origin->options.explain)
			origin->options.explain(origin->options.cookie, tensor, &saved->digest,
						&text);
	}
	add_tensor(judging, tensor, verdict, seen ? seen->step : wti_judged_save(judging)->step,
		   &text);
	wti_buf_release(&text);
}

/* Whether more of what was saved is the average's than the model's. */
static bool is_of_average(const struct wti_origin_judging *judging)
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
static void judge_equal(struct wti_origin_judging *judging, size_t tensor,
			const struct wti_origin_value *saved, bool is_average)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_save *save = wti_judged_save(judging);
	const struct wti_origin_sighting *seen = NULL;
	enum wti_origin_verdict verdict = WTI_VERDICT_EQUAL;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	if (saved->live == WTI_LIVE_AVERAGE && is_average) {
		verdict = WTI_VERDICT_AVERAGE;
		wti_textf(&text, "has the value of the copy '%s'",
			  wti_origin_text(origin, saved->owner));
		wti_put_step(&text, save->step);
	} else if (saved->live == WTI_LIVE_OTHER) {
		seen = seen_as_itself(judging, tensor);
		seen = seen && seen->how == WTI_ORIGIN_LIVE ? seen : NULL;
		verdict = seen ? WTI_VERDICT_EARLIER : WTI_VERDICT_CHANGED;
		if (seen) {
			wti_textf(&text, "has the value that '%s' got",
				  wti_origin_text(origin, seen->owner));
			wti_put_step(&text, seen->step);
			wti_textf(&text, ", and was saved");
			wti_put_step(&text, save->step);
		} else {
			wti_textf(&text, "was saved");
			wti_put_step(&text, save->step);
			wti_textf(&text, ", and '%s' never held it",
				  wti_origin_text(origin, saved->owner));
		}
	}
	add_tensor(judging, tensor, verdict, seen ? seen->step : save->step, &text);
	wti_buf_release(&text);
}

/* The name is new: is it what was saved under another one that the file does not have? */
static void judge_new(struct wti_origin_judging *judging, size_t tensor)
{
	const struct wti_origin_sighting *seen = seen_as(judging, tensor, false, false);
	struct wti_buf text;

	if (wti_judged_save(judging)->is_cut) {
		judging->unmeasured[WTI_UNMEASURED_CUT]++;
		return;
	}
	wti_buf_init(&text, 4096);
	wti_textf(&text, "was not saved");
	wti_put_step(&text, wti_judged_save(judging)->step);
	if (seen)
		wti_textf(&text, "; it has the value of '%s'",
			  wti_origin_text(judging->origin, seen->name));
	add_tensor(judging, tensor, WTI_VERDICT_EXTRA, wti_judged_save(judging)->step, &text);
	wti_buf_release(&text);
}

/* Whether ranks saved parts of it: the file has it as a whole, with another hash. */
static bool is_part(const struct wti_origin_judging *judging,
		    const struct wti_origin_tensor *tensor, const struct wti_origin_value *saved)
{
	const struct wti_origin *origin = judging->origin;

	if (saved->digest.count >= tensor->count)
		return false;
	for (size_t i = judging->group + 1; i < origin->save_count; i++)
		if (origin->saves[i].group == judging->group)
			return true;
	return false;
}

/* It is what was saved to its file, which the save of the other files left as it was. */
static void judge_stale(struct wti_origin_judging *judging, size_t tensor, int64_t newest)
{
	int64_t step = wti_judged_save(judging)->step;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	wti_textf(&text, "was saved");
	wti_put_step(&text, step);
	wti_textf(&text, ", and other files of the model");
	wti_put_step(&text, newest);
	add_tensor(judging, tensor, WTI_VERDICT_OTHER_STEP, step, &text);
	wti_buf_release(&text);
}

static void judge_tensor(struct wti_origin_judging *judging, size_t at, bool is_average,
			 int64_t newest)
{
	const struct wti_origin *origin = judging->origin;
	const struct wti_origin_tensor *tensor = &origin->options.tensors[at];
	const struct wti_origin_value *saved =
		wti_origin_find(origin, judging->group, tensor->name, tensor->hash);

	if (!saved)
		judge_new(judging, at);
	else if (saved->digest.flags & WT_TENSOR_NO_HASH)
		judging->unmeasured[WTI_UNMEASURED_NO_HASH]++;
	else if (saved->digest.hash == tensor->hash &&
		 judging->parts[judging->part_of[at]].is_stale)
		judge_stale(judging, at, newest);
	else if (saved->digest.hash == tensor->hash)
		judge_equal(judging, at, saved, is_average);
	else if (is_part(judging, tensor, saved))
		judging->unmeasured[WTI_UNMEASURED_PART]++;
	else
		judge_other(judging, at, saved);
}

/* ---- Missing -------------------------------------------------------------------------------- */

static void judge_missing(struct wti_origin_judging *judging, const struct wti_map *names,
			  const char *file)
{
	const struct wti_origin *origin = judging->origin;
	struct wti_buf text;

	wti_buf_init(&text, 4096);
	wti_textf(&text, "was saved");
	wti_put_step(&text, wti_judged_save(judging)->step);
	wti_textf(&text, " and is not there");
	for (size_t i = judging->group; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];

		for (size_t j = 0; save->group == judging->group && j < save->count; j++) {
			const char *name =
				wti_origin_text(origin, origin->values[save->first + j].name);

			if (!wti_map_find_text(names, name, strlen(name)))
				add(judging, WTI_VERDICT_MISSING, name, file, save->step,
				    wti_buf_cstr(&text));
		}
	}
	wti_buf_release(&text);
}

/* Of several files with one save, that of all of them. */
static bool is_first_of_group(const struct wti_origin_judging *judging, size_t part)
{
	for (size_t i = 0; i < part; i++)
		if (judging->parts[i].group == judging->parts[part].group)
			return false;
	return true;
}

static void judge_all_missing(struct wti_origin_judging *judging)
{
	const struct wti_origin_options *options = &judging->origin->options;
	struct wti_map names;

	wti_map_init(&names, options->count + 1);
	for (size_t i = 0; i < options->count; i++)
		wti_map_text(&names, options->tensors[i].name, strlen(options->tensors[i].name));
	for (size_t i = 0; i < judging->part_count; i++) {
		judging->group = judging->parts[i].group;
		if (is_first_of_group(judging, i))
			judge_missing(judging, &names,
				      judging->part_count > 1 && !judging->is_whole
					      ? judging->parts[i].file
					      : options->path);
	}
	wti_map_release(&names);
}

/* ---- All of them ---------------------------------------------------------------------------- */

void wti_judge_tensors(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	uint32_t newest = judging->group, last = WTI_NO_GROUP;
	bool is_average = false;

	for (size_t i = 0; i < origin->options.count; i++) {
		judging->group = judging->parts[judging->part_of[i]].group;
		if (judging->group != last)
			is_average = is_of_average(judging);
		last = judging->group;
		judge_tensor(judging, i, is_average, origin->saves[newest].step);
	}
	judge_all_missing(judging);
	judging->group = newest;
}

void wti_verdict_columns(struct wt_table *table)
{
	wt_table_column(table, "tensor", "tensor", WT_CELL_TEXT);
	wt_table_column(table, "verdict", "verdict", WT_CELL_TEXT);
	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_hide(table, 1);
}
