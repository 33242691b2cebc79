/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads of torch need of one another. The thread that runs the backward graph may be another
 * than the one that made it: it finds here which call made a node, and in which step, stage and
 * epoch that thread is. Threads are known by torch's own numbers; none of this needs the
 * interpreter's lock.
 */
#ifndef WTI_PYTHON_THREADS_H
#define WTI_PYTHON_THREADS_H

#include <stdint.h>

struct wt_name;
struct wti_kept_text;

/* The call or operator whose begin has `seq` on this thread's track made nodes [from, to), save
 * those that something within it made. */
void wti_threads_made(uint64_t from, uint64_t to, uint32_t seq);
/* The begin of what made a node, as the end of an edge; 0: not known. */
uint64_t wti_threads_origin(uint64_t thread, uint64_t sequence);
/* A variable of context was emitted on this thread. */
void wti_threads_context(struct wt_name *key, uint32_t type, uint64_t value,
			 const struct wti_kept_text *text);
/* This thread works for `thread`: takes its context over if it has changed since. */
void wti_threads_follow(uint64_t thread);

#endif
