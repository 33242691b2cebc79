/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how the files of /proc are written. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#include "procfs.h"

#define MENTION_BYTES_MAX (4u << 20)
#define EXIT_CODE_FIELD 52
#define START_TIME_FIELD 22
#define USER_TIME_FIELD 14
#define KERNEL_TIME_FIELD 15

/* Since Linux 6.15 a pidfd gives how its process ended, even after that was waited for. */
struct pidfd_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_info) == 64, "the kernel's first version of it");
#define PIDFD_INFO_EXIT_BIT (1ull << 3)
#define PIDFD_GET_INFO_OF _IOWR(0xff, 11, struct pidfd_info)

static int open_file(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t wti_proc_file(uint32_t pid, const char *name, char *out, size_t bytes)
{
	int fd = open_file(pid, name);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = wti_pread_all(fd, out, bytes - 1, 0);
	close(fd);
	if (n < 0)
		return -1;
	out[n] = 0;
	return n;
}

/* Field `number`, counted from 1, of a stat line; fields after the command in parentheses. */
static uint64_t stat_field(const char *after_command, int number)
{
	for (int i = 3; i < number && after_command; i++) {
		after_command = strchr(after_command, ' ');
		if (after_command)
			after_command++;
	}
	return after_command ? strtoull(after_command, NULL, 10) : 0;
}

uint64_t wti_proc_ticks_ns(uint64_t ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t rate = per_second > 0 ? (uint64_t)per_second : 0;

	return rate ? ticks / rate * 1000000000u + ticks % rate * (1000000000u / rate) : 0;
}

bool wti_proc_read(uint32_t pid, struct wti_proc *ret)
{
	char text[1024];
	char *open_paren, *close_paren;

	if (wti_proc_file(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	open_paren = strchr(text, '(');
	close_paren = strrchr(text, ')'); /* a command may have parentheses of its own */
	if (!open_paren || !close_paren || close_paren < open_paren || !close_paren[1])
		return false;
	*close_paren = 0;
	*ret = (struct wti_proc){.pid = pid, .state = close_paren[2]};
	snprintf(ret->command, sizeof(ret->command), "%s", open_paren + 1);
	ret->ppid = (uint32_t)stat_field(close_paren + 2, 4);
	ret->start_time = stat_field(close_paren + 2, START_TIME_FIELD);
	ret->cpu_ticks = stat_field(close_paren + 2, USER_TIME_FIELD) +
			 stat_field(close_paren + 2, KERNEL_TIME_FIELD);
	return true;
}

int64_t wti_proc_status(uint32_t pid, const char *word)
{
	char text[1024];
	const char *at;

	if (wti_proc_file(pid, "status", text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, word);
	return at ? strtoll(at + strlen(word), NULL, 10) : -1;
}

uint32_t wti_proc_process_of(uint32_t tid)
{
	int64_t pid = wti_proc_status(tid, "\nTgid:");

	return pid > 0 ? (uint32_t)pid : 0;
}

bool wti_proc_is_thread(uint32_t pid)
{
	uint32_t process = wti_proc_process_of(pid);

	return process && process != pid;
}

int wti_proc_mentions(uint32_t pid, const char *name, const char *what)
{
	size_t what_bytes = strlen(what), kept = 0, total = 0;
	int fd = open_file(pid, name);
	char part[8192];
	bool found = false;
	ssize_t n;

	if (fd < 0)
		return -1;
	while (!found && total < MENTION_BYTES_MAX) {
		n = read(fd, part + kept, sizeof(part) - kept);
		if (n <= 0)
			break;
		total += (size_t)n;
		kept += (size_t)n;
		found = memmem(part, kept, what, what_bytes);
		if (kept >= what_bytes) { /* it may lie across the border of two reads */
			memmove(part, part + kept - (what_bytes - 1), what_bytes - 1);
			kept = what_bytes - 1;
		}
	}
	close(fd);
	return total ? found : -1;
}

bool wti_proc_is_alive(uint32_t pid, uint64_t start_time)
{
	struct wti_proc proc;

	return wti_proc_read(pid, &proc) && proc.start_time == start_time && proc.state != 'Z' &&
	       proc.state != 'X';
}

int wti_proc_has_segment(uint32_t pid, int segment)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	/* Its number stands where others have that of their file. */
	while (file && found <= 0 && getline(&line, &room, file) > 0) {
		int number;

		found = strstr(line, " /SYSV") &&
			sscanf(line, "%*s %*s %*s %*s %d", &number) == 1 && number == segment;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

uint32_t wti_proc_last_pid(void)
{
	char text[128];
	const char *at;
	ssize_t n;
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strrchr(text, ' ');
	return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

static int32_t from_wait_status(int status)
{
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int32_t wti_proc_exit_status(uint32_t pid, int pidfd)
{
	struct pidfd_info info = {.mask = PIDFD_INFO_EXIT_BIT};
	char text[1024];
	const char *at;

	if (pidfd >= 0 && !ioctl(pidfd, PIDFD_GET_INFO_OF, &info) &&
	    (info.mask & PIDFD_INFO_EXIT_BIT))
		return from_wait_status(info.exit_code);
	if (wti_proc_file(pid, "stat", text, sizeof(text)) <= 0)
		return INT32_MIN;
	at = strrchr(text, ')');
	if (!at || !at[1] || at[2] != 'Z')
		return INT32_MIN;
	return from_wait_status((int)stat_field(at + 2, EXIT_CODE_FIELD));
}

int wti_pidfd_open(uint32_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}
