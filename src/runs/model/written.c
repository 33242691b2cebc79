/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that the run wrote without saying what is in it: what its system calls tell. Which process
 * wrote it, in which step, whether it was written to again, and whether it is as long as it was.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "inspect/origin/origin.h"
#include "runs/model/verify.h"
#include "runs/seen.h"

/* The thing that is this file: by the path that the program used, or the end of it. */
static const struct wti_thing *find_thing(const struct wti_effects *effects, const char *directory,
					  const char *place)
{
	size_t bytes = directory ? strlen(directory) : 0;
	const char *below = bytes && !strncmp(place, directory, bytes) && place[bytes] == '/'
				    ? place + bytes + 1
				    : place;
	char name[4096];
	const struct wti_thing *found;

	snprintf(name, sizeof(name), "$CWD/%s", below);
	found = wti_effects_thing(effects, WTI_THING_FILE, name);
	return found ? found : wti_effects_thing(effects, WTI_THING_FILE, place);
}

static uint64_t total(const struct wti_effects *effects, const struct wti_thing *thing,
		      enum wti_effect effect)
{
	const struct wti_tally *tally =
		wti_effects_tally(effects, wti_effects_index(effects, thing), effect);

	return tally ? tally->total : 0;
}

/* "by 'train' in step 5, from 'model.tmp'" */
static void put_writer(struct wti_buf *out, const struct wti_effects *effects,
		       const struct wti_thing *thing)
{
	const struct wti_tally *tally = wti_effects_tally(
		effects, wti_effects_index(effects, thing), WTI_EFFECT_WRITTEN_BYTES);

	wti_textf(out, "written by '");
	if (tally && tally->shares[0].process)
		wti_effects_role(effects, tally->shares[0].process - 1, out);
	wti_textf(out, "'");
	if (tally && tally->first_step >= 0)
		wti_textf(out, " in step %lld", (long long)tally->first_step);
	else if (tally && tally->first_step == WTI_NO_STEP)
		wti_textf(out, " before the first step");
	if (thing->via)
		wti_textf(out, ", renamed from '%s'", thing->via);
}

/* Written once, and of another size since. */
static void add_finding(struct wti_model_verifying *verifying, const struct wti_tally *written,
			const char *evidence)
{
	wti_lineage_finding(verifying->result,
			    &(struct wti_lineage_finding){
				    .code = "WT-LIN-001",
				    .severity = WT_ERROR,
				    .evidence = evidence,
				    .path = verifying->model->path,
				    .step = written->first_step >= 0 ? written->first_step : -1,
				    .count = 1,
				    .case_count = 1});
}

static void judge(struct wti_model_verifying *verifying, const struct wti_effects *effects,
		  const struct wti_thing *thing, const char *place)
{
	const struct wti_tally *written = wti_effects_tally(
		effects, wti_effects_index(effects, thing), WTI_EFFECT_WRITTEN_BYTES);
	bool is_again = total(effects, thing, WTI_EFFECT_MADE) > 1 ||
			total(effects, thing, WTI_EFFECT_REPLACED) > 1 ||
			total(effects, thing, WTI_EFFECT_CHANGED);
	enum wti_model_verdict verdict = WTI_LAYER_NOT_MEASURED;
	struct wti_buf text;
	struct stat st;

	wti_buf_init(&text, 4096);
	put_writer(&text, effects, thing);
	if (stat(place, &st) || !S_ISREG(st.st_mode)) {
		wti_textf(&text, "; its size is not known");
	} else if (is_again) {
		wti_textf(&text, ", and written to again; %llu bytes now",
			  (unsigned long long)st.st_size);
	} else {
		wti_textf(&text, ", once: %llu bytes; it has %llu now",
			  (unsigned long long)written->total, (unsigned long long)st.st_size);
		if ((uint64_t)st.st_size != written->total) {
			verdict = WTI_LAYER_VIOLATED;
			add_finding(verifying, written, wti_buf_cstr(&text));
		}
	}
	wti_layer_says(verifying, verdict, "tensors were not recorded; %s", wti_buf_cstr(&text));
	wti_buf_release(&text);
}

bool wti_model_written(struct wti_model_verifying *verifying, const char *place)
{
	struct wti_seen_run seen;
	struct wt_result nothing;
	struct wt_err err;
	const struct wti_thing *thing = NULL;

	wt_result_init(&nothing, "model");
	if (!wti_seen_open(verifying->front, verifying->options->against, &seen, &nothing, &err)) {
		thing = find_thing(&seen.effects, seen.opened.run.directory, place);
		if (thing && total(&seen.effects, thing, WTI_EFFECT_WRITTEN_BYTES))
			judge(verifying, &seen.effects, thing, place);
		else
			thing = NULL;
		wti_seen_close(&seen);
	}
	wt_result_release(&nothing);
	return thing != NULL;
}
