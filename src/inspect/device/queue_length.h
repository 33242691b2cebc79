/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many operations wait in a queue: one more when its call begins on the host, one less when it
 * starts on the device. Where both happen at the same moment the launch comes first. Operations of
 * graphs are left out, as their launches come together.
 */
#ifndef WTI_DEVICE_QUEUE_LENGTH_H
#define WTI_DEVICE_QUEUE_LENGTH_H

#include "work.h"

struct wti_queue_point {
	int64_t ns;
	uint32_t op; /* index */
	bool is_launch;
	int32_t length; /* from here on */
};

/* All changes in their order; to be freed. */
int wti_queue_points(const struct wti_work *work, uint32_t queue,
		     struct wti_queue_point **ret_points, size_t *ret_count, struct wt_err *err);
/* Sets `alone` and `at_once` of all operations. */
int wti_queue_mark(struct wti_work *work, struct wt_err *err);

#endif
