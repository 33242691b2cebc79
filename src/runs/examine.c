/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the order: wishes, the run, the inspector, suppressions, damage, the ending. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "ending.h"
#include "examine.h"
#include "inspect/check/check.h"
#include "lineage.h"
#include "suppress.h"
#include "thresholds.h"
#include "truncated.h"

/* What people have said in wheeltap.toml about how to judge. */
struct wishes {
	struct wti_suppressions *suppressions;
	struct wti_setting *settings;
};

static int read_wishes(const struct wti_front *front, const struct wti_examination *in,
		       struct wishes *wishes, struct wt_err *err)
{
	int r = 0;

	if (in->suppress && front->config)
		r = wti_suppressions_read(front->config, &wishes->suppressions, err);
	if (!r && in->judging && front->config)
		r = wti_thresholds_read(front->config, &wishes->settings,
					&in->judging->setting_count, err);
	if (in->judging)
		in->judging->settings = wishes->settings;
	return r;
}

static void release_wishes(struct wishes *wishes)
{
	wti_suppressions_free(wishes->suppressions);
	free(wishes->settings);
}

int64_t wti_ended_in_step(const struct wt_result *result)
{
	const struct wt_fact *fact = wt_result_fact(result, "ended_in_step");

	return fact ? (int64_t)fact->value.count : -1;
}

uint64_t wti_step_count(const struct wt_result *result)
{
	const struct wt_fact *fact = wt_result_fact(result, "steps");

	return fact ? fact->value.count : 0;
}

void wti_shorten_paths(struct wt_result *result, const char *directory)
{
	size_t bytes = directory ? strlen(directory) : 0;

	for (size_t i = 0; bytes > 1 && i < result->finding_count; i++) {
		const char *file = result->findings[i].file;

		if (file && !strncmp(file, directory, bytes) && file[bytes] == '/')
			wt_result_finding_file(result, i, file + bytes + 1);
	}
}

static int feed(const struct wti_front *front, const struct wti_examination *in,
		struct wti_examined *examined, struct wt_err *err)
{
	int r;

	if (in->judging)
		in->judging->some_calls = examined->opened.run.some_calls;
	if (in->before)
		in->before(&examined->opened, &examined->result);
	wti_front_progress(front, 0);
	r = wt_inspect(wt_inspector_by_name(in->inspector), examined->opened.trace, in->query,
		       in->options, &examined->result, front->progress, front->cookie, err);
	wti_front_progress(front, WTI_PROGRESS_OVER);
	return r;
}

static void suppress(struct wti_suppressions *suppressions, struct wt_result *result)
{
	char day[16];
	const char *today = wti_today(day);

	wti_suppress(suppressions, result, today);
	wti_suppress_say(suppressions, result, today);
}

bool wti_judged_early(struct wt_result *result, const char *run_status)
{
	wt_result_fact_text(result, "run_status", "", run_status);
	if (!wti_ended_early(run_status))
		return false;
	if (result->status && !strcmp(result->status, "clean"))
		wt_result_set_status(result, "not_measured");
	return true;
}

/* Of a run that another host recorded it is not known whether it goes on: it may have died. */
static bool may_have_ended(struct wt_result *result, const struct wti_run *run)
{
	if (wti_judged_early(result, run->status))
		return true;
	if (run->elsewhere[0] && result->status && !strcmp(result->status, "clean"))
		wt_result_set_status(result, "not_measured");
	return run->elsewhere[0];
}

/* `failed`: why the run could not be read to its end, or NULL. */
static void conclude(const struct wti_examination *in, struct wti_suppressions *suppressions,
		     const struct wt_err *failed, struct wti_examined *examined)
{
	const struct wti_run *run = &examined->opened.run;
	struct wt_result *result = &examined->result;

	if (failed)
		wti_note_error(result, NULL, failed);
	wti_shorten_paths(result, run->directory);
	suppress(suppressions, result);
	examined->is_damaged = wti_note_damage(&examined->opened, result) || failed;
	if (in->judging)
		examined->is_damaged |= wti_note_truncated(&examined->opened, result);
	examined->is_whole = !examined->is_damaged;
	if (!examined->is_whole && result->status && !strcmp(result->status, "clean"))
		wt_result_set_status(result, "damaged");
	if (in->judging && may_have_ended(result, run))
		examined->is_whole = false;
	if (result->status && !strcmp(result->status, "not_measured"))
		examined->is_whole = false;
}

int wti_examine(const struct wti_front *front, const struct wti_examination *in, const char *word,
		struct wti_examined *ret_examined, struct wt_err *err)
{
	struct wti_examined examined = {.is_whole = false};
	struct wt_err failed = {.offset = -1};
	struct wishes wishes = {NULL};
	struct wti_transfers transfers;
	int r = read_wishes(front, in, &wishes, err), read;

	wt_result_init(&examined.result, in->verb ? in->verb : in->inspector);
	r = r ? r : wti_open(front, word, &examined.opened, err);
	wti_transfers_init(&transfers);
	if (in->judging)
		in->judging->transfers = &transfers;
	read = r ? r : feed(front, in, &examined, &failed);
	if (in->judging)
		in->judging->transfers = NULL;
	if (!r && !read && in->judging && in->judging->with_rules)
		r = wti_lineage_across(front, &examined.opened.run, &transfers, &examined.result,
				       err);
	wti_transfers_release(&transfers);
	if (!r && read == WT_E_NOMEM)
		r = wti_err(err, read, "%s", failed.message);
	if (!r)
		conclude(in, wishes.suppressions, read ? &failed : NULL, &examined);
	if (in->judging)
		in->judging->settings = NULL;
	release_wishes(&wishes);
	if (r)
		wti_examined_release(&examined);
	else
		*ret_examined = examined;
	return r;
}

void wti_examined_release(struct wti_examined *examined)
{
	wt_result_release(&examined->result);
	wti_close(&examined->opened);
}
