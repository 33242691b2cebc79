/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about devices share: figures of one device, and the words. */
#ifndef WTI_DEVICE_SURVEY_H
#define WTI_DEVICE_SURVEY_H

#include "device.h"
#include "inspect/judge/rule.h"

#define WTI_NO_DEVICE_WORK "no device work in this run: record a device, or import a profile of one"
/* A device is judged from so many operations on: fewer are no habit. */
#define WTI_SURVEY_OPERATIONS                                                                      \
	{                                                                                          \
		"operations", 50, "with fewer there is nothing to average over"                    \
	}

/* From the first to the last work of a device, and how many operations. */
struct wti_survey {
	int64_t from_ns, to_ns;
	uint64_t count;
};
struct wti_survey wti_survey_unit(const struct wti_work *work, uint32_t unit);
/* A finding about a device. */
void wti_survey_found(struct wti_case *account, const struct wti_work *work, uint32_t unit,
		      const char *op, int64_t step, const char *evidence);
/* Between the host and a device; within a device is none. */
bool wti_is_transfer(const struct wti_work *work, const struct wti_work_op *op);

struct wti_judge;
/* The run has ended, and the work is in order: asks all rules about devices. */
void wti_device_survey(struct wti_judge *judge, const struct wti_work *work);

#endif
