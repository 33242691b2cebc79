/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls put together again: a trace has the begin of a call, its arguments, its returns and its end
 * as rows of different kinds. A listener gets a call twice, when its arguments are complete and
 * when it has ended, and everything else in between, in the order of the track.
 */
#ifndef WTI_INSPECT_CALLS_H
#define WTI_INSPECT_CALLS_H

#include "inspect/core/action.h"
#include "inspect/core/steps.h"

enum { WTI_VALUE_TENSOR = 100 }; /* beside enum wt_value_type */

/* What a tensor held: a row of kind tensor. */
struct wti_digest_row {
	uint32_t dtype; /* enum wt_dtype */
	uint32_t shape; /* symbol */
	uint32_t flags; /* enum wt_tensor_flags */
	uint64_t count;
	uint64_t hash;
	uint64_t nan;
	uint64_t inf;
	uint64_t zeros;
	double min, max, mean, m2;
};

/* An argument, or a return: position -1. */
struct wti_value_row {
	int32_t position;
	uint32_t name; /* symbol, or WTI_SYMBOL_NONE */
	uint32_t type; /* enum wt_value_type, or WTI_VALUE_TENSOR */
	uint32_t text; /* symbol */
	uint64_t bits;
	uint32_t attributes; /* symbol of a JSON object: what else another tool said of it */
	struct wti_digest_row digest;
};

struct wti_call {
	size_t stream;
	uint32_t track;
	uint32_t callee; /* symbols */
	uint32_t module;
	uint32_t object;    /* whose method it is, where known */
	uint32_t exception; /* WTI_SYMBOL_NONE: it returned */
	uint32_t site;      /* of its stream */
	uint32_t flags;
	uint32_t seq; /* low 32 bits */
	uint32_t depth;
	uint64_t ordinal; /* of its track's calls */
	int64_t begin_ns;
	int64_t end_ns; /* of ended calls */
	struct wti_scope scope;
	struct wti_value_row *values;
	size_t value_capacity;
	uint32_t value_count;
	bool is_announced;
	bool is_recorded; /* its action is what the agent emitted; otherwise the listener derives it
			   */
	enum wt_action action;
	bool is_cut;      /* it had more values: what is not among them may be one of those */
	bool is_operator; /* of torch, below Python, or a span: see with_operators */
	/* The listener's, for the time of the call. */
	uint64_t tag;
	uint32_t what; /* enum wti_callee */
	bool is_in_place;
	bool is_shut_off; /* a module without gradients inside of one that has them */
};

struct wti_call_track {
	size_t stream;
	uint32_t track;
	struct wti_call *open; /* outermost first */
	size_t capacity;
	uint32_t open_count;
	uint32_t too_deep_count; /* open beyond the ceiling */
	uint64_t ordinal;
};

struct wti_listener {
	void *self;
	void (*begun)(void *self, struct wti_call *call, const struct wti_call *parent);
	void (*ended)(void *self, struct wti_call *call, const struct wti_call *parent);
	/* Everything that is not part of a call; tensors of states among them. */
	void (*event)(void *self, const struct wt_event *event, const struct wti_call *inside);
};

struct wti_calls {
	struct wti_symbols *symbols;
	struct wti_steps steps;
	struct wti_map index; /* stream and track: place in tracks, plus one */
	struct wti_call_track *tracks;
	size_t track_count, track_capacity;
	uint64_t unopened_count; /* ends without a begin */
	uint64_t unclosed_count; /* begins whose end is missing although the track went on */
	uint64_t dropped_values; /* arguments of calls that are not open, or beyond the ceiling */
	/* Set after init: operators and spans are calls as well, and no events. */
	bool with_operators;
};

void wti_calls_init(struct wti_calls *calls, struct wti_symbols *symbols);
void wti_calls_release(struct wti_calls *calls);
/* 0, or an error: out of memory. */
int wti_calls_event(struct wti_calls *calls, const struct wt_event *event,
		    const struct wti_listener *listener, struct wt_err *err);
/* Announces what is still pending: the trace ends here, open calls have no end. */
void wti_calls_finish(struct wti_calls *calls, const struct wti_listener *listener);

/* Where and what a call was, without its values: may be kept after its end. */
struct wti_call wti_call_without_values(const struct wti_call *call);
/* An argument by its name, by its position if it has none; NULL: there is none. */
const struct wti_value_row *wti_call_argument(const struct wti_call *call, uint32_t name,
					      int32_t position);
/* The n-th tensor among the arguments, or among the returns. */
const struct wti_value_row *wti_call_tensor(const struct wti_call *call, bool is_return,
					    uint32_t n);
/* The next one after that one; NULL: the first. */
const struct wti_value_row *wti_call_next_tensor(const struct wti_call *call, bool is_return,
						 const struct wti_value_row *after);
/* A number, or a tensor of one element; false: it is neither. */
bool wti_value_as_number(const struct wti_value_row *value, double *ret);
/* A number among the arguments, by name or position; false: there is none. */
bool wti_call_as_number(const struct wti_call *call, uint32_t name, int32_t position, double *ret);
/* All tensors of one side as one number; 0: there is none, or one was not read or is cut off. */
uint64_t wti_call_hash(const struct wti_call *call, bool is_return);
void wti_digest_read(struct wti_digest_row *ret, struct wti_symbols *symbols,
		     const struct wt_event *event);

/* A tensor of which the statistics were recorded, and that has elements. */
static inline bool wti_value_is_measured(const struct wti_value_row *value)
{
	return value && value->digest.count && !(value->digest.flags & WT_TENSOR_NO_STATISTICS);
}

#endif
