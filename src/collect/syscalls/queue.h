/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records on their way from the tracer's thread to the recorder's: one writes, one reads, nothing
 * is lost. Who finds it full waits, and so do the threads that it traces.
 */
#ifndef WTI_SYSCALLS_QUEUE_H
#define WTI_SYSCALLS_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw.h"

#define WTI_QUEUE_BYTES (4u << 20) /* a power of two */
#define WTI_QUEUE_RECORD_MAX (64u << 10)

struct wti_queue {
	uint8_t *data;
	_Alignas(64) _Atomic uint64_t head; /* bytes ever written */
	_Alignas(64) _Atomic uint64_t tail; /* bytes ever read */
	_Atomic bool closed;                /* nobody reads any more: records are thrown away */
};

int wti_queue_init(struct wti_queue *queue);
void wti_queue_release(struct wti_queue *queue);
/* Two parts in a row; the second may be empty. Together at most WTI_QUEUE_RECORD_MAX. */
void wti_queue_put(struct wti_queue *queue, const void *first, size_t first_bytes,
		   const void *second, size_t second_bytes);
/* True: there is more. */
bool wti_queue_take(struct wti_queue *queue, size_t count_max,
		    void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		    void *context);
unsigned wti_queue_fill(const struct wti_queue *queue); /* in per cent */

#endif
