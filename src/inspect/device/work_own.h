/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that take events in. */
#ifndef WTI_DEVICE_WORK_OWN_H
#define WTI_DEVICE_WORK_OWN_H

#include "work.h"

#define WTI_WORK_OPS_MAX (UINT32_MAX - 1u)
#define WTI_WORK_OBJECTS_MAX (1u << 22)
/* Times and sizes beyond are nonsense: kept here, so that sums of a few fit. */
#define WTI_WORK_NUMBER_MAX (INT64_MAX / 16)

static inline int64_t wti_work_bounded(int64_t number)
{
	return number > WTI_WORK_NUMBER_MAX    ? WTI_WORK_NUMBER_MAX
	       : number < -WTI_WORK_NUMBER_MAX ? -WTI_WORK_NUMBER_MAX
					       : number;
}

int wti_work_failed(int code, struct wt_err *err, const char *what);
/* The device of a process, made if it is new. */
int wti_work_unit_at(struct wti_work *work, uint32_t stream, uint32_t device, uint32_t *ret_unit,
		     struct wt_err *err);
/* `change` without its unit. */
int wti_work_memory_change(struct wti_work *work, size_t stream, uint32_t device,
			   const struct wti_work_memory *change, struct wt_err *err);
/* Of the kinds device_access, device_memory and device_object. */
int wti_work_memory_event(struct wti_work *work, const struct wt_event *event, struct wt_err *err);
/* Calls and operations are joined: gives times to operations that have none. */
int wti_work_time(struct wti_work *work, struct wt_err *err);

#endif
