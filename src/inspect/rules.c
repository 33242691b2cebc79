/* SPDX-License-Identifier: Apache-2.0 */
/* All rules. */
#include <string.h>

#include "inspect/judge/rule.h"

/* One line a rule. */
extern const struct wti_rule wti_rule_acc_001;
extern const struct wti_rule wti_rule_acc_002;
extern const struct wti_rule wti_rule_ckpt_001;
extern const struct wti_rule wti_rule_ckpt_002;
extern const struct wti_rule wti_rule_ckpt_003;
extern const struct wti_rule wti_rule_ckpt_004;
extern const struct wti_rule wti_rule_ckpt_005;
extern const struct wti_rule wti_rule_ckpt_006;
extern const struct wti_rule wti_rule_clip_001;
extern const struct wti_rule wti_rule_clip_002;
extern const struct wti_rule wti_rule_clip_003;
extern const struct wti_rule wti_rule_data_001;
extern const struct wti_rule wti_rule_data_002;
extern const struct wti_rule wti_rule_data_003;
extern const struct wti_rule wti_rule_data_004;
extern const struct wti_rule wti_rule_data_005;
extern const struct wti_rule wti_rule_data_006;
extern const struct wti_rule wti_rule_data_007;
extern const struct wti_rule wti_rule_data_008;
extern const struct wti_rule wti_rule_ema_001;
extern const struct wti_rule wti_rule_ema_002;
extern const struct wti_rule wti_rule_ema_003;
extern const struct wti_rule wti_rule_ema_004;
extern const struct wti_rule wti_rule_ema_005;
extern const struct wti_rule wti_rule_grad_001;
extern const struct wti_rule wti_rule_grad_002;
extern const struct wti_rule wti_rule_grad_003;
extern const struct wti_rule wti_rule_grad_004;
extern const struct wti_rule wti_rule_grad_005;
extern const struct wti_rule wti_rule_grad_006;
extern const struct wti_rule wti_rule_grad_007;
extern const struct wti_rule wti_rule_grad_008;
extern const struct wti_rule wti_rule_graph_001;
extern const struct wti_rule wti_rule_graph_002;
extern const struct wti_rule wti_rule_graph_003;
extern const struct wti_rule wti_rule_graph_004;
extern const struct wti_rule wti_rule_init_001;
extern const struct wti_rule wti_rule_init_002;
extern const struct wti_rule wti_rule_init_003;
extern const struct wti_rule wti_rule_input_001;
extern const struct wti_rule wti_rule_input_002;
extern const struct wti_rule wti_rule_input_003;
extern const struct wti_rule wti_rule_input_004;
extern const struct wti_rule wti_rule_learn_001;
extern const struct wti_rule wti_rule_loss_001;
extern const struct wti_rule wti_rule_loss_002;
extern const struct wti_rule wti_rule_loss_003;
extern const struct wti_rule wti_rule_loss_004;
extern const struct wti_rule wti_rule_loss_005;
extern const struct wti_rule wti_rule_loss_006;
extern const struct wti_rule wti_rule_loss_007;
extern const struct wti_rule wti_rule_loss_008;
extern const struct wti_rule wti_rule_loss_009;
extern const struct wti_rule wti_rule_loss_010;
extern const struct wti_rule wti_rule_loss_011;
extern const struct wti_rule wti_rule_mask_001;
extern const struct wti_rule wti_rule_mask_002;
extern const struct wti_rule wti_rule_mode_001;
extern const struct wti_rule wti_rule_mode_002;
extern const struct wti_rule wti_rule_mode_003;
extern const struct wti_rule wti_rule_mode_004;
extern const struct wti_rule wti_rule_mode_005;
extern const struct wti_rule wti_rule_mode_006;
extern const struct wti_rule wti_rule_mode_007;
extern const struct wti_rule wti_rule_mode_008;
extern const struct wti_rule wti_rule_mode_009;
extern const struct wti_rule wti_rule_mode_010;
extern const struct wti_rule wti_rule_num_001;
extern const struct wti_rule wti_rule_num_002;
extern const struct wti_rule wti_rule_num_003;
extern const struct wti_rule wti_rule_num_004;
extern const struct wti_rule wti_rule_num_005;
extern const struct wti_rule wti_rule_opt_001;
extern const struct wti_rule wti_rule_opt_002;
extern const struct wti_rule wti_rule_opt_003;
extern const struct wti_rule wti_rule_opt_004;
extern const struct wti_rule wti_rule_opt_005;
extern const struct wti_rule wti_rule_opt_006;
extern const struct wti_rule wti_rule_opt_007;
extern const struct wti_rule wti_rule_opt_008;
extern const struct wti_rule wti_rule_opt_009;
extern const struct wti_rule wti_rule_opt_010;
extern const struct wti_rule wti_rule_opt_011;
extern const struct wti_rule wti_rule_opt_012;
extern const struct wti_rule wti_rule_opt_013;
extern const struct wti_rule wti_rule_opt_014;
extern const struct wti_rule wti_rule_out_001;
extern const struct wti_rule wti_rule_out_002;
extern const struct wti_rule wti_rule_rank_001;
extern const struct wti_rule wti_rule_rank_002;
extern const struct wti_rule wti_rule_rank_003;
extern const struct wti_rule wti_rule_rank_004;
extern const struct wti_rule wti_rule_rank_005;
extern const struct wti_rule wti_rule_rank_006;
extern const struct wti_rule wti_rule_rank_007;
extern const struct wti_rule wti_rule_rank_008;
extern const struct wti_rule wti_rule_rank_009;
extern const struct wti_rule wti_rule_resume_001;
extern const struct wti_rule wti_rule_resume_002;
extern const struct wti_rule wti_rule_resume_003;
extern const struct wti_rule wti_rule_rng_001;
extern const struct wti_rule wti_rule_rng_002;
extern const struct wti_rule wti_rule_rows_001;
extern const struct wti_rule wti_rule_rows_002;
extern const struct wti_rule wti_rule_rows_003;
extern const struct wti_rule wti_rule_scale_001;
extern const struct wti_rule wti_rule_sched_001;
extern const struct wti_rule wti_rule_sched_002;
extern const struct wti_rule wti_rule_sched_003;
extern const struct wti_rule wti_rule_sched_004;
extern const struct wti_rule wti_rule_sched_005;
extern const struct wti_rule wti_rule_sched_006;
extern const struct wti_rule wti_rule_sched_007;
extern const struct wti_rule wti_rule_sched_008;
extern const struct wti_rule wti_rule_sched_009;
extern const struct wti_rule wti_rule_sys_001;
extern const struct wti_rule wti_rule_sys_002;
extern const struct wti_rule wti_rule_sys_003;
extern const struct wti_rule wti_rule_sys_004;
extern const struct wti_rule wti_rule_sys_005;
extern const struct wti_rule wti_rule_sys_006;
extern const struct wti_rule wti_rule_sys_007;
extern const struct wti_rule wti_rule_sys_008;
extern const struct wti_rule wti_rule_sys_009;
extern const struct wti_rule wti_rule_sys_010;
extern const struct wti_rule wti_rule_target_001;
extern const struct wti_rule wti_rule_target_002;
extern const struct wti_rule wti_rule_target_003;
extern const struct wti_rule wti_rule_target_004;
extern const struct wti_rule wti_rule_target_005;

/* Causes before what follows from them: of two findings the first is shown first. */
/* clang-format off */
const struct wti_rule *const wti_rules[] = {
	&wti_rule_num_001,
	&wti_rule_grad_004,
	&wti_rule_opt_005,
	&wti_rule_opt_003,
	&wti_rule_opt_004,
	&wti_rule_opt_006,
	&wti_rule_opt_010,
	&wti_rule_grad_006,
	&wti_rule_opt_007,
	&wti_rule_grad_001,
	&wti_rule_grad_002,
	&wti_rule_graph_003,
	&wti_rule_graph_001,
	&wti_rule_clip_001,
	&wti_rule_clip_003,
	&wti_rule_clip_002,
	&wti_rule_scale_001,
	&wti_rule_target_002,
	&wti_rule_data_005,
	&wti_rule_data_002,
	&wti_rule_data_001,
	&wti_rule_data_006,
	&wti_rule_loss_001,
	&wti_rule_loss_005,
	&wti_rule_loss_006,
	&wti_rule_loss_002,
	&wti_rule_loss_007,
	&wti_rule_loss_008,
	&wti_rule_loss_009,
	&wti_rule_mask_001,
	&wti_rule_ckpt_004,
	&wti_rule_out_001,
	&wti_rule_ckpt_003,
	&wti_rule_ckpt_001,
	&wti_rule_ckpt_002,
	&wti_rule_ckpt_005,
	&wti_rule_resume_002,
	&wti_rule_sched_003,
	&wti_rule_grad_003,
	&wti_rule_num_002,
	&wti_rule_opt_001,
	&wti_rule_opt_008,
	&wti_rule_ema_002,
	&wti_rule_ema_004,
	&wti_rule_mode_001,
	&wti_rule_rank_007,
	&wti_rule_rank_009,
	&wti_rule_rank_002,
	&wti_rule_rank_004,
	&wti_rule_rank_001,
	&wti_rule_rank_003,
	&wti_rule_rank_005,
	&wti_rule_sched_002,
	&wti_rule_opt_002,
	&wti_rule_resume_001,
	&wti_rule_resume_003,
	&wti_rule_sched_001,
	&wti_rule_sched_004,
	&wti_rule_sched_006,
	&wti_rule_sched_009,
	&wti_rule_sched_005,
	&wti_rule_sched_007,
	&wti_rule_sched_008,
	&wti_rule_opt_009,
	&wti_rule_opt_011,
	&wti_rule_opt_012,
	&wti_rule_opt_013,
	&wti_rule_opt_014,
	&wti_rule_acc_002,
	&wti_rule_acc_001,
	&wti_rule_graph_002,
	&wti_rule_graph_004,
	&wti_rule_grad_007,
	&wti_rule_grad_008,
	&wti_rule_loss_004,
	&wti_rule_loss_011,
	&wti_rule_loss_010,
	&wti_rule_loss_003,
	&wti_rule_out_002,
	&wti_rule_num_003,
	&wti_rule_num_004,
	&wti_rule_num_005,
	&wti_rule_data_004,
	&wti_rule_data_003,
	&wti_rule_target_001,
	&wti_rule_target_005,
	&wti_rule_target_003,
	&wti_rule_mask_002,
	&wti_rule_target_004,
	&wti_rule_data_008,
	&wti_rule_data_007,
	&wti_rule_input_003,
	&wti_rule_input_004,
	&wti_rule_input_002,
	&wti_rule_input_001,
	&wti_rule_rows_001,
	&wti_rule_rows_002,
	&wti_rule_rng_001,
	&wti_rule_rng_002,
	&wti_rule_rank_008,
	&wti_rule_rank_006,
	&wti_rule_mode_002,
	&wti_rule_mode_003,
	&wti_rule_mode_004,
	&wti_rule_mode_005,
	&wti_rule_mode_006,
	&wti_rule_mode_007,
	&wti_rule_mode_008,
	&wti_rule_mode_009,
	&wti_rule_mode_010,
	&wti_rule_init_001,
	&wti_rule_init_002,
	&wti_rule_init_003,
	&wti_rule_ckpt_006,
	&wti_rule_ema_001,
	&wti_rule_ema_003,
	&wti_rule_ema_005,
	&wti_rule_grad_005,
	&wti_rule_rows_003,
	&wti_rule_learn_001,
	&wti_rule_sys_001,
	&wti_rule_sys_002,
	&wti_rule_sys_006,
	&wti_rule_sys_003,
	&wti_rule_sys_004,
	&wti_rule_sys_005,
	&wti_rule_sys_007,
	&wti_rule_sys_008,
	&wti_rule_sys_009,
	&wti_rule_sys_010,
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
