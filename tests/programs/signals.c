/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signal handlers that emit, and that fork, while the program emits: nothing hangs, nothing is
 * overwritten, and every event of a handler is either in the trace or counted as lost.
 *
 * usage: signals emit|fork
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

enum { SIGNALS = 2000, FORKS = 60 };

static volatile sig_atomic_t handled;
static volatile sig_atomic_t is_child;

static void emit_in_handler(int number)
{
	(void)number;
	handled++;
	wt_mark(WT_NAME("signal"), (uint64_t)handled);
}

/* The child goes on with whatever its parent was in the middle of. */
static void fork_in_handler(int number)
{
	(void)number;
	if (is_child || handled >= FORKS)
		return;
	handled++;
	if (fork() == 0)
		is_child = 1;
}

static void start_timer(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 137}, {0, 137}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_timer(void)
{
	struct itimerval never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &never, NULL);
}

/* Names made on the way, so that handlers also interrupt what takes a lock. */
static int emit_until(int signals, struct wt_name *name)
{
	uint64_t count = 0;
	char text[32];

	while (handled < signals && !is_child) {
		errno = 4711;
		wt_mark(name, count++);
		if (count % 64 == 0) {
			snprintf(text, sizeof(text), "name%llu",
				 (unsigned long long)(count / 64 % 5000));
			errno = 4711;
			wt_span_begin(wt_name_of(text));
			wt_span_end(wt_name_of(text));
		}
		if (errno != 4711)
			return 1;
	}
	return 0;
}

static int child_main(void)
{
	for (uint64_t i = 0; i < 100; i++)
		wt_mark(WT_NAME("child"), i);
	return 0;
}

int main(int argc, char **argv)
{
	bool forks = argc > 1 && strcmp(argv[1], "fork") == 0;
	int failed = 0;
	int status;

	start_timer(forks ? fork_in_handler : emit_in_handler);
	/* A child goes on counting where its parent was: only without forks can the numbers be
	 * checked. */
	failed = forks ? emit_until(FORKS, WT_NAME("parent"))
		       : emit_until(SIGNALS, WT_NAME("count"));
	if (is_child)
		_exit(child_main());
	stop_timer();
	while (wait(&status) > 0)
		failed |= status != 0;
	printf("expect %s %d\n", forks ? "children" : "signals", (int)handled);
	return failed;
}
