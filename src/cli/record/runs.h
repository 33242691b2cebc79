/* SPDX-License-Identifier: Apache-2.0 */
/* `record --runs N`: the program N times, into a set of runs. */
#ifndef WTI_CLI_RECORD_RUNS_H
#define WTI_CLI_RECORD_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "noise.h"

/* Records one run into a folder, in a process of its own; the exit code. */
typedef int wti_record_turn(void *self, uint32_t number, const char *folder);

struct wti_record_runs {
	uint64_t count;
	uint64_t jobs;          /* at once; 0: as many as there are processors */
	const char *until_bits; /* fewer, if that makes the interval of digits narrow; or NULL */
	const char *folder;     /* of the set; NULL: made below `base` */
	const char *base;
	const char *name; /* or NULL */
	bool force;
	bool quiet;
	bool json;
	char *const *argv;
	const struct wti_record_noise *noise;
	wti_record_turn *turn;
	void *self;
};

int wti_record_runs_check(const struct wti_record_runs *runs, struct wt_err *err);
/* The exit code: that of the first run that failed, otherwise 0. */
int wti_record_runs(const struct wti_record_runs *runs);

#endif
