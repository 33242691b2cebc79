/* SPDX-License-Identifier: Apache-2.0 */
/* The workers of DataLoaders, of which a long run has thousands, as one row for each that there was
 * at once. */
#ifndef WTI_INSPECT_INFO_GROUPS_H
#define WTI_INSPECT_INFO_GROUPS_H

#include "inspect/core/inspectors.h"
#include "inspect/core/roles.h"

struct wti_group {
	struct wti_role role;
	size_t stream; /* the first of them */
	uint64_t streams, events, bytes;
};

struct wti_groups {
	struct wti_group *all;
	size_t count, capacity;
	struct wti_group sum; /* of those that are all right */
};

/* 0 or WT_E_NOMEM. Released also after a failure. */
int wti_groups_init(struct wti_groups *groups, const struct wti_roles *roles);
void wti_groups_release(struct wti_groups *groups);

/* Whether a stream is in them: what is damaged or open stands for itself. */
bool wti_groups_has(const struct wti_roles *roles, size_t stream);
uint64_t wti_reader_events(const struct wt_reader *reader);
const char *wti_reader_state(const struct wt_reader *reader);

#endif
