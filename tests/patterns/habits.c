/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with bad habits: `habits NAME bad` has the one that a rule is about, `habits NAME good`
 * does the same work, or work that looks much like it, without. Works in the current folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#define FILE_NAME "habits.data"
#define MANY 12000

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(2);
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(long microseconds)
{
	nanosleep(&(struct timespec){0, microseconds * 1000}, NULL);
}

static void work(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		;
}

static int make_file(size_t bytes)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);

	need(fd >= 0 && !ftruncate(fd, (off_t)bytes), FILE_NAME);
	return fd;
}

/* Waits for what never comes: by asking, or in the kernel for a while each time. */
static void loop(int is_bad)
{
	int ends[2];
	double end = now() + 0.3;

	need(!pipe(ends), "pipe");
	while (now() < end)
		poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, is_bad ? 0 : 5);
}

/* A try and a look around it; with a pause it is nothing to speak of. */
static void retry(int is_bad)
{
	struct stat info;
	double end = now() + 0.3;

	while (now() < end) {
		if (open("not-there", O_RDONLY) >= 0 || !stat("not-there-either", &info))
			exit(2);
		if (!is_bad)
			rest(5000);
	}
}

/* Many calls that look alike, and each of which gets further. */
static void progress(int is_bad)
{
	int fd = make_file(0);
	double end = now() + 0.3;
	char byte;

	while (now() < end) {
		if (is_bad)
			need(!pread(fd, &byte, 1, 0), "pread");
		else
			need(lseek(fd, 8192, SEEK_CUR) > 0, "lseek");
	}
}

static void small(int is_bad)
{
	char piece[8192] = {0};
	int fd = make_file(0);

	for (int i = 0; i < MANY; i++)
		need(write(fd, piece, is_bad ? 10 : sizeof(piece)) > 0, "write");
}

static void reopen(int is_bad)
{
	char piece[8192];
	char name[32];

	close(make_file(sizeof(piece)));
	for (int i = 0; i < 800; i++) {
		int fd;

		snprintf(name, sizeof(name), is_bad ? FILE_NAME : "shard-%d", i % 100);
		fd = open(name, O_RDONLY | O_CREAT, 0600);
		need(fd >= 0 && read(fd, piece, sizeof(piece)) >= 0, name);
		close(fd);
	}
}

/* One name very often, or as many names once each. */
static void look(int is_bad)
{
	struct stat info;
	char name[32];
	int fd = make_file(1);

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), is_bad ? FILE_NAME : "shard-%d", i);
		stat(name, &info);
		if (i % 3 == 0) /* it gets further: not a loop that does not */
			need(lseek(fd, 1, SEEK_CUR) > 0, "lseek");
	}
}

static void random_numbers(int is_bad)
{
	char numbers[4096];

	for (int i = 0; i < MANY; i++)
		need(getrandom(numbers, is_bad ? 8 : sizeof(numbers), 0) > 0, "getrandom");
}

static void clocks(int is_bad)
{
	struct timespec time;
	struct rusage usage;

	for (int i = 0; i < MANY; i++)
		if (is_bad)
			syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
		else
			clock_gettime(CLOCK_MONOTONIC, &time);
	getrusage(RUSAGE_SELF, &usage);
}

/* The same buffer each time, or one that is kept. */
static void memory(int is_bad)
{
	size_t bytes = 1 << 20;
	char *kept = NULL;

	for (int i = 0; i < 2000; i++) {
		char *buffer = kept ? kept
				    : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		need(buffer != MAP_FAILED, "mmap");
		buffer[i % 4096] = 1;
		if (is_bad)
			munmap(buffer, bytes);
		else
			kept = buffer;
	}
	if (kept)
		munmap(kept, bytes);
}

static void start(double seconds)
{
	pid_t child = fork();

	need(child >= 0, "fork");
	if (!child) {
		work(seconds);
		_exit(0);
	}
}

/* A process for each piece of work: many and short, or few that live. */
static void churn(int is_bad)
{
	for (int i = 0; i < (is_bad ? 150 : 4); i++) {
		start(is_bad ? 0 : 0.15);
		need(wait(NULL) > 0, "wait");
	}
}

/* Four workers get the pieces of their work through a pipe. */
static void pool(int is_bad)
{
	pid_t workers[4];
	int ends[4][2];

	for (int i = 0; i < 4; i++) {
		need(!pipe(ends[i]), "pipe");
		workers[i] = fork();
		need(workers[i] >= 0, "fork");
		if (!workers[i]) {
			char piece;

			for (int j = 0; j <= i; j++)
				close(ends[j][1]);
			while (read(ends[i][0], &piece, 1) == 1)
				work(0.06);
			_exit(0);
		}
		close(ends[i][0]);
	}
	for (int i = 0; i < 20; i++)
		need(write(ends[is_bad ? 2 : i % 4][1], "x", 1) == 1, "write");
	for (int i = 0; i < 12; i++)
		rest(100000);
	for (int i = 0; i < 4; i++)
		close(ends[i][1]);
	for (int i = 0; i < 4; i++)
		waitpid(workers[i], NULL, 0);
}

/* Gives a piece of data each time it is asked, after a while: a file system that is slow. */
static void serve(int asked)
{
	int fd = open("slow", O_WRONLY);
	char piece;

	while (read(asked, &piece, 1) == 1) {
		rest(5000);
		need(write(fd, "x", 1) == 1, "write");
	}
	_exit(0);
}

/* A step that waits for a file, or one that computes while what it has asked for comes. */
static void steps(int is_bad)
{
	int ask[2], fd;
	char piece;

	need(!mkfifo("slow", 0600) && !pipe(ask), "slow");
	if (!fork()) {
		close(ask[1]);
		serve(ask[0]);
	}
	close(ask[0]);
	fd = open("slow", O_RDONLY);
	need(fd >= 0, "slow");
	for (int i = 0; i < 10; i++) {
		wt_step(i);
		need(write(ask[1], "x", 1) == 1, "ask");
		if (!is_bad)
			work(0.03);
		need(read(fd, &piece, 1) == 1, "read");
		work(0.001);
	}
	wt_step(10);
	close(ask[1]);
	wait(NULL);
}

static const struct {
	const char *name;
	void (*run)(int is_bad);
} habits[] = {
	{"loop", loop},
	{"retry", retry},
	{"progress", progress},
	{"small", small},
	{"reopen", reopen},
	{"look", look},
	{"random", random_numbers},
	{"clocks", clocks},
	{"memory", memory},
	{"churn", churn},
	{"pool", pool},
	{"steps", steps},
};

int main(int count, char **words)
{
	for (size_t i = 0; count == 3 && i < sizeof(habits) / sizeof(*habits); i++)
		if (!strcmp(habits[i].name, words[1])) {
			habits[i].run(!strcmp(words[2], "bad"));
			return 0;
		}
	fprintf(stderr, "usage: habits NAME bad|good\n");
	return 2;
}
