/* SPDX-License-Identifier: Apache-2.0 */
/* What the arguments of Kineto's events say about devices. */
#ifndef WTI_CONVERT_EVENTS_DEVICE_H
#define WTI_CONVERT_EVENTS_DEVICE_H

#include "convert/intake/intake.h"
#include "event.h"

struct wti_device_arguments {
	struct wti_fragment device, queue, grid, block, bandwidth;
	struct wti_fragment wait_on; /* queue on which the event was recorded */
	uint64_t correlation, bytes, queued;
	uint64_t record; /* correlation of the call that recorded the event */
	bool has_record;
};

struct wti_memory_arguments {
	int64_t device_type, device, bytes;
	uint64_t address, allocated, reserved;
};

/* A member of an object; false: there is none. */
bool wti_argument(const struct wti_fragment *object, const char *key,
		  struct wti_fragment *ret_value);
struct wti_device_arguments wti_device_arguments(const struct wti_fragment *arguments);
struct wti_memory_arguments wti_memory_arguments(const struct wti_fragment *arguments);
/* "128x1x1/32x1x1"; 0: not known. */
uint32_t wti_geometry(struct wti_intake *intake, const struct wti_device_arguments *args);
enum { WTI_DEVICES_MAX = 64 };

/* Names and properties of devices, as numbers of texts. */
struct wti_device_list {
	struct {
		uint32_t name, properties;
	} items[WTI_DEVICES_MAX];
	size_t count;
};

void wti_device_list_read(struct wti_device_list *devices, struct wti_intake *intake,
			  const struct wti_fragment *list);
/* Each device's properties become attributes of it, at that time. */
void wti_device_list_emit(const struct wti_device_list *devices, struct wti_intake *intake,
			  uint32_t process, uint64_t time);

#endif
