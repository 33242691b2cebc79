/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose system calls come from known places. Each call that is looked for has a result
 * that tells it from others: access() of a name that says where it is made.
 *
 * usage: places WHAT [LIBRARY]
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places.h"

extern char **environ;

__attribute__((noinline)) static void in_static(void)
{
	access("in-static", F_OK); /* HERE in-static in_static */
	barrier();
}

static inline __attribute__((always_inline)) void in_inlined(void)
{
	access("in-inlined", F_OK); /* HERE in-inlined in_inlined */
	barrier();
}

__attribute__((noinline)) static void around_inlined(void)
{
	in_inlined(); /* CALLER in-inlined around_inlined */
	barrier();
}

__attribute__((noinline)) static void down(unsigned depth)
{
	if (depth)
		down(depth - 1);
	else
		access("deep", F_OK); /* HERE deep down */
	barrier();
}

/* More than is copied of a stack. */
__attribute__((noinline)) static void wide(void)
{
	volatile char room[40 << 10];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
	access("wide", F_OK); /* HERE wide wide */
	barrier();
}

static int compare(const void *a, const void *b)
{
	access("called-back", F_OK); /* HERE called-back compare */
	return *(const int *)a - *(const int *)b;
}

static void handle(int number)
{
	access("in-handler", F_OK); /* HERE in-handler handle */
	barrier();
}

__attribute__((noinline)) static void interrupted(void)
{
	raise(SIGUSR1); /* CALLER in-handler interrupted */
	barrier();
}

static void *thread(void *unused)
{
	access("in-thread", F_OK); /* HERE in-thread thread */
	barrier();
	return NULL;
}

static void threads(void)
{
	pthread_t all[8];

	for (size_t i = 0; i < 8; i++)
		pthread_create(&all[i], NULL, thread, NULL);
	for (size_t i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
}

/* A library comes and goes; another may come to stand in its place. */
static void load(const char *first, const char *second)
{
	for (int i = 0; i < 4; i++) {
		void *library = dlopen(i % 2 ? second : first, RTLD_NOW);
		void (*call)(void);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		*(void **)&call = dlsym(library, "in_library");
		call(); /* CALLER loaded load */
		dlclose(library);
	}
}

static void spawn(char *self)
{
	char *words[] = {self, "static", NULL};
	pid_t pid;
	int status;

	posix_spawn(&pid, self, NULL, NULL, words, environ); /* a vfork and an exec */
	waitpid(pid, &status, 0);
	pid = fork();
	if (!pid) {
		access("in-child", F_OK); /* HERE in-child spawn */
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int numbers[] = {2, 1};
	struct sigaction action = {.sa_handler = handle};

	if (!strcmp(what, "all")) {
		in_static();
		around_inlined();
		qsort(numbers, 2, sizeof(*numbers), compare);
		threads();
		in_library();
		sigaction(SIGUSR1, &action, NULL);
		interrupted();
	} else if (!strcmp(what, "static")) {
		in_static();
	} else if (!strcmp(what, "deep")) {
		down((unsigned)atoi(argv[2]));
	} else if (!strcmp(what, "load")) {
		load(argv[2], argv[3]);
	} else if (!strcmp(what, "spawn")) {
		spawn(argv[0]);
	} else if (!strcmp(what, "wide")) {
		wide();
	}
	return 0;
}
