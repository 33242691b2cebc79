/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: their numbers, and which clock their time stamps are of. OpenCL leaves the clock open; a
 * marker on a queue of our own is enqueued between two readings of each clock of the system, and
 * the clock that the marker's times fall into is the one. If none fits, the device has a clock of
 * its own, and the two readings are a pair with a known error.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wheeltap/trace.h>

enum {
	DEVICES_MAX = 64,
	DOMAIN_FIRST = 64, /* of clocks of devices: docs/format.md */
	PROBES = 5,        /* markers; the narrowest bracket wins */
	SLACK_NS =
		2000000, /* of a driver that rounds, or that reads its clock once for all devices */
};

static struct {
	pthread_mutex_t lock;
	struct {
		struct wti_cl_device device;
		bool is_probed;
	} all[DEVICES_MAX];
	uint32_t count;
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The clocks of the system that a driver may use, and how the trace calls them. */
static const struct {
	uint32_t domain;
	clockid_t id;
} clocks[] = {
	{WT_CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
	{WT_CLOCK_MONOTONIC, CLOCK_MONOTONIC},
	{WT_CLOCK_REALTIME, CLOCK_REALTIME},
};
enum { CLOCKS = sizeof(clocks) / sizeof(*clocks) };

struct reading {
	uint64_t ns[CLOCKS];
	uint64_t ticks;
};

struct bracket {
	struct reading before, after;
	uint64_t device_ns; /* when the marker ended; 0: not known */
};

static void read_clocks(struct reading *ret)
{
	for (size_t i = 0; i < CLOCKS; i++) {
		struct timespec now;

		clock_gettime(clocks[i].id, &now);
		ret->ns[i] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
	ret->ticks = wti_cl_ticks();
}

static bool probe_once(cl_command_queue queue, struct bracket *ret)
{
	cl_ulong ended = 0;
	cl_event event = NULL;
	bool done;

	read_clocks(&ret->before);
	done = wti_cl.real.clEnqueueMarkerWithWaitList(queue, 0, NULL, &event) == CL_SUCCESS &&
	       wti_cl.real.clWaitForEvents(1, &event) == CL_SUCCESS;
	read_clocks(&ret->after);
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

/* The clock of the system that it falls into; 0: none. */
static uint32_t domain_of(const struct bracket *bracket)
{
	for (size_t i = 0; i < CLOCKS; i++)
		if (bracket->device_ns + SLACK_NS >= bracket->before.ns[i] &&
		    bracket->device_ns <= bracket->after.ns[i] + SLACK_NS)
			return clocks[i].domain;
	return 0;
}

/* The moment of this event is that in which the marker ended, as exactly as is known. */
static void emit_pair(uint32_t domain, const struct bracket *bracket)
{
	const struct wti_here here = wti_cl_here();
	uint64_t since_ns, error_ns = width_of(bracket);
	struct reading now;

	if (!here.ring)
		return;
	read_clocks(&now);
	since_ns = now.ns[0] - (bracket->before.ns[0] + error_ns / 2);
	error_ns = error_ns / 2 + 1;
	wti_emit_clock(here,
		       &(struct wti_record_clock){
			       .domain = domain,
			       .error = (uint32_t)(error_ns < UINT32_MAX ? error_ns : UINT32_MAX),
			       .value = bracket->device_ns + since_ns});
}

/* A pair of a clock of the system is made anew: nothing but a call lies between. */
static void emit_system_pair(uint32_t domain)
{
	const struct wti_here here = wti_cl_here();
	struct bracket bracket;
	size_t which = 0;

	while (clocks[which].domain != domain)
		which++;
	read_clocks(&bracket.before);
	read_clocks(&bracket.after);
	if (here.ring)
		wti_emit_clock(here, &(struct wti_record_clock){
					     .domain = domain,
					     .error = (uint32_t)(width_of(&bracket) + 1),
					     .value = bracket.after.ns[which]});
}

static uint32_t find_clock(cl_context context, cl_device_id device, uint32_t number)
{
	struct bracket bracket = {0};
	uint32_t domain;

	if (!wti_cl.real.clEnqueueMarkerWithWaitList || !probe(context, device, &bracket))
		return 0;
	domain = domain_of(&bracket);
	if (domain) {
		emit_system_pair(domain);
		return domain;
	}
	emit_pair(DOMAIN_FIRST + number, &bracket);
	return DOMAIN_FIRST + number;
}

/* With the lock held. */
static uint32_t index_of(cl_device_id device)
{
	char name[256] = "";
	uint32_t at = 0;

	while (at < devices.count && devices.all[at].device.handle != device)
		at++;
	if (at < devices.count || at == DEVICES_MAX)
		return at < DEVICES_MAX ? at : DEVICES_MAX - 1;
	devices.all[at].device = (struct wti_cl_device){.handle = device, .number = at};
	devices.count++;
	wti_cl.real.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	wti_cl_object_add(device, &(struct wti_cl_new){.type = WT_DEVICE_OBJECT_TYPE_DEVICE,
						       .device = at,
						       .name = wti_name_find(name, strlen(name))});
	return at;
}

uint32_t wti_cl_device_number(cl_device_id device)
{
	uint32_t number;

	pthread_mutex_lock(&devices.lock);
	number = index_of(device);
	pthread_mutex_unlock(&devices.lock);
	return number;
}

uint32_t wti_cl_device_clock(cl_context context, cl_device_id device)
{
	uint32_t at, clock;

	pthread_mutex_lock(&devices.lock);
	at = index_of(device);
	if (!devices.all[at].is_probed)
		devices.all[at].device.clock = find_clock(context, device, at);
	devices.all[at].is_probed = true;
	clock = devices.all[at].device.clock;
	pthread_mutex_unlock(&devices.lock);
	return clock;
}
