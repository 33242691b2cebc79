/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the tables: processes, their descriptors, what those refer to, and paths. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "handles_change.h"

#define PROCESSES_MAX (1u << 20)
#define THREADS_MAX (1u << 20)
/*
 * Of a process, and of all together; beyond nothing is followed. A single call can name any number
 * and a fork repeats what its parent had, so that a small trace could ask for any amount.
 */
#define DESCRIPTORS_MAX (1u << 16)
#define DESCRIPTORS_ALL_MAX (1u << 22)
#define HANDLES_MAX (1u << 22)
#define NAMES_BYTES_MAX ((size_t)128 << 20) /* of all handles; beyond they have none */
#define FOLDER_BYTES_MAX 8192u              /* longer than any that the kernel takes */
#define DESCRIPTOR_NAME_MAX 4097

/* ---- Processes ------------------------------------------------------------------------------- */

static struct wti_handles_of_process *find_process(const struct wti_handles *h, uint32_t pid)
{
	const uint64_t *slot = wti_map_find_number(&h->by_pid, pid);

	return slot && *slot ? &h->processes[*slot - 1] : NULL;
}

const struct wti_handles_of_process *wti_handles_process(const struct wti_handles *h, uint32_t pid)
{
	return find_process(h, pid);
}

char *wti_handles_copy(struct wti_handles *h, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	h->failed |= text && !copy;
	return copy;
}

/* ---- Folders --------------------------------------------------------------------------------- */

static struct wti_working_folder *make_folder(struct wti_handles *h, const char *path, size_t bytes)
{
	struct wti_working_folder *folder;

	bytes = bytes < FOLDER_BYTES_MAX ? bytes : FOLDER_BYTES_MAX;
	folder = malloc(sizeof(*folder) + bytes + 1);
	if (!folder) {
		h->failed = true;
		return NULL;
	}
	folder->holder_count = 0;
	memcpy(folder->path, path, bytes);
	folder->path[bytes] = 0;
	return folder;
}

static void drop_folder(struct wti_working_folder *folder)
{
	if (folder && !--folder->holder_count)
		free(folder);
}

void wti_folder_set(struct wti_handles_of_process *process, struct wti_working_folder *folder)
{
	if (folder)
		folder->holder_count++;
	drop_folder(process->folder);
	process->folder = folder;
}

void wti_folder_change(struct wti_handles *h, struct wti_handles_of_process *process,
		       const char *path, size_t bytes)
{
	wti_folder_set(process, path ? make_folder(h, path, bytes) : NULL);
}

/* ---- New processes --------------------------------------------------------------------------- */

static struct wti_handles_of_process *new_process(struct wti_handles *h, uint32_t pid)
{
	uint64_t *slot = wti_map_number(&h->by_pid, pid);

	if (!slot)
		return NULL;
	if (*slot) /* the number is used again */
		return &h->processes[*slot - 1];
	if (wti_grow(&h->processes, h->process_count + 1, &h->process_capacity, PROCESSES_MAX))
		return NULL;
	h->processes[h->process_count] = (struct wti_handles_of_process){.pid = pid};
	*slot = ++h->process_count;
	return &h->processes[h->process_count - 1];
}

struct wti_handles_of_process *wti_process_of(struct wti_handles *h, uint32_t pid)
{
	struct wti_handles_of_process *process = find_process(h, pid);

	if (process)
		return process;
	process = new_process(h, pid);
	if (process)
		wti_folder_set(process, h->folder);
	else
		h->failed = true;
	return process;
}

/* ---- Handles --------------------------------------------------------------------------------- */

static struct wti_handle *free_entry(struct wti_handles *h)
{
	for (; h->free_hint < h->count; h->free_hint++)
		if (!h->all[h->free_hint].holder_count)
			return &h->all[h->free_hint];
	if (wti_grow(&h->all, h->count + 1, &h->capacity, HANDLES_MAX)) {
		h->failed = true;
		return NULL;
	}
	return &h->all[h->count++];
}

/* One that nobody holds yet. Index plus one, or 0. */
uint32_t wti_handle_new(struct wti_handles *h, uint8_t type, const char *name)
{
	struct wti_handle *handle = free_entry(h);

	if (!handle)
		return 0;
	if (name && strlen(name) > NAMES_BYTES_MAX - h->name_bytes)
		name = NULL;
	*handle = (struct wti_handle){.type = type, .name = wti_handles_copy(h, name)};
	h->name_bytes += handle->name ? strlen(handle->name) : 0;
	return (uint32_t)(handle - h->all) + 1;
}

/* Frees what nobody holds any more, or never did. */
static void forget_unheld(struct wti_handles *h, uint32_t index)
{
	struct wti_handle *handle = index ? &h->all[index - 1] : NULL;

	if (!handle || handle->holder_count)
		return;
	h->name_bytes -= handle->name ? strlen(handle->name) : 0;
	free(handle->name);
	free(handle->peer);
	free(handle->local);
	*handle = (struct wti_handle){0};
	if (index - 1 < h->free_hint)
		h->free_hint = index - 1;
}

static void drop(struct wti_handles *h, uint32_t index)
{
	if (!index || !h->all[index - 1].holder_count)
		return;
	h->all[index - 1].holder_count--;
	forget_unheld(h, index);
}

static struct wti_descriptor *entry_of(struct wti_handles *h,
				       struct wti_handles_of_process *process, int32_t fd)
{
	size_t before = process->descriptor_count;
	int r;

	if (fd < 0 || (uint32_t)fd >= DESCRIPTORS_MAX)
		return NULL;
	if ((size_t)fd < before)
		return &process->descriptors[fd];
	r = wti_grow(&process->descriptors, (size_t)fd + 1, &process->descriptor_count,
		     before + DESCRIPTORS_ALL_MAX - h->descriptor_count);
	if (r) {
		h->failed |= r == WT_E_NOMEM;
		return NULL;
	}
	h->descriptor_count += process->descriptor_count - before;
	for (size_t i = before; i < process->descriptor_count; i++)
		process->descriptors[i] = (struct wti_descriptor){.is_unknown = true};
	return &process->descriptors[fd];
}

void wti_descriptor_set(struct wti_handles *h, struct wti_handles_of_process *process, int32_t fd,
			uint32_t handle, bool close_on_exec)
{
	struct wti_descriptor *entry = entry_of(h, process, fd);

	if (!entry) {
		forget_unheld(h, handle);
		return;
	}
	if (handle)
		h->all[handle - 1].holder_count++;
	drop(h, entry->handle);
	*entry = (struct wti_descriptor){.handle = handle, .close_on_exec = close_on_exec};
}

uint32_t wti_descriptor_handle(struct wti_handles *h, struct wti_handles_of_process *process,
			       int32_t fd)
{
	struct wti_descriptor *entry = entry_of(h, process, fd);

	if (!entry)
		return 0;
	if (!entry->handle && entry->is_unknown) {
		uint32_t handle = wti_handle_new(h, WTI_HANDLE_BEFORE, NULL);

		if (handle)
			h->all[handle - 1].before = (uint32_t)fd;
		wti_descriptor_set(h, process, fd, handle, false);
		entry = entry_of(h, process, fd);
	}
	return entry->handle;
}

struct wti_handle *wti_handles_of(struct wti_handles *h, uint32_t pid, int32_t fd)
{
	struct wti_handles_of_process *process = wti_process_of(h, pid);
	uint32_t handle = process ? wti_descriptor_handle(h, process, fd) : 0;

	return handle ? &h->all[handle - 1] : NULL;
}

/* ---- Births, exec and ends ------------------------------------------------------------------- */

static void empty_process(struct wti_handles *h, struct wti_handles_of_process *process)
{
	for (size_t i = 0; i < process->descriptor_count; i++)
		drop(h, process->descriptors[i].handle);
	free(process->descriptors);
	h->descriptor_count -= process->descriptor_count;
	process->descriptors = NULL;
	process->descriptor_count = 0;
	wti_folder_set(process, NULL);
}

static void inherit(struct wti_handles *h, struct wti_handles_of_process *child,
		    uint32_t parent_pid)
{
	const struct wti_handles_of_process *parent = find_process(h, parent_pid);

	if (!parent || parent == child) {
		wti_folder_set(child, h->folder);
		return;
	}
	wti_folder_set(child, parent->folder);
	if (!parent->descriptor_count ||
	    parent->descriptor_count > DESCRIPTORS_ALL_MAX - h->descriptor_count)
		return;
	child->descriptors = malloc(parent->descriptor_count * sizeof(*child->descriptors));
	if (!child->descriptors) {
		h->failed = true;
		return;
	}
	child->descriptor_count = parent->descriptor_count;
	h->descriptor_count += child->descriptor_count;
	memcpy(child->descriptors, parent->descriptors,
	       parent->descriptor_count * sizeof(*child->descriptors));
	for (size_t i = 0; i < child->descriptor_count; i++)
		if (child->descriptors[i].handle)
			h->all[child->descriptors[i].handle - 1].holder_count++;
}

static void birth(struct wti_handles *h, uint32_t pid, uint32_t parent_tid)
{
	const uint64_t *parent = wti_map_find_number(&h->by_tid, parent_tid);
	uint32_t parent_pid = parent ? (uint32_t)*parent : parent_tid;
	struct wti_handles_of_process *process = new_process(h, pid);

	if (!process) {
		h->failed = true;
		return;
	}
	empty_process(h, process);
	process->ended = false;
	inherit(h, process, parent_pid);
}

static void close_on_exec(struct wti_handles *h, uint32_t pid)
{
	struct wti_handles_of_process *process = wti_process_of(h, pid);

	for (size_t i = 0; process && i < process->descriptor_count; i++)
		if (process->descriptors[i].close_on_exec)
			wti_descriptor_set(h, process, (int32_t)i, 0, false);
}

void wti_handles_task(struct wti_handles *h, uint32_t tid, uint32_t pid, uint32_t how,
		      uint32_t parent_tid)
{
	uint64_t *slot = wti_map_number(&h->by_tid, tid);

	if (slot)
		*slot = pid;
	else
		h->failed = true;
	if (how == WT_TASK_EXEC)
		close_on_exec(h, pid);
	else if (how == WT_TASK_PROCESS)
		birth(h, pid, parent_tid);
	else if (how == WT_TASK_PROGRAM && !find_process(h, pid)) /* what it inherits is known */
		birth(h, pid, 0);
}

static void take_task(struct wti_handles *h, const struct wt_event *event)
{
	wti_handles_task(h, (uint32_t)wt_event_u64(event, WT_TASK_FIELD_TID),
			 (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID),
			 (uint32_t)wt_event_u64(event, WT_TASK_FIELD_HOW),
			 (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PARENT));
}

void wti_handles_end(struct wti_handles *h, uint32_t pid)
{
	struct wti_handles_of_process *process = find_process(h, pid);

	if (!process)
		return;
	empty_process(h, process);
	process->ended = true;
}

/* "socket:[8901]", "pipe:[8902]", "anon_inode:[eventfd]", "anon_inode:inotify", or a path. */
uint32_t wti_handle_of_target(struct wti_handles *h, struct wt_text target)
{
	static const char kernel[] = "anon_inode:";
	char name[DESCRIPTOR_NAME_MAX];
	size_t bytes = target.bytes < sizeof(name) ? target.bytes : sizeof(name) - 1;
	char *at = name;

	memcpy(name, target.data, bytes);
	name[bytes] = 0;
	if (!strncmp(name, "pipe:", 5))
		return wti_handle_new(h, WTI_HANDLE_PIPE, NULL);
	if (!strncmp(name, "socket:", 7))
		return wti_handle_new(h, WTI_HANDLE_SOCKET, NULL);
	if (strncmp(name, kernel, sizeof(kernel) - 1))
		return wti_handle_new(h, WTI_HANDLE_FILE, name);
	at += sizeof(kernel) - 1;
	at += *at == '[';
	at[strcspn(at, "]")] = 0;
	return wti_handle_new(h, WTI_HANDLE_KERNEL, at);
}

/* What was open when the recording began. */
static void take_descriptor(struct wti_handles *h, const struct wt_event *event)
{
	uint32_t pid = (uint32_t)wt_event_u64(event, WT_DESCRIPTOR_FIELD_PID);
	int32_t fd = (int32_t)wt_event_i64(event, WT_DESCRIPTOR_FIELD_FD);
	uint32_t flags = (uint32_t)wt_event_u64(event, WT_DESCRIPTOR_FIELD_FLAGS);
	struct wt_text target = wt_event_text(event, WT_DESCRIPTOR_FIELD_TARGET);
	struct wti_handles_of_process *process = wti_process_of(h, pid);
	uint32_t handle;

	const struct wti_descriptor *entry;

	if (!process)
		return;
	if (fd == AT_FDCWD) {
		wti_folder_change(h, process, target.data, target.bytes);
		return;
	}
	entry = entry_of(h, process, fd);
	handle = entry && entry->is_unknown && !entry->handle ? wti_handle_of_target(h, target) : 0;
	if (!handle) /* calls have shown it better */
		return;
	h->all[handle - 1].flags = flags;
	wti_descriptor_set(h, process, fd, handle, flags & O_CLOEXEC);
}

static int status_of(const struct wti_handles *h, struct wt_err *err)
{
	return h->failed ? wti_err(err, WT_E_NOMEM, "out of memory for descriptors") : 0;
}

int wti_handles_event(struct wti_handles *h, const struct wt_event *event, struct wt_err *err)
{
	uint64_t flags;

	if (event->kind->number == WT_KIND_TASK) {
		take_task(h, event);
	} else if (event->kind->number == WT_KIND_DESCRIPTOR) {
		take_descriptor(h, event);
	} else if (event->kind->number == WT_KIND_TASK_END) {
		flags = wt_event_u64(event, WT_TASK_END_FIELD_FLAGS);
		if (flags & 1)
			wti_handles_end(h, (uint32_t)wt_event_u64(event, WT_TASK_END_FIELD_PID));
	}
	return status_of(h, err);
}

int wti_handles_call(struct wti_handles *h, uint32_t pid, uint32_t tid,
		     const struct wti_syscall *call, struct wt_err *err)
{
	wti_handles_change(h, pid, tid, call);
	return status_of(h, err);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* Appends the parts of `path`, each with a slash before it; ".." takes one away. */
static void add_parts(struct wti_buf *out, size_t begin, const char *path, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		size_t end = at;

		while (end < bytes && path[end] != '/')
			end++;
		if (end - at == 2 && !memcmp(path + at, "..", 2)) {
			while (out->bytes > begin && out->data[--out->bytes] != '/')
				;
		} else if (end > at && !(end - at == 1 && path[at] == '.')) {
			wti_buf_byte(out, '/');
			wti_buf_append(out, path + at, end - at);
		}
		at = end + 1;
	}
}

bool wti_handles_path(struct wti_handles *h, uint32_t pid, int32_t dirfd, struct wt_text path,
		      struct wti_buf *out)
{
	const struct wti_handles_of_process *process = wti_process_of(h, pid);
	const struct wti_handle *folder = NULL;
	const char *from = NULL;
	size_t begin = out->bytes;

	if (!path.bytes || path.data[0] != '/') {
		if (dirfd == AT_FDCWD) {
			from = process && process->folder ? process->folder->path : NULL;
		} else {
			folder = wti_handles_of(h, pid, dirfd);
			from = folder && folder->type == WTI_HANDLE_FILE ? folder->name : NULL;
		}
		if (!from) {
			wti_buf_append(out, path.data, path.bytes);
			return false;
		}
		add_parts(out, begin, from, strlen(from));
	}
	add_parts(out, begin, path.data, path.bytes);
	if (out->bytes == begin)
		wti_buf_byte(out, '/');
	return true;
}

/* ---- The whole ------------------------------------------------------------------------------- */

int wti_handles_init(struct wti_handles *h, const char *folder, struct wt_err *err)
{
	*h = (struct wti_handles){0};
	wti_map_init(&h->by_pid, PROCESSES_MAX);
	wti_map_init(&h->by_tid, THREADS_MAX);
	h->folder = folder ? make_folder(h, folder, strlen(folder)) : NULL;
	if (h->folder)
		h->folder->holder_count++;
	if (!h->failed && !wti_handles_actions(h))
		h->failed = true;
	return status_of(h, err);
}

void wti_handles_release(struct wti_handles *h)
{
	for (size_t i = 0; i < h->process_count; i++)
		empty_process(h, &h->processes[i]);
	for (size_t i = 0; i < h->count; i++) {
		free(h->all[i].name);
		free(h->all[i].peer);
		free(h->all[i].local);
	}
	free(h->all);
	free(h->processes);
	free(h->actions[0]);
	free(h->actions[1]);
	drop_folder(h->folder);
	wti_map_release(&h->by_pid);
	wti_map_release(&h->by_tid);
	*h = (struct wti_handles){0};
}
