/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: those of the caller are the program's, and it gets them as they were. For our own
 * processes we take what is allowed, so that a limit that is meant for the program does not end its
 * recording. What we must not do under a limit, because the program would miss what we take, is
 * decided here too.
 */
#ifndef WTI_COLLECT_RLIMITS_H
#define WTI_COLLECT_RLIMITS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <wheeltap/err.h>

struct wti_limits {
	struct rlimit given[RLIM_NLIMITS];
	struct sigaction too_large; /* SIGXFSZ, as it was given */
	struct sigaction too_long;  /* SIGXCPU */
};

/*
 * Remembers what was given, and makes room for us: soft limits become the hard ones, and the
 * signals of limits are ignored, so that calls fail instead. Standard descriptors that are closed
 * are occupied by something that ends with an exec.
 */
void wti_limits_take(struct wti_limits *limits);
/* Before an exec. Safe after a fork. */
void wti_limits_give(const struct wti_limits *limits);

/* True if a standard descriptor was open when we were started. */
bool wti_descriptor_given(int fd);

/* WT_E_LIMIT where our processes would take those away that the program may need. */
int wti_limits_check(const struct wti_limits *limits, struct wt_err *err);
/* The size of rings that the program's limits allow, at most this one. */
uint64_t wti_limits_ring_bytes(const struct wti_limits *limits, uint64_t wanted);
/* False, and why, if a Python agent would take too much of what the program is allowed. */
bool wti_limits_python(const struct wti_limits *limits, char *ret_why, size_t bytes);
/* False, and why, if the program could not write through us for long. */
bool wti_limits_relay(const struct wti_limits *limits, char *ret_why, size_t bytes);
/* True if our own CPU time is nearly used up: after that the kernel kills us. */
bool wti_limits_exhausted(const struct wti_limits *limits);
/* What agents have said by WTI_STAYED_OUT bits, in words. */
void wti_limits_words(uint32_t stayed_out, char *ret_text, size_t bytes);

#endif
