/* SPDX-License-Identifier: Apache-2.0 */
/* All inspectors. */
#include "inspect/core/inspectors.h"

/* clang-format off */
const struct wt_inspector *const wti_inspectors[] = {
	&wti_inspector_check,
	&wti_inspector_configuration,
	&wti_inspector_contents,
	&wti_inspector_counts,
	&wti_inspector_device,
	&wti_inspector_doctor,
	&wti_inspector_effects,
	&wti_inspector_infer,
	&wti_inspector_info,
	&wti_inspector_metrics,
	&wti_inspector_origin,
	&wti_inspector_path,
	&wti_inspector_stat,
	&wti_inspector_syscalls,
	&wti_inspector_tests,
	&wti_inspector_timeline,
	NULL,
};
/* clang-format on */
