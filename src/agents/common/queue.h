/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of queues. */
#ifndef WTI_AGENTS_QUEUE_H
#define WTI_AGENTS_QUEUE_H

#include <stdint.h>

/* The track of a device's queue; the same name and device give the same track. 0: none. */
uint32_t wti_queue_track(uint32_t device, const char *name);

#endif
