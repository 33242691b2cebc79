/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that set 50 marks each, for `view --follow` to show. In the middle both wait until
 * standard input ends: who reads along decides when the run goes on.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#define MARKS 50
#define PAUSE_NS 10000000

static void wait_for_end_of_input(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static void *work(void *name)
{
	for (uint64_t i = 0; i < MARKS; i++) {
		wt_mark(name, i);
		wt_counter(WT_NAME("noise"), (double)i);
		if (i == MARKS / 2)
			wait_for_end_of_input();
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, work, WT_NAME("other")))
		return 1;
	work(WT_NAME("main"));
	pthread_join(other, NULL);
	return 0;
}
