/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name says nothing: a folder may be called python, a script may hang. So whatever is called an
 * interpreter is asked with a limit of time, and reads nothing that is meant for another.
 */
#include "python_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define WORDS_MAX 8

extern char **environ;

/* ---- A line ---------------------------------------------------------------------------------- */

/* In a process group of its own, so that what it starts can be ended with it. */
static int start(const char *interpreter, const char *const *words, int out, pid_t *ret_pid)
{
	char *argv[WORDS_MAX + 2] = {(char *)interpreter};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		argv[i + 1] = (char *)words[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	r = posix_spawnp(ret_pid, interpreter, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return r;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* False if it did not come in time. */
static bool read_line(int fd, char line[WTI_ANSWER_BYTES])
{
	int64_t until_ms = now_ms() + WTI_ANSWER_PATIENCE_S * 1000;
	size_t bytes = 0;

	line[0] = 0;
	while (bytes < WTI_ANSWER_BYTES - 1 && !memchr(line, '\n', bytes)) {
		struct pollfd ready = {fd, POLLIN, 0};
		int64_t left_ms = until_ms - now_ms();
		ssize_t n;

		if (left_ms <= 0)
			return false;
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue; /* a signal, or no time left */
		n = read(fd, line + bytes, WTI_ANSWER_BYTES - 1 - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		bytes += (size_t)n;
		line[bytes] = 0;
	}
	return true;
}

int wti_python_ask(const char *interpreter, const char *const *words,
		   char ret_line[WTI_ANSWER_BYTES])
{
	int ends[2], r;
	bool in_time;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	r = start(interpreter, words, ends[1], &pid);
	close(ends[1]);
	if (r) {
		close(ends[0]);
		return r;
	}
	in_time = read_line(ends[0], ret_line);
	close(ends[0]);
	kill(-pid, SIGKILL); /* there is nothing more to say */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return in_time ? 0 : ETIMEDOUT;
}

int wti_python_ask_version(const char *interpreter, struct wti_python_version *ret_version)
{
	/* For any Python from 2.6 on. */
	static const char question[] =
		"import sys\n"
		"name = getattr(getattr(sys, 'implementation', None), 'name', 'cpython')\n"
		"free = 't' in getattr(sys, 'abiflags', '')\n"
		"sys.stdout.write('wheeltap %d %d %d %d %s %s\\n' % (tuple(sys.version_info[:3]) "
		"+ (free, name, sys.executable)))\n";
	static const char *const words[] = {"-E", "-S", "-c", question, NULL};
	char line[WTI_ANSWER_BYTES];
	int r = wti_python_ask(interpreter, words, line), at = 0, is_free = 0;

	if (r)
		return r;
	if (!line[0])
		return ENODATA;
	if (sscanf(line, "wheeltap %d %d %d %d %31s %n", &ret_version->major, &ret_version->minor,
		   &ret_version->micro, &is_free, ret_version->name, &at) != 5)
		return ENOEXEC;
	ret_version->is_free_threaded = is_free;
	line[strcspn(line, "\n")] = 0;
	snprintf(ret_version->executable, sizeof(ret_version->executable), "%s", line + at);
	return 0;
}

bool wti_python_has(const char *interpreter, const char *module)
{
	static const char question[] =
		"import importlib.util, sys\n"
		"print('wheeltap', importlib.util.find_spec(sys.argv[1]) is not None)\n";
	const char *const words[] = {"-c", question, module, NULL};
	char line[WTI_ANSWER_BYTES];

	return !wti_python_ask(interpreter, words, line) && !strcmp(line, "wheeltap True\n");
}

/* ---- A script -------------------------------------------------------------------------------- */

static _Noreturn void become(const struct wti_python_script *script)
{
	char path[PATH_MAX + 64];
	int null = open("/dev/null", O_RDONLY);

	snprintf(path, sizeof(path), "%s/%s", script->home, script->name);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (script->to_errors)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execlp(script->interpreter, script->interpreter, "-I", path, script->home, script->option,
	       (char *)NULL);
	_exit(127);
}

int wti_python_script(const struct wti_python_script *script, struct wt_err *err)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return wti_err_errno(err, "cannot start", script->interpreter);
	if (pid == 0)
		become(script);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return wti_err_errno(err, "cannot wait for", script->interpreter);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return wti_err(err, WT_E_MISSING,
			       "cannot run '%.200s'; give the path of an interpreter",
			       script->interpreter);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
