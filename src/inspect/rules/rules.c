/* SPDX-License-Identifier: Apache-2.0 */
/* All rules. */
#include <string.h>

#include "rule.h"

/* One line a rule: the file that it stands in is named after the middle of its code. */
extern const struct wti_rule wti_rule_ckpt_001;
extern const struct wti_rule wti_rule_ckpt_002;
extern const struct wti_rule wti_rule_grad_001;
extern const struct wti_rule wti_rule_grad_002;
extern const struct wti_rule wti_rule_grad_003;
extern const struct wti_rule wti_rule_grad_004;
extern const struct wti_rule wti_rule_num_001;
extern const struct wti_rule wti_rule_num_002;
extern const struct wti_rule wti_rule_opt_001;
extern const struct wti_rule wti_rule_opt_002;
extern const struct wti_rule wti_rule_opt_003;
extern const struct wti_rule wti_rule_opt_004;
extern const struct wti_rule wti_rule_opt_005;
extern const struct wti_rule wti_rule_rank_001;
extern const struct wti_rule wti_rule_rank_002;
extern const struct wti_rule wti_rule_rank_003;
extern const struct wti_rule wti_rule_sched_001;
extern const struct wti_rule wti_rule_sched_002;
extern const struct wti_rule wti_rule_mode_001;

/* Causes before what follows from them: of two findings the first is shown first. */
/* clang-format off */
const struct wti_rule *const wti_rules[] = {
	&wti_rule_num_001,
	&wti_rule_grad_004,
	&wti_rule_opt_005,
	&wti_rule_opt_003,
	&wti_rule_opt_004,
	&wti_rule_grad_001,
	&wti_rule_grad_002,
	&wti_rule_grad_003,
	&wti_rule_num_002,
	&wti_rule_opt_001,
	&wti_rule_opt_002,
	&wti_rule_sched_002,
	&wti_rule_sched_001,
	&wti_rule_mode_001,
	&wti_rule_rank_002,
	&wti_rule_rank_001,
	&wti_rule_rank_003,
	&wti_rule_ckpt_001,
	&wti_rule_ckpt_002,
	NULL,
};
/* clang-format on */

const struct wti_rule *wti_rule_by_code(const char *code)
{
	for (size_t i = 0; wti_rules[i]; i++)
		if (!strcmp(wti_rules[i]->code, code))
			return wti_rules[i];
	return NULL;
}
