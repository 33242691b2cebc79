/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has become of commands: when they were queued, submitted, started and ended. A thread looks
 * every now and then at the events of commands that have not ended; whoever waits for a queue looks
 * at once, so that what the program knows to be over is recorded, and no reference of ours is left.
 *
 * The program only appends to `incoming`.
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
	UNFINISHED_MAX =
		1024, /* looks at what has not ended, of a queue without order, in one go */
};

static struct {
	struct wti_cl_queue *queues; /* WTI_CL_LOCK_QUEUES, also of the thread's being there */
	bool has_thread;
	sem_t wanted;
	_Atomic uint32_t outstanding;
	_Atomic bool sleeps;
	_Atomic bool over;
} all;

/*
 * Letting go of an event may let go of memory, whose destructor is the program's and may call us:
 * that finds the locks taken by its own thread, and harvests nothing.
 */
static __thread bool is_harvesting;

/* ---- The queue's pending commands ------------------------------------------------------------ */

static bool make_room(struct wti_cl_pendings *list)
{
	size_t capacity = list->capacity ? 2 * list->capacity : 64;
	struct wti_cl_pending *more;

	if (list->first > list->count) { /* most of it is free */
		memmove(list->all, list->all + list->first, list->count * sizeof(*list->all));
		list->first = 0;
		return true;
	}
	more = list->count < PENDING_MAX ? realloc(list->all, capacity * sizeof(*more)) : NULL;
	if (!more)
		return false;
	list->all = more;
	list->capacity = capacity;
	return true;
}

static bool append(struct wti_cl_pendings *list, const struct wti_cl_pending *pending)
{
	if (list->first + list->count == list->capacity && !make_room(list))
		return false;
	list->all[list->first + list->count++] = *pending;
	return true;
}

static struct wti_cl_pending *first_of(const struct wti_cl_pendings *list)
{
	return list->all + list->first;
}

/* What came in since the last look. With the lock of the harvest held. */
static void take_incoming(struct wti_cl_queue *queue)
{
	struct wti_cl_pendings *incoming = &queue->incoming;

	pthread_mutex_lock(&queue->lock);
	if (!queue->waiting.count) {
		struct wti_cl_pendings empty = queue->waiting;

		queue->waiting = *incoming;
		*incoming = empty;
		incoming->first = 0;
	}
	while (incoming->count && append(&queue->waiting, first_of(incoming))) {
		incoming->first++;
		incoming->count--;
	}
	if (!incoming->count)
		incoming->first = 0;
	pthread_mutex_unlock(&queue->lock);
}

/* ---- One command ----------------------------------------------------------------------------- */

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
		wti_cl_first_ended(pending->first, here, queue, times.submitted, times.started);
	wti_cl_first_note(pending->correlation, queue->clock, times.ended);
	emit_op(here, queue, pending, times);
	if (times.ended > queue->ended_last)
		queue->ended_last = times.ended;
	wti_cl.real.clReleaseEvent(pending->event);
	atomic_fetch_sub(&all.outstanding, 1);
	return true;
}

/* In a queue that keeps its order nothing ends before what is in front of it. */
static void harvest_ordered(struct wti_cl_queue *queue, struct wti_here here)
{
	struct wti_cl_pendings *list = &queue->waiting;

	while (list->count && harvest_one(queue, here, first_of(list))) {
		list->first++;
		list->count--;
	}
	if (!list->count)
		list->first = 0;
}

/* Of very many that have not ended only some are looked at; where that stopped. */
static size_t harvest_any(struct wti_cl_queue *queue, struct wti_here here, size_t from,
			  size_t unfinished_max)
{
	struct wti_cl_pendings *list = &queue->waiting;
	struct wti_cl_pending *at = first_of(list);
	size_t kept = from < list->count ? from : 0, i;
	size_t unfinished = 0;

	for (i = kept; i < list->count && unfinished < unfinished_max; i++)
		if (!harvest_one(queue, here, &at[i])) {
			at[kept++] = at[i];
			unfinished++;
		}
	if (i > kept && i < list->count)
		memmove(at + kept, at + i, (list->count - i) * sizeof(*at));
	list->count -= i - kept;
	return kept;
}

/* The one that was waited for, wherever it stands. */
static void harvest_event(struct wti_cl_queue *queue, struct wti_here here, cl_event event)
{
	struct wti_cl_pendings *list = &queue->waiting;
	struct wti_cl_pending *at = first_of(list);
	size_t i = 0;

	while (i < list->count && at[i].event != event)
		i++;
	if (i == list->count || !harvest_one(queue, here, &at[i]))
		return;
	list->count--;
	memmove(at + i, at + i + 1, (list->count - i) * sizeof(*at));
}

/* Who looks: the thread goes on where it stopped, at the end of the process nothing is left out. */
enum who { THREAD, WAITER, END };

/* With the lock of the harvest held. `event`: what was waited for; NULL: nothing in particular. */
static void harvest(struct wti_cl_queue *queue, struct wti_here here, enum who who, cl_event event)
{
	size_t looked;

	is_harvesting = true;
	take_incoming(queue);
	if (queue->is_ordered) {
		harvest_ordered(queue, here);
	} else {
		looked = harvest_any(queue, here, who == THREAD ? queue->looked : 0,
				     who == END ? SIZE_MAX : UNFINISHED_MAX);
		if (who == THREAD)
			queue->looked = looked;
		if (event)
			harvest_event(queue, here, event);
	}
	is_harvesting = false;
}

void wti_cl_harvest(struct wti_cl_queue *queue, cl_event event)
{
	const struct wti_here here = wti_cl_here();

	if (!here.ring || is_harvesting)
		return;
	pthread_mutex_lock(&queue->harvest_lock);
	harvest(queue, here, WAITER, event);
	pthread_mutex_unlock(&queue->harvest_lock);
}

static void refuse(const struct wti_cl_pending *pending)
{
	const struct wti_here here = wti_cl_here();

	wti_cl.real.clReleaseEvent(pending->event);
	wti_cl_first_free(pending->first);
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
	if (atomic_load(&all.sleeps) && atomic_exchange(&all.sleeps, false))
		sem_post(&all.wanted);
}

/* ---- References that are ours ---------------------------------------------------------------- */

static cl_uint count_event(const struct wti_cl_pendings *list, cl_event event)
{
	cl_uint count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += first_of(list)[i].event == event;
	return count;
}

struct wti_cl_queue *wti_cl_harvest_enter(cl_command_queue handle)
{
	struct wti_cl_queue *queue;

	if (!handle || is_harvesting)
		return NULL;
	wti_cl_lock(WTI_CL_LOCK_QUEUES);
	for (queue = all.queues; queue && queue->handle != handle; queue = queue->next)
		;
	if (!queue) {
		wti_cl_unlock(WTI_CL_LOCK_QUEUES);
		return NULL;
	}
	pthread_mutex_lock(&queue->harvest_lock);
	pthread_mutex_lock(&queue->lock);
	return queue;
}

cl_uint wti_cl_harvest_held(const struct wti_cl_queue *queue, cl_event event)
{
	return count_event(&queue->incoming, event) + count_event(&queue->waiting, event);
}

void wti_cl_harvest_leave(struct wti_cl_queue *queue)
{
	pthread_mutex_unlock(&queue->lock);
	pthread_mutex_unlock(&queue->harvest_lock);
	wti_cl_unlock(WTI_CL_LOCK_QUEUES);
}

/* ---- All queues, and the thread -------------------------------------------------------------- */

static void queue_free(struct wti_cl_queue *queue)
{
	free(queue->incoming.all);
	free(queue->waiting.all);
	free(queue);
}

/* Those that the program has let go of, once nothing of theirs is left. With QUEUES locked. */
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
	const struct wti_here here = wti_cl_here();
	struct wti_cl_first *firsts;

	if (!here.ring || is_harvesting)
		return;
	wti_cl_lock(WTI_CL_LOCK_QUEUES);
	firsts = wti_cl_first_take();
	for (struct wti_cl_queue *queue = all.queues; queue; queue = queue->next) {
		pthread_mutex_lock(&queue->harvest_lock);
		harvest(queue, here, THREAD, NULL);
		pthread_mutex_unlock(&queue->harvest_lock);
	}
	wti_cl_first_report(here, firsts);
	drop_dead();
	wti_cl_unlock(WTI_CL_LOCK_QUEUES);
}

bool wti_cl_harvest_is_idle(void)
{
	wti_cl_harvest_all();
	return !atomic_load(&all.outstanding);
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
		wti_cl_lock(WTI_CL_LOCK_LOOKING);
		if (!atomic_load(&all.over) &&
		    (atomic_load(&all.outstanding) || wti_cl_first_waits()))
			wti_cl_harvest_all();
		wti_cl_unlock(WTI_CL_LOCK_LOOKING);
	}
	return nothing;
}

/* With QUEUES locked. Signals are the program's: none is delivered to this thread. */
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
	wti_cl_lock(WTI_CL_LOCK_QUEUES);
	queue->next = all.queues;
	all.queues = queue;
	start_thread();
	wti_cl_unlock(WTI_CL_LOCK_QUEUES);
}

/* ---- The end --------------------------------------------------------------------------------- */

/*
 * The thread is not in the driver, and comes no more. A lock may be held by a thread that will not
 * go on: by this one, if a signal handler calls exit(). The process ends nevertheless.
 */
void wti_cl_harvest_end(void)
{
	const struct wti_here here = wti_cl_here();

	if (wti_cl.pid != (uint32_t)getpid())
		return;
	atomic_store(&all.over, true);
	if (is_harvesting)
		return;
	if (!wti_cl_lock_soon(WTI_CL_LOCK_LOOKING))
		return;
	if (wti_cl_lock_soon(WTI_CL_LOCK_QUEUES)) {
		for (struct wti_cl_queue *queue = all.queues; here.ring && queue;
		     queue = queue->next)
			if (wti_cl_mutex_soon(&queue->harvest_lock)) {
				harvest(queue, here, END, NULL);
				pthread_mutex_unlock(&queue->harvest_lock);
			}
		if (here.ring)
			wti_cl_first_report(here, wti_cl_first_take());
		wti_cl_unlock(WTI_CL_LOCK_QUEUES);
	}
	wti_cl_unlock(WTI_CL_LOCK_LOOKING);
}

/*
 * Behind all handlers of exit(), in which a program may still wait for its commands: those that
 * have not ended are emitted without times, and the driver is not called.
 */
__attribute__((destructor)) static void emit_unfinished(void)
{
	struct wti_here here;

	if (!wti_cl.agent || wti_cl.pid != (uint32_t)getpid() ||
	    !wti_cl_lock_soon(WTI_CL_LOCK_QUEUES))
		return;
	here = wti_cl_here();
	for (struct wti_cl_queue *queue = all.queues; here.ring && queue; queue = queue->next) {
		if (!wti_cl_mutex_soon(&queue->harvest_lock))
			continue;
		take_incoming(queue);
		for (size_t i = 0; i < queue->waiting.count; i++)
			emit_op(here, queue, &first_of(&queue->waiting)[i], (struct times){0});
		queue->waiting.count = 0;
		pthread_mutex_unlock(&queue->harvest_lock);
	}
	wti_cl_unlock(WTI_CL_LOCK_QUEUES);
}

/* Their events are the parent's as well: they are neither looked at nor released. */
void wti_cl_harvest_forked(void)
{
	for (struct wti_cl_queue *queue = all.queues; queue; queue = queue->next) {
		pthread_mutex_init(&queue->lock, NULL);
		pthread_mutex_init(&queue->harvest_lock, NULL);
		queue->incoming = queue->waiting = (struct wti_cl_pendings){0};
	}
	all.has_thread = false;
	atomic_store(&all.outstanding, 0);
	atomic_store(&all.sleeps, false);
	atomic_store(&all.over, false);
}
