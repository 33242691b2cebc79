/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system calls are meant, said as users of strace say it:
 *
 *   openat,read      these
 *   !futex,mmap      all but these
 *   %file,/^pwrite/  a class; names that match an extended regular expression
 *   all, none
 *   ?statx           no error where this architecture does not have it
 */
#ifndef WTI_SYSCALL_EXPR_H
#define WTI_SYSCALL_EXPR_H

#include <wheeltap/err.h>

#include "table.h"

/* Bit nr % 64 of word nr / 64. The last, which no kernel has, stands for all numbers beyond. */
struct wti_call_set {
	uint64_t bits[WTI_CALLS_MAX / 64];
};

static inline bool wti_call_set_has(const struct wti_call_set *set, uint32_t nr)
{
	if (nr >= WTI_CALLS_MAX)
		nr = WTI_CALLS_MAX - 1;
	return set->bits[nr / 64] >> (nr % 64) & 1;
}

/* Every number, also those that the build did not know. */
void wti_call_set_all(struct wti_call_set *set);
size_t wti_call_set_count(const struct wti_call_set *set);

/* WT_E_ARG, with err->offset the place in `text`, if it is not an expression as above. */
int wti_expr_compile(enum wti_arch arch, const char *text, struct wti_call_set *ret_set,
		     struct wt_err *err);

#endif
