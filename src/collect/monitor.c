/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what must be undone and set between fork and exec, and how a session must not be left. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "rlimits.h"
#include "monitor.h"
#include "relay.h"
#include "syscalls/filter.h"

static void report(const struct wti_monitor *monitor, uint32_t type, int value,
		   const struct rusage *usage)
{
	struct wti_monitor_news news = {.type = type,
					.value = value,
					.monotonic_ns = wti_clock_ns(CLOCK_MONOTONIC),
					.real_ns = wti_clock_ns(CLOCK_REALTIME)};
	struct rusage own;

	if (usage) {
		news.cpu_ns =
			(uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
			(uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
		news.memory_bytes = (uint64_t)usage->ru_maxrss * 1024u;
		news.fault_count = (uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt;
		news.major_fault_count = (uint64_t)usage->ru_majflt;
		/* Linux keeps the greatest size across exec: it begins with ours. */
		if (!getrusage(RUSAGE_SELF, &own))
			news.memory_floor_bytes = (uint64_t)own.ru_maxrss * 1024u;
	}
	/* Smaller than a pipe's atomic size; a recorder that is dead does not want to know. */
	if (write(monitor->news, &news, sizeof(news)) < 0)
		return;
}

static void place(int from, int to)
{
	if (from < 0)
		return;
	if (from == to)
		fcntl(to, F_SETFD, 0);
	else
		dup2(from, to);
}

/* Until the recorder is ready to see it; one that is dead closes its end. */
static void wait_at_gate(const struct wti_monitor *monitor)
{
	ssize_t n = 0;
	char byte;

	while (monitor->gate[0] >= 0 && (n = read(monitor->gate[0], &byte, 1)) < 0 &&
	       errno == EINTR)
		;
	if (n == 1 && byte == WTI_GATE_FILTER && monitor->filter)
		wti_filter_install(monitor->filter);
}

int wti_program_exec(const char *executable, char *const *argv, char *const *environment)
{
	char *words[256] = {"sh", (char *)(uintptr_t)executable};
	int count = 2, code;

	execve(executable, argv, environment);
	code = errno;
	if (code != ENOEXEC)
		return code;
	/* A script without its first line: as shells do. */
	for (int i = 1; argv[i] && count < 255; i++)
		words[count++] = argv[i];
	execve("/bin/sh", words, environment);
	return code;
}

/* The child: becomes the program. Only what is safe after a fork is used. */
static _Noreturn void become_program(const struct wti_monitor *monitor, int failed)
{
	int terminal = monitor->slave >= 0 ? monitor->slave : monitor->terminal;
	int code;

	setpgid(0, 0);
	if (terminal >= 0)
		tcsetpgrp(terminal, getpid()); /* SIGTTOU is still ignored */
	place(monitor->in, STDIN_FILENO);
	place(monitor->out, STDOUT_FILENO);
	place(monitor->err, STDERR_FILENO);
	wait_at_gate(monitor);
	signal(SIGTTOU, SIG_DFL);
	signal(SIGTTIN, SIG_DFL);
	sigaction(SIGPIPE, &monitor->sigpipe, NULL);
	sigprocmask(SIG_SETMASK, &monitor->mask, NULL);
	wti_limits_give(monitor->limits);
	code = wti_program_exec(monitor->executable, monitor->argv, monitor->environment);
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(code == ENOENT ? 127 : 126);
}

static pid_t start(const struct wti_monitor *monitor)
{
	int failed[2] = {-1, -1}, code = 0;
	pid_t pid;

	if (pipe2(failed, O_CLOEXEC)) {
		report(monitor, WTI_MONITOR_FAILED, errno, NULL);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become_program(monitor, failed[1]);
	if (pid < 0) {
		report(monitor, WTI_MONITOR_FAILED, errno, NULL);
		return -1;
	}
	report(monitor, WTI_MONITOR_STARTED, pid, NULL);
	close(failed[1]);
	if (read(failed[0], &code, sizeof(code)) == sizeof(code))
		report(monitor, WTI_MONITOR_FAILED, code, NULL);
	close(failed[0]);
	return pid;
}

static void follow(const struct wti_monitor *monitor, pid_t pid)
{
	for (;;) {
		struct rusage usage;
		int status;
		pid_t who = wait4(pid, &status, WUNTRACED | WCONTINUED, &usage);

		if (who < 0 && errno == EINTR)
			continue;
		if (who != pid)
			return;
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			/* The hangup at the end of a session must not reach what runs on. */
			if (monitor->slave >= 0)
				tcsetpgrp(monitor->slave, getpgrp());
			report(monitor, WTI_MONITOR_STATUS, status, &usage);
			return;
		}
		report(monitor, WTI_MONITOR_STATUS, status, NULL);
	}
}

static void ignore_signals(void)
{
	static const int ignored[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGTSTP,
				      SIGTTIN, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
}

_Noreturn void wti_monitor_run(const struct wti_monitor *monitor)
{
	int keep[] = {monitor->news, monitor->relay_lives, monitor->slave};
	char byte;
	pid_t pid;

	signal(SIGTTOU, SIG_IGN);
	if (monitor->gate[1] >= 0)
		close(monitor->gate[1]);
	if (monitor->slave >= 0) {
		setsid();
		ioctl(monitor->slave, TIOCSCTTY, 0);
	}
	pid = start(monitor);
	/* The program has what it inherits; from here on we hold nobody's pipe. */
	ignore_signals();
	wti_close_all_but(keep, 3);
	if (pid > 0)
		follow(monitor, pid);
	close(monitor->news);
	close(monitor->slave);
	while (monitor->slave >= 0 && read(monitor->relay_lives, &byte, 1) > 0)
		;
	_exit(0);
}
