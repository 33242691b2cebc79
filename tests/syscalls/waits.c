/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that waits for itself: the first word says by what. A worker computes for a while, and
 * the main thread goes on when it has done so. Prints the thread number of the worker.
 */
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 300000000

extern char **environ;

/* Of CPU time, so that a busy machine makes it longer and never shorter. */
static void compute(long ns)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

static void tell_worker(void)
{
	printf("%d\n", gettid());
	fflush(stdout);
}

static int ends[2]; /* main reads from the first, the worker writes to the second */

static void *work(void *opaque)
{
	uint64_t one = 1;

	tell_worker();
	compute(WORK_NS);
	if (ends[1] && write(ends[1], &one, sizeof(one)) != sizeof(one))
		abort();
	return opaque;
}

static void in_process(void)
{
	if (fork())
		return;
	work(NULL);
	_exit(0);
}

static void take(void)
{
	uint64_t one;

	if (read(ends[0], &one, sizeof(one)) != sizeof(one))
		abort();
}

static void by_pipe(void)
{
	if (pipe(ends))
		abort();
	in_process();
	take();
}

static void by_socketpair(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
	in_process();
	take();
}

static void by_eventfd(void)
{
	ends[0] = ends[1] = eventfd(0, 0);
	in_process();
	take();
}

static void by_poll(void)
{
	struct pollfd one;

	if (pipe(ends))
		abort();
	in_process();
	one = (struct pollfd){.fd = ends[0], .events = POLLIN};
	if (poll(&one, 1, -1) != 1)
		abort();
	take();
}

static void by_wait(void)
{
	in_process();
	wait(NULL);
}

static void by_join(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	pthread_join(worker, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_done;

static void *work_and_signal(void *opaque)
{
	work(opaque);
	pthread_mutex_lock(&mutex);
	is_done = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void by_condition(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work_and_signal, NULL);
	pthread_mutex_lock(&mutex);
	while (!is_done)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

/* The worker is another program, which is this one. */
static void by_spawn(void)
{
	char *words[] = {"waits", "work", NULL};
	pid_t pid;

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ))
		abort();
	waitpid(pid, NULL, 0);
}

static void by_nobody(void)
{
	struct timespec pause = {.tv_nsec = WORK_NS};

	nanosleep(&pause, NULL);
}

/* It is done long before it is asked for. */
static void beside(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	compute(10L * WORK_NS);
	pthread_join(worker, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)(void);
	} ways[] = {
		{"pipe", by_pipe},           {"socketpair", by_socketpair},
		{"eventfd", by_eventfd},     {"poll", by_poll},
		{"wait", by_wait},           {"join", by_join},
		{"condition", by_condition}, {"spawn", by_spawn},
		{"sleep", by_nobody},        {"beside", beside},
	};

	if (argc > 1 && !strcmp(argv[1], "work"))
		work(NULL);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].wait();
	return 0;
}
