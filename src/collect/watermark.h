/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The moment below which nothing can still arrive.
 *
 * A producer marks its ring (reserve differs from head) before it takes the time. So: take the
 * time, make every producer's marks visible, receive and drain everything; a ring without a mark
 * can then only bring later times, and one with a mark none before its own last event.
 */
#ifndef WTI_COLLECT_WATERMARK_H
#define WTI_COLLECT_WATERMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "process.h"

struct wti_watermark {
	bool barrier;       /* the kernel can make marks visible on all processors */
	uint64_t candidate; /* ticks */
	uint64_t reached;   /* it never goes back */
	uint64_t unfenced;  /* the same for processes whose marks cannot be made visible */
};

void wti_watermark_init(struct wti_watermark *watermark);
/* Before messages are received. */
void wti_watermark_begin(struct wti_watermark *watermark, const struct wti_recording_clock *clock);
/* For each process, when its messages were received and before its heads are looked at. */
void wti_watermark_consider(struct wti_watermark *watermark, const struct wti_process *process);
/* When all that was published by then is drained: how far it is. */
uint64_t wti_watermark_reach(struct wti_watermark *watermark);

#endif
