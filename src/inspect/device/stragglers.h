/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices begin collectives later than the others, and so make them wait. */
#ifndef WTI_DEVICE_STRAGGLERS_H
#define WTI_DEVICE_STRAGGLERS_H

#include "work.h"

struct wti_lateness {        /* of a device */
	uint64_t last_count; /* steps in which it was the last to begin */
	int64_t late_ns;     /* after the first, added up */
};

struct wti_stragglers {
	uint32_t name;              /* the collective by which they are told, a symbol */
	uint64_t step_count;        /* in which at least two devices had it */
	int64_t step_ns;            /* how long a step takes, on average */
	struct wti_lateness *units; /* one a device of the work; to be freed */
};

/* step_count 0: there is nothing to tell it by. */
int wti_stragglers_find(const struct wti_work *work, struct wti_stragglers *ret_stragglers,
			struct wt_err *err);

#endif
