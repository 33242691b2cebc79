/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of this room, for its own files.
 */
#ifndef WTI_PYTHON_STATE_OWN_H
#define WTI_PYTHON_STATE_OWN_H

#include "state.h"

enum {
	WTI_LIVE_BUCKETS_FIRST = 1 << 12,
	WTI_KNOWNS = 16384, /* a power of two */
};

/* See live.c. */
struct wti_live_entry {
	struct wti_live live;         /* first: wti_live_next() gets back to us by it */
	struct wti_live_entry *next;  /* in its bucket */
	struct wti_live_entry *newer; /* of its type */
	struct wti_live_entry *older;
};

/* See known.c. */
struct wti_known {
	const struct wt_name *owner;
	const struct wt_name *attribute; /* NULL: free */
	uint64_t value;
	uint32_t type; /* enum wt_value_type */
	bool is_set;
};

struct wti_live_state {
	struct {
		PyObject *grad;
		PyObject *param_groups;
		PyObject *params;
		PyObject *state;
		PyObject *parameters;
		PyObject *buffers;
		PyObject *modules;
	} words;       /* interned */
	uint64_t step; /* of the run */
	/* A module had something to read when all were last looked at, or has been seen to since.
	 */
	bool is_any_busy;
	uint32_t entry_count;
	size_t bucket_count; /* a power of two */
	struct wti_live_entry **buckets;
	uint64_t orders[WTI_LIVE_END];
	struct wti_live_entry *newest[WTI_LIVE_END];
	struct wti_live_entry *first_buckets[WTI_LIVE_BUCKETS_FIRST];
	struct wti_known knowns[WTI_KNOWNS];
};

extern struct wti_live_state wti_live_state WTI_HIDDEN;

#endif
