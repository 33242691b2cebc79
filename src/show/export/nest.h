/* SPDX-License-Identifier: Apache-2.0 */
/* The open spans and calls of a track. An end closes the innermost one of its kind and name; what
 * is open inside has lost its end and is closed with it. */
#ifndef WTI_SHOW_EXPORT_NEST_H
#define WTI_SHOW_EXPORT_NEST_H

#include <wheeltap/trace.h>

struct wti_open_slice {
	uint16_t kind; /* of its begin */
	uint32_t name;
	uint32_t module;
	uint32_t site;
	int64_t begin_ns;
	uint64_t id; /* the caller's */
};

struct wti_nest {
	struct wti_open_slice *open; /* outermost first */
	uint32_t count;
	size_t capacity;
	uint64_t too_deep_count; /* open beyond the ceiling of depth */
};

void wti_nest_release(struct wti_nest *nest);
/* 0, WT_E_LIMIT if it is too deep (its end will be swallowed), WT_E_NOMEM. */
int wti_nest_begin(struct wti_nest *nest, const struct wt_event *event, uint64_t id);
/* A begin that the caller cannot show: its end is to be swallowed. */
void wti_nest_skip(struct wti_nest *nest);
/* How many of the innermost it closes, the last of them its own; 0: none, -1: it is swallowed. */
int wti_nest_end(struct wti_nest *nest, const struct wt_event *event);

#endif
