/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets: runs of one program in one folder, SET/01, SET/02, ..., with a set.json
 * (docs/recording.md). `wheeltap record --runs` makes them, `wheeltap digits` compares what is in
 * them.
 */
#ifndef WTI_RUNS_SET_H
#define WTI_RUNS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "front.h"
#include "run.h"

#define WTI_SET_JSON "set.json"
#define WTI_SET_VERSION 1
#define WTI_SET_RUNS_MAX 999u

struct wti_set_run {
	char folder[8]; /* within the set: "01" */
	uint64_t seed;  /* of its noise */
	char status[16];
	int exit_code;
};

struct wti_set {
	char *path;
	char *name;    /* the last part of the path */
	char *command; /* words as a shell would take them */
	char status[16];
	char noise[24]; /* "rr:24"; "off" */
	char elements[24];
	uint64_t seed;
	int64_t start_ns;
	size_t runs_wanted;
	struct wti_set_run *runs; /* those that have ended, in the order of their folders */
	size_t run_count;
};

/* `word` as for wti_run_find(). WT_E_MISSING: there is no such set, but there may be a run. */
int wti_set_find(const struct wti_front *front, const char *word, struct wti_set *ret_set,
		 struct wt_err *err);
void wti_set_release(struct wti_set *set);

/* For run.c: fills in what is there; `run->is_set` stays false if that is nothing. */
int wti_set_load(const char *folder, struct wti_run *run, struct wt_err *err);

/*
 * Half of the width of the 95 % interval of significant bits that are estimated from this many runs
 * (CNH): that of the standard deviation, which depends on nothing else.
 */
double wti_set_half_width(size_t runs);

#endif
