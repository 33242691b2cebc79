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

#include "inspect/core/sorts.h"
#include "inspect/training/training.h"

enum wti_rule_flag {
	/* It judges by what did not happen: where events were lost it is not measured. */
	WTI_RULE_ABSENCE = 1,
	/* It counts system calls: where some were lost it can be violated, but not hold. */
	WTI_RULE_COUNTS = 2,
	/* It needs every system call: where only some were recorded it is not measured. */
	WTI_RULE_ALL_CALLS = 4,
};

struct wti_case;
struct wti_ledger;

enum { WTI_THRESHOLDS_MAX = 4 };

/* A number that decides, and that whoever runs the program may know better. */
struct wti_threshold {
	const char *name; /* NULL: there are no more */
	uint64_t value;   /* unless wheeltap.toml says otherwise */
	const char *why;  /* what it is, and why that much */
};

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
	/* The run has ended, and had system calls (habits/ledger.h). May be NULL. */
	void (*audit)(struct wti_case *account, const struct wti_ledger *ledger);
	struct wti_threshold thresholds[WTI_THRESHOLDS_MAX + 1];
};

/* All rules, causes before what follows from them; ends with NULL. */
extern const struct wti_rule *const wti_rules[];
const struct wti_rule *wti_rule_by_code(const char *code);

/* Another value of a rule's threshold. */
struct wti_setting {
	const struct wti_rule *rule;
	unsigned threshold; /* which */
	uint64_t value;
};

/* ---- What a rule tells --------------------------------------------------------------------- */

/* It held, in one more case. */
void wti_held(struct wti_case *account);
/*
 * It did not hold. `subject` is what is concerned, a symbol (a parameter, an optimizer): each
 * subject is named once. The evidence is kept of the first violation.
 */
void wti_violated(struct wti_case *account, const struct wti_moment *moment, uint32_t subject,
		  const char *evidence, ...) __attribute__((format(printf, 4, 5)));
/* Where in a run something was found that is no moment of a training. */
struct wti_spot {
	const char *subject;
	const char *op; /* a name that stays */
	int64_t step;   /* -1: in none */
	struct wti_line line;
};
/* As wti_violated(), for rules that audit. */
void wti_found(struct wti_case *account, const struct wti_spot *spot, const char *evidence, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t wti_threshold(const struct wti_case *account, unsigned which);
/* Said in the finding, as what it is not, and why. */
void wti_not_this(struct wti_case *account, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What was found is graver than the rule's severity says. */
void wti_raise(struct wti_case *account, enum wt_severity severity);
/* It saw something that it needed, but what it would have judged by was not recorded. */
void wti_not_measured(struct wti_case *account, const char *why);
uint64_t wti_violation_count(const struct wti_case *account);

#endif
