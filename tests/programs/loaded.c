/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is not linked with the client agent, and loads it with dlopen: emits, closes it,
 * has a thread end after that, and loads it again.
 *
 * usage: loaded LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <wheeltap/wheeltap.h>

typedef bool mark_function(struct wt_name *name, uint64_t value);

static pthread_barrier_t barrier;
static mark_function *mark;

static void *thread_main(void *arg)
{
	(void)arg;
	mark(WT_NAME("count"), 0);
	pthread_barrier_wait(&barrier); /* emitted */
	pthread_barrier_wait(&barrier); /* closed */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	for (uint64_t round = 0; round < 3; round++) {
		void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);

		if (!library) {
			printf("%s\n", dlerror());
			return 1;
		}
		mark = (mark_function *)dlsym(library, "wt_mark");
		if (!mark || !mark(WT_NAME("count"), round))
			return 1;
		pthread_create(&thread, NULL, thread_main, NULL);
		pthread_barrier_wait(&barrier);
		dlclose(library);
		pthread_barrier_wait(&barrier);
		pthread_join(thread, NULL);
	}
	return 0;
}
