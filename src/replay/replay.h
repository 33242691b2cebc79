/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded device work, executed again and judged. What is asked is a struct wti_replay_options,
 * what came out a result like any other: a verdict, operations that are not the same, races.
 */
#ifndef WTI_REPLAY_REPLAY_H
#define WTI_REPLAY_REPLAY_H

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#include "plan.h"

enum wti_replay_mode {
	WTI_REPLAY_FULL,
	WTI_REPLAY_PARTIAL, /* from an operation to another, and what they need */
	WTI_REPLAY_DRY_RUN, /* nothing is executed: the plan, and races */
	WTI_REPLAY_STREAM,  /* of one queue, and what that needs */
};

struct wti_replay_options {
	enum wti_replay_mode mode;
	struct wti_replay_order order;
	/* Operations by number; or times of the run, if by_time. */
	bool by_time;
	uint64_t from, to;
	int64_t from_ns, to_ns;
	const char *queue;     /* glob over names of queues; NULL: all */
	const char *kernel;    /* glob over names of kernels: only these, and what they need */
	uint64_t repeats;      /* of each kernel from the same content */
	double speed;          /* of the recorded times; 0: without pauses */
	const char *device;    /* part of a name; NULL: the recorded one */
	const char *binaries;  /* what was agreed to, with hashes of native code that may run; NULL:
				  none */
	uint64_t ulp;          /* tolerance on another device */
	uint64_t memory_bytes; /* ceiling on the device */
	const char *emit;      /* file for a program that shows the divergence; NULL: none */
	uint64_t pid;          /* of the process; 0: all */
	void (*progress)(void *cookie, double share);
	void *cookie;
};

void wti_replay_options_init(struct wti_replay_options *options);

/*
 * `folder` is that of the run. The result has status bit_exact, within_tolerance, divergent,
 * deterministic (the recording has no results to compare with), partial (something could not be
 * executed) or not_measured, and for WTI_REPLAY_DRY_RUN planned.
 */
int wti_replay(const struct wt_trace *trace, const char *folder,
	       const struct wti_replay_options *options, struct wt_result *result,
	       struct wt_err *err);

#define WTI_REPLAY_CODE_BYTES 17

/*
 * What somebody has agreed to: the code, and after commas the hashes of programs that are native
 * code. Whether that is `code`; and whether a program of that hash is among them.
 */
bool wti_replay_is_agreed(const char *yes, const char *code);
bool wti_replay_is_named(const char *yes, uint64_t hash);

struct wti_buf;
/* What would be executed, for whoever has to agree: a line for each program, and one code for all.
 */
int wti_replay_consent(const struct wt_trace *trace, const char *folder,
		       char ret_code[WTI_REPLAY_CODE_BYTES], struct wti_buf *out,
		       struct wt_err *err);

#endif
