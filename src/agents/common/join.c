/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joining a recording: the variable, the control page, the socket.
 *
 * Nothing here waits for the recorder or tells anybody of a failure: what cannot be joined runs
 * unrecorded. The descriptor of the socket is moved out of the way of the program's own numbers,
 * and checked to be still ours before each use, because programs close and reuse what they find.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "private.h"

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

/* "<protocol>:<directory>" */
static const char *parse_variable(const char *text, unsigned long *ret_protocol)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*ret_protocol = strtoul(text, &end, 10);
	return *end == ':' && end[1] == '/' ? end + 1 : NULL;
}

static struct wti_control *map_control(const char *directory)
{
	char path[sizeof(wti_agent.directory) + 16];
	struct wti_control *control = MAP_FAILED;
	struct stat about;
	int fd;

	snprintf(path, sizeof(path), "%s/control", directory);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof(*control))
		control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (control == MAP_FAILED)
		return NULL;
	if (control->magic != WTI_CONTROL_MAGIC) {
		munmap(control, sizeof(*control));
		return NULL;
	}
	return control;
}

static bool control_fits(struct wti_control *control, unsigned long protocol)
{
	uint32_t bytes = control->ring_bytes;

	if (protocol != WTI_PROTOCOL || control->protocol != WTI_PROTOCOL) {
		atomic_store(&control->mismatch_protocol, WTI_PROTOCOL);
		atomic_fetch_add(&control->mismatch_count, 1);
		return false;
	}
	return bytes >= WTI_RING_MIN_BYTES && bytes <= WTI_RING_MAX_BYTES &&
	       (bytes & (bytes - 1)) == 0 && atomic_load(&control->state) == WTI_RECORDING_ON;
}

static struct wti_process *map_wiped(size_t bytes)
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

void wti_join_first(void)
{
	const char *variable = secure_getenv(WTI_ENV);
	struct wti_control *control;
	const char *directory;
	unsigned long protocol;
	struct wti_guard guard;

	directory = variable ? parse_variable(variable, &protocol) : NULL;
	if (!directory || strlen(directory) >= sizeof(wti_agent.directory))
		return;
	wti_guard_begin(&guard);
	control = map_control(directory);
	if (control && !control_fits(control, protocol)) {
		munmap(control, sizeof(*control));
		control = NULL;
	}
	if (control) {
		memcpy(wti_agent.directory, directory, strlen(directory) + 1);
		wti_agent.ring_flags = clock_flags();
		wti_agent.process = map_wiped(sizeof(*wti_agent.process));
		wti_agent.control = control;
		if (!wti_room_join() || !wti_agent.process || !wti_intern_init()) {
			wti_agent.control = NULL;
			atomic_fetch_add(&control->lost_unjoined, 1);
		} else {
			wti_slots_init();
			wti_lock(wti_agent.process);
			wti_join(wti_agent.process);
			wti_unlock(wti_agent.process);
		}
	}
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

/* A folder whose name does not fit a socket address is reached through its descriptor. */
static bool socket_address(struct sockaddr_un *address, int *ret_folder)
{
	const char *directory = wti_agent.directory;

	*ret_folder = -1;
	address->sun_family = AF_UNIX;
	if (strlen(directory) <= 90) {
		snprintf(address->sun_path, sizeof(address->sun_path), "%.90s/socket", directory);
		return true;
	}
	*ret_folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/socket",
		 *ret_folder);
	return *ret_folder >= 0;
}

static int connect_recorder(void)
{
	struct sockaddr_un address;
	int folder;
	int fd;
	int failed;

	if (!socket_address(&address, &folder))
		return -1;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	failed = fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ? errno
											  : 0;
	if (folder >= 0)
		close(folder);
	if (!failed)
		return move_up(fd);
	if (fd >= 0)
		close(fd);
	errno = failed;
	return -1;
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

/* True: has joined. Otherwise off for good, or a later attempt is worth it. */
bool wti_join(struct wti_process *process)
{
	struct stat about;

	if (atomic_load(&process->state) == WTI_PROCESS_JOINED)
		return true;
	if (atomic_load(&process->state) == WTI_PROCESS_OFF ||
	    (process->retry_ns && wti_clock_monotonic_ns() < process->retry_ns))
		return false;
	process->pid = (uint32_t)syscall(SYS_getpid);
	process->start_time = read_start_time();
	process->generation = atomic_fetch_add(&wti_agent.generation_last, 1) + 1;
	wti_leave_inherited();
	wti_agent.socket = connect_recorder();
	if (wti_agent.socket < 0) {
		bool later = errno == EAGAIN || errno == EINTR || errno == EMFILE ||
			     errno == ENFILE || errno == ENOMEM;

		process->retry_ns = wti_clock_monotonic_ns() + WTI_RETRY_NS;
		atomic_store(&process->state, later ? WTI_PROCESS_FRESH : WTI_PROCESS_OFF);
		return false;
	}
	process->fenced =
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
	if (fstat(wti_agent.socket, &about) == 0)
		wti_agent.socket_inode = about.st_ino;
	if (!wti_definitions_begin(process)) {
		wti_leave_inherited();
		process->retry_ns = wti_clock_monotonic_ns() + WTI_RETRY_NS;
		return false;
	}
	atomic_store(&process->state, WTI_PROCESS_JOINED);
	return true;
}

bool wti_send(struct wti_process *process, uint32_t type, uint32_t tid, uint32_t track, int fd)
{
	struct wti_message message = {
		.type = type,
		.protocol = WTI_PROTOCOL,
		.pid = process->pid,
		.ppid = (uint32_t)syscall(SYS_getppid),
		.start_time = process->start_time,
		.tid = tid,
		.track = track,
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
	if (!socket_is_ours(wti_agent.socket, wti_agent.socket_inode))
		return false;
	return sendmsg(wti_agent.socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(message);
}

void wti_wake(struct wti_process *process, uint64_t now_ns)
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

bool wti_recorder_gone(struct wti_process *process)
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
