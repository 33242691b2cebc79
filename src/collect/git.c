/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to ask git without changing anything and without waiting for it: no locks, no file
 * system monitor, no external diff or text conversion, and an end after two seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "clock.h"
#include "git.h"

#define PATIENCE_NS 2000000000ull
#define PARENTS_MAX 64
#define DIFF_BYTES_MAX (256ull << 20)

static bool repository_around(void)
{
	char path[PATH_MAX] = ".git";
	struct stat here, up;

	for (int i = 0; i < PARENTS_MAX; i++) {
		size_t bytes = strlen(path);

		if (!access(path, F_OK))
			return true;
		path[bytes - 4] = 0; /* without ".git" */
		if (bytes + 4 > sizeof(path) || stat(*path ? path : ".", &here))
			return false;
		memcpy(path + bytes - 4, "../", sizeof("../"));
		if (stat(path, &up) || (here.st_dev == up.st_dev && here.st_ino == up.st_ino))
			return false;
		memcpy(path + bytes - 1, ".git", sizeof(".git"));
	}
	return false;
}

struct answer {
	XXH3_state_t *hash; /* or NULL */
	char *text;         /* or NULL */
	size_t text_bytes;
	uint64_t bytes;
};

static void take(struct answer *answer, const char *data, size_t bytes)
{
	if (answer->hash)
		XXH3_128bits_update(answer->hash, data, bytes);
	for (size_t i = 0; answer->text && i < bytes && answer->bytes + i + 1 < answer->text_bytes;
	     i++)
		answer->text[answer->bytes + i] = data[i];
	answer->bytes += bytes;
}

/* Reads until the end of the pipe. False when there was no time left, or too much to read. */
static bool read_answer(int fd, struct answer *answer, uint64_t until_ns)
{
	char data[16384];

	while (answer->bytes < DIFF_BYTES_MAX) {
		struct pollfd ready = {fd, POLLIN, 0};
		uint64_t now = wti_clock_ns(CLOCK_MONOTONIC);
		ssize_t n;

		if (now >= until_ns || poll(&ready, 1, (int)((until_ns - now) / 1000000) + 1) == 0)
			return false;
		n = read(fd, data, sizeof(data));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		take(answer, data, (size_t)n);
	}
	return false;
}

static int spawn_git(char *const *argv, char *const *environment, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawnp(ret_pid, "git", &actions, &attributes, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return r;
}

/* True if git ended well and all it said was taken. */
static bool ask(char *const *argv, char *const *environment, struct answer *answer,
		uint64_t until_ns)
{
	int ends[2], status = -1;
	bool whole;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	if (spawn_git(argv, environment, ends[1], &pid)) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	close(ends[1]);
	whole = read_answer(ends[0], answer, until_ns);
	close(ends[0]);
	if (!whole)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void hash_diff(struct wti_git *git, char *const *environment, uint64_t until_ns)
{
	char *diff[] = {"git",
			"--no-optional-locks",
			"-c",
			"core.fsmonitor=false",
			"diff",
			"--no-ext-diff",
			"--no-textconv",
			"--no-color",
			"HEAD",
			NULL};
	XXH3_state_t *state = XXH3_createState();
	struct answer answer = {.hash = state};
	XXH128_hash_t hash;

	if (!state)
		return;
	XXH3_128bits_reset(state);
	git->diff_known = ask(diff, environment, &answer, until_ns);
	git->dirty = git->diff_known && answer.bytes;
	hash = XXH3_128bits_digest(state);
	if (git->dirty)
		snprintf(git->diff_hash, sizeof(git->diff_hash), "%016llx%016llx",
			 (unsigned long long)hash.high64, (unsigned long long)hash.low64);
	XXH3_freeState(state);
}

void wti_git_look(struct wti_git *git, char *const *environment)
{
	char *head[] = {"git", "--no-optional-locks", "rev-parse", "--verify", "HEAD", NULL};
	struct answer answer = {.text = git->commit, .text_bytes = sizeof(git->commit)};
	uint64_t until_ns = wti_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;

	memset(git, 0, sizeof(*git));
	if (!repository_around() || !ask(head, environment, &answer, until_ns))
		return;
	git->commit[strspn(git->commit, "0123456789abcdef")] = 0;
	git->found = git->commit[0] != 0;
	if (git->found)
		hash_diff(git, environment, until_ns);
}
