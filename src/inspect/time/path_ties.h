/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waited for whom, from the system calls of a run in one pass. A WAIT is a call that may have
 * blocked its thread; a RELEASE is something that may have let another thread go on: a write to a
 * pipe, a futex woken, a program started, an end. A TOKEN names what both are about. Which release
 * ended which wait is decided afterwards, by time (walk.c).
 *
 * Pipes, socketpairs, eventfds, futexes, children and threads are followed. Other sockets, the
 * terminal and time are outside: nobody in the run is seen to end a wait for them.
 */
#ifndef WTI_PATH_TIES_H
#define WTI_PATH_TIES_H

#include "base/map.h"
#include "inspect/core/requests.h"
#include "syscall/handles.h"

struct wti_wait {
	uint32_t task; /* place */
	uint32_t arch, nr;
	bool is_inside; /* it is about something of the run's own, even if no release is found */
	int64_t begin_ns, end_ns;
	uint64_t token, other; /* 0: none */
};

struct wti_release {
	uint64_t token;
	uint32_t task;
	int64_t begin_ns, end_ns;
};

struct wti_tied_task {
	uint32_t tid, pid;
	uint32_t parent; /* place plus one; 0: not known */
	bool has_ended;
	int64_t born_ns;
	int64_t last_ns; /* its end, or what was last seen of it */
	/* A wait for several things at once: what is read soon after it shows which one came. */
	size_t polled; /* place of the wait plus one */
	unsigned calls_since;
	char command[32];
};

struct wti_ties {
	const struct wti_requests *requests;
	struct wti_handles handles;
	struct wti_map place_of; /* stream and track: place plus one */
	struct wti_map tid_of;   /* tid: place plus one, of the latest */
	struct wti_map peer_of;  /* channel: the one at the other end */
	uint64_t channel_count;
	struct wti_tied_task *tasks;
	size_t task_count, task_capacity;
	struct wti_wait *waits;
	size_t wait_count, wait_capacity;
	struct wti_release *releases;
	size_t release_count, release_capacity;
	uint64_t call_count;
	uint64_t lost_count;
};

int wti_ties_init(struct wti_ties *ties, struct wt_err *err);
void wti_ties_release(struct wti_ties *ties);
/* Takes events of the kinds task, task_end, syscall and lost; others are passed over. */
int wti_ties_event(struct wti_ties *ties, const struct wt_event *event, struct wt_err *err);

#endif
