/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a way of capturing system calls offers. There are two: bpf.c, which asks the kernel and
 * stops nobody, and ptrace.c, which needs no privilege. Both hand over the records of raw.h.
 */
#ifndef WTI_SYSCALLS_CAPTURE_H
#define WTI_SYSCALLS_CAPTURE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wheeltap/err.h>

#include "syscall/expr.h"

#include "raw.h"

struct wti_capture_options {
	struct wti_call_set wanted;
	bool narrow;   /* they are few: all others are to be left alone */
	bool contents; /* what is read and written is kept, too, not only names */
	bool stacks;   /* where calls come from */
	bool running;  /* the program is there already, and cannot be held back */
};

struct wti_capture {
	void *self;
	/* Follows this process and all that it makes from now on. */
	int (*follow)(void *self, pid_t pid, enum wti_root_mode mode, struct wt_err *err);
	/* To be installed in the program before its exec; NULL: nothing is. */
	const struct sock_fprog *(*filter)(void *self);
	/* Hands over what is there: at most `count_max` records, each in one piece of memory. True:
	 * there is more. */
	bool (*drain)(void *self, size_t count_max,
		      void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		      void *context);
	/* How much of the ring is in use, in per cent. */
	unsigned (*fill)(void *self);
	/* Records that found no room. */
	uint64_t (*lost)(void *self);
	/* Stacks that found none, and mappings of code. */
	uint64_t (*lost_stacks)(void *self);
	/* Lets go of all threads; what was captured can still be drained. */
	void (*stop)(void *self);
	void (*free)(void *self);
};

/* WT_E_MISSING: not built in; WT_E_IO: the kernel refuses, and the message says why. */
int wti_capture_bpf(const struct wti_capture_options *options, struct wti_capture *ret_capture,
		    struct wt_err *err);
int wti_capture_ptrace(const struct wti_capture_options *options, struct wti_capture *ret_capture,
		       struct wt_err *err);

#endif
