/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspector `stat`. */
#ifndef WTI_INSPECT_STAT_H
#define WTI_INSPECT_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

enum wti_stat_by {
	WTI_STAT_BY_NAME,
	WTI_STAT_BY_KIND,
	WTI_STAT_BY_TRACK,
	WTI_STAT_BY_STEP,
	/* Of calls alone, and of spans where they have such a thing. */
	WTI_STAT_BY_MODULE,
	WTI_STAT_BY_FUNCTION,
	WTI_STAT_BY_SITE,
};

struct wti_stat_options {
	enum wti_stat_by by;
	enum wti_profile_order order;
	uint64_t limit;   /* rows of a table; 0: all */
	const char *rows; /* a glob: only rows with such a label; NULL: all */
	int64_t until_ns; /* to_ns of the query; 0: to the end */
	bool phases;      /* first of all, where the time of training steps goes */
};

/* Whether the rows say what they take in the trace: those that an agent's events belong to. */
static inline bool wti_stat_weighs(enum wti_stat_by by)
{
	return by >= WTI_STAT_BY_STEP;
}

#endif
