/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the inspector `timeline`. */
#ifndef WTI_INSPECT_TIMELINE_H
#define WTI_INSPECT_TIMELINE_H

#include <stdint.h>

struct wti_timeline_options {
	int64_t from_ns;  /* INT64_MIN: where the first track becomes busy */
	int64_t to_ns;    /* INT64_MAX: where the last track ends */
	uint32_t columns; /* points of each series */
	uint32_t bars;    /* of all rows, in the tables `lanes` and `bars`; 0: these are left out */
};

#endif
