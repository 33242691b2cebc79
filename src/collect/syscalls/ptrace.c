/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture by ptrace: a thread of its own that traces, as only the thread that has attached may,
 * and a queue to the recorder's. If the recorder dies the kernel lets all threads go, and they run
 * on; only calls that a seccomp filter sends to the tracer fail from then on.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/thread.h"

#include "capture.h"
#include "filter.h"
#include "tracer.h"
#include "tracer_hidden.h"
#include "tracer_stack.h"

#define KNOCK_NS 1000000
#define STACK_BYTES (2u << 20)

struct ptrace_capture {
	struct wti_tracer tracer;
	struct wti_plans plans;
	struct wti_queue queue;
	struct wti_filter filter;
	pthread_t thread;
	bool is_running;
	sem_t ready; /* it has attached, or could not */
	sem_t ended;
	pid_t pid;
	enum wti_root_mode mode;
	int result;
	struct wt_err err;
};

static void *trace(void *opaque)
{
	struct ptrace_capture *capture = opaque;
	sigset_t knocked;

	/* Breaks a wait; it is otherwise of no interest, as children of others are not ours. */
	sigemptyset(&knocked);
	sigaddset(&knocked, SIGCHLD);
	pthread_sigmask(SIG_UNBLOCK, &knocked, NULL);
	if (capture->mode == WTI_ROOT_PROGRAM)
		capture->result =
			wti_tracer_seize_program(&capture->tracer, capture->pid, &capture->err);
	else
		capture->result =
			wti_tracer_seize_running(&capture->tracer, capture->pid, &capture->err);
	sem_post(&capture->ready);
	if (!capture->result)
		wti_tracer_run(&capture->tracer);
	sem_post(&capture->ended);
	return NULL;
}

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

static void knocked(int number)
{
	(void)number;
}

static int follow(void *self, pid_t pid, enum wti_root_mode mode, struct wt_err *err)
{
	struct ptrace_capture *capture = self;
	/* Stops of traced threads need no signal: they are waited for. */
	struct sigaction action = {.sa_handler = knocked, .sa_flags = SA_NOCLDSTOP};

	if (capture->is_running)
		return wti_err(err, WT_E_ARG, "only one process can be traced at a time");
	sigaction(SIGCHLD, &action, NULL);
	capture->pid = pid;
	capture->mode = mode;
	if (wti_thread_start(&capture->thread, STACK_BYTES, trace, capture))
		return wti_err(err, WT_E_NOMEM, "cannot start a thread for tracing");
	capture->is_running = true;
	wait_for(&capture->ready);
	if (capture->result && err)
		*err = capture->err;
	return capture->result;
}

static bool drain(void *self, size_t count_max,
		  void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		  void *context)
{
	struct ptrace_capture *capture = self;

	return wti_queue_take(&capture->queue, count_max, take, context);
}

static unsigned fill(void *self)
{
	struct ptrace_capture *capture = self;

	return wti_queue_fill(&capture->queue);
}

/* Who is traced waits; but of some not all calls stop, and how many is not known. */
static uint64_t lost(void *self)
{
	struct ptrace_capture *capture = self;

	return atomic_load(&capture->tracer.hidden);
}

static uint64_t lost_stacks(void *self)
{
	return 0;
}

static const struct sock_fprog *filter(void *self)
{
	struct ptrace_capture *capture = self;

	return capture->tracer.filtered ? &capture->filter.program : NULL;
}

static void stop(void *self)
{
	struct ptrace_capture *capture = self;
	struct timespec until;

	if (!capture->is_running)
		return;
	atomic_store(&capture->tracer.stop, true);
	atomic_store(&capture->queue.closed, true);
	do { /* it may be just about to wait, and not hear us */
		pthread_kill(capture->thread, SIGCHLD);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += KNOCK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (sem_timedwait(&capture->ended, &until));
	pthread_join(capture->thread, NULL);
	capture->is_running = false;
}

static void free_capture(void *self)
{
	struct ptrace_capture *capture = self;

	if (!capture)
		return;
	stop(capture);
	wti_tracer_release(&capture->tracer);
	wti_queue_release(&capture->queue);
	sem_destroy(&capture->ready);
	sem_destroy(&capture->ended);
	free(capture);
}

int wti_capture_ptrace(const struct wti_capture_options *options, struct wti_capture *ret_capture,
		       struct wt_err *err)
{
	struct ptrace_capture *capture = calloc(1, sizeof(*capture));
	struct wti_call_set stopping = options->wanted;
	int r;

	if (!capture)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	sem_init(&capture->ready, 0, 0);
	sem_init(&capture->ended, 0, 0);
	wti_plans_init(&capture->plans, options->contents);
	capture->tracer.queue = &capture->queue;
	capture->tracer.plans = &capture->plans;
	capture->tracer.wanted = options->wanted;
	capture->tracer.contents = options->contents;
	capture->tracer.stacks = options->stacks;
	if (options->stacks)
		wti_tracer_add_mapping_calls(&stopping);
	wti_tracer_add_hiding_calls(&stopping);
	capture->tracer.filtered = options->narrow && wti_filter_make(&capture->filter, &stopping);
	r = wti_queue_init(&capture->queue);
	if (r)
		wti_err(err, r, "out of memory for tracing");
	else
		r = wti_tracer_init(&capture->tracer, err);
	if (r) {
		free_capture(capture);
		return r;
	}
	*ret_capture = (struct wti_capture){.self = capture,
					    .follow = follow,
					    .filter = filter,
					    .drain = drain,
					    .fill = fill,
					    .lost = lost,
					    .lost_stacks = lost_stacks,
					    .stop = stop,
					    .free = free_capture};
	return 0;
}
