/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the verb `record`: its options, what is prepared from them, and the run. */
#ifndef WTI_CLI_RECORD_RECORDING_H
#define WTI_CLI_RECORD_RECORDING_H

#include <limits.h>

#include "collect/collect.h"
#include "collect/rlimits.h"
#include "collect/syscalls/syscalls.h"
#include "check.h"
#include "gpu.h"
#include "noise.h"
#include "opencl.h"
#include "python.h"

/* What the command line and configurations ask for. */
struct wti_record_choice {
	bool json;
	bool quiet;
	const char *config;
	bool write_config;
	bool dry_run;
	bool no_build;
	const char *report;
	const char *directory;
	const char *folder;
	bool force;
	const char *name;
	uint64_t ring_bytes;
	uint64_t bytes_max;
	uint64_t blobs_bytes_max;
	const char *on_full;
	int64_t duration_ns;
	const char *wait; /* for all that outlive the program: a time, or yes: to their end */
	const char *strings;
	const char *check; /* a pack, or yes: the built-in rules */
	const char *on_finding;
	const char *syscalls; /* an expression, or yes: all */
	const char *backend;
	uint64_t attach; /* to this process; 0: to none */
	uint64_t parent; /* the program ends with this process; 0: with none */
	bool stacks;
	struct wti_record_opencl opencl;
	struct wti_record_gpu gpu;
	char *const *program; /* its words; ends with NULL */
	uint64_t runs;
	uint64_t jobs;
	const char *until_bits;
	struct wti_record_noise noise;
	bool is_prepared; /* the agent is there: a run of a set */
	struct wti_python_choice python;
};

/* The same, as the recorder takes it, and what is kept until the end. */
struct wti_prepared_recording {
	struct wti_record_options options;
	struct wti_syscalls_options syscalls;
	struct wti_python_plan plan;
	struct wti_record_outcome outcome;
	struct wti_record_check *check; /* or NULL */
	const char *report;             /* or NULL */
	int came_from;                  /* the folder we were started in; -1: we are there */
	char base[PATH_MAX]; /* of runs, the folder of this one, the report, when we go elsewhere */
	char folder[PATH_MAX];
	char report_path[PATH_MAX];
	char preload[PATH_MAX];
	char **chosen;      /* options that are not at their defaults, as words */
	char *variables[8]; /* of the program, besides Python's; ends with NULL */
};

/* Refuses what makes no sense. The recording is zero but for came_from, -1; release it anyway. */
int wti_recording_prepare(struct wti_prepared_recording *recording,
			  const struct wti_record_choice *options, struct wt_err *err);
/* Prepares, runs the program to its end and prints what became of it; the exit code. */
int wti_recording_conduct(const struct wti_record_choice *options, const struct wti_limits *limits,
			  char **arguments);
/* What of the agent for the program's Python is missing is built. */
void wti_recording_prepare_agent(const struct wti_prepared_recording *recording,
				 const struct wti_record_choice *options, char **arguments);
/* The variables of the program. */
void wti_recording_release(struct wti_prepared_recording *recording);
/* Back to the folder that we were started in. */
void wti_recording_go_back(struct wti_prepared_recording *recording);
/* The same as wti_recording_conduct(), several times, into a set; the exit code. */
int wti_recording_conduct_several(const struct wti_record_choice *options,
				  const struct wti_limits *limits, char **arguments);

#endif
