/* SPDX-License-Identifier: Apache-2.0 */
/* Follows threads and descriptors; leaves out what the recorder's guests did. */
#include "traced.h"

#include <fcntl.h>
#include <string.h>

#include "base/err.h"

#define NAME_MAX_BYTES 8192

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void put_socket(struct wti_buf *out, const struct wti_handle *handle)
{
	wti_buf_text(out, "socket");
	if (handle->local || handle->peer)
		wti_buf_printf(out, ":[%s%s%s]", handle->local ? handle->local : "",
			       handle->peer ? "->" : "", handle->peer ? handle->peer : "");
}

static void put_handle(struct wti_buf *out, const struct wti_handle *handle)
{
	switch (handle->type) {
	case WTI_HANDLE_SOCKET:
		put_socket(out, handle);
		break;
	case WTI_HANDLE_PIPE:
		wti_buf_text(out, "pipe");
		break;
	case WTI_HANDLE_KERNEL:
		wti_buf_printf(out, "anon_inode:[%s]", handle->name ? handle->name : "");
		break;
	default:
		wti_buf_text(out, handle->name ? handle->name : "");
	}
}

/* As strace -y has it: a path, or a word for what has none. */
static bool name_of(const void *opaque, int32_t fd, struct wt_text *ret_name)
{
	struct wti_traced *calls = (struct wti_traced *)opaque;
	const struct wti_handles_of_process *process =
		wti_handles_process(&calls->handles, calls->pid);
	const struct wti_handle *handle = NULL;

	if (fd >= 0)
		handle = wti_handles_of(&calls->handles, calls->pid, fd);
	wti_buf_clear(&calls->name);
	if (fd == AT_FDCWD && process && process->folder)
		wti_buf_text(&calls->name, process->folder->path);
	else if (handle && handle->type != WTI_HANDLE_BEFORE)
		put_handle(&calls->name, handle);
	if (wti_buf_status(&calls->name) || !calls->name.bytes)
		return false;
	*ret_name = (struct wt_text){(const char *)calls->name.data, calls->name.bytes};
	return true;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* One architecture may not have what the other has: a name that neither has is a mistake. */
static int choose(struct wti_traced *calls, const char *text, struct wt_err *err)
{
	int here, there;

	if (!text) {
		wti_call_set_all(&calls->wanted[0]);
		wti_call_set_all(&calls->wanted[1]);
		return 0;
	}
	here = wti_expr_compile(WTI_ARCH_X86_64, text, &calls->wanted[0], err);
	there = wti_expr_compile(WTI_ARCH_AARCH64, text, &calls->wanted[1], NULL);
	return here && there ? here : 0;
}

static bool is_wanted(const struct wti_traced *calls)
{
	uint32_t arch = calls->call.arch == WTI_ARCH_AARCH64;

	return wti_call_set_has(&calls->wanted[arch], calls->call.nr);
}

int wti_traced_begin(struct wti_traced *calls, struct wti_export *export, struct wt_err *err)
{
	int r;

	calls->export = export;
	calls->options.string_max = export->string_max;
	wti_buf_init(&calls->name, NAME_MAX_BYTES);
	wti_tasks_init(&calls->tasks);
	r = wti_handles_init(&calls->handles, export->directory, err);
	if (r)
		return r;
	calls->files = (struct wti_decode_files){name_of, calls};
	if (export->fd_names)
		calls->options.files = &calls->files;
	return choose(calls, export->calls, err);
}

static void end_task(struct wti_traced *calls, const struct wt_event *event)
{
	if (calls->first_pid != wt_event_u64(event, WT_TASK_END_FIELD_PID) ||
	    !(wt_event_u64(event, WT_TASK_END_FIELD_FLAGS) & WT_TASK_END_LAST))
		return;
	calls->first_ended = true;
	calls->first_status = (int32_t)wt_event_i64(event, WT_TASK_END_FIELD_STATUS);
}

static int take_task(struct wti_traced *calls, const struct wt_event *event, struct wt_err *err)
{
	int r = wti_tasks_event(&calls->tasks, event, err);

	if (!r && calls->options.files)
		r = wti_handles_event(&calls->handles, event, err);
	if (event->kind->number == WT_KIND_TASK_END)
		end_task(calls, event);
	else if (!calls->first_pid)
		calls->first_pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	return r < 0 ? r : 0;
}

/* The track knows its thread even if the filters left its beginning out. */
uint32_t wti_traced_tid(const struct wti_traced *calls, const struct wt_event *event)
{
	const struct wti_task *task = wti_tasks_of(&calls->tasks, event);
	const struct wt_track *track = wt_reader_track(event->reader, event->track);

	return task ? task->tid : track ? track->tid : 0;
}

static void find_thread(struct wti_traced *calls, const struct wt_event *event)
{
	const struct wti_task *task = wti_tasks_of(&calls->tasks, event);

	calls->tid = wti_traced_tid(calls, event);
	calls->pid = task ? task->pid : 0;
}

int wti_traced_take(struct wti_traced *calls, const struct wt_event *event, struct wt_err *err)
{
	if (event->kind->number == WT_KIND_TASK || event->kind->number == WT_KIND_TASK_END)
		return take_task(calls, event, err);
	if (event->kind->number == WT_KIND_DESCRIPTOR && calls->options.files)
		return wti_handles_event(&calls->handles, event, err);
	if (event->kind->number != WT_KIND_SYSCALL)
		return 0;
	wti_syscall_read(event, &calls->call);
	if (calls->call.flags & WT_SYSCALL_OWN)
		return 0;
	find_thread(calls, event);
	if (!is_wanted(calls)) {
		int r = wti_traced_done(calls, err); /* it may still close what others use */

		return r < 0 ? r : 0;
	}
	calls->count++;
	calls->total_ns += calls->call.duration_ns;
	return 1;
}

int wti_traced_done(struct wti_traced *calls, struct wt_err *err)
{
	if (!calls->options.files)
		return 0;
	return wti_handles_call(&calls->handles, calls->pid, calls->tid, &calls->call, err);
}

int wti_traced_finish(const struct wti_traced *calls, struct wt_err *err)
{
	if (calls->count)
		return 0;
	return wti_err(err, WT_E_MISSING,
		       "there are no system calls to write; record them with 'wheeltap record "
		       "--syscalls', or choose more of them");
}

void wti_traced_release(struct wti_traced *calls)
{
	wti_handles_release(&calls->handles);
	wti_tasks_release(&calls->tasks);
	wti_buf_release(&calls->name);
}
