/* SPDX-License-Identifier: Apache-2.0 */
/* What `doctor` finds in the run, with its evidence. */
#include "base/err.h"
#include "inspect/check/check.h"
#include "runs/ending.h"
#include "runs/examine.h"
#include "runs/packs.h"
#include "runs/suppress.h"
#include "section.h"

static void add_count(const struct wt_result *judged, const char *key, const char *title,
		      struct wt_result *result)
{
	const struct wt_fact *fact = wt_result_fact(judged, key);

	if (fact)
		wt_result_fact_count(result, key, title, WT_CELL_COUNT, fact->value.count);
}

static void take(const struct wt_result *judged, const char *run_status, struct wt_result *result)
{
	wt_result_set_status(result, judged->status);
	for (size_t i = 0; i < judged->finding_count; i++)
		wt_result_finding(result, &judged->findings[i]);
	add_count(judged, "rules_held", "rules held", result);
	add_count(judged, "rules_violated", "rules violated", result);
	add_count(judged, "rules_not_measured", "rules not measured", result);
	add_count(judged, "invariants_held", "invariants held", result);
	add_count(judged, "invariants_violated", "invariants violated", result);
	for (size_t i = 0; i < judged->note_count; i++)
		wt_result_note(result, "%s", judged->notes[i]);
	if (wti_ended_early(run_status))
		wt_result_note(result, "the run ended early: what would have come after that was "
				       "not examined");
}

int wti_section_findings(struct wti_report_source *source, struct wt_result *result,
			 struct wt_err *err)
{
	struct wti_check_options how = {.is_builtin = true, .with_rules = true};
	const struct wti_examination examination = {
		.inspector = "doctor", .options = &how, .judging = &how, .suppress = true};
	struct wt_err failed = {.offset = -1};
	struct wti_examined examined;
	struct wti_pack *pack = NULL;
	char today[16];
	int r;

	r = wti_pack_open(source->front, WTI_PACK_BUILTIN, &pack, &failed);
	if (r == WT_E_NOMEM)
		return wti_err(err, r, "out of memory");
	if (r)
		wti_not_recorded(result, "invariants of the built-in pack", failed.message);
	how.pack = pack;
	how.today = wti_today(today);
	r = wti_examine(source->front, &examination, source->opened->run.path, &examined, err);
	if (!r) {
		take(&examined.result, source->opened->run.status, result);
		wti_examined_release(&examined);
	}
	wti_pack_free(pack);
	return r;
}
