/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads and children of every kind that emit at once. Prints what must be in the trace:
 * "expect PID EXEC EVENTS" for each process, EVENTS being the marks of each of its threads.
 *
 *   family THREADS CHILDREN EVENTS
 *   family child EVENTS
 *   family exec EVENTS (emits, calls exec, emits)
 */
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

extern char **environ;

static uint64_t events;
static const char *self;

static void emit_all(void)
{
	for (uint64_t i = 0; i < events; i++)
		while (!wt_mark(WT_NAME("mark"), i)) /* no room: again */
			usleep(100);
}

static void *thread(void *argument)
{
	emit_all();
	return NULL;
}

static void expect(pid_t pid, int exec)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "expect %d %d %llu\n", (int)pid, exec,
			 (unsigned long long)events);

	if (write(STDOUT_FILENO, line, (size_t)n) < 0)
		_exit(3);
}

static pid_t start_by_exec(int how)
{
	char count[32];
	char *argv[] = {(char *)(uintptr_t)self, "child", count, NULL};
	pid_t pid = -1;

	snprintf(count, sizeof(count), "%llu", (unsigned long long)events);
	if (how == 1) {
		pid = vfork();
		if (pid == 0) {
			execve(self, argv, environ);
			_exit(4);
		}
	} else if (posix_spawn(&pid, self, NULL, NULL, argv, environ)) {
		_exit(5);
	}
	return pid;
}

/* fork, vfork and exec, posix_spawn, the bare system call: in turn. */
static pid_t start_child(int how)
{
	pid_t pid;

	if (how == 1 || how == 2)
		return start_by_exec(how);
	pid = how == 0 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		emit_all();
		_exit(0);
	}
	return pid;
}

int main(int argc, char **argv)
{
	int threads, children, status, failed = 0;
	pthread_t ids[256];

	self = "/proc/self/exe";
	if (argc == 3 && !strcmp(argv[1], "child")) {
		events = strtoull(argv[2], NULL, 10);
		emit_all();
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "exec")) {
		events = strtoull(argv[2], NULL, 10);
		emit_all();
		execl(self, self, "child", argv[2], NULL);
	}
	if (argc != 4)
		return 2;
	threads = (int)strtol(argv[1], NULL, 10);
	children = (int)strtol(argv[2], NULL, 10);
	events = strtoull(argv[3], NULL, 10);
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < children; i++)
		expect(start_child(i % 4), 0);
	expect(getpid(), 0);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
