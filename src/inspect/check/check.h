/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspectors `check` and `doctor`. */
#ifndef WTI_INSPECT_CHECK_H
#define WTI_INSPECT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct wti_pack;
struct wti_setting;
struct wti_transfers;

struct wti_check_options {
	const struct wti_pack *pack;   /* NULL: none */
	const char *const *pack_names; /* of which it is made */
	size_t pack_count;
	bool is_builtin;   /* the pack: it warns at most, and only where no rule has */
	bool with_rules;   /* those of doctor, too */
	const char *today; /* "2026-03-01" */
	/* Of the rules about system calls: */
	const struct wti_setting *settings; /* other thresholds */
	size_t setting_count;
	bool some_calls; /* not all system calls were recorded */
	/* Gets the files that were saved and loaded, for who compares them with other runs'. Or
	 * NULL. */
	struct wti_transfers *transfers;
};

#endif
