/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how threads are taken up by ptrace and let go again, so that they notice neither. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

#include "tracer_attach.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |  \
	 PTRACE_O_TRACEEXEC)
#define LOOKS_MAX 16 /* at the threads of a process that makes more and more of them */

pid_t wti_process_of_thread(pid_t tid)
{
	char path[64], text[512];
	const char *at;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "\nTgid:");
	return at ? (pid_t)strtol(at + 6, NULL, 10) : 0;
}

static int refused(pid_t pid, struct wt_err *err)
{
	if (errno == EPERM || errno == EACCES)
		return wti_err(err, WT_E_IO,
			       "not permitted to trace process %d: another tracer has it, it is "
			       "somebody else's, or /proc/sys/kernel/yama/ptrace_scope forbids it",
			       (int)pid);
	return wti_err(err, WT_E_IO, "cannot trace process %d: %s", (int)pid, strerror(errno));
}

/* False: it could not be, errno says why. It runs on, until it stops for us. */
static struct wti_tracee *seize(struct wti_tracer *tracer, pid_t tid, pid_t pid)
{
	long options = OPTIONS | (tracer->filtered ? PTRACE_O_TRACESECCOMP : 0);
	struct wti_tracee *tracee;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options))
		return NULL;
	tracee = wti_tracee_new(tracer, tid);
	if (!tracee) {
		errno = ENOMEM;
		return NULL;
	}
	tracee->pid = pid;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return tracee;
}

int wti_tracer_seize_program(struct wti_tracer *tracer, pid_t pid, struct wt_err *err)
{
	int status;

	if (!seize(tracer, pid, pid))
		return refused(pid, err);
	/* It waits for us in a read(); from the stop on each of its calls is seen. */
	if (waitpid(pid, &status, __WALL) == pid)
		wti_tracer_take(tracer, pid, status);
	return 0;
}

/* Its threads that are not traced yet; how many that were. */
static int seize_threads(struct wti_tracer *tracer, pid_t pid, int *ret_errno)
{
	char path[64];
	struct dirent *entry;
	int seized = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct wti_tracee *tracee;

		if (tid <= 0 || wti_tracee_of(tracer, tid))
			continue;
		tracee = seize(tracer, tid, pid);
		if (!tracee) {
			*ret_errno = errno;
			continue;
		}
		wti_tracee_adopt(tracer, tracee, 0, WT_TASK_ATTACHED);
		seized++;
	}
	if (folder)
		closedir(folder);
	return seized;
}

int wti_tracer_seize_running(struct wti_tracer *tracer, pid_t pid, struct wt_err *err)
{
	int looks = 0, why = ESRCH;

	/* A thread that is not traced yet may have made another one meanwhile. */
	while (looks++ < LOOKS_MAX && seize_threads(tracer, pid, &why))
		;
	if (tracer->count)
		return 0;
	errno = why;
	return refused(pid, err);
}

/* ---- Letting go ------------------------------------------------------------------------------ */

void wti_tracer_let_go_of(struct wti_tracer *tracer, pid_t tid, int status)
{
	int event = status >> 16, number = 0;

	if (!WIFSTOPPED(status)) {
		wti_tracer_take(tracer, tid, status);
		return;
	}
	/* A signal that was to be delivered still is; a group that was stopped stays so. */
	if (!event && WSTOPSIG(status) != (SIGTRAP | 0x80))
		number = WSTOPSIG(status);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)number);
}

void wti_tracer_let_go(struct wti_tracer *tracer)
{
	for (size_t i = 0; i < tracer->by_tid_count && tracer->count; i++) {
		struct wti_tracee *tracee = tracer->by_tid[i];
		int status;

		if (!tracee)
			continue;
		if (!tracee->waits)
			ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
		if (tracee->waits)
			ptrace(PTRACE_DETACH, tracee->tid, NULL, NULL);
		else if (waitpid(tracee->tid, &status, __WALL) == tracee->tid)
			wti_tracer_let_go_of(tracer, tracee->tid, status);
	}
}
