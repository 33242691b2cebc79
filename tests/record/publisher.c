/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishes marks as fast as it can, from several threads, until it is killed, and says in a file
 * that it shares how many of each thread have been published: what the trace must hold at least.
 *
 *   publisher COUNTERS THREADS [EVENTS]
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

struct counter {                    /* one a thread, in the shared file */
	_Atomic uint64_t published; /* emits that returned true */
	_Atomic uint64_t refused;   /* that returned false */
	_Atomic uint64_t tid;
	uint64_t pad[5];
};

static struct counter *counters;
static uint64_t events;

static void *publish(void *argument)
{
	struct counter *counter = argument;

	atomic_store(&counter->tid, (uint64_t)syscall(SYS_gettid));
	for (uint64_t i = 0; !events || i < events; i++) {
		if (wt_mark(WT_NAME("published"), atomic_load(&counter->published)))
			atomic_fetch_add(&counter->published, 1);
		else
			atomic_fetch_add(&counter->refused, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
	size_t bytes = (size_t)threads * sizeof(struct counter);
	pthread_t ids[256];
	int fd;

	if (argc < 3 || threads < 1 || threads > 256)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return 2;
	counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		return 2;
	events = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, publish, &counters[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
