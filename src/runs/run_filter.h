/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs are meant: terms such as status=failed, step_time.p50>0.2, tag=baseline, since=2d, of
 * which all have to hold, and patterns of names, of which one has to match. And numbers of runs by
 * name, for whoever sorts and compares: "loss", "loss.min", "duration", "check:test_x".
 */
#ifndef WTI_RUNS_RUN_FILTER_H
#define WTI_RUNS_RUN_FILTER_H

#include "catalogue.h"

#define WTI_FILTER_TERMS_MAX 64u
#define WTI_FILTER_NAME_BYTES 256

enum wti_filter_op {
	WTI_OP_PATTERN, /* there is none: the word is a glob over names */
	WTI_OP_EQUAL,
	WTI_OP_DIFFERS,
	WTI_OP_BELOW,
	WTI_OP_AT_MOST,
	WTI_OP_ABOVE,
	WTI_OP_AT_LEAST,
};

struct wti_filter_term {
	const char *word; /* as it was given */
	char name[WTI_FILTER_NAME_BYTES];
	enum wti_filter_op op;
	const char *value; /* within `word` */
};

/* WT_E_ARG if it is neither a pattern nor NAME, an operator and a value. */
int wti_filter_parse(const char *word, struct wti_filter_term *ret_term, struct wt_err *err);

#define WTI_FILTER_FIELDS_MAX 32u
/* The names of texts and moments that terms may have, for suggestions; how many. */
size_t wti_filter_fields(const char *ret_names[WTI_FILTER_FIELDS_MAX]);

/* ---- Numbers --------------------------------------------------------------------------------- */

/* A number that every run may have, by its place in the catalogue. */
struct wti_run_number {
	char title[WTI_FILTER_NAME_BYTES]; /* "loss.last" */
	char unit[16];
	double *values; /* NAN: there is none, or it is NAN */
	bool *has;
};

/*
 * `name`: config.KEY, a setting that is a number; a metric with or without a statistic (last is
 * meant without one), a column of a run that is a number, or check:NAME, its pass rate. Traces that
 * were never summarised are, of the runs in `wanted` (NULL: all). WT_E_ARG with a suggestion if
 * there is none of that name.
 */
int wti_run_number(const struct wti_front *front, struct wti_catalogue *catalogue, const char *name,
		   const bool *wanted, struct wti_run_number *ret_number, struct wt_err *err);
/* The key of a setting that is meant by "config.KEY", or by the last parts of it. */
#define WTI_FILTER_CONFIG "config."
int wti_setting_find(struct wti_catalogue *catalogue, const char *name,
		     char ret_key[WTI_FILTER_NAME_BYTES], struct wt_err *err);
void wti_run_number_release(struct wti_run_number *number);

/* ---- Filters --------------------------------------------------------------------------------- */

struct wti_run_filter {
	struct wti_filter_term terms[WTI_FILTER_TERMS_MAX];
	size_t count;
	/* Of terms that are about numbers, for columns of a table. */
	struct wti_run_number numbers[WTI_FILTER_TERMS_MAX];
	size_t number_count;
	bool with_removed; /* runs of which only the summary is left count, too */
};

int wti_filter_read(char **words, size_t count, struct wti_run_filter *ret_filter,
		    struct wt_err *err);
/* Which runs it leaves, by their place: `keep` has room for all. Cheap terms come first, so that
 * traces are only read of runs that are still in question. To be released also after a failure. */
int wti_filter_apply(const struct wti_front *front, struct wti_catalogue *catalogue,
		     struct wti_run_filter *filter, bool *keep, struct wt_err *err);
void wti_filter_release(struct wti_run_filter *filter);

#endif
