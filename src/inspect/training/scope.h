/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the training an event stands: step, epoch, stage and rank. A track that never says
 * (a worker thread, a thread of the autograd engine) stands where its process last said it does.
 */
#ifndef WTI_INSPECT_SCOPE_H
#define WTI_INSPECT_SCOPE_H

#include "symbols.h"

struct wti_scope {
	int64_t step;   /* -1: not said */
	int64_t epoch;  /* -1: not said */
	uint32_t stage; /* symbol */
	int32_t rank;   /* -1: not one of several */
	int32_t world;
};

struct wti_scope_entry {
	struct wti_scope scope;
	bool says; /* it has set something itself */
};

struct wti_scopes {
	struct wti_map index; /* stream and track: entry plus one; track UINT32_MAX: the process */
	struct wti_scope_entry *entries;
	size_t count, capacity;
};

void wti_scopes_init(struct wti_scopes *scopes);
void wti_scopes_release(struct wti_scopes *scopes);
/* Takes an event of kind context or rank. False: out of room. */
bool wti_scopes_event(struct wti_scopes *scopes, struct wti_symbols *symbols,
		      const struct wt_event *event);
struct wti_scope wti_scope_of(const struct wti_scopes *scopes, size_t stream, uint32_t track);

/*
 * The first and the last step of what is found in one more. Ranks are not in the same step at the
 * same time, so that the one that comes later may be the earlier.
 */
void wti_scope_widen(int64_t *first, int64_t *last, int64_t step, bool is_first_time);

#endif
