/* SPDX-License-Identifier: Apache-2.0 */
/* A program that does what a recorder must not disturb; the first word says what. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
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

/*
 * restart: a read is restarted after a handler with SA_RESTART, and a sleep tells what is left.
 * Signals come until one has met the sleep; how many is not determined.
 */
static int restart(char **words)
{
	struct sigaction action = {.sa_handler = catch, .sa_flags = SA_RESTART};
	struct timespec left = {0, 0}, whole = {1000, 0};
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
		for (pid_t parent = getppid(); getppid() == parent;) {
			usleep(50000);
			kill(parent, SIGUSR1);
		}
		_exit(0);
	}
	got = read(ends[0], &byte, 1);
	printf("read %zd %c\n", got, byte);
	got = nanosleep(&whole, &left);
	printf("sleep %zd %s\n", got, left.tv_sec > 0 ? "left" : "?");
	kill(pid, SIGKILL);
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

static void *ask_session(void *opaque)
{
	for (;;) {
		syscall(SYS_getsid, 0);
		usleep(20000);
	}
	return opaque;
}

static void *make_children(void *opaque)
{
	for (;;) {
		if (fork() == 0) {
			syscall(SYS_getpriority, 0, 0);
			_exit(0);
		}
		wait(NULL);
		usleep(20000);
	}
	return opaque;
}

/* wait N: until its input ends; its status is N. */
static int wait_for_input(char **words)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return number_of(words[0]);
}

/*
 * family: a child, a thread that makes calls and one that makes more children, each with a call
 * that nobody else makes, until its input ends.
 */
static int family(char **words)
{
	int file = open("/etc/passwd", O_RDONLY), waiting;
	pthread_t thread;
	char byte;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			syscall(SYS_getpgid, 0);
			syscall(SYS_getppid);
			ioctl(0, FIONREAD, &waiting);
			if (pread(file, &byte, 1, 0) != 1)
				_exit(1);
			usleep(20000);
		}
	}
	pthread_create(&thread, NULL, ask_session, NULL);
	pthread_create(&thread, NULL, make_children, NULL);
	usleep(20000);
	wait_for_input((char *[]){"0"});
	kill(pid, SIGKILL);
	_exit(0);
}

/* epoll: waits for its input by epoll_wait(); its status is how often that was interrupted. */
static int wait_by_epoll(char **words)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), interrupted = 0;

	epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
	printf("ready\n");
	fflush(stdout);
	while (epoll_wait(epoll, &event, 1, -1) < 0)
		interrupted++;
	return interrupted;
}

/* signals: of all sorts, each caught; then one that is not. */
static int signals(char **words)
{
	static const int caught_ones[] = {SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM, SIGPIPE, SIGCONT};
	struct sigaction action = {.sa_handler = catch, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
	union sigval value = {.sival_int = 77};
	int ends[2], status;
	pid_t pid;

	for (size_t i = 0; i < sizeof(caught_ones) / sizeof(caught_ones[0]); i++)
		sigaction(caught_ones[i], &action, NULL);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR2);
	sigqueue(getpid(), SIGUSR1, value);
	pid = fork();
	if (pid == 0)
		_exit(7);
	waitpid(pid, &status, 0);
	if (pipe(ends) || close(ends[0]) || write(ends[1], "x", 1) >= 0)
		return 1;
	pid = fork();
	if (pid == 0)
		raise(SIGSTOP);
	if (pid == 0)
		_exit(0);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	ualarm(1000, 0);
	while (caught != SIGALRM)
		usleep(1000);
	*(volatile int *)(uintptr_t)words[0] = 1; /* words[0] is NULL */
	return 0;
}

/* times: a call that waits, and one that works; neither is made otherwise. */
static int times_of_calls(char **words)
{
	struct timespec while_ = {0, 200000000};
	size_t bytes = 8 << 20;
	char *data = malloc(bytes);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &while_, NULL);
	for (size_t at = 0; data && at < bytes;) {
		ssize_t n = getrandom(data + at, bytes - at, 0);

		if (n < 0)
			return 1;
		at += (size_t)n;
	}
	free(data);
	return 0;
}

/* Whether a process waits in the kernel, as a traced one does, too, unless its tracer holds it. */
static int is_asleep(pid_t pid)
{
	char path[64], text[256] = "";
	const char *end;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = open(path, O_RDONLY);
	if (file < 0 || pread(file, text, sizeof(text) - 1, 0) < 0)
		exit(3);
	close(file);
	end = strrchr(text, ')');
	return end && !strncmp(end, ") S", 3);
}

/* turns: a child waits in a read while its parent makes calls; each has calls of its own. */
static int turns(char **words)
{
	int ends[2];
	char byte = 0;
	pid_t pid;

	if (pipe(ends))
		return 2;
	pid = fork();
	if (pid == 0)
		_exit(syscall(SYS_getpriority, 0, 0) < 0 || read(ends[0], &byte, 1) != 1);
	while (!is_asleep(pid))
		usleep(10000);
	syscall(SYS_getpgid, 0);
	syscall(SYS_getsid, 0);
	if (write(ends[1], "x", 1) != 1)
		return 2;
	waitpid(pid, NULL, 0);
	return 0;
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
	{"wait", 1, wait_for_input}, {"family", 0, family},   {"epoll", 0, wait_by_epoll},
	{"signals", 0, signals},     {"turns", 0, turns},     {"times", 0, times_of_calls},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].name, argv[1]) && argc == 2 + acts[i].words)
			return acts[i].run(argv + 2);
	fprintf(stderr, "acts: do what?\n");
	return 99;
}
