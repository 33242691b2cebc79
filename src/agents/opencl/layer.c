/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entrance: a layer that OpenCL's loader puts between the program and the driver
 * (OPENCL_LAYERS). If nobody records us, everything is handed on.
 */
#include "own.h"

#include <CL/cl_layer.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SETTINGS_BYTES = 1 << 16,
};
#define NUMBER_FIRST (UINT64_C(1) << 32) /* CUDA's correlations are below */

struct wti_cl wti_cl;

uint64_t wti_cl_number(void)
{
	return NUMBER_FIRST +
	       atomic_fetch_add_explicit(&wti_cl.number_last, 1, memory_order_relaxed) + 1;
}

uint64_t wti_cl_ticks(void)
{
	return wti_ticks(wti_cl.agent->agent->ring_flags);
}

static bool is_set(const char *settings, const char *line)
{
	const size_t bytes = strlen(line);

	for (const char *at = settings; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, line, bytes) && (at[bytes] == '\n' || !at[bytes]))
			return true;
	}
	return false;
}

static void read_settings(void)
{
	char *text = calloc(1, SETTINGS_BYTES);
	ssize_t bytes = text ? wti_cl.agent->settings_read(text, SETTINGS_BYTES - 1) : 0;

	if (bytes > 0) {
		wti_cl.replayable = is_set(text, "opencl_replayable=1");
		wti_cl.stacks = is_set(text, "opencl_stacks=1");
	}
	free(text);
}

static void take_all(cl_icd_dispatch *ours)
{
	wti_cl_take_contexts(ours);
	wti_cl_take_queues(ours);
	wti_cl_take_memory(ours);
	wti_cl_take_programs(ours);
	wti_cl_take_kernels(ours);
	wti_cl_take_buffers(ours);
	wti_cl_take_images(ours);
	wti_cl_take_svm(ours);
	wti_cl_take_order(ours);
	wti_cl_take_events(ours);
	wti_cl_take_callbacks(ours);
	wti_cl_take_devices(ours);
	wti_cl_take_extensions(ours);
}

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info which, size_t room, void *out, size_t *ret_bytes)
{
	static const char name[] = "wheeltap";
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *value = which == CL_LAYER_NAME ? (const void *)name : &version;
	const size_t bytes = which == CL_LAYER_NAME ? sizeof(name) : sizeof(version);

	if (which != CL_LAYER_NAME && which != CL_LAYER_API_VERSION)
		return CL_INVALID_VALUE;
	if (out && room < bytes)
		return CL_INVALID_VALUE;
	if (out)
		memcpy(out, value, bytes);
	if (ret_bytes)
		*ret_bytes = bytes;
	return CL_SUCCESS;
}

/* A child that uses OpenCL anew is recorded like any other program. */
static void forked(void)
{
	wti_cl.pid = (uint32_t)getpid();
	wti_cl_locks_reset();
	wti_cl_harvest_forked();
}

/*
 * An older loader has fewer entries: what it does not have is NULL here, and not taken over. If we
 * are in the list twice, or a second loader is in the process, all is handed on the second time.
 */
__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *ret_count,
	    const cl_icd_dispatch **ret_ours)
{
	const size_t entries = sizeof(wti_cl.real) / sizeof(void *);
	const size_t kept = count < entries ? count : entries;

	if (!target || !ret_count || !ret_ours)
		return CL_INVALID_VALUE;
	if (wti_cl.is_loaded) {
		*ret_count = count;
		*ret_ours = target;
		return CL_SUCCESS;
	}
	wti_cl.is_loaded = true;
	memcpy(&wti_cl.real, target, kept * sizeof(void *));
	memcpy(&wti_cl.ours, target, kept * sizeof(void *));
	wti_cl.pid = (uint32_t)getpid();
	wti_cl.agent = wti_guest_find();
	if (wti_cl.agent) {
		read_settings();
		take_all(&wti_cl.ours);
		atexit(wti_cl_harvest_end);
		pthread_atfork(NULL, NULL, forked);
	}
	*ret_count = (cl_uint)kept;
	*ret_ours = &wti_cl.ours;
	return CL_SUCCESS;
}
