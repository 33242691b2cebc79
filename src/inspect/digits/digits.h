/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many digits of the numbers in n runs of one program are real, and where they are lost: facts,
 * tables, series and findings (docs/digits.md). Also what a single run shows without noise: where
 * NaN and infinity arise, cancellation, updates that change nothing.
 */
#ifndef WTI_DIGITS_H
#define WTI_DIGITS_H

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#include "base/map.h"
#include "inspect/core/code.h"
#include "statistics.h"
#include "watch.h"

enum wti_digits_by { WTI_BY_FUNCTION, WTI_BY_SITE, WTI_BY_TENSOR, WTI_BY_STEP };

struct wti_digits_run {
	struct wt_trace *trace; /* NULL: it could not be opened */
	const char *name;
	bool ended_early; /* it failed or was cut */
	char ending[96];  /* in words */
};

struct wti_digits_options {
	struct wti_digits_how how;
	enum wti_digits_by by;
	double base;       /* of the digits that are reported; 2 */
	double fail_below; /* digits in that base; NaN: no limit */
	bool compare;      /* two runs without noise, against each other */
	double noise_bits; /* virtual precision of the noise; 0: that of each type */
	bool has_noise;
	bool all_tables;                          /* besides that of `by` */
	size_t rows_max;                          /* of tables; 0: all */
	struct wti_tolerances *tolerances;        /* filled, if not NULL */
	const struct wti_digits_watcher *watcher; /* is shown everything, if not NULL */
};

/* `runs`: at most WTI_MERGE_RUNS_MAX. */
int wti_digits(const struct wti_digits_run *runs, unsigned count,
	       const struct wti_digits_options *options, struct wt_result *result,
	       struct wt_err *err);
/* What the `setting` events of a run say of noise: "rr:24"; false: there was none. */
bool wti_digits_noise_of(const struct wt_trace *trace, char *ret_text, size_t bytes);

/* NULL: no such code. */
const struct wti_code *wti_digits_code(const char *code);
/* All of them, one after the other; NULL: there are no more. */
const struct wti_code *wti_digits_code_at(size_t index);

/* How far two correct runs may differ, by value. */
struct wti_tolerance {
	double absolute;   /* largest distance of two elements */
	double relative;   /* the same to the norm of the value */
	uint64_t values;   /* that it is made from */
	unsigned mantissa; /* of its type */
};

struct wti_tolerances {
	/* "file:line callee position" or "=name": its number plus one. With " @N" after it: from
	 * occurrence N on, a power of two, up to the next. */
	struct wti_map index;
	struct wti_tolerance *all;
	size_t count, capacity;
	uint64_t left_out;
	unsigned runs;
	char noise[32];
};

void wti_tolerances_init(struct wti_tolerances *tolerances);
void wti_tolerances_release(struct wti_tolerances *tolerances);
/* Distances from the mean of the runs; the largest of a key counts. */
int wti_tolerances_add(struct wti_tolerances *tolerances, const char *key, double absolute,
		       double relative, unsigned mantissa);
/* From what was seen to what may be: once, when all is added. */
void wti_tolerances_widen(struct wti_tolerances *tolerances, double confidence);
int wti_tolerances_write(const struct wti_tolerances *tolerances, const char *path,
			 struct wt_err *err);
int wti_tolerances_read(const char *path, struct wti_tolerances *ret_tolerances,
			struct wt_err *err);
/* For that occurrence of the value, from 1; NULL: the file does not have it. */
const struct wti_tolerance *wti_tolerances_find_at(const struct wti_tolerances *tolerances,
						   const char *key, uint64_t occurrence);

/* Two runs by a file of tolerances: tables `outside` and `not_compared` of the result. */
struct wti_within {
	uint64_t compared, outside;
	uint64_t unknown;      /* the file does not have them */
	uint64_t unsampled;    /* of other bits, and there is nothing to compare them by */
	uint64_t not_compared; /* results and named values that only one run has */
	uint64_t alone; /* calls that only one run has, or that computed from something else */
};
int wti_digits_within(const struct wti_digits_run runs[2], const struct wti_tolerances *tolerances,
		      struct wt_result *result, struct wti_within *ret_within, struct wt_err *err);

#endif
