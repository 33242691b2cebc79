/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreters in the PATH. A name says nothing: a folder may be called python, a script may hang,
 * and a version may be one that the agent does not know. So each is run, with a limit of time, and
 * asked what it is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define INTERPRETERS_MAX 64u
#define PATIENCE_S 10
#define ANSWER_BYTES 128

/* As in compat.h of the agent and in _build.py. */
#define MAJOR 3
#define MINOR_MIN 9
#define MINOR_MAX 13

extern char **environ;

/* ---- Asking one -------------------------------------------------------------------------------
 */

/* For any Python from 2.6 on. */
static const char question[] =
	"import sys\n"
	"name = getattr(getattr(sys, 'implementation', None), 'name', 'cpython')\n"
	"sys.stdout.write('wheeltap %d %d %d %s\\n' % (tuple(sys.version_info[:3]) + (name,)))\n";

/* In a process group of its own, so that what it starts can be ended with it. */
static int start(const char *path, int out, pid_t *ret_pid)
{
	char *argv[] = {(char *)path, "-E", "-S", "-c", (char *)question, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	r = posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
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

/* Its first line, or what there is of it. False if it did not come in time. */
static bool read_line(int fd, char line[ANSWER_BYTES])
{
	int64_t until_ms = now_ms() + PATIENCE_S * 1000;
	size_t bytes = 0;

	line[0] = 0;
	while (bytes < ANSWER_BYTES - 1 && !strchr(line, '\n')) {
		struct pollfd ready = {fd, POLLIN, 0};
		int64_t left_ms = until_ms - now_ms();
		ssize_t n;

		if (left_ms <= 0)
			return false;
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue; /* a signal, or no time left */
		n = read(fd, line + bytes, ANSWER_BYTES - 1 - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		bytes += (size_t)n;
		line[bytes] = 0;
	}
	return true;
}

static void judge(const char *path, const char *line, struct wti_probed *ret)
{
	int major, minor, micro;
	char name[32];

	if (sscanf(line, "wheeltap %d %d %d %31s", &major, &minor, &micro, name) != 4)
		wti_probed_say(ret, WTI_PROBE_LIMITED, "repair it, or take it out of the PATH",
			       "%.160s: not a Python interpreter that works", path);
	else if (strcmp(name, "cpython") || major != MAJOR || minor < MINOR_MIN ||
		 minor > MINOR_MAX)
		wti_probed_say(ret, WTI_PROBE_LIMITED,
			       "Python calls are recorded with CPython 3.9 to 3.13",
			       "%.160s: %s %d.%d.%d is not supported", path,
			       strcmp(name, "cpython") ? name : "CPython", major, minor, micro);
	else
		wti_probed_say(ret, WTI_PROBE_OK, NULL, "%.160s: CPython %d.%d.%d", path, major,
			       minor, micro);
}

static void ask(const char *path, struct wti_probed *ret)
{
	char line[ANSWER_BYTES];
	int ends[2], r;
	bool in_time;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		wti_probed_say(ret, WTI_PROBE_LIMITED, "ulimit -n 4096", "%.160s: not known", path);
		return;
	}
	r = start(path, ends[1], &pid);
	close(ends[1]);
	if (r) {
		close(ends[0]);
		wti_probed_say(ret, WTI_PROBE_LIMITED, "repair it, or take it out of the PATH",
			       "%.160s: cannot be run: %s", path, strerror(r));
		return;
	}
	in_time = read_line(ends[0], line);
	close(ends[0]);
	kill(-pid, SIGKILL); /* there is nothing more to say */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (in_time)
		judge(path, line, ret);
	else
		wti_probed_say(ret, WTI_PROBE_LIMITED, "repair it, or take it out of the PATH",
			       "%.160s: no answer within %d s", path, PATIENCE_S);
}

/* ---- Finding them -----------------------------------------------------------------------------
 */

/* python, python3, python3.11; not python3-config. */
static bool is_python(const char *name)
{
	if (strncmp(name, "python", 6))
		return false;
	return !name[6 + strspn(name + 6, "0123456789.t")];
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

struct search {
	char *paths[INTERPRETERS_MAX]; /* seen, under their real names */
	size_t count;
	wti_interpreter_fn *found;
	void *cookie;
};

static bool is_new(struct search *search, const char *real)
{
	for (size_t i = 0; i < search->count; i++) {
		if (!strcmp(search->paths[i], real))
			return false;
	}
	if (search->count == INTERPRETERS_MAX)
		return false;
	search->paths[search->count] = strdup(real);
	return search->paths[search->count] && ++search->count;
}

static int python_only(const struct dirent *entry)
{
	return is_python(entry->d_name);
}

static void look_at(struct search *search, const char *path)
{
	char *real = is_program(path) ? realpath(path, NULL) : NULL;
	struct wti_probed probed = {0};

	if (real && is_new(search, real)) {
		const char *slash = strrchr(real, '/');

		ask(path, &probed);
		search->found(search->cookie, slash ? slash + 1 : real, &probed);
	}
	free(real);
}

static void look_in(struct search *search, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, python_only, versionsort);

	for (int i = 0; i < count; i++) {
		char *path;
		int bytes = asprintf(&path, "%s/%s", folder, entries[i]->d_name);

		free(entries[i]);
		if (bytes < 0)
			continue;
		look_at(search, path);
		free(path);
	}
	free(entries);
}

void wti_probe_interpreters(wti_interpreter_fn *found, void *cookie)
{
	const char *path = getenv("PATH");
	struct search search = {.found = found, .cookie = cookie};

	for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
		size_t bytes = strcspn(at, ":");
		char *folder = strndup(at, bytes);

		if (folder && *folder)
			look_in(&search, folder);
		free(folder);
		at += bytes + (at[bytes] == ':');
	}
	for (size_t i = 0; i < search.count; i++)
		free(search.paths[i]);
}
