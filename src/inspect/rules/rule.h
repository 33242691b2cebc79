/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule: something that holds in every correct training run. It sees the moments that it asks for
 * (training/training.h), counts each case in which it held, and tells each in which it did not.
 *
 * Adding one: a row in a file of this folder, named after what the rule is about, and the row's
 * name in rules.c (docs/howto-add-rule.md). Everything that `explain` says stands in the row.
 *
 * A rule that never saw a case is NOT MEASURED, never held.
 */
#ifndef WTI_INSPECT_RULE_H
#define WTI_INSPECT_RULE_H

#include <wheeltap/result.h>

#include "inspect/training/training.h"

enum wti_rule_flag {
	/* It judges by what did not happen: where events were lost it is not measured. */
	WTI_RULE_ABSENCE = 1,
};

struct wti_case;

struct wti_rule {
	const char *code; /* never changes: WT-GRAD-001 */
	enum wt_severity severity;
	const char *title;           /* of a finding: one line that a newcomer understands */
	const char *means;           /* what it probably means */
	const char *hint;            /* what to try */
	const char *definition;      /* what must hold, precisely; what counts as a case */
	const char *innocent;        /* known cases in which a correct program may look like this */
	const char *needs;           /* why it was not measured, if it never saw a case */
	const char *const *explains; /* codes of what follows from it; ends with NULL */
	uint32_t flags;
	uint32_t moments; /* enum wti_moment_type, bits */
	size_t state_bytes;
	void (*see)(struct wti_case *account, void *state, const struct wti_moment *moment);
	/* The run has ended: what can only be said then. May be NULL. */
	void (*finish)(struct wti_case *account, void *state, const struct wti_training *training);
	void (*release)(void *state); /* of memory of its own; may be NULL */
};

/* All rules, causes before what follows from them; ends with NULL. */
extern const struct wti_rule *const wti_rules[];
const struct wti_rule *wti_rule_by_code(const char *code);

/* ---- What a rule tells --------------------------------------------------------------------- */

/* It held, in one more case. */
void wti_held(struct wti_case *account);
/*
 * It did not hold. `subject` is what is concerned, a symbol (a parameter, an optimizer): each
 * subject is named once. The evidence is kept of the first violation.
 */
void wti_violated(struct wti_case *account, const struct wti_moment *moment, uint32_t subject,
		  const char *evidence, ...) __attribute__((format(printf, 4, 5)));
/* Said in the finding, as what it is not, and why. */
void wti_not_this(struct wti_case *account, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* It saw something that it needed, but what it would have judged by was not recorded. */
void wti_not_measured(struct wti_case *account, const char *why);
uint64_t wti_violation_count(const struct wti_case *account);

#endif
