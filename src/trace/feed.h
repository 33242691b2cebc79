/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that goes on, as a cursor shows one that has ended: definitions and records come in as they
 * are drained, events go out in the defined order (time, stream, track, sequence), as far as
 * nothing earlier can still arrive.
 *
 * Holds what lies between two watermarks. Beyond a ceiling records are counted and not kept.
 */
#ifndef WTI_TRACE_FEED_H
#define WTI_TRACE_FEED_H

#include <wheeltap/trace.h>

struct wti_feed;
struct wti_feed_stream;

typedef int (*wti_feed_event)(void *cookie, const struct wt_event *event);

/* `ns_per_tick` and `start_ticks` give the times of events. NULL: out of memory. */
struct wti_feed *wti_feed_new(uint64_t start_ticks, double ns_per_tick);
void wti_feed_free(struct wti_feed *feed);
/* NULL: out of memory, or too many. */
struct wti_feed_stream *wti_feed_begin(struct wti_feed *feed, const struct wt_identity *identity);
/* As definitions stand in a segment: type, id, payload. */
int wti_feed_define(struct wti_feed_stream *stream, uint16_t type, uint32_t id,
		    const uint8_t *payload, size_t bytes);
/* Records as they stand in a ring, already checked to be whole, of one track. */
void wti_feed_records(struct wti_feed_stream *stream, uint32_t track, uint64_t first_seq,
		      const uint8_t *data, size_t bytes);
/* Hands out everything before `below`. Stops at the first error of `event`. */
int wti_feed_until(struct wti_feed *feed, uint64_t below, wti_feed_event event, void *cookie);
/* Records that found no room. */
uint64_t wti_feed_dropped(const struct wti_feed *feed);

#endif
