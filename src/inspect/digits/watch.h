/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For those who want more of `digits` than its tables: every call and every value, as they are
 * measured. Pictures and exports look on through this; what they keep of it is their own.
 */
#ifndef WTI_DIGITS_WATCH_H
#define WTI_DIGITS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "statistics.h"

/* A value of a call, or one that was emitted by itself. Texts end with the call of the watcher. */
struct wti_seen_value {
	uint64_t order; /* of its call, from 1 */
	int64_t step;   /* -1: none */
	const char *callee, *file, *name, *shape;
	uint32_t line, dtype;
	int32_t position; /* of an argument; -1: a result, or a value of no call */
	bool is_call;
	uint64_t count;    /* elements */
	double digits;     /* bits */
	unsigned mantissa; /* bits of its type that are stored */
	/* Sampled elements of each run, parts of complex numbers one by one. */
	const double *const *runs;
	unsigned run_count;
	uint64_t reals;
	const struct wti_digits_how *how;
};

/* Called after its values. */
struct wti_seen_call {
	uint64_t order;
	const char *path; /* callees from the outermost one, " > " between */
	const char *callee;
	double lost;     /* bits */
	uint64_t inside; /* calls that ended within it: its own order less that is where it began */
};

struct wti_digits_watcher {
	void *cookie;
	/* Others than 0 end it: WT_E_NOMEM and the like. */
	int (*value)(void *cookie, const struct wti_seen_value *value);
	int (*call)(void *cookie, const struct wti_seen_call *call);
};

struct wti_seen_element {
	double mean, deviation, digits;
};

/* Of one sampled real. Digits are NaN where it is not finite in all runs. */
struct wti_seen_element wti_seen_element(const struct wti_seen_value *value, uint64_t real);
/* Which element of the value the sampled one of that number is, of so many that are sampled. */
uint64_t wti_seen_place(uint64_t number, uint64_t sampled, uint64_t count);
/* The callee of the call around it: the last but one of the path. Its length; 0: there is none. */
size_t wti_seen_caller(const struct wti_seen_call *call, const char **ret_caller);

#endif
