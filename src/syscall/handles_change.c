/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what each call does to descriptors and to the working directory. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/close_range.h>

#include "handles_change.h"

#define TEXT_MAX 8192u

/* ---- Memory of a call ------------------------------------------------------------------------ */

static const struct wti_piece *piece_of(const struct wti_syscall *call, unsigned arg, uint8_t when)
{
	for (size_t i = 0; i < call->piece_count; i++)
		if (call->pieces[i].address == call->args[arg] &&
		    (!when || call->pieces[i].when == when))
			return &call->pieces[i];
	return NULL;
}

bool wti_syscall_text(const struct wti_syscall *call, unsigned arg, struct wt_text *ret_text)
{
	const struct wti_piece *piece = call->args[arg] ? piece_of(call, arg, 0) : NULL;

	if (!piece)
		return false;
	ret_text->data = (const char *)piece->data;
	ret_text->bytes = strnlen((const char *)piece->data, piece->bytes);
	return true;
}

const uint8_t *wti_syscall_memory(const struct wti_syscall *call, unsigned arg, uint8_t when,
				  size_t bytes)
{
	const struct wti_piece *piece = call->args[arg] ? piece_of(call, arg, when) : NULL;

	return piece && piece->bytes >= bytes ? piece->data : NULL;
}

/* ---- What calls do --------------------------------------------------------------------------- */

struct change {
	struct wti_handles *h;
	struct wti_handles_of_process *process;
	uint32_t pid;
	uint32_t tid;
	const struct wti_syscall *call;
	uint8_t path; /* position of the path; before it the folder, if is_at */
	bool is_at;
	uint32_t flags;
	const char *name; /* of what has no path */
};

static int32_t arg(const struct change *c, unsigned i)
{
	return (int32_t)c->call->args[i];
}

static void give(const struct change *c, int32_t fd, uint8_t type, const char *name,
		 uint32_t open_flags)
{
	uint32_t handle = wti_handle_new(c->h, type, name);

	if (!handle)
		return;
	c->h->all[handle - 1].flags = open_flags;
	c->h->all[handle - 1].opener = c->tid;
	wti_descriptor_set(c->h, c->process, fd, handle, open_flags & O_CLOEXEC);
}

/* The path of a call as an absolute one; false if it was not captured. */
static bool path_of(const struct change *c, struct wti_buf *out)
{
	struct wt_text path;

	if (!wti_syscall_text(c->call, c->path, &path))
		return false;
	wti_handles_path(c->h, c->pid, c->is_at ? arg(c, c->path - 1u) : AT_FDCWD, path, out);
	c->h->failed |= wti_buf_status(out) == WT_E_NOMEM;
	return !wti_buf_status(out);
}

static void do_open(const struct change *c)
{
	struct wti_buf path;

	wti_buf_init(&path, TEXT_MAX);
	if (path_of(c, &path))
		give(c, (int32_t)c->call->result, WTI_HANDLE_FILE, wti_buf_cstr(&path), c->flags);
	else
		give(c, (int32_t)c->call->result, WTI_HANDLE_FILE, NULL, c->flags);
	wti_buf_release(&path);
}

static void do_folder(const struct change *c)
{
	struct wti_buf path;
	bool is_known;

	wti_buf_init(&path, TEXT_MAX);
	is_known = path_of(c, &path);
	wti_folder_change(c->h, c->process, is_known ? wti_buf_cstr(&path) : NULL, path.bytes);
	wti_buf_release(&path);
}

static void do_fchdir(const struct change *c)
{
	const struct wti_handle *folder = wti_handles_of(c->h, c->pid, arg(c, 0));
	const char *path = folder ? folder->name : NULL;

	wti_folder_change(c->h, c->process, path, path ? strlen(path) : 0);
}

static void do_close_range(const struct change *c)
{
	uint32_t first = (uint32_t)arg(c, 0), last = (uint32_t)arg(c, 1);

	for (size_t fd = first; fd <= last && fd < c->process->descriptor_count; fd++) {
		if (arg(c, 2) & CLOSE_RANGE_CLOEXEC)
			c->process->descriptors[fd].close_on_exec = true;
		else
			wti_descriptor_set(c->h, c->process, (int32_t)fd, 0, false);
	}
}

static void do_copy(const struct change *c, int32_t from, int32_t to, bool cloexec)
{
	if (from != to)
		wti_descriptor_set(c->h, c->process, to,
				   wti_descriptor_handle(c->h, c->process, from), cloexec);
}

static void do_fcntl(const struct change *c)
{
	int command = arg(c, 1);

	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		do_copy(c, arg(c, 0), (int32_t)c->call->result, command == F_DUPFD_CLOEXEC);
	else if (command == F_SETFD && (size_t)arg(c, 0) < c->process->descriptor_count)
		c->process->descriptors[arg(c, 0)].close_on_exec = c->call->args[2] & FD_CLOEXEC;
}

static void do_ioctl(const struct change *c)
{
	enum { CLEAR = 0x5450, SET = 0x5451 }; /* FIONCLEX, FIOCLEX */
	uint32_t command = (uint32_t)c->call->args[1];

	if ((command == CLEAR || command == SET) &&
	    (size_t)arg(c, 0) < c->process->descriptor_count)
		c->process->descriptors[arg(c, 0)].close_on_exec = command == SET;
}

/* Two descriptors that the call has written to memory. */
static void do_pair(const struct change *c, unsigned at, uint8_t type)
{
	const uint8_t *memory = wti_syscall_memory(c->call, at, WTI_AT_EXIT, 2 * sizeof(int32_t));
	int32_t fds[2];

	if (!memory)
		return;
	memcpy(fds, memory, sizeof(fds));
	give(c, fds[0], type, c->name, c->flags);
	give(c, fds[1], type, c->name, c->flags);
}

static char *address_of(const struct change *c, unsigned at, uint8_t when)
{
	const struct wti_piece *piece = c->call->args[at] ? piece_of(c->call, at, when) : NULL;
	struct wti_buf text;
	char *copy = NULL;

	wti_buf_init(&text, TEXT_MAX);
	if (piece && wti_address_text(piece->data, piece->bytes, &text))
		copy = wti_handles_copy(c->h, wti_buf_cstr(&text));
	c->h->failed |= wti_buf_status(&text) == WT_E_NOMEM;
	wti_buf_release(&text);
	return copy;
}

static void do_address(const struct change *c, bool is_peer)
{
	struct wti_handle *handle = wti_handles_of(c->h, c->pid, arg(c, 0));
	char **place = handle ? (is_peer ? &handle->peer : &handle->local) : NULL;

	if (!place)
		return;
	free(*place);
	*place = address_of(c, 1, 0);
}

static void do_accept(const struct change *c, uint32_t flags)
{
	const struct wti_handle *listener = wti_handles_of(c->h, c->pid, arg(c, 0));
	uint32_t domain = listener ? listener->domain : 0;
	char *local = wti_handles_copy(c->h, listener ? listener->local : NULL);
	struct wti_handle *handle;

	give(c, (int32_t)c->call->result, WTI_HANDLE_SOCKET, NULL, flags);
	handle = wti_handles_of(c->h, c->pid, (int32_t)c->call->result);
	if (!handle) {
		free(local);
		return;
	}
	handle->is_accepted = true;
	handle->domain = domain;
	free(handle->local);
	free(handle->peer);
	handle->local = local;
	handle->peer = address_of(c, 1, WTI_AT_EXIT);
}

static void do_socket(const struct change *c)
{
	struct wti_handle *handle;

	give(c, (int32_t)c->call->result, WTI_HANDLE_SOCKET, NULL, c->flags);
	handle = wti_handles_of(c->h, c->pid, (int32_t)c->call->result);
	if (handle)
		handle->domain = (uint32_t)arg(c, 0);
}

/* ---- Descriptors from others ----------------------------------------------------------------- */

/* From somebody else: what it is the recorder may have found out. */
static void receive(const struct change *c, int32_t fd, bool cloexec)
{
	struct wt_text place;
	uint32_t handle = wti_syscall_place(c->call, -1, fd, &place)
				  ? wti_handle_of_target(c->h, place)
				  : wti_handle_new(c->h, WTI_HANDLE_BEFORE, NULL);

	if (!handle)
		return;
	c->h->all[handle - 1].before = (uint32_t)fd;
	c->h->all[handle - 1].flags = O_RDWR; /* it may be written to */
	wti_descriptor_set(c->h, c->process, fd, handle, cloexec);
}

size_t wti_syscall_received(const struct wti_syscall *call, int32_t *fds, size_t count_max)
{
	const uint8_t *message = wti_syscall_memory(call, 1, WTI_AT_EXIT, sizeof(struct msghdr));
	const struct wti_piece *control = NULL;
	struct cmsghdr head;
	struct msghdr msg;
	size_t count = 0;

	if (!message)
		return 0;
	memcpy(&msg, message, sizeof(msg));
	for (size_t i = 0; msg.msg_control && i < call->piece_count; i++)
		if (call->pieces[i].address == (uint64_t)(uintptr_t)msg.msg_control &&
		    call->pieces[i].when == WTI_AT_EXIT)
			control = &call->pieces[i];
	for (size_t at = 0; control && control->bytes - at >= sizeof(head);) {
		size_t end;

		memcpy(&head, control->data + at, sizeof(head));
		if (head.cmsg_len < sizeof(head) || head.cmsg_len > control->bytes - at)
			break;
		end = at + head.cmsg_len;
		if (head.cmsg_level == SOL_SOCKET && head.cmsg_type == SCM_RIGHTS)
			for (at += sizeof(head); end - at >= 4 && count < count_max; at += 4)
				memcpy(&fds[count++], control->data + at, 4);
		at = (end + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1);
		if (at > control->bytes)
			break;
	}
	return count;
}

static void do_receive(const struct change *c)
{
	int32_t fds[WTI_SYSCALL_PLACES_MAX];
	size_t count = wti_syscall_received(c->call, fds, WTI_SYSCALL_PLACES_MAX);

	for (size_t i = 0; i < count; i++)
		receive(c, fds[i], arg(c, 2) & MSG_CMSG_CLOEXEC);
}

/* ---- Which call does what -------------------------------------------------------------------- */

enum action {
	NOTHING,
	OPEN,
	OPENAT,
	OPENAT2,
	CREAT,
	CLOSE,
	CLOSE_RANGE,
	DUP,
	DUP2,
	DUP3,
	FCNTL,
	IOCTL,
	CHDIR,
	FCHDIR,
	PIPE,
	PIPE2,
	SOCKETPAIR,
	SOCKET,
	CONNECT,
	BIND,
	ACCEPT,
	ACCEPT4,
	RECVMSG,
	GETFD,
	KERNEL0, /* kernel objects, by the position of their flags; 7: none */
	KERNEL1,
	KERNEL2,
	KERNEL3,
	KERNEL_PLAIN,
};

static const struct row {
	const char *call;
	uint8_t action;
	const char *name;
} rows[] = {
	{"open", OPEN, NULL},
	{"openat", OPENAT, NULL},
	{"openat2", OPENAT2, NULL},
	{"creat", CREAT, NULL},
	{"close", CLOSE, NULL},
	{"close_range", CLOSE_RANGE, NULL},
	{"dup", DUP, NULL},
	{"dup2", DUP2, NULL},
	{"dup3", DUP3, NULL},
	{"fcntl", FCNTL, NULL},
	{"ioctl", IOCTL, NULL},
	{"chdir", CHDIR, NULL},
	{"fchdir", FCHDIR, NULL},
	{"pipe", PIPE, NULL},
	{"pipe2", PIPE2, NULL},
	{"socketpair", SOCKETPAIR, "socketpair"},
	{"socket", SOCKET, NULL},
	{"connect", CONNECT, NULL},
	{"bind", BIND, NULL},
	{"accept", ACCEPT, NULL},
	{"accept4", ACCEPT4, NULL},
	{"memfd_create", KERNEL1, "memfd"},
	{"memfd_secret", KERNEL0, "memfd"},
	{"eventfd", KERNEL_PLAIN, "eventfd"},
	{"eventfd2", KERNEL1, "eventfd"},
	{"epoll_create", KERNEL_PLAIN, "epoll"},
	{"epoll_create1", KERNEL0, "epoll"},
	{"timerfd_create", KERNEL1, "timerfd"},
	{"inotify_init", KERNEL_PLAIN, "inotify"},
	{"inotify_init1", KERNEL0, "inotify"},
	{"fanotify_init", KERNEL_PLAIN, "fanotify"},
	{"signalfd", KERNEL_PLAIN, "signalfd"},
	{"signalfd4", KERNEL3, "signalfd"},
	{"userfaultfd", KERNEL0, "userfaultfd"},
	{"pidfd_open", KERNEL_PLAIN, "pidfd"},
	{"pidfd_getfd", GETFD, NULL},
	{"recvmsg", RECVMSG, NULL},
	{"perf_event_open", KERNEL_PLAIN, "perf_event"},
	{"io_uring_setup", KERNEL_PLAIN, "io_uring"},
	{"bpf", KERNEL_PLAIN, "bpf"},
};

bool wti_handles_actions(struct wti_handles *h)
{
	static const enum wti_arch archs[] = {WTI_ARCH_X86_64, WTI_ARCH_AARCH64};

	for (size_t i = 0; i < 2; i++) {
		h->actions[i] = calloc(WTI_CALLS_MAX, 1);
		if (!h->actions[i])
			return false;
		for (size_t j = 0; j < sizeof(rows) / sizeof(*rows); j++) {
			int nr = wti_call_number(archs[i], rows[j].call);

			if (nr >= 0 && nr < WTI_CALLS_MAX)
				h->actions[i][nr] = (uint8_t)(j + 1);
		}
	}
	return true;
}

static uint32_t open_how_flags(const struct wti_syscall *call)
{
	const uint8_t *how = wti_syscall_memory(call, 2, 0, sizeof(uint64_t));
	uint64_t flags = 0;

	if (how)
		memcpy(&flags, how, sizeof(flags));
	return (uint32_t)flags;
}

static void do_file(struct change *c, uint8_t action)
{
	c->is_at = action == OPENAT || action == OPENAT2;
	c->path = c->is_at;
	if (action == OPENAT2)
		c->flags = open_how_flags(c->call);
	else if (action == CREAT)
		c->flags = O_WRONLY | O_CREAT | O_TRUNC;
	else
		c->flags = (uint32_t)arg(c, c->path + 1u);
	do_open(c);
}

/* The kernel's own flags for close-on-exec are all O_CLOEXEC, but for memfd's. */
static void do_kernel(struct change *c, uint8_t action)
{
	if (action != KERNEL_PLAIN)
		c->flags = (uint32_t)arg(c, action - KERNEL0);
	if (!strcmp(c->name, "memfd"))
		c->flags = c->flags & 1 ? O_CLOEXEC : 0;
	give(c, (int32_t)c->call->result, WTI_HANDLE_KERNEL, c->name, c->flags);
}

static void do_copies(const struct change *c, uint8_t action)
{
	int32_t to = action == DUP ? (int32_t)c->call->result : arg(c, 1);

	do_copy(c, arg(c, 0), to, action == DUP3 && arg(c, 2) & O_CLOEXEC);
}

static void do_sockets(struct change *c, uint8_t action)
{
	if (action == SOCKET || action == SOCKETPAIR)
		c->flags = (uint32_t)arg(c, 1) & SOCK_CLOEXEC ? O_CLOEXEC : 0;
	if (action == SOCKET)
		do_socket(c);
	else if (action == SOCKETPAIR)
		do_pair(c, 3, WTI_HANDLE_SOCKET);
	else if (action == CONNECT || action == BIND)
		do_address(c, action == CONNECT);
	else
		do_accept(c, action == ACCEPT4 ? (uint32_t)arg(c, 3) : 0);
}

static void act(struct change *c, uint8_t action)
{
	if (action <= CREAT)
		do_file(c, action);
	else if (action == CLOSE)
		wti_descriptor_set(c->h, c->process, arg(c, 0), 0, false);
	else if (action == CLOSE_RANGE)
		do_close_range(c);
	else if (action <= DUP3)
		do_copies(c, action);
	else if (action == FCNTL)
		do_fcntl(c);
	else if (action == IOCTL)
		do_ioctl(c);
	else if (action == CHDIR)
		do_folder(c);
	else if (action == FCHDIR)
		do_fchdir(c);
	else if (action == PIPE || action == PIPE2)
		do_pair(c, 0, WTI_HANDLE_PIPE);
	else if (action <= ACCEPT4)
		do_sockets(c, action);
	else if (action == RECVMSG)
		do_receive(c);
	else if (action == GETFD)
		receive(c, (int32_t)c->call->result, true);
	else
		do_kernel(c, action);
}

/* A close that fails has closed nevertheless, unless the number was not open. */
static bool has_happened(const struct wti_syscall *call, uint8_t action)
{
	if (call->flags & (WT_SYSCALL_UNFINISHED | WT_SYSCALL_JOINED))
		return false;
	/* A connection that is still being made has its peer already. */
	return call->result >= 0 || (action == CLOSE && call->result != -9) ||
	       (action == CONNECT && call->result == -115);
}

bool wti_handles_changes(const struct wti_handles *h, uint32_t arch, uint32_t nr)
{
	return (arch == WTI_ARCH_X86_64 || arch == WTI_ARCH_AARCH64) && nr < WTI_CALLS_MAX &&
	       h->actions[arch - 1][nr];
}

void wti_handles_change(struct wti_handles *h, uint32_t pid, uint32_t tid,
			const struct wti_syscall *call)
{
	const struct row *row;
	struct change c = {.h = h, .pid = pid, .tid = tid, .call = call};

	if (!wti_handles_changes(h, call->arch, call->nr))
		return;
	row = &rows[h->actions[call->arch - 1][call->nr] - 1];
	c.process = wti_process_of(h, pid);
	if (!c.process || !has_happened(call, row->action))
		return;
	c.name = row->name;
	if (row->action == PIPE2)
		c.flags = (uint32_t)arg(&c, 1);
	act(&c, row->action);
}
