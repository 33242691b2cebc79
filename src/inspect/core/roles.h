/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a training run are to one another: ranks, and the workers of their
 * DataLoaders. Hides how that is found out, and that a DataLoader may have new workers in every
 * epoch: a worker gets the place of its number, or the next one if that is taken, so that there are
 * as many as there were at once, in the same order in every run.
 */
#ifndef WTI_INSPECT_ROLES_H
#define WTI_INSPECT_ROLES_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/map.h"
#include "label.h"

struct wti_role {
	uint32_t
		rank; /* plus one; 0: none is known. Of a worker that of the process it loads for */
	uint32_t worker; /* its place among those of the same rank, from 1; 0: it is none */
};

struct wti_roles {
	const struct wt_trace *trace;
	struct wti_role *streams; /* one a stream of the trace */
	uint32_t *numbers;        /* one a stream: which worker of its DataLoader it is */
	struct wti_map parents;   /* pid: that of its parent */
	struct wti_map ranks;     /* pid: rank plus one */
	struct wti_map places;    /* rank and place: 1 while its worker lives */
};

/* Goes once through what says it. Damage is left to the way through all events. After a failure
 * there is nothing to release, and doing so is harmless. */
int wti_roles_init(struct wti_roles *roles, const struct wt_trace *trace, struct wt_err *err);
void wti_roles_release(struct wti_roles *roles);
struct wti_role wti_role_of(const struct wti_roles *roles, size_t stream);
/* "rank 0", "rank 0 data worker 2", "rank 0 pt_autograd_0 (77)"; without a role as
 * wti_label_track(). */
struct wt_text wti_role_label(char out[WTI_LABEL_BYTES], const struct wti_roles *roles,
			      size_t stream, uint32_t track);

#endif
