/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule: something that holds in every correct training run. It is a row and a function. The row
 * has everything that `explain` prints, and declares which moments the rule sees
 * (training/training.h), what it keeps between them (training/keep.h) and the numbers that decide
 * (thresholds). The function, see(), gets a moment and what was kept for it, and answers whether
 * the rule held there, was violated, or did not apply.
 *
 * Adding one: docs/howto-add-rule.md.
 *
 * A rule that never saw a case is NOT MEASURED, never held.
 */
#ifndef WTI_INSPECT_RULE_H
#define WTI_INSPECT_RULE_H

#include <wheeltap/result.h>

#include "inspect/core/requests.h"
#include "inspect/training/keep.h"

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
struct wti_work;

enum { WTI_THRESHOLDS_MAX = 8, WTI_KEEPS_MAX = 4 };

/* What see() answers: whether this was a case of the rule, and how it went. */
enum wti_answer {
	WTI_RULE_NO_CASE,
	WTI_RULE_HELD,
	WTI_RULE_VIOLATED, /* wti_violated() has been called */
	WTI_RULE_BREAK,    /* no case, but violations before and after it are not in a row */
};

/* The threshold of this name is the judge's: a rule speaks from that many violations of the same
 * kept memory in a row on. */
#define WTI_IN_A_ROW "in_a_row"

/* A number that decides, and that whoever runs the program may know better. */
struct wti_threshold {
	const char *name; /* NULL: there are no more */
	double value;     /* unless wheeltap.toml says otherwise; if it is whole, only whole ones */
	const char *why;  /* what it is, and why that much */
};

/* A set of callees, for `callees` of a row. */
#define WTI_CALLEE_SET(callee) (UINT64_C(1) << (callee))
_Static_assert(WTI_CALLEE_COUNT <= 64, "sets of callees are 64 bits");
/* Losses that are given classes as targets, and all that are given targets. */
#define WTI_CLASS_LOSSES (WTI_CALLEE_SET(WTI_CALLEE_CROSS_ENTROPY) | WTI_CALLEE_SET(WTI_CALLEE_NLL))
#define WTI_TARGET_LOSSES                                                                          \
	(WTI_CLASS_LOSSES | WTI_CALLEE_SET(WTI_CALLEE_BINARY) | WTI_CALLEE_SET(WTI_CALLEE_DISTANCE))

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
	/* Of calls, those of these callees alone (WTI_CALLEE_SET); 0: all. */
	uint64_t callees;
	/*
	 * What it keeps. see() gets the first; wti_kept() gives the others. Where the moment is
	 * about nothing of that kind (per object, and the moment has none) see() is not called.
	 */
	struct wti_keeps keeps[WTI_KEEPS_MAX];
	/* Moments, of `moments`, at which see() is called with everything that was kept so far for
	 * the process, one after the other. */
	uint32_t sweeps;
	/* Of the moment; NULL in a rule that keeps nothing. */
	enum wti_answer (*see)(struct wti_case *account, void *kept,
			       const struct wti_moment *moment);
	/* The run has ended: called for each that was kept, with the end of its process as the
	 * moment and the object or parameter that it was kept for. May be NULL. */
	enum wti_answer (*finish)(struct wti_case *account, void *kept,
				  const struct wti_moment *end);
	/* For memory that is not in what is kept; wti_state(). */
	size_t state_bytes;
	void (*release)(void *state);
	/* The run has ended, and had system calls (habits/ledger.h). May be NULL. */
	void (*audit)(struct wti_case *account, const struct wti_ledger *ledger);
	/* The run has ended, and had device work (device/work.h). May be NULL. */
	void (*survey)(struct wti_case *account, const struct wti_work *work);
	struct wti_threshold thresholds[WTI_THRESHOLDS_MAX + 1];
};

/* All rules, by code; ends with NULL. Made by src/inspect/list_rules.py. */
extern const struct wti_rule *const wti_rules[];
const struct wti_rule *wti_rule_by_code(const char *code);

/* Another value of a rule's threshold. */
struct wti_setting {
	const struct wti_rule *rule;
	unsigned threshold; /* which */
	double value;
};

/* ---- What a rule calls ---------------------------------------------------------------------- */

/* The memory that its row declares as `keeps[which]`, for a moment; NULL: there is none. */
void *wti_kept(struct wti_case *account, unsigned which, const struct wti_moment *moment);
void *wti_kept_of_object(struct wti_case *account, unsigned which, const struct wti_object *object);
void *wti_kept_of_parameter(struct wti_case *account, unsigned which,
			    const struct wti_parameter *parameter);
void *wti_kept_of_key(struct wti_case *account, unsigned which, size_t stream, uint64_t key);
const void *wti_kept_find_key(const struct wti_case *account, unsigned which, size_t stream,
			      uint64_t key);
/*
 * All that were made for a process, one after the other, in that order; NULL: there are no more.
 * `place` is 0 in the beginning.
 */
void *wti_kept_next(struct wti_case *account, unsigned which, size_t stream, size_t *place);
/* All of it is gone, as if it had never been made: where it would grow without end. */
void wti_kept_forget(struct wti_case *account, unsigned which);
/* Its `state_bytes`. */
void *wti_state(struct wti_case *account);

/*
 * One more case in which it held. For a rule that judges several cases at one moment: usually
 * see() returns WTI_RULE_HELD instead.
 */
void wti_held(struct wti_case *account);
/*
 * It was violated; returns what see() has to return. `subject` is what is concerned, a symbol (a
 * parameter, an optimizer): each subject is named once. The evidence of the first violation is
 * shown. Where the rule has a threshold `in_a_row`, earlier ones only count, and the finding is
 * dated at the first of them.
 */
enum wti_answer wti_violated(struct wti_case *account, const struct wti_moment *moment,
			     uint32_t subject, const char *evidence, ...)
	__attribute__((format(printf, 4, 5)));
/* What the next wti_violated() reports began in that step. */
void wti_since(struct wti_case *account, int64_t step);
/* For rules that wait by themselves, and not for one case after the other. */
struct wti_patience {
	uint32_t count;
	int32_t since; /* step of the first */
};
/* One more. True: they are as many as that threshold says; a violation is dated at the first. */
bool wti_waited(struct wti_case *account, struct wti_patience *wait,
		const struct wti_moment *moment, unsigned threshold);
/* How many violations in a row it is with this one, of what see() was given. */
uint32_t wti_streak(const struct wti_case *account);
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
/* A threshold of the row, by place: as a count, or as it is. */
uint64_t wti_threshold(const struct wti_case *account, unsigned which);
double wti_threshold_real(const struct wti_case *account, unsigned which);
/* Shown in the finding: what it is not, and why. */
void wti_not_this(struct wti_case *account, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What was found is graver than the rule's severity says. */
void wti_raise(struct wti_case *account, enum wt_severity severity);
/* It saw something that it needed, but what it would have judged by was not recorded. */
void wti_not_measured(struct wti_case *account, const char *why);

#endif
