/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspectors `infer` and `check`. */
#ifndef WTI_LEARN_OPTIONS_H
#define WTI_LEARN_OPTIONS_H

#include "pack.h"

struct wti_setting;

/* What was seen in one run; release with wti_learned_release(). */
struct wti_learned {
	struct wti_symbols symbols;
	struct wti_tables tables;
};

void wti_learned_release(struct wti_learned *learned);

struct wti_infer_options {
	struct wti_learned *ret_learned;
};

struct wti_check_options {
	const struct wti_pack *pack; /* NULL: none */
	bool is_builtin;             /* the pack: it warns at most, and only where no rule has */
	bool with_rules;             /* those of doctor, too */
	const char *today;           /* "2026-03-01" */
	/* Of the rules about system calls: */
	const struct wti_setting *settings; /* other thresholds */
	size_t setting_count;
	bool some_calls; /* not all system calls were recorded */
};

#endif
