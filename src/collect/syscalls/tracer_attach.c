/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how threads are taken up by ptrace, and why they may not be. */
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
#include "collect/procfs.h"

#include "family.h"
#include "tracer_attach.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |  \
	 PTRACE_O_TRACEEXEC)
#define LOOKS_MAX 16 /* at the threads of a process that makes more and more of them */

/* The number in /proc/sys/kernel/yama/ptrace_scope; 0 where there is no such thing. */
static int yama_scope(void)
{
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char digit = '0';

	if (fd < 0)
		return 0;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	close(fd);
	return digit - '0';
}

/* Why ptrace() does not want, as far as that can be found out, and what to do. */
static int refused(pid_t pid, struct wt_err *err)
{
	int why = errno, scope = yama_scope();
	int64_t tracer = wti_proc_status((uint32_t)pid, "\nTracerPid:");
	int64_t owner = wti_proc_status((uint32_t)pid, "\nUid:");

	if (why == ESRCH)
		return wti_err(err, WT_E_MISSING, "process %d has ended in the meantime", (int)pid);
	if (why != EPERM && why != EACCES)
		return wti_err(err, WT_E_IO, "cannot trace process %d: %s", (int)pid,
			       strerror(why));
	if (tracer > 0)
		return wti_err(err, WT_E_BUSY,
			       "process %d is already traced by process %lld, and only one tracer "
			       "is possible; end that one, or record with '--backend bpf'",
			       (int)pid, (long long)tracer);
	if (geteuid() && owner >= 0 && owner != geteuid())
		return wti_err(err, WT_E_IO,
			       "not permitted to trace process %d: it belongs to user %lld; run "
			       "as that user or as root",
			       (int)pid, (long long)owner);
	if (scope)
		return wti_err(err, WT_E_IO,
			       "not permitted to trace process %d: "
			       "/proc/sys/kernel/yama/ptrace_scope is %d%s",
			       (int)pid, scope,
			       scope < 3 ? "; run as root, or write 0 into it" : "");
	if (wti_proc_status((uint32_t)getpid(), "\nSeccomp:") == 2)
		return wti_err(
			err, WT_E_IO,
			"not permitted to trace process %d: a container or a seccomp filter "
			"refuses ptrace; start the container with '--cap-add SYS_PTRACE', or "
			"record without --syscalls",
			(int)pid);
	return wti_err(err, WT_E_IO,
		       "not permitted to trace process %d: it has privileges that you do not have, "
		       "or forbids tracing; run as root with CAP_SYS_PTRACE",
		       (int)pid);
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
	struct rusage usage;
	int status;

	if (!seize(tracer, pid, pid))
		return refused(pid, err);
	/* It waits for us in a read(); from the stop on each of its calls is seen. */
	if (wait4(pid, &status, __WALL, &usage) == pid)
		wti_tracer_take(tracer, pid, status, &usage);
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

/* All threads of a process; how many are traced. A thread that is not yet may make another one. */
static int seize_process(struct wti_tracer *tracer, pid_t pid, int *ret_errno)
{
	int looks = 0, all = 0, seized;

	do {
		seized = seize_threads(tracer, pid, ret_errno);
		all += seized;
	} while (seized && ++looks < LOOKS_MAX);
	return all;
}

int wti_tracer_seize_running(struct wti_tracer *tracer, pid_t pid, struct wt_err *err)
{
	struct wti_family *family = malloc(sizeof(*family));
	int looks = 0, seized, why = ESRCH;

	if (!family)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (!seize_process(tracer, pid, &why)) {
		free(family);
		errno = why;
		return refused(pid, err);
	}
	/* One that is traced has no more children that escape: see who was there before. */
	do {
		int ignored;

		seized = 0;
		wti_family_look(family, pid);
		for (size_t i = 1; i < family->count; i++)
			seized += seize_process(tracer, family->pids[i], &ignored);
	} while (seized && ++looks < LOOKS_MAX);
	free(family);
	return 0;
}
