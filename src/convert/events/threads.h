/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks by the process and thread that events name, as numbers or as texts, and their names. */
#ifndef WTI_CONVERT_EVENTS_THREADS_H
#define WTI_CONVERT_EVENTS_THREADS_H

#include "base/map.h"
#include "convert/intake/intake.h"
#include "event.h"

#define WTI_THREADS_KEY_BYTES 192

/* "1102/1262", of any two pieces. */
struct wti_threads_key {
	char text[WTI_THREADS_KEY_BYTES];
	size_t bytes;
};

struct wti_threads {
	struct wti_intake *intake;
	struct wti_map tracks; /* type, key: number */
	struct wti_map names;  /* key: number of the name */
	/* The last of each type, as most events come in rows. */
	struct {
		struct wti_threads_key key;
		uint32_t track;
	} last[2];
};

void wti_threads_init(struct wti_threads *threads, struct wti_intake *intake);
void wti_threads_release(struct wti_threads *threads);
uint32_t wti_threads_thread(struct wti_threads *threads, uint32_t process,
			    const struct wti_fragment *pid, const struct wti_fragment *tid);
uint32_t wti_threads_queue(struct wti_threads *threads, uint32_t process,
			   const struct wti_fragment *device, const struct wti_fragment *queue);
/* What the file calls it; may come before its first event. */
void wti_threads_name(struct wti_threads *threads, const struct wti_fragment *pid,
		      const struct wti_fragment *tid, const struct wti_fragment *name);
/* Gives names to tracks. */
void wti_threads_finish(struct wti_threads *threads);

#endif
