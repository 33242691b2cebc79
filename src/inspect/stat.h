/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspector `stat`. */
#ifndef WTI_INSPECT_STAT_H
#define WTI_INSPECT_STAT_H

#include <stdint.h>

#include "profile.h"

enum wti_stat_by { WTI_STAT_BY_NAME, WTI_STAT_BY_KIND, WTI_STAT_BY_TRACK, WTI_STAT_BY_STEP };

struct wti_stat_options {
	enum wti_stat_by by;
	enum wti_profile_order order;
	uint64_t limit; /* rows of a table; 0: all */
};

#endif
