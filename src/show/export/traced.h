/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exporters of system calls share: which events are calls of the program, who made them, and
 * what their descriptors refer to.
 *
 *	if (wti_traced_take(calls, event, err) > 0) {
 *		... its arguments: descriptors are what they were before the call ...
 *		wti_traced_done(calls, err);
 *		... its result ...
 *	}
 */
#ifndef WTI_SHOW_EXPORT_TRACED_H
#define WTI_SHOW_EXPORT_TRACED_H

#include "export.h"
#include "syscall/decode.h"
#include "syscall/expr.h"
#include "syscall/handles.h"

struct wti_traced {
	struct wti_export *export;
	struct wti_decode_options options;
	struct wti_decode_files files;
	struct wti_call_set wanted[2]; /* on x86-64, on aarch64 */
	struct wti_handles handles;
	struct wti_tasks tasks;
	struct wti_syscall call; /* the one that was taken */
	uint32_t pid, tid;       /* of its thread; 0: not known */
	uint32_t first_pid;      /* of the program that was recorded */
	bool first_ended;
	int32_t first_status; /* then: exit status, or minus a signal */
	uint64_t count;       /* calls so far */
	uint64_t total_ns;    /* in all of them */
	struct wti_buf name;  /* of a descriptor */
};

int wti_traced_begin(struct wti_traced *calls, struct wti_export *export, struct wt_err *err);
/* 1 if the event is a call of the program, 0 if not, or an error. */
int wti_traced_take(struct wti_traced *calls, const struct wt_event *event, struct wt_err *err);
/* The thread that an event of a track of system calls belongs to; 0: not known. */
uint32_t wti_traced_tid(const struct wti_traced *calls, const struct wt_event *event);
int wti_traced_done(struct wti_traced *calls, struct wt_err *err);
/* An error if there was not a single call: an empty file would look like a quiet program. */
int wti_traced_finish(const struct wti_traced *calls, struct wt_err *err);
void wti_traced_release(struct wti_traced *calls);

#endif
