/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a run and prints the verdict. */
#include "judging.h"

#include "cli/inspect.h"
#include "cli/packs.h"
#include "runs/suppress.h"

int wti_judge_run(const char *inspector, const struct wti_judging *judging,
		  struct wti_check_options *how, struct wti_pack *pack, char **runs, size_t count)
{
	char today[16];
	struct wti_inspection in = {
		.inspector = inspector,
		.options = how,
		.judging = how,
		.json = judging->json,
		.fail_on = judging->fail_on,
		.text = judging->all ? wti_verdict_text_all : wti_verdict_text,
	};
	int code;

	how->pack = pack;
	how->today = wti_today(today);
	code = wti_inspect_runs(&in, runs, count);
	wti_pack_free(pack);
	return code;
}
