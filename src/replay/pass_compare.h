/* SPDX-License-Identifier: Apache-2.0 */
/* A content of this execution against the one that was recorded. */
#ifndef WTI_REPLAY_PASS_COMPARE_H
#define WTI_REPLAY_PASS_COMPARE_H

#include "pass.h"

struct wti_replay_pass_content {
	uint32_t object; /* WTI_PLAN_NONE: it went to the host */
	const void *data;
	uint64_t bytes;
	uint64_t hash; /* of the recorded one */
};

/* Only bytes that the operation has written count: rows of a rectangle have gaps. */
enum wti_replay_recorded wti_replay_pass_compare(struct wti_replay_session *session, uint32_t op,
						 const struct wti_replay_pass_content *content,
						 const char **ret_type,
						 struct wti_replay_difference *ret_difference);

/* The type of an object's elements: that of the argument as which a kernel had it last. */
const char *wti_replay_pass_type(struct wti_replay_session *session, uint32_t op, uint32_t object);

/* Puts a recorded content back. */
const char *wti_replay_pass_restore(struct wti_replay_session *session,
				    const struct wti_replay_plan_access *access);

#endif
