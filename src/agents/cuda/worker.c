/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that decodes. It sleeps until a buffer is complete, never holds a lock while it calls
 * CUPTI, and has all signals blocked: they are the program's.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <wheeltap/trace.h>

#include "emit.h"

#include "cuda.h"

#define CLOCK_EVERY_NS 1000000000ull /* between two looks at CUPTI's clock, if it is not ours */
#define WAIT_NS 100000000            /* an upper limit for what nobody woke us for */
#define END_NS 20000000000ull        /* the program waits no longer than this for its end */

static void decode(struct wti_cuda_buffer *buffer)
{
	struct wti_cuda_report *report = &wti_cuda.report;
	struct wti_cuda_record record;
	struct wti_cuda_walk walk;

	wti_cuda_walk_init(&walk, buffer->data, buffer->valid_bytes, wti_cuda.cupti.next_record,
			   wti_cuda.cupti.version);
	while (wti_cuda_walk_next(&walk)) {
		if (wti_cuda_decode(walk.buffer + walk.at, walk.record_bytes, &record))
			wti_cuda_report(report, &record);
		else
			report->tally.unknown++;
	}
	report->tally.unknown += walk.is_cut;
	if (buffer->dropped)
		wti_cuda_report_lost(report, buffer->dropped);
	wti_cuda_buffer_recycle(&wti_cuda.buffers, buffer);
}

static bool decode_all(void)
{
	struct wti_cuda_buffer *next, *buffer = wti_cuda_buffers_completed(&wti_cuda.buffers);
	const bool any = buffer != NULL;

	for (; buffer; buffer = next) {
		next = buffer->next;
		decode(buffer);
	}
	return any;
}

/* The same moment in CUPTI's clock and in ours, to within what lies between. */
static void look_at_clock(void)
{
	uint64_t before_ns, ns, after_ns;

	before_ns = wti_clock_monotonic_ns();
	if (wti_cuda.cupti.get_timestamp(&ns))
		return;
	after_ns = wti_clock_monotonic_ns();
	wti_emit_clock(
		wti_cuda.report.here,
		&(struct wti_record_clock){.domain = WT_CLOCK_REALTIME,
					   .error = (uint32_t)((after_ns - before_ns) / 2 + 1),
					   .value = ns});
}

static void sleep_until_work(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (sem_timedwait(&wti_cuda.work, &until) && errno == EINTR)
		;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void *work(void *cookie)
{
	uint64_t looked_ns = 0;

	(void)cookie;
	wti_cuda.report.here = wti_cuda.agent->here();
	if (!wti_cuda.report.here.ring) {
		atomic_store(&wti_cuda.state, WTI_CUDA_ENDED);
		return NULL;
	}
	if (wti_cuda.missing[0])
		wti_cuda_report_note(wti_cuda.report.here, wti_cuda.missing);
	for (;;) {
		const bool ending = atomic_load(&wti_cuda.state) == WTI_CUDA_ENDING;

		if (!wti_cuda.own_clock &&
		    (ending || wti_clock_monotonic_ns() - looked_ns >= CLOCK_EVERY_NS)) {
			look_at_clock();
			looked_ns = wti_clock_monotonic_ns();
		}
		if (decode_all())
			continue;
		if (ending)
			break;
		sleep_until_work();
	}
	wti_cuda_report_end(&wti_cuda.report, own_cpu_ns());
	atomic_store(&wti_cuda.state, WTI_CUDA_ENDED);
	return NULL;
}

bool wti_cuda_worker_start(void)
{
	sigset_t all, old;
	pthread_t thread;
	bool started;

	if (sem_init(&wti_cuda.work, 0, 0))
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = pthread_create(&thread, NULL, work, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!started)
		return false;
	pthread_setname_np(thread, "wheeltap-cuda");
	pthread_detach(thread);
	return true;
}

void wti_cuda_worker_end(void)
{
	const struct timespec step = {0, 1000000};
	const uint64_t limit_ns = wti_clock_monotonic_ns() + END_NS;

	atomic_store(&wti_cuda.state, WTI_CUDA_ENDING);
	sem_post(&wti_cuda.work);
	while (atomic_load(&wti_cuda.state) != WTI_CUDA_ENDED &&
	       wti_clock_monotonic_ns() < limit_ns)
		nanosleep(&step, NULL);
}
