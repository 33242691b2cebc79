/* SPDX-License-Identifier: Apache-2.0 */
/* The inspectors. */
#ifndef WTI_INSPECT_TABLE_H
#define WTI_INSPECT_TABLE_H

#include <wheeltap/inspect.h>

extern const struct wt_inspector *const wti_inspectors[]; /* ends with NULL */

extern const struct wt_inspector wti_inspector_check;
extern const struct wt_inspector wti_inspector_configuration;
extern const struct wt_inspector wti_inspector_contents;
extern const struct wt_inspector wti_inspector_device;
extern const struct wt_inspector wti_inspector_doctor;
extern const struct wt_inspector wti_inspector_counts;
extern const struct wt_inspector wti_inspector_effects;
extern const struct wt_inspector wti_inspector_infer;
extern const struct wt_inspector wti_inspector_info;
extern const struct wt_inspector wti_inspector_metrics;
extern const struct wt_inspector wti_inspector_origin;
extern const struct wt_inspector wti_inspector_path;
extern const struct wt_inspector wti_inspector_stat;
extern const struct wt_inspector wti_inspector_syscalls;
extern const struct wt_inspector wti_inspector_tests;
extern const struct wt_inspector wti_inspector_timeline;

#endif
