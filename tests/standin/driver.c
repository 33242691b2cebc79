/* SPDX-License-Identifier: Apache-2.0 */
/* A program with two devices, four streams, graphs and several threads, on the stand-in. */
#include "standin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, GRAPH_NODES = 16 };

static uint32_t rounds;

/* 34 records a round without those of calls: 11 of single operations, a graph, ranges, a word. */
static void *work(void *cookie)
{
	const uint32_t number = (uint32_t)(uintptr_t)cookie, device = number % 2;

	for (uint32_t i = 0; i < rounds; i++) {
		const uint32_t stream = 7 + (number / 2 * 2 + i % 2);

		standin_range("step");
		for (int op = STANDIN_KERNEL; op < STANDIN_OPS; op++)
			standin_run(op, device, stream,
				    i % 3 ? "matmul" : "void add<float, 4>(float*)");
		standin_range(i % 2 ? "forward" : "evaluate, \"quoted\"");
		standin_run(STANDIN_KERNEL, device, stream, "softmax");
		standin_range_end();
		standin_graph(device, stream, 3, GRAPH_NODES);
		standin_question();
		standin_range_end();
		if (i % 64 == 0)
			standin_unknown(device);
	}
	return NULL;
}

/* A child that goes on without CUDA, and one that is another program. */
static void fork_once(void)
{
	pid_t child = fork();

	if (!child)
		exit(0);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 10;
	if (standin_init() && getenv("CUDA_INJECTION64_PATH"))
		return 3;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	if (argc > 2)
		fork_once();
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
