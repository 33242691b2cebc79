/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter that sends the wanted system calls to the tracer and lets all others pass at
 * the price of a look. It stays with the program and all that it starts: should the tracer die,
 * these calls fail with ENOSYS (docs/syscalls.md).
 */
#ifndef WTI_SYSCALLS_FILTER_H
#define WTI_SYSCALLS_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "syscall/expr.h"

#define WTI_FILTER_MAX 1024 /* instructions */

struct wti_filter {
	struct sock_filter code[WTI_FILTER_MAX];
	struct sock_fprog program;
};

/* False: the set is too scattered for a filter, and has to do without. */
bool wti_filter_make(struct wti_filter *filter, const struct wti_call_set *wanted);
/* In the process that is to become the program. 0, or errno. */
int wti_filter_install(const struct sock_fprog *program);

#endif
