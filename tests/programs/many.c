/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64 threads and 20 children, made in four ways, that all emit at once. Each thread and each child
 * emits marks that count up from 0; says on its output how many processes, rings and marks there
 * must be.
 *
 * usage: many [MARKS]      `many child MARKS` is what the children run that call exec
 */
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

enum { THREADS = 64, CHILDREN = 20 };

extern char **environ;

static pthread_barrier_t barrier;
static unsigned mark_count;

static void emit(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		wt_mark(WT_NAME("count"), i);
}

static void *thread_main(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	emit(mark_count);
	return NULL;
}

static void child_exec(char *self)
{
	char count[16];
	char *argv[] = {self, "child", count, NULL};

	snprintf(count, sizeof(count), "%u", mark_count);
	execve("/proc/self/exe", argv, environ);
	_exit(127);
}

static pid_t child_spawn(char *self)
{
	char count[16];
	char *argv[] = {self, "child", count, NULL};
	pid_t pid = -1;

	snprintf(count, sizeof(count), "%u", mark_count);
	posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ);
	return pid;
}

static pid_t child_make(int way, char *self)
{
	pid_t pid;

	switch (way) {
	case 0:
		pid = fork();
		break;
	case 1:
		pid = vfork();
		if (pid == 0)
			child_exec(self);
		return pid;
	case 2:
		return child_spawn(self);
	default: /* no handlers of the C library are run */
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
		break;
	}
	if (pid == 0) {
		emit(mark_count);
		_exit(0);
	}
	return pid;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int failed = 0;

	mark_count = argc > 1 ? (unsigned)strtoul(argv[argc - 1], NULL, 10) : 20000;
	if (argc > 2 && strcmp(argv[1], "child") == 0) {
		emit(mark_count);
		return 0;
	}
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	emit(10); /* the parent has a ring of its own while it forks */
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < CHILDREN; i++)
		failed += child_make(i % 4, argv[0]) < 0;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CHILDREN; i++) {
		int status;

		failed += wait(&status) < 0 || status != 0;
	}
	printf("expect processes %d rings %d marks %u\n", 1 + CHILDREN, 1 + THREADS + CHILDREN,
	       10 + mark_count * (THREADS + CHILDREN));
	return failed != 0;
}
