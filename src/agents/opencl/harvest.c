/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has become of commands: when they were queued, submitted, started and ended. A thread looks
 * every now and then at the events of commands that have not ended; whoever waits for a queue looks
 * at once, so that what the program knows to be over is recorded, and no reference of ours is left.
 *
 * The program only appends to `incoming`. Nobody calls the driver with that lock held.
 */
#include "own.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
	PENDING_MAX = 1 << 20, /* of one queue */
	LOOK_NS = 2000000,     /* between two looks at what has not ended */
	LOOKS_IDLE = 50,       /* looks without anything to look at, before the thread sleeps */
	FIRST_NS = 500000,     /* a first launch that starts so much later is reported apart */
};

static struct {
	pthread_mutex_t lock; /* of queues and of the thread's being there */
	struct wti_cl_queue *queues;
	bool has_thread;
	sem_t wanted;
	_Atomic uint32_t outstanding;
	_Atomic bool sleeps;
	_Atomic bool over;
	pthread_mutex_t looking; /* held while the thread calls the driver */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .looking = PTHREAD_MUTEX_INITIALIZER};

/* ---- The queue's pending commands --------------------------------------------------------------
 */

static bool append(struct wti_cl_pendings *list, const struct wti_cl_pending *pending)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 64;
		struct wti_cl_pending *more = list->count < PENDING_MAX
						      ? realloc(list->all, capacity * sizeof(*more))
						      : NULL;

		if (!more)
			return false;
		list->all = more;
		list->capacity = capacity;
	}
	list->all[list->count++] = *pending;
	return true;
}

/* What came in since the last look. With the lock of the harvest held. */
static void take_incoming(struct wti_cl_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	if (!queue->waiting.count) {
		struct wti_cl_pendings empty = queue->waiting;

		queue->waiting = queue->incoming;
		queue->incoming = empty;
	} else {
		size_t taken = 0;

		while (taken < queue->incoming.count &&
		       append(&queue->waiting, &queue->incoming.all[taken]))
			taken++;
		queue->incoming.count -= taken;
		if (queue->incoming.count)
			memmove(queue->incoming.all, queue->incoming.all + taken,
				queue->incoming.count * sizeof(*queue->incoming.all));
	}
	pthread_mutex_unlock(&queue->lock);
}

/* ---- One command -------------------------------------------------------------------------------
 */

struct times {
	cl_ulong queued, submitted, started, ended;
};

static cl_ulong time_of(cl_event event, cl_profiling_info which)
{
	cl_ulong ns = 0;

	if (wti_cl.real.clGetEventProfilingInfo(event, which, sizeof(ns), &ns, NULL) != CL_SUCCESS)
		return 0;
	return ns;
}

/* A command that failed has no times that mean something. */
static struct times times_of(const struct wti_cl_queue *queue, cl_event event, cl_int status)
{
	if (!queue->clock || status < 0)
		return (struct times){0};
	return (struct times){time_of(event, CL_PROFILING_COMMAND_QUEUED),
			      time_of(event, CL_PROFILING_COMMAND_SUBMIT),
			      time_of(event, CL_PROFILING_COMMAND_START),
			      time_of(event, CL_PROFILING_COMMAND_END)};
}

static void emit_op(struct wti_here here, const struct wti_cl_queue *queue,
		    const struct wti_cl_pending *pending, struct times times)
{
	wti_emit_device_op(
		here, &(struct wti_record_device_op){
			      .op = pending->op,
			      .name = wti_name(here, pending->name),
			      .device = queue->device,
			      .queue = queue->track,
			      .clock = queue->clock,
			      .geometry = pending->geometry ? wti_name(here, pending->geometry) : 0,
			      .correlation = pending->correlation,
			      .queued = times.queued,
			      .submitted = times.submitted,
			      .started = times.started,
			      .ended = times.ended,
			      .bytes = pending->bytes,
		      });
}

/*
 * Drivers compile a kernel when it is launched for the first time with a work-group of this size.
 * What was between the moment when it could have started and its start is reported on its own.
 */
static void emit_first(struct wti_here here, const struct wti_cl_queue *queue,
		       const struct wti_cl_pending *pending, struct times times)
{
	struct wti_cl_pending first = {.op = WT_OP_WAIT,
				       .name = WT_NAME("first launch (compilation)"),
				       .correlation = wti_cl_number(),
				       .geometry = pending->name};
	uint64_t from = times.submitted;

	if (queue->is_ordered && queue->ended_last > from)
		from = queue->ended_last;
	if (!from || times.started < from + FIRST_NS)
		return;
	emit_op(here, queue, &first, (struct times){0, 0, from, times.started});
	wti_cl_edge(here, WT_EDGE_RECORD_WAIT, first.correlation, pending->correlation);
}

/* False: it has not ended. */
static bool harvest_one(struct wti_cl_queue *queue, struct wti_here here,
			const struct wti_cl_pending *pending)
{
	cl_int status = CL_QUEUED;
	struct times times;

	if (wti_cl.real.clGetEventInfo(pending->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
				       sizeof(status), &status, NULL) == CL_SUCCESS &&
	    status > CL_COMPLETE)
		return false;
	times = times_of(queue, pending->event, status);
	if (pending->first)
		emit_first(here, queue, pending, times);
	emit_op(here, queue, pending, times);
	if (times.ended > queue->ended_last)
		queue->ended_last = times.ended;
	wti_cl.real.clReleaseEvent(pending->event);
	atomic_fetch_sub(&all.outstanding, 1);
	return true;
}

void wti_cl_harvest(struct wti_cl_queue *queue)
{
	const struct wti_here here = wti_cl_here();
	struct wti_cl_pendings *list = &queue->waiting;
	size_t kept = 0;

	if (!here.ring || wti_cl.pid != (uint32_t)getpid())
		return;
	pthread_mutex_lock(&queue->harvest_lock);
	take_incoming(queue);
	for (size_t i = 0; i < list->count; i++) {
		/* In a queue that keeps its order nothing ends before what is in front of it. */
		bool may_have_ended = !kept || !queue->is_ordered;

		if (!may_have_ended || !harvest_one(queue, here, &list->all[i]))
			list->all[kept++] = list->all[i];
	}
	list->count = kept;
	pthread_mutex_unlock(&queue->harvest_lock);
}

static void refuse(const struct wti_cl_pending *pending)
{
	const struct wti_here here = wti_cl_here();

	wti_cl.real.clReleaseEvent(pending->event);
	atomic_fetch_sub(&all.outstanding, 1);
	if (here.ring)
		wti_emit_lost(here, &(struct wti_record_lost){.reason = WT_LOST_CEILING,
							      .of = WT_KIND_DEVICE_OP,
							      .count = 1});
}

void wti_cl_harvest_later(struct wti_cl_queue *queue, const struct wti_cl_pending *pending)
{
	bool kept;

	atomic_fetch_add(&all.outstanding, 1);
	pthread_mutex_lock(&queue->lock);
	kept = append(&queue->incoming, pending);
	pthread_mutex_unlock(&queue->lock);
	if (!kept)
		refuse(pending);
	if (atomic_load_explicit(&all.sleeps, memory_order_relaxed) &&
	    atomic_exchange(&all.sleeps, false))
		sem_post(&all.wanted);
}

/* ---- References that are ours ------------------------------------------------------------------
 */

static cl_uint count_event(const struct wti_cl_pendings *list, cl_event event)
{
	cl_uint count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += list->all[i].event == event;
	return count;
}

cl_uint wti_cl_harvest_held_begin(struct wti_cl_queue *queue, cl_event event)
{
	pthread_mutex_lock(&queue->harvest_lock);
	pthread_mutex_lock(&queue->lock);
	return count_event(&queue->incoming, event) + count_event(&queue->waiting, event);
}

void wti_cl_harvest_held_end(struct wti_cl_queue *queue)
{
	pthread_mutex_unlock(&queue->lock);
	pthread_mutex_unlock(&queue->harvest_lock);
}

/* ---- All queues, and the thread
 * ------------------------------------------------------------------ */

static void queue_free(struct wti_cl_queue *queue)
{
	free(queue->incoming.all);
	free(queue->waiting.all);
	free(queue);
}

/* Those that the program has let go of, once nothing of theirs is left. With the lock held. */
static void drop_dead(void)
{
	struct wti_cl_queue **at = &all.queues;

	while (*at) {
		struct wti_cl_queue *queue = *at;

		if (atomic_load(&queue->is_dead) && !queue->incoming.count &&
		    !queue->waiting.count) {
			*at = queue->next;
			queue_free(queue);
		} else {
			at = &queue->next;
		}
	}
}

void wti_cl_harvest_all(void)
{
	pthread_mutex_lock(&all.lock);
	for (struct wti_cl_queue *queue = all.queues; queue; queue = queue->next)
		wti_cl_harvest(queue);
	drop_dead();
	pthread_mutex_unlock(&all.lock);
}

/* Sleeps until something was enqueued after a while of nothing. */
static void rest(unsigned *idle)
{
	const struct timespec nap = {.tv_nsec = LOOK_NS};

	*idle = atomic_load(&all.outstanding) ? 0 : *idle + 1;
	if (*idle < LOOKS_IDLE) {
		nanosleep(&nap, NULL);
		return;
	}
	atomic_store(&all.sleeps, true);
	if (!atomic_load(&all.outstanding))
		while (sem_wait(&all.wanted) && errno == EINTR)
			;
	atomic_store(&all.sleeps, false);
	*idle = 0;
}

static void *look(void *nothing)
{
	unsigned idle = 0;

	prctl(PR_SET_NAME, "wheeltap-opencl");
	wti_cl.agent->own_begin();
	while (!atomic_load(&all.over)) {
		rest(&idle);
		pthread_mutex_lock(&all.looking);
		if (!atomic_load(&all.over) && atomic_load(&all.outstanding))
			wti_cl_harvest_all();
		pthread_mutex_unlock(&all.looking);
	}
	return nothing;
}

/* With the lock held. Signals are the program's: none is delivered to this thread. */
static void start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t every, before;
	pthread_t thread;

	if (all.has_thread || sem_init(&all.wanted, 0, 0) || pthread_attr_init(&attributes))
		return;
	sigfillset(&every);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	all.has_thread = pthread_create(&thread, &attributes, look, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

void wti_cl_harvest_queue(struct wti_cl_queue *queue)
{
	pthread_mutex_init(&queue->lock, NULL);
	pthread_mutex_init(&queue->harvest_lock, NULL);
	pthread_mutex_lock(&all.lock);
	queue->next = all.queues;
	all.queues = queue;
	start_thread();
	pthread_mutex_unlock(&all.lock);
}

/* Commands that have not ended are emitted without times: nothing waits for them here. */
static void emit_unfinished(struct wti_cl_queue *queue)
{
	const struct wti_here here = wti_cl_here();

	pthread_mutex_lock(&queue->harvest_lock);
	take_incoming(queue);
	for (size_t i = 0; here.ring && i < queue->waiting.count; i++)
		emit_op(here, queue, &queue->waiting.all[i], (struct times){0});
	queue->waiting.count = 0;
	pthread_mutex_unlock(&queue->harvest_lock);
}

void wti_cl_harvest_end(void)
{
	if (wti_cl.pid != (uint32_t)getpid())
		return;
	atomic_store(&all.over, true);
	pthread_mutex_lock(&all.looking); /* the thread is not in the driver, and comes no more */
	wti_cl_harvest_all();
	pthread_mutex_lock(&all.lock);
	for (struct wti_cl_queue *queue = all.queues; queue; queue = queue->next)
		emit_unfinished(queue);
	pthread_mutex_unlock(&all.lock);
	pthread_mutex_unlock(&all.looking);
}
