/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one track of a run computed, in the order in which it ended: calls, operators and spans with
 * what went into them and what came out, and values that were read on their own (parameters,
 * gradients, losses, states of random generators). Only a window of them is kept.
 *
 * What corresponds in another run is found by tokens, which are made from texts: numbers of names
 * are a run's own.
 */
#ifndef WTI_DIVERGENCE_COURSE_H
#define WTI_DIVERGENCE_COURSE_H

#include "inspect/training/calls.h"

#define WTI_COURSE_WINDOW 4096u /* that are kept at most */

enum wti_computed_kind {
	WTI_COMPUTED_CALL,
	WTI_COMPUTED_OPERATOR, /* of torch, below Python; or a span */
	WTI_COMPUTED_VALUE,    /* read on its own: one value, as a return */
};

/* From the most exact to the least. */
enum wti_likeness {
	WTI_LIKE_SHAPES, /* the same path and line, and inputs of the same shapes */
	WTI_LIKE_LINE,   /* the same path and line */
	WTI_LIKE_CALLEE, /* the same callee inside the same callee, of the same object */
	WTI_LIKE_NAME,   /* the same callee */
	WTI_LIKENESSES,
};

struct wti_computed {
	enum wti_computed_kind kind;
	uint32_t callee, module, object, path, stage; /* symbols of the course */
	uint32_t file, line;                          /* the program's own, where there is one */
	enum wt_action action;
	uint32_t depth;
	int64_t step; /* -1: none */
	int64_t time_ns;
	uint64_t tokens[WTI_LIKENESSES];
	bool raised;
	bool is_cut;     /* it had more values than were recorded */
	bool is_random;  /* the state of a random generator */
	bool is_setting; /* how a library is set: threads, precision */
	uint32_t opaque; /* arguments of which only the type is known, or the first elements */
	struct wti_value_row *values;
	uint32_t value_count;
};

struct wti_course;

/* The track of that number in the stream of that number. */
int wti_course_open(const struct wt_trace *trace, size_t stream, uint32_t track,
		    struct wti_course **ret_flow, struct wt_err *err);
void wti_course_free(struct wti_course *course);
/* Reads until the window has `wanted` of them, or the track ends. */
int wti_course_fill(struct wti_course *course, size_t wanted);
size_t wti_course_count(const struct wti_course *course);
struct wti_computed *wti_course_at(const struct wti_course *course, size_t index);
void wti_course_drop(struct wti_course *course, size_t count);
const char *wti_course_text(const struct wti_course *course, uint32_t symbol);
/* Calls that never ended, and values that no call was open for. */
uint64_t wti_course_unended(const struct wti_course *course);

#endif
