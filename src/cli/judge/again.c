/* SPDX-License-Identifier: Apache-2.0 */
/* Starts this program itself as `record`: see again.h. */
#include "again.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/report.h"
#include "cli/verb.h"

#define TRIES_MAX 10000u
/* Between two looks at whether the program runs: short programs are not kept waiting. */
#define PAUSE_MIN_NS 1000000
#define PAUSE_MAX_NS 100000000
/* A program that was asked to end may save what it has; after that it is said what is awaited. */
#define PATIENCE_S 10

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
static char **words_of(const struct wti_again *again, const char *parent)
{
	const char *const begin[] = {"wheeltap", "record", NULL};
	const char *const end[] = {"--quiet", "--on-full=wait", parent, "-o", again->folder, "--",
				   NULL};
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

/* If this process is ended, by whatever, the program is asked to end: nobody waits for it. From the
 * exec on `record --parent` sees to that. */
static void become(const struct wti_again *again, char **words, pid_t parent, const sigset_t *mask)
{
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || chdir(again->plan->run.directory))
		_exit(WTI_EXIT_NOT_RUN);
	for (size_t i = 0; again->plan->variables[i]; i++)
		putenv(again->plan->variables[i]);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv("/proc/self/exe", words);
	_exit(WTI_EXIT_NOT_RUN);
}

/* SIGCONT is blocked while we wait, and kept: whether somebody continued us since the last call. */
static bool was_continued(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	return sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 0}) == SIGCONT;
}

static void keep_continues(sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	sigprocmask(SIG_BLOCK, &set, ret_before);
}

/* Stopped at the terminal, the recorder stops: the shell has to see us do the same, once. Who was
 * stopped together with it and goes on has done so. */
static void stop_too(pid_t child, bool is_continued)
{
	if (!is_continued)
		raise(SIGSTOP);
	was_continued();
	kill(child, SIGCONT);
}

static void pause_once(struct timespec *pause)
{
	nanosleep(pause, NULL);
	if (pause->tv_nsec < PAUSE_MAX_NS)
		pause->tv_nsec *= 2;
}

/* After it was asked to end; `since`: 0, not yet. */
static void note_patience(time_t *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!*since || now.tv_sec - *since < PATIENCE_S)
		return;
	wti_warn("the program goes on %u s after SIGTERM: its end is awaited", PATIENCE_S);
	*since = 0;
}

static time_t ask_to_end(pid_t child)
{
	struct timespec now;

	kill(child, SIGTERM); /* passed on to the program's group; record ends when that does */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int wait_for(const struct wti_again *again, pid_t child, int *ret_status)
{
	struct timespec pause = {.tv_nsec = PAUSE_MIN_NS};
	bool is_ending = !again->look;
	time_t asked = 0;

	for (;;) {
		bool is_continued = was_continued();
		pid_t news = waitpid(child, ret_status, WNOHANG | WUNTRACED);

		if (news < 0 && errno != EINTR)
			return -1;
		if (news > 0 && !WIFSTOPPED(*ret_status))
			return 0;
		if (news > 0)
			stop_too(child, is_continued);
		if (!is_ending && again->look(again->cookie)) {
			asked = ask_to_end(child);
			is_ending = true;
		}
		note_patience(&asked);
		pause_once(&pause);
	}
}

int wti_again_record(const struct wti_again *again, struct wt_err *err)
{
	pid_t self = getpid(), child;
	char parent[40], **words;
	sigset_t before;
	int status, r;

	snprintf(parent, sizeof(parent), "--parent=%d", (int)self);
	words = words_of(again, parent);
	keep_continues(&before);
	child = words ? fork() : -1;
	if (!child)
		become(again, words, self, &before);
	r = child < 0 ? wti_err(err, WT_E_IO, "cannot start a process: %s", strerror(errno))
	    : wait_for(again, child, &status)
		    ? wti_err(err, WT_E_IO, "cannot wait: %s", strerror(errno))
		    : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(words);
	if (r)
		return r;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (status == WTI_EXIT_NOT_RUN)
		return wti_err(err, WT_E_IO, "the program could not be recorded again");
	return status;
}
