/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what each call of a program means for the ledger. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "ledger_calls.h"
#include "syscall/handles.h"

#define PAGE_BYTES 4096
/* A call that takes less is not blocked: what lies in memory already, and what tracing adds. */
#define BLOCKED_NS 100000u

/* ---- Things ---------------------------------------------------------------------------------- */

/* Made by the kernel when they are read, or no files at all: small and often is how it is done. */
static bool is_of_kernel(const char *path)
{
	return !strncmp(path, "/proc", 5) || !strncmp(path, "/sys/", 5) ||
	       !strncmp(path, "/dev/", 5);
}

static bool is_random(const char *path)
{
	return !strcmp(path, "/dev/urandom") || !strcmp(path, "/dev/random");
}

static uint32_t thing_of_handle(struct wti_ledger *ledger, struct wti_handle *handle)
{
	const char *name = handle->name ? handle->name : handle->peer;

	if (!handle->attached && name)
		handle->attached = wti_ledger_name(ledger, name, strlen(name));
	return (uint32_t)handle->attached;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static uint64_t moved_bytes(const struct wti_syscall *call)
{
	return call->result > 0 ? (uint64_t)call->result : 0;
}

static void enter_transfer(struct wti_ledger *ledger, const struct wti_ledger_place *at,
			   const struct wti_request_row *row, struct wti_handle *handle)
{
	uint64_t bytes = moved_bytes(at->call);

	if (!bytes || handle->type != WTI_HANDLE_FILE || !handle->name)
		return;
	if (is_random(handle->name))
		wti_ledger_post(ledger, at, WTI_MATTER_RANDOM, thing_of_handle(ledger, handle),
				bytes);
	else if (bytes < PAGE_BYTES && !is_of_kernel(handle->name))
		wti_ledger_post(ledger, at,
				row->request == WTI_REQUEST_WRITE ? WTI_MATTER_SMALL_WRITE
								  : WTI_MATTER_SMALL_READ,
				thing_of_handle(ledger, handle), bytes);
}

/* The name that a call is about; 0: it is about a descriptor, or was not captured. */
static uint32_t thing_of_path(struct wti_ledger *ledger, const struct wti_ledger_place *at,
			      const struct wti_request_row *row)
{
	int32_t folder = row->fd < 0 ? AT_FDCWD : (int32_t)at->call->args[row->fd];
	struct wt_text text;

	if (row->path < 0 || !wti_syscall_text(at->call, (unsigned)row->path, &text) || !text.bytes)
		return 0;
	wti_buf_clear(&ledger->text);
	wti_handles_path(ledger->handles, ledger->processes[at->process].pid, folder, text,
			 &ledger->text);
	return wti_ledger_name(ledger, wti_buf_cstr(&ledger->text), ledger->text.bytes);
}

static void enter_name(struct wti_ledger *ledger, const struct wti_ledger_place *at,
		       const struct wti_request_row *row, uint32_t thing)
{
	if (!thing || is_of_kernel(wti_ledger_thing(ledger, thing)))
		return;
	if (row->request == WTI_REQUEST_OPEN && at->call->result >= 0)
		wti_ledger_post(ledger, at, WTI_MATTER_OPENED, thing, 0);
	else if (row->request == WTI_REQUEST_LOOK || at->call->result == -ENOENT)
		wti_ledger_post(ledger, at, WTI_MATTER_LOOKED, thing, 0);
}

static uint64_t memory_key(const struct wti_ledger_place *at, uint64_t address)
{
	return (uint64_t)at->process << 44 ^ address >> 12;
}

/* Memory of its own that can be written: what allocators ask for, and stacks do not count. */
static void take_map(struct wti_ledger *ledger, const struct wti_ledger_place *at)
{
	const uint64_t *args = at->call->args;
	uint64_t *slot;

	if (at->call->result < 0 || !(args[3] & MAP_ANONYMOUS) || !(args[2] & PROT_WRITE) ||
	    args[3] & (MAP_STACK | MAP_FIXED))
		return;
	slot = wti_map_number(&ledger->mapped, memory_key(at, (uint64_t)at->call->result));
	if (slot)
		*slot = 1;
}

static void take_unmap(struct wti_ledger *ledger, const struct wti_ledger_place *at)
{
	const uint64_t *args = at->call->args;
	uint64_t key = memory_key(at, args[0]);
	const uint64_t *known = wti_map_find_number(&ledger->mapped, key);

	if (at->call->result < 0 || !known || !*known)
		return;
	wti_ledger_post(ledger, at, WTI_MATTER_UNMAPPED, 0, args[1]);
	*wti_map_number(&ledger->mapped, key) = 0;
}

static void take_break(struct wti_ledger *ledger, const struct wti_ledger_place *at)
{
	struct wti_ledger_process *process = &ledger->processes[at->process];
	uint64_t now = (uint64_t)at->call->result;

	if (now < process->break_bytes)
		wti_ledger_post(ledger, at, WTI_MATTER_UNMAPPED, 0, process->break_bytes - now);
	process->break_bytes = now;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool is_for_others(const struct wti_handle *handle)
{
	return handle && handle->type != WTI_HANDLE_FILE;
}

static bool waits(const struct wti_request_row *row, const struct wti_handle *handle)
{
	return row && (row->request == WTI_REQUEST_WAIT ||
		       ((row->request == WTI_REQUEST_READ || row->request == WTI_REQUEST_WRITE) &&
			is_for_others(handle)));
}

/* For a disk or a peer; not for other processes of the run. */
static bool is_io(const struct wti_request_row *row, const struct wti_handle *handle)
{
	switch (row ? row->request : WTI_REQUEST_OTHER) {
	case WTI_REQUEST_OPEN:
	case WTI_REQUEST_LOOK:
	case WTI_REQUEST_SYNC:
		return true;
	case WTI_REQUEST_READ:
	case WTI_REQUEST_READ_AT:
	case WTI_REQUEST_WRITE:
	case WTI_REQUEST_WAIT:
		return handle && (handle->type == WTI_HANDLE_FILE ||
				  (handle->peer && strncmp(handle->peer, "unix", 4)));
	default:
		return false;
	}
}

static void take_wait(struct wti_ledger *ledger, const struct wti_ledger_place *at,
		      const struct wti_request_row *row, struct wti_handle *handle, uint32_t thing)
{
	struct wti_ledger_process *process = &ledger->processes[at->process];
	int64_t began_ns =
		at->start_ns < process->step_began_ns ? process->step_began_ns : at->start_ns;

	if (process->step < 0 || at->tid != process->step_tid || !is_io(row, handle) ||
	    at->end_ns - began_ns < BLOCKED_NS)
		return;
	process->step_waited_ns += (uint64_t)(at->end_ns - began_ns);
	wti_ledger_post(ledger, at, WTI_MATTER_WAITED, thing, moved_bytes(at->call));
}

/* ---- Any call -------------------------------------------------------------------------------- */

static void take_sort(struct wti_ledger *ledger, const struct wti_ledger_place *at,
		      const struct wti_request_row *row, struct wti_handle *handle, uint32_t thing)
{
	switch (row->request) {
	case WTI_REQUEST_READ:
	case WTI_REQUEST_READ_AT:
	case WTI_REQUEST_WRITE:
		if (handle)
			enter_transfer(ledger, at, row, handle);
		break;
	case WTI_REQUEST_OPEN:
	case WTI_REQUEST_LOOK:
		enter_name(ledger, at, row, thing);
		break;
	case WTI_REQUEST_RANDOM:
		wti_ledger_post(ledger, at, WTI_MATTER_RANDOM, 0, moved_bytes(at->call));
		break;
	case WTI_REQUEST_CLOCK:
		wti_ledger_post(ledger, at, WTI_MATTER_CLOCK, 0, 0);
		break;
	case WTI_REQUEST_MAP:
		take_map(ledger, at);
		break;
	case WTI_REQUEST_UNMAP:
		take_unmap(ledger, at);
		break;
	case WTI_REQUEST_BREAK:
		take_break(ledger, at);
		break;
	default:
		break;
	}
}

void wti_ledger_call(struct wti_ledger *ledger, struct wti_ledger_thread *thread,
		     const struct wti_syscall *call, int64_t end_ns)
{
	const struct wti_request_row *row = wti_request_of(ledger->requests, call);
	uint32_t pid = ledger->processes[thread->process].pid;
	struct wti_ledger_place at = {thread->process, thread->tid, call, call->start_ns, end_ns};
	struct wti_handle *handle = NULL;
	uint32_t thing = 0;

	ledger->call_count++;
	thread->last_ns = end_ns;
	if (call->flags & WT_SYSCALL_JOINED)
		return;
	if (row && row->path >= 0)
		thing = thing_of_path(ledger, &at, row);
	else if (row && row->fd >= 0)
		handle = wti_handles_of(ledger->handles, pid, (int32_t)call->args[row->fd]);
	if (handle)
		thing = thing_of_handle(ledger, handle);
	if (waits(row, handle))
		thread->waited_ns += (uint64_t)(end_ns - call->start_ns);
	if (call->flags & WT_SYSCALL_UNFINISHED)
		return;
	if (row) {
		take_wait(ledger, &at, row, handle, thing);
		take_sort(ledger, &at, row, handle, thing);
	}
	wti_loop_see(&thread->loop,
		     &(struct wti_loop_call){call, row, thing, end_ns,
					     ledger->processes[thread->process].step});
	if (thread->loop.longest.count && !thread->loop.longest.has_line) {
		thread->loop.longest.line = wti_ledger_line(ledger, thread->tid);
		thread->loop.longest.has_line = true;
	}
}
