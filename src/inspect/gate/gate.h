/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions about a run, as [[gate]] of wheeltap.toml or [[assertion]] of renacer.toml say them
 * (docs/gate.md), and what became of each: it held, it was violated, or it could not be evaluated.
 * The last is never taken for the first: an assertion about something that does not occur is not
 * evaluated unless it says may_be_absent.
 *
 *   wti_gate_read      a document to assertions; an error says line and column
 *   wti_gate_judge     one assertion about one run
 *   wti_gate_slower    one about how long two sets of runs take
 */
#ifndef WTI_GATE_H
#define WTI_GATE_H

#include <wheeltap/inspect.h>

#include "base/doc.h"
#include "counts.h"
#include "formula.h"
#include "inspect/core/code.h"
#include "inspect/world/effects.h"

#define WTI_GATE_ASSERTIONS_MAX 256
#define WTI_GATE_WORDS_MAX 32

enum wti_gate_type {
	WTI_GATE_DURATION,
	WTI_GATE_COUNT,
	WTI_GATE_BYTES,
	WTI_GATE_MEMORY,
	WTI_GATE_FORBIDDEN,
	WTI_GATE_REQUIRED,
	WTI_GATE_RULE,
	WTI_GATE_GOLDEN,
	WTI_GATE_EXPRESSION,
	WTI_GATE_SLOWER,
	WTI_GATE_METRIC,
	/* Renacer's, where they mean something that ours do not. */
	WTI_GATE_SPANS,
	WTI_GATE_PATTERN,
	WTI_GATE_TYPES,
};

struct wti_gate_words {
	const char *items[WTI_GATE_WORDS_MAX];
	size_t count;
};

struct wti_assertion {
	enum wti_gate_type type;
	enum wt_severity severity;
	const char *severity_word; /* as it stands there; NULL: not said */
	bool is_enabled;
	bool may_be_absent;
	bool may_fail; /* that the program ends with an error is no early end */
	unsigned line, column;
	const char *name;
	/* What is measured; NULL and 0: not said. Texts are the document's. */
	const char *of; /* one of the type's words */
	const char *per;
	const char *call; /* as for record --syscalls */
	const char *file; /* a glob over names as goldens have them */
	const char *stage;
	const char *span; /* a glob, or a regular expression */
	bool span_is_regex;
	bool errors_only;
	double quantile;
	/* What it may be: numbers in nanoseconds, bytes or pieces. */
	bool has_min, has_max;
	double min, max;
	/* Effects */
	struct wti_gate_words effects;
	struct wti_gate_words allow;
	const char *outside;
	/* Others */
	const char *code;
	const char *metric; /* a counter's or a setting's name */
	const char *golden;
	const char *folder;
	const char *expression;
	const char *table;
	const char *rows;
	bool is_sum;
	double confidence;
	double threshold;
	struct wti_formula formula;  /* of expression */
	struct wti_counter *counter; /* that measures it; NULL: needs none */
};

/* What it says of itself: "duration". */
const char *wti_gate_word(enum wti_gate_type type);

struct wti_gate {
	struct wti_assertion *assertions;
	size_t count, capacity;
	struct wti_counter *counters; /* of those that need one */
	size_t counter_count;
	struct wti_buf ignored; /* tables of another program's file, in words */
};

struct wti_gate_reading;

/* Assertions as another program's files have them, beside ours. */
struct wti_gate_dialect {
	const char *table; /* "assertion": a [[table]] is one */
	int (*read)(const struct wti_gate_reading *reading, const struct wti_doc *table,
		    struct wti_assertion *assertion);
	const char *const
		*ignored; /* tables of such files that mean nothing here; ends with NULL */
};

/*
 * Assertions of a document that stays as long as they do. `known` are the names of tables that are
 * the business of others; any else is an error. `dialect` is read as well; NULL: none. To be
 * released also after a failure.
 */
int wti_gate_read(const char *path, const struct wti_doc *doc, const char *const *known,
		  size_t known_count, const struct wti_gate_dialect *dialect,
		  struct wti_gate *ret_gate, struct wt_err *err);
void wti_gate_release(struct wti_gate *gate);

/* ---- A run, as far as it was measured -------------------------------------------------------- */

struct wti_gate_run {
	const struct wti_effects *effects;
	const struct wti_counts *counts;
	const char *recorded;   /* which system calls: an expression, or "all" */
	const char *broken;     /* why nothing can be said of it at all; NULL: it is whole */
	const char *failed;     /* its program ended with an error, in words; NULL: it did not */
	const char *unfit;      /* why nothing can be said of system calls; NULL: it can */
	int64_t duration_ns;    /* -1: not known */
	int64_t peak_rss_bytes; /* -1: not known */
	int64_t rss_floor_bytes;
	int64_t faults, major_faults;
	/* Results of inspectors; NULL: nobody needs them, or there is nothing to see. */
	const struct wt_result *doctor;
	const struct wt_result *syscalls;
	const struct wt_result *profile;
	const struct wt_result *path;
};

enum wti_verdict { WTI_HELD, WTI_VIOLATED, WTI_NOT_MEASURED, WTI_DISABLED };

struct wti_outcome {
	enum wti_verdict verdict;
	bool is_below; /* violated, as it is less than asked for */
	char expected[256];
	char actual[512];
	char why[512]; /* it was not measured */
};

int wti_gate_judge(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		   struct wti_outcome *ret_outcome, struct wt_err *err);
/* Of several runs now and before; 0 runs before: there is nothing to compare with. */
void wti_gate_slower(const struct wti_assertion *assertion, const struct wti_gate_run *now,
		     size_t now_count, const struct wti_gate_run *before, size_t before_count,
		     struct wti_outcome *ret_outcome);

/* What `explain` says of findings: one code a type. */
extern const struct wti_code wti_gate_codes[WTI_GATE_TYPES];

/* Of which results an assertion needs what: bits. */
enum wti_gate_need {
	WTI_NEEDS_DOCTOR = 1,
	WTI_NEEDS_SYSCALLS = 2,
	WTI_NEEDS_PROFILE = 4,
	WTI_NEEDS_PATH = 8,
};
unsigned wti_gate_needs(const struct wti_assertion *assertion);

#endif
