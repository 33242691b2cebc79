/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how to start git without changing anything, and how to end it with all that it started. */
#include "git_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

#include "clock.h"

#define WORDS_MAX 24
#define PAUSE_US 500
#define PIECE_BYTES (64u << 10)

/* No locks are taken; objects that are not there are not fetched, by any protocol or helper. */
static char *const settled[] = {
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_TERMINAL_PROMPT=0",
};
#define SETTLED WTI_COUNT(settled)

static const char *const before[] = {
	"git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
};

static bool is_settled(const char *variable)
{
	for (size_t i = 0; i < SETTLED; i++)
		if (!strncmp(variable, settled[i], strcspn(settled[i], "=") + 1))
			return true;
	return false;
}

bool wti_git_asker_init(struct wti_git_asker *asker, char *const *environment, uint64_t until_ns)
{
	size_t count = 0, kept = 0;

	while (environment[count])
		count++;
	*asker = (struct wti_git_asker){.until_ns = until_ns};
	asker->environment = calloc(count + SETTLED + 1, sizeof(char *));
	if (!asker->environment)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_settled(environment[i]))
			asker->environment[kept++] = environment[i];
	for (size_t i = 0; i < SETTLED; i++)
		asker->environment[kept++] = settled[i];
	return true;
}

void wti_git_asker_release(struct wti_git_asker *asker)
{
	free(asker->environment);
	asker->environment = NULL;
}

bool wti_git_late(const struct wti_git_asker *asker)
{
	return wti_clock_ns(CLOCK_MONOTONIC) >= asker->until_ns;
}

/* In a group of its own, so that all of it can be ended. */
static int spawn_git(const struct wti_git_asker *asker, const char *const *words, int out,
		     pid_t *ret_pid)
{
	const char *argv[WTI_COUNT(before) + WORDS_MAX + 1];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	size_t count = WTI_COUNT(before);
	sigset_t none;
	int r;

	memcpy(argv, before, sizeof(before));
	for (size_t i = 0; words[i] && i < WORDS_MAX; i++)
		argv[count++] = words[i];
	argv[count] = NULL;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	r = posix_spawnp(ret_pid, "git", &actions, &attributes, (char *const *)argv,
			 asker->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return r;
}

/* Reads until the end of the pipe. False: the deadline passed, or there was too much to read. */
static bool read_answer(const struct wti_git_asker *asker, int fd, struct wti_buf *out)
{
	for (;;) {
		struct pollfd ready = {fd, POLLIN, 0};
		uint64_t now = wti_clock_ns(CLOCK_MONOTONIC);
		uint8_t *room = wti_buf_reserve(out, PIECE_BYTES);
		ssize_t n;

		if (!room || now >= asker->until_ns ||
		    poll(&ready, 1, (int)((asker->until_ns - now) / 1000000) + 1) == 0)
			return false;
		n = read(fd, room, PIECE_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		wti_buf_added(out, (size_t)n);
	}
}

/* Its status, or -1 if it has none to show in time; it is not reaped, so that the group stays its.
 */
static int wait_in_time(const struct wti_git_asker *asker, pid_t pid)
{
	for (;;) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
			return -1;
		if (info.si_pid == pid)
			return info.si_code == CLD_EXITED ? info.si_status : -1;
		if (wti_git_late(asker))
			return -1;
		usleep(PAUSE_US);
	}
}

bool wti_git_ask_begin(const struct wti_git_asker *asker, const char *const *words,
		       struct wti_git_asking *ret_asking)
{
	int ends[2], r;

	if (wti_git_late(asker) || pipe2(ends, O_CLOEXEC))
		return false;
	r = spawn_git(asker, words, ends[1], &ret_asking->pid);
	close(ends[1]);
	if (r)
		close(ends[0]);
	ret_asking->from = ends[0];
	return !r;
}

bool wti_git_ask_end(const struct wti_git_asker *asker, const struct wti_git_asking *asking,
		     struct wti_buf *out)
{
	int status = -1;

	if (read_answer(asker, asking->from, out))
		status = wait_in_time(asker, asking->pid);
	close(asking->from);
	kill(-asking->pid, SIGKILL);
	while (waitpid(asking->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

bool wti_git_ask(const struct wti_git_asker *asker, const char *const *words, struct wti_buf *out)
{
	struct wti_git_asking asking;

	return wti_git_ask_begin(asker, words, &asking) && wti_git_ask_end(asker, &asking, out);
}
