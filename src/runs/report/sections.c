/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a report, in the order in which they are read: what happened first. */
#include "section.h"

/* clang-format off */
const struct wti_report_section wti_report_sections[] = {
	{"run", "Run", true, wti_section_run},
	{"findings", "Findings", true, wti_section_findings},
	{"checks", "Checks", true, wti_section_checks},
	{"metrics", "Metrics", true, wti_section_metrics},
	{"time", "Where the time went", false, wti_section_time},
	{"model", "Model", false, wti_section_model},
	{"hyperparameters", "Hyperparameters", false, wti_section_hyperparameters},
	{"data", "Data", false, wti_section_data},
	{"artifacts", "Artifacts", false, wti_section_artifacts},
	{"configuration", "Configuration and seeds", false, wti_section_configuration},
	{"code", "Code", false, wti_section_code},
	{"host", "Host and versions", false, wti_section_host},
	{"history", "Earlier runs of this program", false, wti_section_history},
	{"reproduce", "How to reproduce it", true, wti_section_reproduce},
	{0},
};
/* clang-format on */
