/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations depend on memory that nobody initialised: everything is executed twice side by
 * side, and the two differ in nothing but what such memory contains. It knows what a byte that was
 * never written looks like, and hides the second session.
 */
#ifndef WTI_REPLAY_UNINITIALISED_H
#define WTI_REPLAY_UNINITIALISED_H

#include "pass.h"

enum wti_replay_uninitialised_use {
	WTI_UNINITIALISED_NONE,
	WTI_UNINITIALISED_DEPENDS,   /* what it gives depends on such memory */
	WTI_UNINITIALISED_UNWRITTEN, /* a recorded content differs only in bytes nothing wrote */
};

struct wti_replay_uninitialised {
	uint8_t *uses;      /* of each operation; NULL: nobody has looked */
	uint32_t *found_of; /* of each operation: index plus one of where it differs; 0: nowhere */
	struct wti_replay_pass_found *founds; /* with zeros, and with other content there */
	size_t found_count, found_capacity;
	uint64_t unwritten_count; /* of contents that were not compared in all of their bytes */
};

/* What such memory contains in the second session; zeros in the first. */
#define WTI_UNINITIALISED_BYTE 0xa5

/*
 * `how` has the operations, one at a time in that order, as for a pass. The session is used up: its
 * objects are as after all of them. Operations that cannot be executed are passed over.
 */
int wti_replay_uninitialised_find(struct wti_replay_session *session,
				  const struct wti_replay_pass_how *how,
				  struct wti_replay_uninitialised *ret, struct wt_err *err);
void wti_replay_uninitialised_release(struct wti_replay_uninitialised *uninitialised);

#endif
