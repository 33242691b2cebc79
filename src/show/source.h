/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where system calls come from, for all that shows them: the frames of their stacks, and the one
 * line that a person wants to see, which is that of the Python call around it where an agent
 * emitted of one, else that of the program's own innermost frame.
 */
#ifndef WTI_SHOW_SOURCE_H
#define WTI_SHOW_SOURCE_H

#include "base/buf.h"
#include "inspect/core/inside.h"
#include "symbols/native.h"

struct wti_sources {
	struct wti_native *native; /* not ours; NULL: addresses stay addresses */
	struct wti_inside inside;
};

struct wti_source_place {
	struct wt_text file;
	struct wt_text function; /* may be empty */
	uint32_t line;
};

void wti_sources_init(struct wti_sources *sources, struct wti_native *native);
void wti_sources_release(struct wti_sources *sources);
/* Events come from another beginning. */
void wti_sources_again(struct wti_sources *sources);
/* All events in their order, so that it is known which calls threads are in. */
void wti_sources_event(struct wti_sources *sources, const struct wt_event *event);
/* Of a system call. False: not known. */
bool wti_sources_of(struct wti_sources *sources, const struct wt_event *event,
		    struct wti_source_place *ret);
/* The frames of a system call or of an event `stack`, innermost first; 0: none were recorded. */
size_t wti_sources_frames(struct wti_sources *sources, const struct wt_event *event,
			  const struct wti_frame **ret_frames);

/* "train.c:12 (step)", as it is: whoever shows it escapes it. */
void wti_put_source(struct wti_buf *out, const struct wti_source_place *source);
/* As strace -k has it, and printable: "/usr/lib/libc.so.6(write+0x10) [0xf8350] write.c:26". */
void wti_put_frame(struct wti_buf *out, const struct wti_frame *frame);

#endif
