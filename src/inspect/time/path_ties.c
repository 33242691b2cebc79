/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what each call waits for, and whom it lets go on. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "path_ties.h"

#define TASKS_MAX (1u << 20)
#define CHANNELS_MAX (1u << 20)
#define TIES_MAX (1u << 24) /* of each kind */
/* So many calls after a poll a read still shows what came. */
#define POLL_REACH 8

enum token {
	TOKEN_FUTEX = 1,
	TOKEN_WRITTEN, /* a channel */
	TOKEN_READ,    /* a channel: there is room in it */
	TOKEN_PROCESS, /* has ended */
	TOKEN_THREAD,  /* of this process has ended */
	TOKEN_CHILD,   /* of this process has ended */
	TOKEN_STARTED, /* a child is another program now, or has ended */
};

static uint64_t token(enum token type, uint64_t what)
{
	return (uint64_t)type << 60 | (what & ~(15ull << 60));
}

int wti_ties_init(struct wti_ties *ties, struct wt_err *err)
{
	*ties = (struct wti_ties){.requests = wti_requests_new()};
	wti_map_init(&ties->place_of, TASKS_MAX);
	wti_map_init(&ties->tid_of, TASKS_MAX);
	wti_map_init(&ties->peer_of, CHANNELS_MAX);
	if (!ties->requests)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_handles_init(&ties->handles, NULL, err);
}

void wti_ties_release(struct wti_ties *ties)
{
	wti_handles_release(&ties->handles);
	free((void *)ties->requests);
	free(ties->tasks);
	free(ties->waits);
	free(ties->releases);
	wti_map_release(&ties->place_of);
	wti_map_release(&ties->tid_of);
	wti_map_release(&ties->peer_of);
}

static int no_room(int r, const char *what, struct wt_err *err)
{
	return r == WT_E_LIMIT ? wti_err(err, r, "more than %u %s", TIES_MAX, what)
			       : wti_err(err, r, "out of memory");
}

static int add_wait(struct wti_ties *ties, const struct wti_wait *wait, struct wt_err *err)
{
	int r = wti_grow(&ties->waits, ties->wait_count + 1, &ties->wait_capacity, TIES_MAX);

	if (r)
		return no_room(r, "waits", err);
	ties->waits[ties->wait_count++] = *wait;
	return 0;
}

static int add_release(struct wti_ties *ties, uint64_t what, uint32_t task, int64_t begin_ns,
		       int64_t end_ns, struct wt_err *err)
{
	int r = wti_grow(&ties->releases, ties->release_count + 1, &ties->release_capacity,
			 TIES_MAX);

	if (r)
		return no_room(r, "releases", err);
	ties->releases[ties->release_count++] = (struct wti_release){
		.token = what, .task = task, .begin_ns = begin_ns, .end_ns = end_ns};
	return 0;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static uint64_t key_of(const struct wt_event *event)
{
	return (uint64_t)event->stream << 32 | event->track;
}

static struct wti_tied_task *task_of(const struct wti_ties *ties, const struct wt_event *event)
{
	const uint64_t *slot = wti_map_find_number(&ties->place_of, key_of(event));

	return slot && *slot ? &ties->tasks[*slot - 1] : NULL;
}

static int bear(struct wti_ties *ties, const struct wt_event *event, struct wt_err *err)
{
	uint64_t *slot = wti_map_number(&ties->place_of, key_of(event)), *by_tid;
	const uint64_t *parent;
	struct wti_tied_task *task;
	int r;

	if (!slot)
		return wti_map_failed(&ties->place_of, err, "threads");
	r = wti_grow_zeroed(&ties->tasks, ties->task_count + 1, &ties->task_capacity, TIES_MAX);
	if (r)
		return no_room(r, "threads", err);
	task = &ties->tasks[ties->task_count];
	*slot = ++ties->task_count;
	parent = wti_map_find_number(&ties->tid_of, wt_event_u64(event, WT_TASK_FIELD_PARENT));
	task->parent = parent ? (uint32_t)*parent : 0;
	task->tid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_TID);
	task->pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	task->born_ns = event->time_ns;
	by_tid = wti_map_number(&ties->tid_of, task->tid);
	if (!by_tid)
		return wti_map_failed(&ties->tid_of, err, "threads");
	*by_tid = ties->task_count;
	return 0;
}

/* Born, or another program now. */
static int take_task(struct wti_ties *ties, const struct wt_event *event, struct wt_err *err)
{
	struct wt_text command = wt_event_text(event, WT_TASK_FIELD_COMMAND);
	bool is_exec = wt_event_u64(event, WT_TASK_FIELD_HOW) == WT_TASK_EXEC;
	struct wti_tied_task *task = task_of(ties, event);
	int r = task ? 0 : bear(ties, event, err);

	if (r)
		return r;
	task = task_of(ties, event);
	task->last_ns = event->time_ns;
	snprintf(task->command, sizeof(task->command), "%.*s",
		 (int)(command.bytes < sizeof(task->command) ? command.bytes
							     : sizeof(task->command) - 1),
		 command.data);
	return is_exec ? add_release(ties, token(TOKEN_STARTED, task->tid),
				     (uint32_t)(task - ties->tasks), event->time_ns, event->time_ns,
				     err)
		       : 0;
}

static int take_end(struct wti_ties *ties, const struct wt_event *event, struct wt_err *err)
{
	struct wti_tied_task *task = task_of(ties, event);
	uint32_t place, parent;
	uint64_t ends[3] = {0};
	int r = 0;

	if (!task)
		return 0;
	task->has_ended = true;
	task->last_ns = event->time_ns;
	place = (uint32_t)(task - ties->tasks);
	parent = task->parent ? ties->tasks[task->parent - 1].pid : 0;
	ends[0] = token(TOKEN_THREAD, task->pid);
	if (task->tid == task->pid) {
		ends[0] = token(TOKEN_PROCESS, task->pid);
		ends[1] = token(TOKEN_STARTED, task->tid);
		ends[2] = parent ? token(TOKEN_CHILD, parent) : 0;
	}
	for (size_t i = 0; i < 3 && !r; i++)
		if (ends[i])
			r = add_release(ties, ends[i], place, event->time_ns, event->time_ns, err);
	return r;
}

/* ---- Futexes --------------------------------------------------------------------------------- */

/* A private one is of a process; others are known by their address, which is the same wherever it
 * was inherited. */
static uint64_t futex_token(const struct wti_tied_task *task, const struct wti_syscall *call,
			    uint64_t address)
{
	uint64_t space = call->args[1] & FUTEX_PRIVATE_FLAG ? task->pid : 0;

	return token(TOKEN_FUTEX, address ^ space * 0x9e3779b97f4a7c15u);
}

static bool futex_waits(uint64_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

static int take_futex(struct wti_ties *ties, const struct wti_syscall *call, struct wti_wait *wait,
		      struct wt_err *err)
{
	const struct wti_tied_task *task = &ties->tasks[wait->task];
	uint64_t what = futex_token(task, call, call->args[0]);
	int r = 0;

	if (futex_waits(call->args[1])) {
		if (call->result != 0 && call->result != -ETIMEDOUT)
			return 0;
		wait->token = call->result ? 0 : what;
		/* A thread that ends is not seen to wake who joins it: the kernel does. */
		wait->other = call->result ? 0 : token(TOKEN_THREAD, task->pid);
		return add_wait(ties, wait, err);
	}
	if (call->result > 0)
		r = add_release(ties, what, wait->task, wait->begin_ns, wait->end_ns, err);
	if (!r && call->result > 0 && (call->args[1] & FUTEX_CMD_MASK) == FUTEX_WAKE_OP)
		r = add_release(ties, futex_token(task, call, call->args[4]), wait->task,
				wait->begin_ns, wait->end_ns, err);
	return r;
}

/* ---- Channels -------------------------------------------------------------------------------- */

static uint64_t attach(struct wti_ties *ties, uint32_t pid, int32_t fd)
{
	struct wti_handle *handle = wti_handles_of(&ties->handles, pid, fd);

	if (!handle)
		return 0;
	handle->attached = ++ties->channel_count;
	return handle->attached;
}

static void tie(struct wti_ties *ties, uint64_t a, uint64_t b)
{
	uint64_t *slot = a && b ? wti_map_number(&ties->peer_of, a) : NULL;

	if (slot)
		*slot = b;
}

/* After the handles have taken the call. */
static void open_channel(struct wti_ties *ties, const char *name, uint32_t pid,
			 const struct wti_syscall *call)
{
	bool is_pair = !strcmp(name, "socketpair");
	const uint8_t *memory;
	int32_t fds[2];
	uint64_t a, b;

	if (call->result < 0)
		return;
	if (!strncmp(name, "eventfd", 7)) {
		a = attach(ties, pid, (int32_t)call->result);
		tie(ties, a, a);
		return;
	}
	if (!is_pair && strncmp(name, "pipe", 4) != 0)
		return;
	memory = wti_syscall_memory(call, is_pair ? 3 : 0, WTI_AT_EXIT, sizeof(fds));
	if (!memory)
		return;
	memcpy(fds, memory, sizeof(fds));
	a = attach(ties, pid, fds[0]);
	b = attach(ties, pid, fds[1]);
	tie(ties, a, b);
	tie(ties, b, a);
}

/* What a read or write waits for, and whom it lets go on. Files and disks count as work. */
static int take_transfer(struct wti_ties *ties, const struct wti_syscall *call,
			 const struct wti_request_row *row, struct wti_wait *wait,
			 struct wt_err *err)
{
	struct wti_tied_task *task = &ties->tasks[wait->task];
	const struct wti_handle *handle =
		wti_handles_of(&ties->handles, task->pid, (int32_t)call->args[row->fd]);
	bool writes = row->request == WTI_REQUEST_WRITE;
	uint64_t channel = handle ? handle->attached : 0;
	const uint64_t *peer = channel ? wti_map_find_number(&ties->peer_of, channel) : NULL;
	int r = 0;

	if (handle && handle->type == WTI_HANDLE_FILE)
		return 0;
	if (peer)
		wait->token = token(writes ? TOKEN_READ : TOKEN_WRITTEN, *peer);
	wait->is_inside = peer || writes; /* a write to others is work that it does for them */
	if (!writes && peer && task->polled && task->calls_since <= POLL_REACH) {
		ties->waits[task->polled - 1].token = wait->token;
		task->polled = 0;
	}
	if (call->result > 0 && channel)
		r = add_release(ties, token(writes ? TOKEN_WRITTEN : TOKEN_READ, channel),
				wait->task, wait->begin_ns, wait->end_ns, err);
	return r ? r : add_wait(ties, wait, err);
}

/* ---- Other waits ----------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static int take_wait(struct wti_ties *ties, const struct wti_syscall *call, const char *name,
		     struct wti_wait *wait, struct wt_err *err)
{
	static const char *const children[] = {"wait4", "waitid", NULL};
	static const char *const signals[] = {"pause", "rt_sigsuspend", "rt_sigtimedwait", NULL};
	static const char *const several[] = {"poll",         "ppoll",      "select",
					      "pselect6",     "epoll_wait", "epoll_pwait",
					      "epoll_pwait2", NULL};
	struct wti_tied_task *task = &ties->tasks[wait->task];
	int r;

	if (is_one_of(name, children)) {
		wait->is_inside = call->result > 0;
		wait->token = call->result > 0 ? token(TOKEN_PROCESS, (uint64_t)call->result) : 0;
		wait->other = token(TOKEN_CHILD, task->pid);
	} else if (is_one_of(name, signals)) {
		wait->token = token(TOKEN_CHILD, task->pid);
	}
	r = add_wait(ties, wait, err);
	if (!r && is_one_of(name, several) && call->result > 0) {
		task->polled = ties->wait_count;
		task->calls_since = 0;
	}
	return r;
}

/* vfork, and what posix_spawn does: the parent stands still until the child is on its own. */
static int take_birth(struct wti_ties *ties, const struct wti_syscall *call, const char *name,
		      struct wti_wait *wait, struct wt_err *err)
{
	const uint8_t *memory;
	uint64_t flags = 0;

	if (!strcmp(name, "vfork"))
		flags = CLONE_VFORK;
	else if (!strcmp(name, "clone"))
		flags = call->args[0];
	else if (!strcmp(name, "clone3") &&
		 (memory = wti_syscall_memory(call, 0, WTI_AT_ENTRY, sizeof(flags))))
		memcpy(&flags, memory, sizeof(flags));
	if (!(flags & CLONE_VFORK) || call->result <= 0)
		return 0;
	wait->is_inside = true;
	wait->token = token(TOKEN_STARTED, (uint64_t)call->result);
	return add_wait(ties, wait, err);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int judge_call(struct wti_ties *ties, const struct wti_syscall *call, const char *name,
		      struct wti_wait *wait, struct wt_err *err)
{
	const struct wti_request_row *row = wti_request_of(ties->requests, call);

	if (!strcmp(name, "futex"))
		return take_futex(ties, call, wait, err);
	if (row && row->fd >= 0 &&
	    (row->request == WTI_REQUEST_READ || row->request == WTI_REQUEST_WRITE))
		return take_transfer(ties, call, row, wait, err);
	if (row && row->request == WTI_REQUEST_WAIT)
		return take_wait(ties, call, name, wait, err);
	return take_birth(ties, call, name, wait, err);
}

static int take_call(struct wti_ties *ties, const struct wt_event *event, struct wt_err *err)
{
	struct wti_tied_task *task = task_of(ties, event);
	struct wti_syscall call;
	struct wti_wait wait;
	const char *name;
	uint32_t pid;
	int r;

	wti_syscall_read(event, &call);
	name = wti_call_name((enum wti_arch)call.arch, call.nr);
	if (!task || !name || call.flags & (WT_SYSCALL_OWN | WT_SYSCALL_UNFINISHED))
		return 0;
	ties->call_count++;
	task->last_ns = event->time_ns;
	task->calls_since++;
	pid = task->pid;
	wait = (struct wti_wait){.task = (uint32_t)(task - ties->tasks),
				 .arch = call.arch,
				 .nr = call.nr,
				 /* Never without length, so that it leads back in time. */
				 .begin_ns =
					 wti_difference(event->time_ns, wti_i64(call.duration_ns)) -
					 !call.duration_ns,
				 .end_ns = event->time_ns};
	r = judge_call(ties, &call, name, &wait, err);
	r = r ? r : wti_handles_call(&ties->handles, pid, task->tid, &call, err);
	if (!r)
		open_channel(ties, name, pid, &call);
	return r;
}

int wti_ties_event(struct wti_ties *ties, const struct wt_event *event, struct wt_err *err)
{
	int r;

	switch (event->kind->number) {
	case WT_KIND_SYSCALL:
		return take_call(ties, event, err);
	case WT_KIND_TASK:
		r = wti_handles_event(&ties->handles, event, err);
		return r ? r : take_task(ties, event, err);
	case WT_KIND_TASK_END:
		r = wti_handles_event(&ties->handles, event, err);
		return r ? r : take_end(ties, event, err);
	case WT_KIND_LOST:
		ties->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	default:
		return 0;
	}
}
