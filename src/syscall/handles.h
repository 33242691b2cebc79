/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the descriptors of each process refer to, followed through the calls that change it: open,
 * dup, close, close on exec, fork, sockets, pipes and the rest; and the folder that relative paths
 * begin at.
 *
 * Fed with a run's events in order. A call has to be looked at before it is given to
 * wti_handles_call(), as a close ends what it names. Descriptors that were there before the
 * recording are known by their number only, unless an event says what they were.
 */
#ifndef WTI_SYSCALL_HANDLES_H
#define WTI_SYSCALL_HANDLES_H

#include "base/buf.h"
#include "record.h"

enum wti_handle_type {
	WTI_HANDLE_BEFORE, /* it was open before the recording, or came from somebody else */
	WTI_HANDLE_FILE,   /* anything that has a path */
	WTI_HANDLE_PIPE,
	WTI_HANDLE_SOCKET,
	WTI_HANDLE_KERNEL, /* eventfd, epoll, memfd ... */
};

/* What one or several descriptors refer to: the kernel's open file description. */
struct wti_handle {
	uint8_t type; /* enum wti_handle_type */
	bool is_accepted;
	uint32_t flags;        /* as open() got them */
	uint32_t domain;       /* of a socket */
	uint32_t before;       /* WTI_HANDLE_BEFORE: its number in the first process that used it */
	uint32_t holder_count; /* descriptors; 0: this entry is free */
	uint32_t opener;       /* thread */
	uint64_t attached;     /* for whoever uses this; 0 at first */
	char *name;            /* absolute path; "eventfd"; NULL: none */
	char *peer;  /* of a socket that was connected or accepted: as its address reads */
	char *local; /* of a socket that was bound */
};

struct wti_descriptor {
	uint32_t handle; /* index plus one; 0: closed */
	bool is_unknown; /* nobody has seen it opened or closed: may be there from before */
	bool close_on_exec;
};

/* A working directory, of all processes that have it from one another. */
struct wti_working_folder {
	uint32_t holder_count;
	char path[];
};

struct wti_handles_of_process {
	uint32_t pid;
	bool ended;
	struct wti_descriptor *descriptors;
	size_t descriptor_count;
	struct wti_working_folder *folder; /* NULL: not known */
};

struct wti_handles {
	struct wti_map by_pid; /* index plus one in `processes` */
	struct wti_map by_tid; /* pid */
	struct wti_handles_of_process *processes;
	size_t process_count, process_capacity;
	struct wti_handle *all;
	size_t count, capacity;
	size_t name_bytes; /* of all handles */
	size_t free_hint;  /* no free entry before it */
	uint8_t *actions[2];
	size_t descriptor_count;           /* room for them, of all processes */
	struct wti_working_folder *folder; /* in which the program was started; NULL: not known */
	bool failed;                       /* memory ran out */
};

/* `folder`: the working directory of the first process; NULL: not known. */
int wti_handles_init(struct wti_handles *handles, const char *folder, struct wt_err *err);
void wti_handles_release(struct wti_handles *handles);
/* Events of the kinds task, task_end and descriptor; others are passed over. */
int wti_handles_event(struct wti_handles *handles, const struct wt_event *event,
		      struct wt_err *err);
/* The same without an event. */
void wti_handles_task(struct wti_handles *handles, uint32_t tid, uint32_t pid, uint32_t how,
		      uint32_t parent_tid);
void wti_handles_end(struct wti_handles *handles, uint32_t pid);
/* Whether wti_handles_call() has anything to do for such a call. */
bool wti_handles_changes(const struct wti_handles *handles, uint32_t arch, uint32_t nr);
/* The call is over: what it did to the descriptors of process `pid`. */
int wti_handles_call(struct wti_handles *handles, uint32_t pid, uint32_t tid,
		     const struct wti_syscall *call, struct wt_err *err);

/* What `fd` refers to; NULL if it is closed. Valid until the next call or event. */
struct wti_handle *wti_handles_of(struct wti_handles *handles, uint32_t pid, int32_t fd);
/*
 * Appends the absolute path that a call means by `path` at `dirfd`, without "." and "..". What is
 * not known remains relative. False if `dirfd` is not known and needed.
 */
bool wti_handles_path(struct wti_handles *handles, uint32_t pid, int32_t dirfd, struct wt_text path,
		      struct wti_buf *out);
/* Descriptors that the process still has, for whoever asks at its end. NULL: no such process. */
const struct wti_handles_of_process *wti_handles_process(const struct wti_handles *handles,
							 uint32_t pid);

/* The text that argument `arg` points to, up to its NUL. False if it was not captured. */
bool wti_syscall_text(const struct wti_syscall *call, unsigned arg, struct wt_text *ret_text);
/* `bytes` at the beginning of what argument `arg` points to; NULL if so much was not captured. */
const uint8_t *wti_syscall_memory(const struct wti_syscall *call, unsigned arg, uint8_t when,
				  size_t bytes);
/* Descriptors that a recvmsg() has brought; how many. */
size_t wti_syscall_received(const struct wti_syscall *call, int32_t *fds, size_t count_max);
/* "127.0.0.1:80", "[::1]:80", "unix:/run/x", "unix:@x", "netlink". False: not an address. */
bool wti_address_text(const uint8_t *data, size_t bytes, struct wti_buf *out);

#endif
