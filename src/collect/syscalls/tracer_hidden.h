/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls by which a program, knowingly or not, gets out of a tracer's sight: a seccomp filter of its
 * own answers calls before ours has seen them, and a child may ask not to be traced.
 */
#ifndef WTI_SYSCALLS_TRACER_HIDDEN_H
#define WTI_SYSCALLS_TRACER_HIDDEN_H

#include "tracer_attach.h"

enum wti_hiding {
	WTI_HIDES_NOTHING,
	WTI_HIDES_CALLS, /* installs a filter */
	WTI_HIDES_CHILD, /* makes a child that nobody traces */
};

/* A filter of ours has to let them stop; prctl() and clone(), whose arguments it can see, stop
 * there by themselves. */
void wti_tracer_add_hiding_calls(struct wti_call_set *set);
/* Of the call that begins. */
enum wti_hiding wti_tracee_hides(const struct wti_tracee *tracee);
/* At the end of a call: it did nothing, as a filter sends the thread a signal instead. */
bool wti_tracee_is_trapped(const struct wti_tracee *tracee, int64_t result);
/* Its call has succeeded: from here on all calls of who has the filter stop. How many other threads
 * have it from now on, and are not stopped: what they do until they are is not seen. */
unsigned wti_tracer_hidden(struct wti_tracer *tracer, struct wti_tracee *tracee);
/* What the flags of its clone() are. */
uint64_t wti_tracee_clone_flags(const struct wti_tracee *tracee);

#endif
