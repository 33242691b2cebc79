/* SPDX-License-Identifier: Apache-2.0 */
/* Starts this program itself as `record`: see again.h. */
#include "again.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/verb.h"

#define TRIES_MAX 10000u
/* Between two looks at whether the program runs: short programs are not kept waiting. */
#define PAUSE_MIN_NS 1000000
#define PAUSE_MAX_NS 100000000

int wti_again_folder(const char *base, char ret_folder[PATH_MAX], struct wt_err *err)
{
	char here[PATH_MAX] = "";

	/* The program is recorded in another folder than this one. */
	if (*base != '/' && !getcwd(here, sizeof(here)))
		return wti_err(err, WT_E_IO, "cannot find the current folder: %s", strerror(errno));
	for (unsigned n = 1; n <= TRIES_MAX; n++) {
		if (snprintf(ret_folder, PATH_MAX, "%s%s%s.rerun-%u", here, *here ? "/" : "", base,
			     n) >= PATH_MAX)
			return wti_err(err, WT_E_LIMIT, "the path of the run is too long");
		if (access(ret_folder, F_OK) && errno == ENOENT)
			return 0;
	}
	return wti_err(err, WT_E_LIMIT, "there are already %u reruns of '%s': remove some",
		       TRIES_MAX, base);
}

static size_t count_of(char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

static size_t add_words(char **words, size_t at, const char *const *more)
{
	for (; more && *more; more++)
		words[at++] = (char *)*more;
	return at;
}

/* Runs are compared operation by operation: none may be lost. */
static char **words_of(const struct wti_again *again)
{
	const char *const begin[] = {"wheeltap", "record", NULL};
	const char *const end[] = {"--quiet", "--on-full=wait", "-o", again->folder, "--", NULL};
	const struct wti_rerun_plan *plan = again->plan;
	size_t count = sizeof(begin) / sizeof(begin[0]) + sizeof(end) / sizeof(end[0]) +
		       count_of(plan->options) + count_of((char *const *)again->more) +
		       count_of(plan->command) + 4;
	char **words = calloc(count, sizeof(*words));
	size_t at;

	if (!words)
		return NULL;
	at = add_words(words, 0, begin);
	at = add_words(words, at, (const char *const *)plan->options);
	at = add_words(words, at, again->more);
	at = add_words(words, at, end);
	add_words(words, at, (const char *const *)plan->command);
	return words;
}

static void become(const struct wti_again *again, char **words)
{
	int null = open("/dev/null", O_RDWR);

	if (chdir(again->plan->run.directory))
		_exit(WTI_EXIT_NOT_RUN);
	for (size_t i = 0; again->plan->variables[i]; i++)
		putenv(again->plan->variables[i]);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execv("/proc/self/exe", words);
	_exit(WTI_EXIT_NOT_RUN);
}

/* The recorder passes the signal on, and ends when the program does. */
static int wait_for(const struct wti_again *again, pid_t child, int *ret_status)
{
	struct timespec pause = {.tv_nsec = PAUSE_MIN_NS};
	bool is_ending = !again->look;
	pid_t ended;

	while ((ended = waitpid(child, ret_status, is_ending ? 0 : WNOHANG)) <= 0) {
		if (ended < 0 && errno != EINTR)
			return -1;
		if (is_ending || ended < 0)
			continue;
		if (again->look(again->cookie)) {
			kill(child, SIGTERM);
			is_ending = true;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX_NS)
			pause.tv_nsec *= 2;
	}
	return 0;
}

int wti_again_record(const struct wti_again *again, struct wt_err *err)
{
	char **words = words_of(again);
	pid_t child = words ? fork() : -1;
	int status;

	if (child < 0) {
		free(words);
		return wti_err(err, WT_E_IO, "cannot start a process: %s", strerror(errno));
	}
	if (!child)
		become(again, words);
	free(words);
	if (wait_for(again, child, &status))
		return wti_err(err, WT_E_IO, "cannot wait: %s", strerror(errno));
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (status == WTI_EXIT_NOT_RUN)
		return wti_err(err, WT_E_IO, "the program could not be recorded again");
	return status;
}
