/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations to execute: those that were asked for, and what they need. */
#ifndef WTI_REPLAY_SELECT_H
#define WTI_REPLAY_SELECT_H

#include "replay.h"

struct wti_replay_selection {
	bool *is_asked;    /* of operations */
	bool *is_selected; /* asked for, or needed by one that is */
	uint64_t asked_count, needed_count, avoided_count;
	uint64_t restored_count; /* contents that were recorded, and spare what led to them */
	bool is_all;
};

int wti_replay_select(const struct wti_replay_plan *plan, const struct wti_replay_options *options,
		      struct wti_replay_selection *ret_selection, struct wt_err *err);
void wti_replay_selection_release(struct wti_replay_selection *selection);

#endif
