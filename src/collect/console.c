/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the queue between relay and log, and what a line is: up to a newline or a carriage return,
 * as progress bars use it. A line is masked as a whole before any of it is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/secret.h"
#include "base/thread.h"
#include "trace/ring.h"

#include "console.h"

#define QUEUE_BYTES (4u << 20)
#define LINE_BYTES_MAX (64u << 10) /* a longer line is masked in parts, cut at a blank */
#define LOG_BYTES_MAX (256ull << 20)
#define PATIENCE_NS 20000000 /* a writer that takes nothing for so long is not waited for */
#define PART_BYTES (64u << 10)
#define STACK_BYTES (256u << 10) /* holds a line of the longest */

struct part {
	uint32_t source;
	uint32_t bytes;
};

static void deadline_in(struct timespec *at, uint64_t ns)
{
	uint64_t when = wti_clock_monotonic_ns() + ns;

	at->tv_sec = (time_t)(when / 1000000000u);
	at->tv_nsec = (long)(when % 1000000000u);
}

/* Waits are measured by the clock that nobody sets; pthread_cond_clockwait() needs glibc 2.30. */
static void init_changed(pthread_cond_t *changed)
{
	pthread_condattr_t how;

	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(changed, &how);
	pthread_condattr_destroy(&how);
}

static void count_dropped(struct wti_console *console, uint64_t bytes)
{
	atomic_fetch_add_explicit(console->dropped_bytes, bytes, memory_order_relaxed);
}

static void copy_in(struct wti_console *console, const void *data, size_t bytes)
{
	size_t at = (console->queue_at + console->queue_used) % QUEUE_BYTES;
	size_t first = QUEUE_BYTES - at < bytes ? QUEUE_BYTES - at : bytes;

	memcpy(console->queue + at, data, first);
	memcpy(console->queue, (const uint8_t *)data + first, bytes - first);
	console->queue_used += bytes;
}

static void copy_out(struct wti_console *console, void *data, size_t bytes)
{
	size_t at = console->queue_at;
	size_t first = QUEUE_BYTES - at < bytes ? QUEUE_BYTES - at : bytes;

	memcpy(data, console->queue + at, first);
	memcpy((uint8_t *)data + first, console->queue, bytes - first);
	console->queue_at = (at + bytes) % QUEUE_BYTES;
	console->queue_used -= bytes;
	console->taken += bytes;
}

/* Waits for room as long as the writer is getting on. */
static bool wait_for_room(struct wti_console *console, size_t bytes)
{
	while (QUEUE_BYTES - console->queue_used < bytes) {
		uint64_t taken = console->taken;
		struct timespec at;

		if (console->missing) /* it had stopped: no more waiting until it has caught up */
			return false;
		deadline_in(&at, PATIENCE_NS);
		if (pthread_cond_timedwait(&console->changed, &console->lock, &at) == ETIMEDOUT &&
		    taken == console->taken)
			return false;
	}
	return true;
}

void wti_console_put(struct wti_console *console, unsigned source, const void *data, size_t bytes)
{
	struct part part = {source, (uint32_t)bytes};

	if (!console->started) {
		count_dropped(console, bytes);
		return;
	}
	pthread_mutex_lock(&console->lock);
	if (!console->done && wait_for_room(console, sizeof(part) + bytes)) {
		copy_in(console, &part, sizeof(part));
		copy_in(console, data, bytes);
		pthread_cond_broadcast(&console->changed);
	} else {
		console->missing += bytes;
		count_dropped(console, bytes);
	}
	pthread_mutex_unlock(&console->lock);
}

/* ---- The writer ----------------------------------------------------------------------------- */

static void write_out(struct wti_console *console, const void *data, size_t bytes)
{
	if (!console->failed && console->written + bytes > LOG_BYTES_MAX) {
		static const char end[] = "[wheeltap: this file has reached its maximum size; "
					  "further output is not kept]\n";

		wti_write_all(console->fd, end, sizeof(end) - 1);
		console->failed = true;
	}
	if (!console->failed && wti_write_all(console->fd, data, bytes))
		console->failed = true;
	if (console->failed)
		count_dropped(console, bytes);
	else
		console->written += bytes;
}

static void write_line(struct wti_console *console, struct wti_buf *line, size_t bytes)
{
	uint8_t last = line->data[bytes - 1];
	bool ended = last == '\n' || last == '\r';
	size_t left = line->bytes - bytes;
	char copy[LINE_BYTES_MAX + 1];
	size_t masked;

	memcpy(copy, line->data, bytes);
	masked = wti_secret_mask(copy, bytes - ended);
	if (ended)
		copy[masked++] = (char)last;
	write_out(console, copy, masked);
	memmove(line->data, line->data + bytes, left);
	line->bytes = left;
}

/* Where to cut a line that is longer than we keep. */
static size_t cut_at(const struct wti_buf *line)
{
	for (size_t at = line->bytes; at > line->bytes / 2; at--)
		if (line->data[at - 1] == ' ')
			return at;
	return line->bytes;
}

static void add_to_line(struct wti_console *console, struct wti_buf *line, const uint8_t *data,
			size_t bytes)
{
	while (bytes) {
		size_t room = LINE_BYTES_MAX - line->bytes;
		size_t part = bytes < room ? bytes : room;
		const uint8_t *newline = memchr(data, '\n', part);
		const uint8_t *end = memchr(data, '\r', newline ? (size_t)(newline - data) : part);

		if (!end)
			end = newline;
		if (end)
			part = (size_t)(end - data) + 1;
		if (wti_buf_append(line, data, part)) {
			wti_buf_clear(line);
			count_dropped(console, bytes);
			return;
		}
		data += part;
		bytes -= part;
		if (end)
			write_line(console, line, line->bytes);
		else if (line->bytes == LINE_BYTES_MAX)
			write_line(console, line, cut_at(line));
	}
}

static void emit_missing(struct wti_console *console)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "[wheeltap: %llu bytes of output are missing here]\n",
			 (unsigned long long)console->missing);

	console->missing = 0;
	pthread_mutex_unlock(&console->lock);
	write_out(console, text, (size_t)n);
	pthread_mutex_lock(&console->lock);
}

static void take_part(struct wti_console *console)
{
	struct part part;

	copy_out(console, &part, sizeof(part));
	copy_out(console, console->part, part.bytes);
	pthread_mutex_unlock(&console->lock);
	add_to_line(console, &console->lines[part.source], console->part, part.bytes);
	pthread_mutex_lock(&console->lock);
	pthread_cond_broadcast(&console->changed);
}

static void *writer(void *self)
{
	struct wti_console *console = self;

	pthread_mutex_lock(&console->lock);
	for (;;) {
		if (console->queue_used)
			take_part(console);
		else if (console->missing)
			emit_missing(console);
		else if (console->closing)
			break;
		else
			pthread_cond_wait(&console->changed, &console->lock);
	}
	pthread_mutex_unlock(&console->lock);
	for (unsigned i = 0; i < WTI_CONSOLE_SOURCES; i++)
		if (console->lines[i].bytes)
			write_line(console, &console->lines[i], console->lines[i].bytes);
	pthread_mutex_lock(&console->lock);
	console->done = true;
	pthread_cond_broadcast(&console->changed);
	pthread_mutex_unlock(&console->lock);
	return NULL;
}

int wti_console_start(struct wti_console *console, int fd, _Atomic uint64_t *dropped_bytes)
{
	*console = (struct wti_console){.fd = fd, .dropped_bytes = dropped_bytes};
	if (fd < 0)
		return 0;
	console->queue = malloc(QUEUE_BYTES + PART_BYTES);
	if (!console->queue)
		return WT_E_NOMEM;
	console->part = console->queue + QUEUE_BYTES;
	pthread_mutex_init(&console->lock, NULL);
	init_changed(&console->changed);
	for (unsigned i = 0; i < WTI_CONSOLE_SOURCES; i++)
		wti_buf_init(&console->lines[i], LINE_BYTES_MAX);
	console->started = !wti_thread_start(&console->thread, STACK_BYTES, writer, console);
	return console->started ? 0 : WT_E_NOMEM;
}

bool wti_console_flush(struct wti_console *console, uint64_t timeout_ns)
{
	struct timespec at;
	bool empty = true;

	if (!console->started)
		return true;
	deadline_in(&at, timeout_ns);
	pthread_mutex_lock(&console->lock);
	while ((console->queue_used || console->missing) && empty)
		empty = pthread_cond_timedwait(&console->changed, &console->lock, &at) != ETIMEDOUT;
	pthread_mutex_unlock(&console->lock);
	return empty;
}

void wti_console_close(struct wti_console *console)
{
	if (!console->started)
		return;
	pthread_mutex_lock(&console->lock);
	console->closing = true;
	pthread_cond_broadcast(&console->changed);
	pthread_mutex_unlock(&console->lock);
	pthread_join(console->thread, NULL);
	console->started = false;
	free(console->queue);
	for (unsigned i = 0; i < WTI_CONSOLE_SOURCES; i++)
		wti_buf_release(&console->lines[i]);
}
