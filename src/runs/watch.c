/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain hands over messages (a process, a definition, records, a watermark) in one queue; the
 * thread takes the whole queue and works through it. When the thread falls too far behind,
 * messages are dropped and counted, and the result says that it is not complete.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/thread.h"
#include "trace/feed.h"
#include "watch.h"

#define QUEUE_BYTES_MAX ((size_t)64 << 20)
#define STREAMS_MAX 65536u
#define STACK_BYTES (8u << 20)

enum message_type { MESSAGE_BEGIN, MESSAGE_DEFINE, MESSAGE_RECORDS, MESSAGE_WATERMARK };

struct message {
	uint32_t type;
	uint32_t stream; /* number */
	uint32_t track;  /* or the type of a definition */
	uint32_t id;
	uint64_t number; /* the first sequence number, a watermark, the moment of it */
	uint64_t moment_ns;
	uint64_t bytes; /* that follow, padded to eight */
};

struct wti_watch {
	struct wti_sink sink;
	struct wti_watch_options options;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct wti_buf queue;   /* what the drain has handed over */
	struct wti_buf working; /* what the thread is at; swapped with the other */
	bool is_over;
	bool has_thread;
	uint64_t dropped_count;
	uint32_t stream_count;
	/* the thread's own */
	struct wti_feed *feed;
	struct wti_feed_stream **streams;
	size_t stream_capacity;
	void *state;
	int failed;
	struct wt_err err;
};

/* ---- The drain's side ----------------------------------------------------------------------- */

static void hand_over(struct wti_watch *watch, struct message *message, const void *payload,
		      size_t bytes)
{
	static const uint8_t padding[8];
	size_t padded = (bytes + 7) & ~(size_t)7;

	message->bytes = padded;
	pthread_mutex_lock(&watch->lock);
	/* Watermarks are small and let the thread go on: they always find room. */
	if (watch->queue.bytes + sizeof(*message) + padded > QUEUE_BYTES_MAX &&
	    message->type != MESSAGE_WATERMARK) {
		watch->dropped_count++;
	} else {
		wti_buf_append(&watch->queue, message, sizeof(*message));
		wti_buf_append(&watch->queue, payload, bytes);
		wti_buf_append(&watch->queue, padding, padded - bytes);
	}
	if (message->type == MESSAGE_WATERMARK)
		pthread_cond_signal(&watch->more);
	pthread_mutex_unlock(&watch->lock);
}

/* A stream is known by its number, plus one. */
static void *begin(void *self, const struct wti_recorded_source *source)
{
	struct wti_watch *watch = self;
	struct message message = {.type = MESSAGE_BEGIN, .stream = watch->stream_count++};

	hand_over(watch, &message, &source->identity, sizeof(source->identity));
	return (void *)(uintptr_t)(message.stream + 1);
}

static uint32_t number_of(const void *stream)
{
	return (uint32_t)(uintptr_t)stream - 1;
}

static void define(void *self, void *stream, const struct wti_definition_view *view)
{
	struct message message = {.type = MESSAGE_DEFINE,
				  .stream = number_of(stream),
				  .track = view->type,
				  .id = view->id,
				  .number = view->payload_bytes};

	hand_over(self, &message, view->payload, view->payload_bytes);
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	struct message message = {.type = MESSAGE_RECORDS,
				  .stream = number_of(stream),
				  .track = run->track,
				  .number = run->first_seq};

	hand_over(self, &message, run->data, run->bytes);
}

/* What is lost reaches the inspector at the end: rules that need it all are not measured. */
static void lost(void *self, void *stream, const struct wti_loss *loss)
{
	struct wti_watch *watch = self;

	pthread_mutex_lock(&watch->lock);
	watch->dropped_count += loss->count;
	pthread_mutex_unlock(&watch->lock);
}

static void end(void *self, void *stream)
{
}

static void watermark(void *self, uint64_t below)
{
	struct message message = {.type = MESSAGE_WATERMARK, .number = below};

	hand_over(self, &message, NULL, 0);
}

/* ---- The thread's side ---------------------------------------------------------------------- */

static int see(void *cookie, const struct wt_event *event)
{
	struct wti_watch *watch = cookie;

	return watch->options.inspector->event(watch->state, event, &watch->err);
}

static void print_news(struct wti_watch *watch)
{
	struct wt_result result;

	if (!watch->options.news || !watch->options.inspector->news)
		return;
	wt_result_init(&result, watch->options.inspector->name);
	if (watch->options.inspector->news(watch->state, &result))
		watch->options.news(watch->options.cookie, &result);
	wt_result_release(&result);
}

static void begin_stream(struct wti_watch *watch, const struct message *message,
			 const uint8_t *payload)
{
	struct wt_identity identity;

	if (wti_grow_zeroed(&watch->streams, message->stream + (size_t)1, &watch->stream_capacity,
			    STREAMS_MAX))
		return;
	memcpy(&identity, payload, sizeof(identity));
	watch->streams[message->stream] = wti_feed_begin(watch->feed, &identity);
}

static void take(struct wti_watch *watch, const struct message *message, const uint8_t *payload)
{
	struct wti_feed_stream *stream =
		message->stream < watch->stream_capacity ? watch->streams[message->stream] : NULL;

	switch (message->type) {
	case MESSAGE_BEGIN:
		begin_stream(watch, message, payload);
		break;
	case MESSAGE_DEFINE:
		if (stream)
			wti_feed_define(stream, (uint16_t)message->track, message->id, payload,
					(size_t)message->number);
		break;
	case MESSAGE_RECORDS:
		if (stream)
			wti_feed_records(stream, message->track, message->number, payload,
					 (size_t)message->bytes);
		break;
	case MESSAGE_WATERMARK:
		if (!watch->failed)
			watch->failed = wti_feed_until(watch->feed, message->number, see, watch);
		print_news(watch);
		break;
	}
}

static void work_through(struct wti_watch *watch)
{
	const uint8_t *at = watch->working.data;
	const uint8_t *last = at + watch->working.bytes;

	while (at < last) {
		struct message message;

		memcpy(&message, at, sizeof(message));
		take(watch, &message, at + sizeof(message));
		at += sizeof(message) + message.bytes;
	}
	wti_buf_clear(&watch->working);
}

static void *look_on(void *cookie)
{
	struct wti_watch *watch = cookie;
	bool is_over = false;

	while (!is_over) {
		struct wti_buf swap;

		pthread_mutex_lock(&watch->lock);
		while (!watch->queue.bytes && !watch->is_over)
			pthread_cond_wait(&watch->more, &watch->lock);
		swap = watch->queue;
		watch->queue = watch->working;
		watch->working = swap;
		is_over = watch->is_over && !watch->working.bytes;
		pthread_mutex_unlock(&watch->lock);
		work_through(watch);
	}
	return NULL;
}

/* ---- From outside --------------------------------------------------------------------------- */

/* Signals are for whoever records: a thread with the usual mask would die of them. */
static int start_thread(struct wti_watch *watch)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = wti_thread_start(&watch->thread, STACK_BYTES, look_on, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int wti_watch_start(const struct wti_watch_options *options, struct wti_watch **ret_watch,
		    struct wt_err *err)
{
	struct wti_watch *watch = calloc(1, sizeof(*watch));
	int r;

	if (!watch)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	watch->options = *options;
	watch->sink = (struct wti_sink){watch, begin, define, records, lost, end, watermark};
	pthread_mutex_init(&watch->lock, NULL);
	pthread_cond_init(&watch->more, NULL);
	wti_buf_init(&watch->queue, QUEUE_BYTES_MAX + (1u << 20));
	wti_buf_init(&watch->working, QUEUE_BYTES_MAX + (1u << 20));
	watch->feed = wti_feed_new(0, 1);
	watch->state = calloc(1, options->inspector->state_bytes + 1);
	r = watch->feed && watch->state
		    ? options->inspector->begin(watch->state, NULL, options->inspector_options, err)
		    : wti_err(err, WT_E_NOMEM, "out of memory");
	if (!r && start_thread(watch))
		r = wti_err(err, WT_E_IO, "cannot start a thread to watch the run");
	watch->has_thread = !r;
	if (r)
		wti_watch_free(watch);
	else
		*ret_watch = watch;
	return r;
}

struct wti_sink *wti_watch_sink(struct wti_watch *watch)
{
	return &watch->sink;
}

static void join(struct wti_watch *watch)
{
	if (!watch->has_thread)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->is_over = true;
	pthread_cond_signal(&watch->more);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	watch->has_thread = false;
}

int wti_watch_finish(struct wti_watch *watch, struct wt_result *result, struct wt_err *err)
{
	int r;

	join(watch);
	if (!watch->failed)
		watch->failed = wti_feed_until(watch->feed, UINT64_MAX, see, watch);
	r = watch->options.inspector->finish(watch->state, result, err);
	if (watch->dropped_count || wti_feed_dropped(watch->feed))
		wt_result_note(result, "events were lost: the live verdict is incomplete; judge "
				       "the recorded run with `wheeltap doctor`");
	return watch->failed ? watch->failed : r;
}

void wti_watch_free(struct wti_watch *watch)
{
	if (!watch)
		return;
	join(watch);
	if (watch->state)
		watch->options.inspector->release(watch->state);
	free(watch->state);
	wti_feed_free(watch->feed);
	free(watch->streams);
	wti_buf_release(&watch->queue);
	wti_buf_release(&watch->working);
	pthread_cond_destroy(&watch->more);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}
