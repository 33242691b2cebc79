/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: their numbers, and which clock their time stamps are of. OpenCL leaves the clock open; a
 * marker on a queue of our own is enqueued between two readings of each clock of the system, and
 * the clock that the marker's times fall into is the one. If none fits, the device has a clock of
 * its own, and the two readings are a pair with a known error; such a clock runs a little faster or
 * slower than ours, so there is a new pair now and then.
 */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wheeltap/trace.h>

enum {
	DEVICES_MAX = 64,
	DOMAIN_FIRST = 64, /* of clocks of devices: docs/format.md */
	PROBES = 5,        /* markers; the narrowest bracket wins */
	PAIR_SECONDS = 10, /* between two pairs of a clock */
	SLACK_NS =
		2000000, /* of a driver that rounds, or that reads its clock once for all devices */
};

static struct {
	struct {
		struct wti_cl_device device;
		bool is_probed;
		uint64_t pair_ns; /* when the last pair was made, if its clock is its own */
	} all[DEVICES_MAX];
	uint32_t count;
} devices;

/* The clocks of the system that a driver may use, and how the trace calls them. */
static const struct {
	uint32_t domain;
	clockid_t id;
} clocks[] = {
	{WT_CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
	{WT_CLOCK_MONOTONIC, CLOCK_MONOTONIC},
	{WT_CLOCK_REALTIME, CLOCK_REALTIME},
};
_Static_assert(sizeof(clocks) / sizeof(*clocks) == WTI_CL_CLOCKS, "as many as are read");

struct reading {
	uint64_t ns[WTI_CL_CLOCKS];
};

struct bracket {
	struct reading before, after;
	uint64_t device_ns; /* when the marker ended; 0: not known */
};

void wti_cl_clocks_read(uint64_t ret_ns[WTI_CL_CLOCKS])
{
	for (size_t i = 0; i < WTI_CL_CLOCKS; i++) {
		struct timespec now;

		clock_gettime(clocks[i].id, &now);
		ret_ns[i] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
}

int wti_cl_clock_index(uint32_t domain)
{
	for (int i = 0; i < WTI_CL_CLOCKS; i++)
		if (clocks[i].domain == domain)
			return i;
	return -1;
}

static bool probe_once(cl_command_queue queue, struct bracket *ret)
{
	cl_ulong ended = 0;
	cl_event event = NULL;
	bool done;

	wti_cl_clocks_read(ret->before.ns);
	done = wti_cl.real.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event) == CL_SUCCESS &&
	       wti_cl.real.clWaitForEvents(1, &event) == CL_SUCCESS;
	wti_cl_clocks_read(ret->after.ns);
	done = done &&
	       wti_cl.real.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(ended),
						   &ended, NULL) == CL_SUCCESS;
	if (event)
		wti_cl.real.clReleaseEvent(event);
	ret->device_ns = ended;
	return done && ended;
}

static uint64_t width_of(const struct bracket *bracket)
{
	return bracket->after.ns[0] - bracket->before.ns[0];
}

static bool probe(cl_context context, cl_device_id device, struct bracket *ret)
{
	cl_int status;
	cl_command_queue queue = wti_cl.real.clCreateCommandQueue(
		context, device, CL_QUEUE_PROFILING_ENABLE, &status);
	struct bracket bracket;
	bool found = false;

	if (!queue)
		return false;
	for (int i = 0; i < PROBES && probe_once(queue, &bracket); i++) {
		if (!found || width_of(&bracket) < width_of(ret))
			*ret = bracket;
		found = true;
	}
	wti_cl.real.clFinish(queue);
	wti_cl.real.clReleaseCommandQueue(queue);
	return found;
}

static uint32_t domain_within(const struct bracket *bracket, uint64_t slack_ns)
{
	for (size_t i = 0; i < WTI_CL_CLOCKS; i++)
		if (bracket->device_ns + slack_ns >= bracket->before.ns[i] &&
		    bracket->device_ns <= bracket->after.ns[i] + slack_ns)
			return clocks[i].domain;
	return 0;
}

/*
 * The clock of the system that it falls into; 0: none. Soon after the start of a machine its clocks
 * are close together: one that fits exactly is preferred.
 */
static uint32_t domain_of(const struct bracket *bracket)
{
	const uint32_t domain = domain_within(bracket, 0);

	return domain ? domain : domain_within(bracket, SLACK_NS);
}

/* The moment of this event is that in which the marker ended, as exactly as is known. */
static void emit_pair(uint32_t domain, const struct bracket *bracket)
{
	const struct wti_here here = wti_cl_here();
	uint64_t since_ns, error_ns = width_of(bracket);
	struct reading now;

	if (!here.ring)
		return;
	wti_cl_clocks_read(now.ns);
	since_ns = now.ns[0] - (bracket->before.ns[0] + error_ns / 2);
	error_ns = error_ns / 2 + 1;
	wti_emit_clock(here,
		       &(struct wti_record_clock){
			       .domain = domain,
			       .error = (uint32_t)(error_ns < UINT32_MAX ? error_ns : UINT32_MAX),
			       .value = bracket->device_ns + since_ns});
}

static uint64_t now_ns(void)
{
	uint64_t ns[WTI_CL_CLOCKS];

	wti_cl_clocks_read(ns);
	return ns[0];
}

static uint32_t find_clock(cl_context context, cl_device_id device, uint32_t number)
{
	struct bracket bracket = {0};
	uint32_t domain;

	if (!wti_cl.real.clEnqueueMarkerWithWaitList || !probe(context, device, &bracket))
		return 0;
	domain = domain_of(&bracket);
	if (domain) /* the recorder itself emits pairs of these, again and again */
		return domain;
	emit_pair(DOMAIN_FIRST + number, &bracket);
	return DOMAIN_FIRST + number;
}

/* Of a part of a device its parent, otherwise 0. With the lock held. */
static uint64_t parent_of(cl_device_id device)
{
	cl_device_id parent = NULL;

	wti_cl.real.clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, NULL);
	return parent ? wti_cl_object_id(parent) : 0;
}

/* With the lock held. */
static uint32_t index_of(cl_device_id device)
{
	char name[256] = "", driver[520] = "", text[256] = "";
	uint32_t at = 0;

	while (at < devices.count && devices.all[at].device.handle != device)
		at++;
	if (at < devices.count || at == DEVICES_MAX)
		return at < DEVICES_MAX ? at : DEVICES_MAX - 1;
	devices.all[at].device = (struct wti_cl_device){.handle = device, .number = at};
	devices.count++;
	wti_cl.real.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	wti_cl.real.clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof(text) - 1, text, NULL);
	snprintf(driver, sizeof(driver), "%s; ", text);
	wti_cl.real.clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof(text) - 1,
				    driver + strlen(driver), NULL);
	wti_cl_object_add(device, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_DEVICE,
						       .device = at,
						       .name = wti_name_find(name, strlen(name)),
						       .parent = parent_of(device),
						       .details = driver,
						       .details_bytes = (uint32_t)strlen(driver)});
	return at;
}

uint32_t wti_cl_device_number(cl_device_id device)
{
	uint32_t number;

	wti_cl_lock(WTI_CL_LOCK_DEVICES);
	number = index_of(device);
	wti_cl_unlock(WTI_CL_LOCK_DEVICES);
	return number;
}

uint32_t wti_cl_device_clock(cl_context context, cl_device_id device)
{
	uint32_t at, clock;

	wti_cl_lock(WTI_CL_LOCK_DEVICES);
	at = index_of(device);
	if (!devices.all[at].is_probed) {
		devices.all[at].device.clock = find_clock(context, device, at);
		devices.all[at].pair_ns = now_ns();
	}
	devices.all[at].is_probed = true;
	clock = devices.all[at].device.clock;
	wti_cl_unlock(WTI_CL_LOCK_DEVICES);
	return clock;
}

/* ---- Parts of devices ------------------------------------------------------------------------ */

/* What had this handle before is over: the driver has given it to another part. */
static void part_add(cl_device_id device)
{
	wti_cl_lock(WTI_CL_LOCK_DEVICES);
	for (uint32_t i = 0; i < devices.count; i++)
		if (devices.all[i].device.handle == device)
			devices.all[i].device.handle = NULL;
	index_of(device);
	wti_cl_unlock(WTI_CL_LOCK_DEVICES);
}

static cl_int CL_API_CALL layer_clCreateSubDevices(cl_device_id device,
						   const cl_device_partition_property *how,
						   cl_uint room, cl_device_id *out,
						   cl_uint *ret_count)
{
	cl_uint count = 0;
	cl_int status = wti_cl.real.clCreateSubDevices(device, how, room, out, &count);

	if (status != CL_SUCCESS)
		return status;
	if (ret_count)
		*ret_count = count;
	wti_cl_device_number(device);
	for (cl_uint i = 0; out && i < count && i < room; i++)
		part_add(out[i]);
	return status;
}

/* Devices that are no parts are there as long as the driver is, whoever lets go of them. */
static bool is_part(cl_device_id device)
{
	struct wti_cl_object *object = wti_cl_object_get(device);
	const bool is = object && object->parent;

	wti_cl_object_put(object);
	return is;
}

static cl_int CL_API_CALL layer_clRetainDevice(cl_device_id device)
{
	if (is_part(device))
		wti_cl_object_retain(device);
	return wti_cl.real.clRetainDevice(device);
}

static cl_int CL_API_CALL layer_clReleaseDevice(cl_device_id device)
{
	if (is_part(device))
		wti_cl_object_release(device);
	return wti_cl.real.clReleaseDevice(device);
}

void wti_cl_take_devices(cl_icd_dispatch *ours)
{
	WTI_CL_TAKE(ours, clCreateSubDevices);
	WTI_CL_TAKE(ours, clRetainDevice);
	WTI_CL_TAKE(ours, clReleaseDevice);
}

/* ---- Clocks that drift ----------------------------------------------------------------------- */

void wti_cl_device_pair(const struct wti_cl_queue *queue)
{
	uint64_t now = now_ns();
	struct bracket bracket = {0};
	cl_context context = NULL;
	cl_device_id device = NULL;
	bool is_due;

	wti_cl_lock(WTI_CL_LOCK_DEVICES);
	is_due = now > devices.all[queue->device].pair_ns + PAIR_SECONDS * UINT64_C(1000000000);
	if (is_due)
		devices.all[queue->device].pair_ns = now;
	wti_cl_unlock(WTI_CL_LOCK_DEVICES);
	if (!is_due)
		return;
	wti_cl.real.clGetCommandQueueInfo(queue->handle, CL_QUEUE_CONTEXT, sizeof(context),
					  &context, NULL);
	wti_cl.real.clGetCommandQueueInfo(queue->handle, CL_QUEUE_DEVICE, sizeof(device), &device,
					  NULL);
	if (context && device && probe(context, device, &bracket))
		emit_pair(queue->clock, &bracket);
}
