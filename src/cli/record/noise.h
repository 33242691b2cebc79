/* SPDX-License-Identifier: Apache-2.0 */
/* `record --noise`: what its options mean, what the agents are told, and the library to preload. */
#ifndef WTI_CLI_RECORD_NOISE_H
#define WTI_CLI_RECORD_NOISE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

struct wti_record_noise {
	const char *mode; /* "rr:24"; NULL: no noise */
	const char
		*elements; /* how many of a value are kept: a number, or all; NULL: the default */
	const char *libm;  /* on or off */
	const char *only;  /* patterns, separated by commas; or NULL */
	const char *skip;
	uint64_t seed; /* of the set */
	uint64_t run;  /* which run of it, from 1 */
};

#define WTI_ELEMENTS_DEFAULT "256"

/* What cannot be meant; `sampled`: values are sampled although there may be no noise. */
int wti_record_noise_check(const struct wti_record_noise *noise, bool sampled, struct wt_err *err);
/* The seed of the run. */
uint64_t wti_record_noise_seed(const struct wti_record_noise *noise);
/* Appends to the settings of agents, which it may move. */
int wti_record_noise_settings(const struct wti_record_noise *noise, char **settings,
			      struct wt_err *err);
/* The library for LD_PRELOAD. */
int wti_record_noise_library(char ret_path[PATH_MAX], struct wt_err *err);

#endif
