/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads that set 50 marks each within about two seconds, for `view --follow` to show. */
#include <pthread.h>
#include <time.h>

#include <wheeltap/wheeltap.h>

#define MARKS 50
#define PAUSE_NS 40000000

static void *work(void *name)
{
	for (uint64_t i = 0; i < MARKS; i++) {
		wt_mark(name, i);
		wt_counter(WT_NAME("noise"), (double)i);
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
