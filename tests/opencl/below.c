/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer below ours that makes the driver look like others: BELOW_CLOCK is the clock of its time
 * stamps (monotonic, realtime, or own: one that nobody else has), with BELOW_SUBMITS commands are
 * submitted as soon as they are queued, whatever they wait for, and with BELOW_IL there is an
 * intermediate language, which is source with one constant, C7.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN_BEGINS_NS 5000000000 /* what the own clock shows when the program starts */

static struct {
	cl_icd_dispatch real, ours;
	int64_t offset_ns; /* of its clock from the driver's, which is CLOCK_MONOTONIC_RAW */
	int submits;
	int constant;
} below;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static cl_int CL_API_CALL profiling_info(cl_event event, cl_profiling_info which, size_t room,
					 void *out, size_t *ret_bytes)
{
	cl_int status;
	int64_t ns;

	if (below.submits && which == CL_PROFILING_COMMAND_SUBMIT)
		which = CL_PROFILING_COMMAND_QUEUED;
	status = below.real.clGetEventProfilingInfo(event, which, room, out, ret_bytes);
	if (status == CL_SUCCESS && out) {
		memcpy(&ns, out, sizeof(ns));
		ns += below.offset_ns;
		memcpy(out, &ns, sizeof(ns));
	}
	return status;
}

static cl_program CL_API_CALL with_il(cl_context context, const void *il, size_t bytes,
				      cl_int *status)
{
	const char *source = il;

	return below.real.clCreateProgramWithSource(context, 1, &source, &bytes, status);
}

static cl_int CL_API_CALL set_constant(cl_program program, cl_uint id, size_t bytes,
				       const void *value)
{
	(void)program;
	if (id != 7 || bytes != sizeof(below.constant))
		return CL_INVALID_SPEC_ID;
	memcpy(&below.constant, value, bytes);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
					const cl_device_id *devices, const char *options,
					void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	char more[256];

	snprintf(more, sizeof(more), "%s -DC7=%d", options ? options : "", below.constant);
	return below.real.clBuildProgram(program, count, devices, more, notify, data);
}

static int64_t clock_offset(const char *word)
{
	const int64_t raw = now_ns(CLOCK_MONOTONIC_RAW);

	if (word && !strcmp(word, "monotonic"))
		return now_ns(CLOCK_MONOTONIC) - raw;
	if (word && !strcmp(word, "realtime"))
		return now_ns(CLOCK_REALTIME) - raw;
	return word && !strcmp(word, "own") ? OWN_BEGINS_NS - raw : 0;
}

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info which, size_t room, void *out, size_t *ret_bytes)
{
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (which != CL_LAYER_API_VERSION || (out && room < sizeof(version)))
		return CL_INVALID_VALUE;
	if (out)
		memcpy(out, &version, sizeof(version));
	if (ret_bytes)
		*ret_bytes = sizeof(version);
	return CL_SUCCESS;
}

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *ret_count,
	    const cl_icd_dispatch **ret_ours)
{
	const size_t entries = sizeof(below.real) / sizeof(void *);
	const size_t kept = count < entries ? count : entries;

	memcpy(&below.real, target, kept * sizeof(void *));
	below.ours = below.real;
	below.ours.clGetEventProfilingInfo = profiling_info;
	below.offset_ns = clock_offset(getenv("BELOW_CLOCK"));
	below.submits = getenv("BELOW_SUBMITS") != NULL;
	if (getenv("BELOW_IL")) {
		below.ours.clCreateProgramWithIL = with_il;
		below.ours.clSetProgramSpecializationConstant = set_constant;
		below.ours.clBuildProgram = build_program;
	}
	*ret_count = (cl_uint)kept;
	*ret_ours = &below.ours;
	return CL_SUCCESS;
}
