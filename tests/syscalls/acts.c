/* SPDX-License-Identifier: Apache-2.0 */
/* A program that does what a recorder must not disturb; the first word says what. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int number_of(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static void *work(void *opaque)
{
	for (int i = 0; i < *(int *)opaque; i++)
		syscall(SYS_getppid);
	return NULL;
}

/* loop N: that many calls, as fast as they come. */
static int loop(char **words)
{
	int count = number_of(words[0]);

	work(&count);
	return 0;
}

/* timed N: the same, and says how many seconds that took. */
static int timed(char **words)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	loop(words);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.9f\n",
	       (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}

/* threads T N: in each of T threads N calls. */
static int threads(char **words)
{
	pthread_t all[64];
	int count = number_of(words[0]), calls = number_of(words[1]);

	for (int i = 0; i < count; i++)
		pthread_create(&all[i], NULL, work, &calls);
	for (int i = 0; i < count; i++)
		pthread_join(all[i], NULL);
	return 0;
}

/* forks N: all at once; each makes one call that nobody else makes and ends with its own status. */
static int forks(char **words)
{
	int count = number_of(words[0]), sum = 0, status;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			syscall(SYS_getpgid, 0);
			_exit(i % 100);
		}
		if (pid < 0)
			return 2;
	}
	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	printf("%d\n", sum);
	return 0;
}

static void *exec_true(void *opaque)
{
	char *words[] = {"echo", "from a thread", NULL};

	execv("/bin/echo", words);
	return opaque;
}

/* exec: of another program, from a thread that is not the first, while others run. */
static int exec_in_thread(char **words)
{
	static int calls = 1 << 30;
	pthread_t busy, thread;

	pthread_create(&busy, NULL, work, &calls);
	pthread_create(&thread, NULL, exec_true, NULL);
	pthread_join(thread, NULL);
	return 1;
}

static volatile sig_atomic_t caught;

static void catch (int number)
{
	caught = number;
}

/* handler: waits for a TERM, survives it, says that its wait was interrupted. */
static int handler(char **words)
{
	struct sigaction action = {.sa_handler = catch};
	sigset_t term, none;

	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	printf("ready\n");
	fflush(stdout);
	while (!caught)
		sigsuspend(&none);
	printf("caught %d errno %d\n", (int)caught, errno);
	return 7;
}

/* restart: a read is restarted after a handler with SA_RESTART, and a sleep tells what is left. */
static int restart(char **words)
{
	struct sigaction action = {.sa_handler = catch, .sa_flags = SA_RESTART};
	struct timespec left = {0, 0}, whole = {5, 0};
	int ends[2];
	char byte = 0;
	ssize_t got;
	pid_t pid;

	sigaction(SIGUSR1, &action, NULL);
	if (pipe(ends))
		return 2;
	pid = fork();
	if (pid == 0) {
		usleep(50000);
		kill(getppid(), SIGUSR1);
		usleep(50000);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		usleep(50000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	got = read(ends[0], &byte, 1);
	printf("read %zd %c\n", got, byte);
	got = nanosleep(&whole, &left);
	printf("sleep %zd %s\n", got, left.tv_sec == 4 ? "left" : "?");
	waitpid(pid, NULL, 0);
	return 0;
}

/* crash: as a program does. */
static int crash(char **words)
{
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 1;
}

/* stop: stops itself; somebody continues it. */
static int stop(char **words)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	raise(SIGSTOP);
	printf("continued\n");
	return 5;
}

/* orders: a child stops and is continued; its parent sees both, in this order. */
static int orders(char **words)
{
	int status, ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		return 2;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		raise(SIGSTOP);
		_exit(read(ends[0], &byte, 1) == 0 ? 9 : 1);
	}
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %d\n", WIFSTOPPED(status) ? WSTOPSIG(status) : -1);
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	printf("continued %d\n", WIFCONTINUED(status));
	close(ends[1]);
	waitpid(pid, &status, 0);
	printf("exited %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

/* beat N: a line, a pause of 50 ms, N times. */
static int beat(char **words)
{
	for (int i = 0; i < number_of(words[0]); i++) {
		printf("beat %d %d\n", i, (int)(syscall(SYS_getppid) > 0));
		fflush(stdout);
		usleep(50000);
	}
	return 0;
}

/* grandchildren N: each forks the next; the last ends first. */
static int grandchildren(char **words)
{
	int count = number_of(words[0]), depth = 0, status = 0;

	while (depth < count && fork() == 0)
		depth++;
	syscall(SYS_getpgid, 0);
	wait(&status);
	_exit(depth);
}

static const struct act {
	const char *name;
	int words;
	int (*run)(char **words);
} acts[] = {
	{"loop", 1, loop},           {"timed", 1, timed},     {"threads", 2, threads},
	{"forks", 1, forks},         {"handler", 0, handler}, {"restart", 0, restart},
	{"crash", 0, crash},         {"stop", 0, stop},       {"orders", 0, orders},
	{"exec", 0, exec_in_thread}, {"beat", 1, beat},       {"grandchildren", 1, grandchildren},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].name, argv[1]) && argc == 2 + acts[i].words)
			return acts[i].run(argv + 2);
	fprintf(stderr, "acts: do what?\n");
	return 99;
}
