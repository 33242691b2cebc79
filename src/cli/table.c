/* SPDX-License-Identifier: Apache-2.0 */
/* All verbs, in the order in which `wheeltap help` shows them. */
#include <string.h>

#include "verb.h"

/* clang-format off */
const struct wti_verb *const wti_verbs[] = {
	&wti_verb_record,
	&wti_verb_python,
	&wti_verb_sim,
	&wti_verb_ls,
	&wti_verb_trend,
	&wti_verb_compare,
	&wti_verb_tests,
	&wti_verb_info,
	&wti_verb_view,
	&wti_verb_stat,
	&wti_verb_report,
	&wti_verb_doctor,
	&wti_verb_infer,
	&wti_verb_check,
	&wti_verb_pack,
	&wti_verb_diff,
	&wti_verb_digits,
	&wti_verb_rerun,
	&wti_verb_golden,
	&wti_verb_gate,
	&wti_verb_model,
	&wti_verb_replay,
	&wti_verb_try,
	&wti_verb_explain,
	&wti_verb_timeline,
	&wti_verb_dataset,
	&wti_verb_export,
	&wti_verb_import,
	&wti_verb_tag,
	&wti_verb_clean,
	&wti_verb_env,
	&wti_verb_help,
	&wti_verb_version,
	NULL,
};
/* clang-format on */

const struct wti_verb *wti_verb_by_name(const char *name)
{
	for (size_t i = 0; wti_verbs[i]; i++) {
		if (!strcmp(wti_verbs[i]->name, name))
			return wti_verbs[i];
	}
	return NULL;
}
