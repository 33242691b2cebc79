/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded device work, executed again and verified (docs/replay.md). The result has a status
 * (bit_exact, within_tolerance, deterministic, partial, divergent, not_measured; planned of a dry
 * run), facts (operations, executed, same, origins, inherited, missing, unknown, extra, compared,
 * races), findings, and a table `operations` of all that are not the same.
 */
#ifndef WHEELTAP_REPLAY_H
#define WHEELTAP_REPLAY_H

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum wt_replay_mode {
	WT_REPLAY_FULL,
	WT_REPLAY_PARTIAL, /* operations `from` to `to`, or a kernel, and what they need */
	WT_REPLAY_DRY_RUN, /* executes nothing */
	WT_REPLAY_STREAM,  /* of one queue, and what that needs */
};

enum wt_replay_order {
	WT_REPLAY_ORIGINAL, /* all queues at once */
	WT_REPLAY_SERIAL,
	WT_REPLAY_REVERSED,
	WT_REPLAY_RANDOM, /* of a seed */
};

struct wt_replay_options {
	size_t size; /* sizeof(struct wt_replay_options) */
	enum wt_replay_mode mode;
	enum wt_replay_order order;
	uint64_t seed;
	uint64_t from, to;     /* operations, as a dry run numbers them */
	const char *queue;     /* pattern; NULL: all */
	const char *kernel;    /* pattern; NULL: all */
	uint64_t repeats;      /* of each kernel from the same content; default 3 */
	const char *device;    /* part of its name; NULL: the recorded one */
	uint64_t ulp;          /* tolerance on another device; default 4 */
	uint64_t memory_bytes; /* ceiling on the device; default 2 GiB */
	/* Nothing is executed unless this is the code of wt_replay_code(); behind it, with commas,
	 * hashes of programs that are native code. */
	const char *yes;
};

#define WT_REPLAY_CODE_BYTES 17

void wt_replay_options_init(struct wt_replay_options *options);

/* The code that stands for all programs of the run, by their bytes. `folder` is the run's. */
int wt_replay_code(const struct wt_trace *trace, const char *folder,
		   char ret_code[WT_REPLAY_CODE_BYTES], struct wt_err *err);

/* `result` was initialised by wt_result_init(). A divergence is no error. */
int wt_replay_trace(const struct wt_trace *trace, const char *folder,
		    const struct wt_replay_options *options, struct wt_result *result,
		    struct wt_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
