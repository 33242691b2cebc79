/* SPDX-License-Identifier: Apache-2.0 */
/*
 * console.log: what the program said, masked line by line, written by a thread of its own behind a
 * bounded queue. A disk that is slow, full or hangs costs lines of the log, which the log and the
 * run say, and never the program's time.
 */
#ifndef WTI_COLLECT_CONSOLE_H
#define WTI_COLLECT_CONSOLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define WTI_CONSOLE_SOURCES 2 /* standard output, standard error */

struct wti_console {
	int fd;
	_Atomic uint64_t *dropped_bytes; /* where to count */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint8_t *queue;
	size_t queue_at;
	size_t queue_used;
	uint64_t taken;   /* bytes ever taken out: how the writer is getting on */
	uint64_t missing; /* bytes dropped and not yet counted in the log */
	bool closing;
	bool done;
	/* The writer's own. */
	struct wti_buf lines[WTI_CONSOLE_SOURCES];
	uint8_t *part; /* what was taken last */
	uint64_t written;
	bool failed;
};

int wti_console_start(struct wti_console *console, int fd, _Atomic uint64_t *dropped_bytes);
void wti_console_put(struct wti_console *console, unsigned source, const void *data, size_t bytes);
/* Waits until all is written, at most this long. */
bool wti_console_flush(struct wti_console *console, uint64_t timeout_ns);
/* Writes what is left, unfinished lines included, and ends. Waits for the disk. */
void wti_console_close(struct wti_console *console);

#endif
