/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what recording takes of each limited thing, and how much of it must be left. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "trace/protocol.h"

#include "clock.h"
#include "rlimits.h"

#define TASKS_LEFT_MIN 64 /* we take up to eight of them */
#define TASKS_AMPLE 8192  /* not counted above this */
#define RING_SHARE 1024   /* of the address space, for one ring */
#define PYTHON_MEMORY_MIN (1ull << 30)
#define PYTHON_STACK_MIN (1ull << 20)

void wti_limits_take(struct wti_limits *limits)
{
	static const __rlimit_resource_t needed[] = {RLIMIT_NOFILE, RLIMIT_NPROC,  RLIMIT_FSIZE,
						     RLIMIT_AS,     RLIMIT_DATA,   RLIMIT_STACK,
						     RLIMIT_CPU,    RLIMIT_MEMLOCK};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &limits->given[i]))
			limits->given[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		struct rlimit more = limits->given[needed[i]];

		more.rlim_cur = more.rlim_max;
		setrlimit(needed[i], &more);
	}
	sigaction(SIGXFSZ, &ignore, &limits->too_large);
	sigaction(SIGXCPU, &ignore, &limits->too_long);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) < 0)
			break; /* whoever needs a descriptor will see for himself */
}

void wti_limits_give(const struct wti_limits *limits)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		setrlimit((__rlimit_resource_t)i, &limits->given[i]);
	sigaction(SIGXFSZ, &limits->too_large, NULL);
	sigaction(SIGXCPU, &limits->too_long, NULL);
}

bool wti_descriptor_given(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* ---- Processes ------------------------------------------------------------------------------ */

/* The kernel exempts whoever has one of two capabilities. */
static bool is_exempt(void)
{
	const uint64_t either = 1ull << 21 | 1ull << 24; /* CAP_SYS_ADMIN, CAP_SYS_RESOURCE */
	char line[256];
	uint64_t effective = 0;
	FILE *file = getuid() ? fopen("/proc/self/status", "re") : NULL;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "CapEff:", 7))
			effective = strtoull(line + 7, NULL, 16);
	if (file)
		fclose(file);
	return !getuid() || effective & either;
}

/* Threads of a process, if it is of this user; otherwise 0. */
static uint64_t tasks_of(const char *pid, uid_t uid)
{
	char path[64], line[256];
	uint64_t count = 0;
	bool ours = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Uid:", 4))
			ours = strtoul(line + 4, NULL, 10) == uid;
		else if (!strncmp(line, "Threads:", 8))
			count = strtoull(line + 8, NULL, 10);
	}
	if (file)
		fclose(file);
	return ours ? count : 0;
}

static uint64_t count_tasks(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	uint64_t count = 0;

	while (folder && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			count += tasks_of(entry->d_name, getuid());
	if (folder)
		closedir(folder);
	return count;
}

int wti_limits_check(const struct wti_limits *limits, struct wt_err *err)
{
	rlim_t most = limits->given[RLIMIT_NPROC].rlim_cur;
	uint64_t count;

	if (most >= TASKS_AMPLE || is_exempt())
		return 0;
	count = count_tasks();
	if (count + TASKS_LEFT_MIN <= most)
		return 0;
	return wti_err(err, WT_E_LIMIT,
		       "%llu processes are allowed (ulimit -u), %llu are in use, and recording "
		       "must leave %d to the program",
		       (unsigned long long)most, (unsigned long long)count, TASKS_LEFT_MIN);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static rlim_t smaller(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

static rlim_t memory_of(const struct wti_limits *limits)
{
	return smaller(limits->given[RLIMIT_AS].rlim_cur, limits->given[RLIMIT_DATA].rlim_cur);
}

uint64_t wti_limits_ring_bytes(const struct wti_limits *limits, uint64_t wanted)
{
	rlim_t file = limits->given[RLIMIT_FSIZE].rlim_cur; /* memory that is shared is a file */
	rlim_t room = limits->given[RLIMIT_AS].rlim_cur / RING_SHARE;

	while (wanted > WTI_RING_MIN_BYTES &&
	       (wanted + WTI_RING_HEADER_BYTES > file || wanted > room))
		wanted /= 2;
	return wanted;
}

bool wti_limits_python(const struct wti_limits *limits, char *ret_why, size_t bytes)
{
	const char *what = NULL;

	if (memory_of(limits) < PYTHON_MEMORY_MIN)
		what = "memory (ulimit -v, ulimit -d) is below 1 GB";
	else if (limits->given[RLIMIT_STACK].rlim_cur < PYTHON_STACK_MIN)
		what = "the stack (ulimit -s) is below 1 MB";
	else if (limits->given[RLIMIT_NOFILE].rlim_cur < WTI_FILES_MIN)
		what = "open files (ulimit -n) is below 64";
	if (what)
		snprintf(ret_why, bytes, "no agent joins in Python: the limit of %s", what);
	return !what;
}

/* ---- Output --------------------------------------------------------------------------------- */

bool wti_limits_relay(const struct wti_limits *limits, char *ret_why, size_t bytes)
{
	if (limits->given[RLIMIT_CPU].rlim_max == RLIM_INFINITY)
		return true;
	snprintf(ret_why, bytes,
		 "console.log is not written: the limit of CPU time (ulimit -t) would end the "
		 "relay");
	return false;
}

/* ---- While we run --------------------------------------------------------------------------- */

bool wti_limits_exhausted(const struct wti_limits *limits)
{
	rlim_t most = limits->given[RLIMIT_CPU].rlim_max;
	uint64_t end_ns;

	if (most > UINT32_MAX)
		return false;
	end_ns = most >= 5 ? (most - 1) * 1000000000ull : most * 800000000ull;
	return wti_clock_ns(CLOCK_PROCESS_CPUTIME_ID) >= end_ns;
}

void wti_limits_words(uint32_t stayed_out, char *ret_text, size_t bytes)
{
	static const char *const words[] = {"size of files (ulimit -f)", "open files (ulimit -n)",
					    "memory (ulimit -v, ulimit -d)"};
	size_t used = 0;

	ret_text[0] = 0;
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!(stayed_out & 1u << i) || used >= bytes)
			continue;
		used += (size_t)snprintf(
			ret_text + used, bytes - used, "%s%s",
			used ? ", "
			     : "some or all events of the program are not recorded: its limit of ",
			words[i]);
	}
}
