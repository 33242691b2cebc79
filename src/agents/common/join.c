/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joining a recording: once when the agent is loaded, and in each child when it has something to
 * emit.
 *
 * Nothing here waits for the recorder: what cannot be joined runs unrecorded, and counts what it
 * would have emitted on the control page. The descriptor of the socket is moved out of the way of
 * the program's own numbers, and checked to be still ours before each use, because programs close
 * and reuse what they find.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meeting.h"
#include "private.h"
#include "digest/sample.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { WAKE_NS = 500000 }; /* between two messages that only wake the recorder */

struct wti_agent wti_agent = {.socket = -1};

static uint64_t clock_flags(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)))
		return 0; /* the TSC is invariant */
#endif
	return 1;
}

static bool control_fits(const struct wti_meeting *meeting, struct wti_control *control)
{
	uint32_t bytes = control->ring_bytes;

	if (control->protocol != WTI_PROTOCOL) {
		wti_meeting_mismatch(meeting);
		return false;
	}
	return bytes >= WTI_RING_MIN_BYTES && bytes <= WTI_RING_MAX_BYTES &&
	       (bytes & (bytes - 1)) == 0 && atomic_load(&control->state) == WTI_RECORDING_ON;
}

static struct wti_agent_process *map_wiped(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, bytes, MADV_WIPEONFORK) != 0) {
		munmap(memory, bytes);
		return NULL;
	}
	return memory;
}

static void begin(struct wti_control *control, int page)
{
	wti_agent.ring_flags = clock_flags();
	wti_agent.ring_bytes = control->ring_bytes;
	wti_agent.own_page = page >= 0;
	wti_agent.process = map_wiped(sizeof(*wti_agent.process));
	wti_agent.control = control;
	if (!wti_room_join() || !wti_agent.process || !wti_intern_init()) {
		wti_agent.control = NULL;
		atomic_fetch_add(&control->lost_unjoined, 1);
		return;
	}
	wti_slots_init();
	wti_lock(wti_agent.process);
	if (wti_join(wti_agent.process) && page >= 0)
		wti_send(wti_agent.process, WTI_MSG_PAGE, 0, 0, page);
	wti_unlock(wti_agent.process);
}

static void join_first_guarded(const struct wti_meeting *meeting)
{
	struct wti_control *control;
	int page = -1;

	if (meeting->is_other_protocol) {
		wti_meeting_mismatch(meeting);
		return;
	}
	control = wti_meeting_page(meeting, &page);
	if (!control) {
		if (errno == EACCES || errno == EPERM)
			wti_meeting_knock(meeting);
		return;
	}
	if (!control_fits(meeting, control)) {
		wti_page_release(control, page);
		return;
	}
	begin(control, page);
	if (page >= 0)
		close(page);
}

void wti_join_first(void)
{
	struct wti_guard guard;

	if (!wti_meeting_find(&wti_agent.meeting, secure_getenv(WTI_ENV)))
		return;
	wti_guard_begin(&guard);
	join_first_guarded(&wti_agent.meeting);
	wti_sampled_init();
	wti_guard_end(&guard);
}

/* When this process started: field 22 of its stat, after a name that may hold anything. */
static uint64_t read_start_time(void)
{
	char text[1024];
	ssize_t bytes;
	char *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (bytes <= 0)
		return 0;
	text[bytes] = 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

void wti_command(char command[16])
{
	snprintf(command, 16, "%.15s", program_invocation_short_name);
	if (!wti_agent.control->strings_keep)
		command[wti_secret_mask(command, strlen(command))] = 0;
}

/* Programs expect the next free number to be theirs. */
static int move_up(int fd)
{
	struct rlimit limit;
	rlim_t number = 960;
	int moved;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024)
		number = limit.rlim_cur - limit.rlim_cur / 4;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)number);
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

static bool socket_is_ours(int fd, ino_t inode)
{
	struct stat about;

	return fd >= 0 && fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) &&
	       about.st_ino == inode;
}

void wti_leave_inherited(void)
{
	if (socket_is_ours(wti_agent.socket, wti_agent.socket_inode))
		close(wti_agent.socket);
	wti_agent.socket = -1;
}

/* From the random bytes that the kernel gives a program at each exec; they cannot be had from it.
 */
static uint32_t image_of_program(void)
{
	const uint8_t *random = (const uint8_t *)getauxval(AT_RANDOM);
	uint64_t bits = 0;

	if (!random)
		return 0;
	for (size_t i = 0; i < 16; i++)
		bits = (bits ^ random[i]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(bits >> 32);
}

static bool send_on(int socket, const struct wti_agent_process *process, uint32_t type,
		    uint32_t tid, uint32_t track, int fd)
{
	struct wti_message message = {
		.type = type,
		.protocol = WTI_PROTOCOL,
		.pid = process->pid,
		.ppid = (uint32_t)syscall(SYS_getppid),
		.start_time = process->start_time,
		.tid = tid,
		.track = track,
		.flags = wti_agent.own_page ? WTI_MESSAGE_OWN_PAGE : 0,
		.image = image_of_program(),
	};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {&message, sizeof(message)};
	struct msghdr packet = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);

	wti_command(message.command);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	return sendmsg(socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(message);
}

bool wti_send(struct wti_agent_process *process, uint32_t type, uint32_t tid, uint32_t track,
	      int fd)
{
	return socket_is_ours(wti_agent.socket, wti_agent.socket_inode) &&
	       send_on(wti_agent.socket, process, type, tid, track, fd);
}

/*
 * A child has its parent's socket until it joins or closes it, whatever it has done to its user,
 * its root or its namespaces since. It hands over a new one through it, once.
 */
static int connect_through_parent(const struct wti_agent_process *process)
{
	int ends[2];
	bool sent;

	if (!socket_is_ours(wti_agent.socket, wti_agent.socket_inode))
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	sent = send_on(wti_agent.socket, process, WTI_MSG_LINK, 0, 0, ends[1]);
	close(ends[1]);
	if (sent)
		return ends[0];
	close(ends[0]);
	return -1;
}

/* False and errno. A process that was held up after this keeps its socket for the next attempt. */
static bool connect_recorder(struct wti_agent_process *process)
{
	struct stat about;
	int fd;

	if (process->has_socket && socket_is_ours(wti_agent.socket, wti_agent.socket_inode))
		return true;
	fd = connect_through_parent(process);
	if (fd < 0)
		fd = wti_meeting_connect(&wti_agent.meeting);
	if (fd < 0)
		return false;
	wti_leave_inherited();
	wti_agent.socket = move_up(fd);
	wti_agent.socket_inode = fstat(wti_agent.socket, &about) == 0 ? about.st_ino : 0;
	process->has_socket = true;
	return true;
}

bool wti_join_waits(struct wti_agent_process *process)
{
	uint64_t retry_ns = atomic_load_explicit(&process->retry_ns, memory_order_relaxed);

	return retry_ns && wti_clock_monotonic_ns() < retry_ns;
}

/* Nobody listens any more where we know the way. */
static bool is_over(bool connected)
{
	return (!connected && errno == ECONNREFUSED) ||
	       atomic_load(&wti_agent.control->state) != WTI_RECORDING_ON;
}

/*
 * True: has joined. Otherwise off for good, if the recorder has gone; or there is no way to it,
 * from here or for now: then events are counted, and a later attempt may be worth it.
 */
bool wti_join(struct wti_agent_process *process)
{
	bool connected;

	if (atomic_load(&process->state) == WTI_PROCESS_JOINED)
		return true;
	if (atomic_load(&process->state) == WTI_PROCESS_OFF || wti_join_waits(process))
		return false;
	process->pid = (uint32_t)syscall(SYS_getpid);
	process->start_time = read_start_time();
	process->generation = atomic_fetch_add(&wti_agent.generation_last, 1) + 1;
	connected = connect_recorder(process);
	if (is_over(connected)) {
		wti_leave_inherited();
		atomic_store(&process->state, WTI_PROCESS_OFF);
		return false;
	}
	process->fenced = connected && syscall(SYS_membarrier,
					       MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
	if (connected && wti_definitions_begin(process)) {
		atomic_store(&process->state, WTI_PROCESS_JOINED);
		return true;
	}
	atomic_store(&process->retry_ns, wti_clock_monotonic_ns() + WTI_RETRY_NS);
	return false;
}

void wti_wake(struct wti_agent_process *process, uint64_t now_ns)
{
	const struct wti_message message = {.type = WTI_MSG_WAKE, .protocol = WTI_PROTOCOL};
	uint64_t woken_ns = atomic_load(&process->woken_ns);

	if (now_ns - woken_ns < WAKE_NS ||
	    !atomic_compare_exchange_strong(&process->woken_ns, &woken_ns, now_ns) ||
	    !socket_is_ours(wti_agent.socket, wti_agent.socket_inode))
		return;
	/* If it does not get through, the recorder looks by itself before long. */
	(void)!send(wti_agent.socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool wti_recorder_gone(struct wti_agent_process *process)
{
	struct pollfd look = {.fd = wti_agent.socket};
	uint32_t joined = WTI_PROCESS_JOINED;
	bool ours = socket_is_ours(look.fd, wti_agent.socket_inode);

	if (atomic_load(&process->state) == WTI_PROCESS_OFF)
		return true;
	/* A pending signal makes poll fail although it need not wait: that says nothing. */
	if (poll(&look, 1, 0) < 0)
		look.revents = 0;
	if (atomic_load(&wti_agent.control->state) == WTI_RECORDING_ON && ours &&
	    !(look.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return false;
	if (atomic_compare_exchange_strong(&process->state, &joined, WTI_PROCESS_OFF) && ours)
		close(look.fd);
	return true;
}

__attribute__((constructor)) static void agent_loaded(void)
{
	wti_join_first();
}
