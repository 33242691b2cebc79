/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entrance of the agent, and what it asks of CUPTI. The driver calls InitializeInjection() when
 * the program initialises CUDA; whatever is missing, the program goes on as if we were not there.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "common/setting.h"

#include "cuda.h"

#define FLUSH_PERIOD_MS 100 /* what a program that is killed loses at most, where CUPTI can */
#define SETTINGS_BYTES_MAX (64u << 10)

struct wti_cuda wti_cuda;

/* What devices did, and what that needs to be understood. Never WTI_CUDA_KERNEL: it serialises. */
static const uint32_t wanted[] = {
	WTI_CUDA_CONCURRENT_KERNEL,
	WTI_CUDA_MEMCPY,
	WTI_CUDA_MEMCPY2,
	WTI_CUDA_MEMSET,
	WTI_CUDA_SYNCHRONIZATION,
	WTI_CUDA_EVENT,
	WTI_CUDA_DEVICE,
	WTI_CUDA_CONTEXT,
	WTI_CUDA_STREAM,
	WTI_CUDA_MEMORY2,
	WTI_CUDA_MEMORY_POOL,
	WTI_CUDA_MARKER,
	WTI_CUDA_OVERHEAD,
	WTI_CUDA_JIT,
};

/* ---- Buffers: called on any thread of the program or of CUPTI -------------------------------- */

static void requested(uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_records_max)
{
	const bool always = wti_cuda.cupti.version < WTI_CUPTI_VERSION_REFUSE;
	struct wti_cuda_buffer *buffer = wti_cuda_buffer_take(&wti_cuda.buffers, always);

	*ret_buffer = buffer ? buffer->data : NULL;
	*ret_bytes = buffer ? WTI_CUDA_BUFFER_BYTES : 0;
	*ret_records_max = 0; /* as many as fit */
}

static void completed(void *context, uint32_t stream, uint8_t *data, size_t bytes,
		      size_t valid_bytes)
{
	struct wti_cuda_buffer *buffer;
	size_t dropped = 0;

	if (!data)
		return;
	buffer = wti_cuda_buffer_of(data);
	buffer->valid_bytes =
		valid_bytes <= bytes && bytes <= WTI_CUDA_BUFFER_BYTES ? valid_bytes : 0;
	buffer->dropped = 0;
	if (!wti_cuda.cupti.dropped_records(context, stream, &dropped))
		buffer->dropped = dropped;
	wti_cuda_buffer_complete(&wti_cuda.buffers, buffer);
	sem_post(&wti_cuda.work);
}

/* ---- What the program's own agent tells us, where there are no callbacks --------------------- */

static void external_push(uint64_t event)
{
	if (atomic_load_explicit(&wti_cuda.state, memory_order_relaxed) == WTI_CUDA_ON)
		wti_cuda.cupti.push_external(WTI_CUPTI_EXTERNAL_OURS, event);
}

static void external_pop(void)
{
	uint64_t event;

	if (atomic_load_explicit(&wti_cuda.state, memory_order_relaxed) == WTI_CUDA_ON)
		wti_cuda.cupti.pop_external(WTI_CUPTI_EXTERNAL_OURS, &event);
}

static const char *call_name(int domain, uint32_t cbid)
{
	const char *name = NULL;

	return wti_cuda.cupti.callback_name(domain, cbid, &name) ? NULL : name;
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void missing(const char *what, int result)
{
	const char *text = NULL;

	if (wti_cuda.cupti.result_string && wti_cuda.cupti.result_string(result, &text))
		text = NULL;
	if (!wti_cuda.missing[0])
		snprintf(wti_cuda.missing, sizeof(wti_cuda.missing),
			 "CUDA: %s (CUPTI error %d, %s)", what, result, text ? text : "no text");
}

/* Another profiler has CUPTI's callbacks: calls come as records, and Python's as external ids. */
static void start_without_callbacks(void)
{
	const struct wti_cupti *cupti = &wti_cuda.cupti;

	missing("another profiler in the program has CUPTI's callbacks (torch.profiler, Nsight or "
		"compute-sanitizer): calls are reported afterwards, not as spans",
		WTI_CUPTI_MULTIPLE_SUBSCRIBERS);
	cupti->enable(WTI_CUDA_RUNTIME);
	cupti->enable(WTI_CUDA_DRIVER);
	wti_cuda_calls_quiet();
	if (!cupti->push_external || !cupti->pop_external ||
	    cupti->enable(WTI_CUDA_EXTERNAL_CORRELATION))
		return;
	atomic_store(&wti_cuda.agent->agent->external_pop, external_pop);
	atomic_store(&wti_cuda.agent->agent->external_push, external_push);
}

/* Before the first record: they all have this clock. */
static void choose_clock(void)
{
	const struct wti_cupti *cupti = &wti_cuda.cupti;

	wti_cuda.own_clock =
		cupti->timestamp_callback && cupti->timestamp_callback(wti_clock_monotonic_ns) == 0;
	wti_cuda.report.clock = wti_cuda.own_clock ? WT_CLOCK_MONOTONIC : WT_CLOCK_REALTIME;
	if (cupti->latency_timestamps)
		cupti->latency_timestamps(1);
	if (cupti->thread_id_type)
		cupti->thread_id_type(WTI_CUPTI_THREAD_ID_SYSTEM);
}

static bool enable_all(void)
{
	const struct wti_cupti *cupti = &wti_cuda.cupti;
	int r = cupti->register_callbacks(requested, completed);

	for (size_t i = 0; !r && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const int failed = cupti->enable(wanted[i]);

		/* Older libraries do not know every kind; kernels they all know. */
		if (failed && wanted[i] == WTI_CUDA_CONCURRENT_KERNEL)
			r = failed;
	}
	if (r) {
		missing(r == WTI_CUPTI_NO_PRIVILEGES
				? "no privileges to trace kernels: allow it to all users "
				  "(NVreg_RestrictProfilingToAdminUsers=0)"
				: "kernels cannot be traced",
			r);
		return false;
	}
	if (wti_cuda.whole_graphs)
		cupti->enable(WTI_CUDA_GRAPH_TRACE);
	if (cupti->flush_period)
		cupti->flush_period(FLUSH_PERIOD_MS);
	return true;
}

static void read_settings(char path[PATH_MAX])
{
	static char text[SETTINGS_BYTES_MAX + 1];
	char graphs[16];
	ssize_t bytes = wti_cuda.agent->settings_read(text, SETTINGS_BYTES_MAX);

	path[0] = 0;
	if (bytes <= 0)
		return;
	text[bytes] = 0;
	if (!wti_setting(text, "cuda_cupti", path, PATH_MAX))
		path[0] = 0;
	wti_cuda.whole_graphs = wti_setting(text, "cuda_graphs", graphs, sizeof(graphs)) &&
				!strcmp(graphs, "whole");
}

/* ---- End ------------------------------------------------------------------------------------- */

static void at_exit(void)
{
	if (atomic_load(&wti_cuda.state) != WTI_CUDA_ON)
		return;
	wti_cuda.cupti.flush_all(WTI_CUPTI_FLUSH_FORCED);
	wti_cuda_worker_end();
}

/* A child has no worker, and CUDA does not survive a fork. */
static void in_child(void)
{
	atomic_store(&wti_cuda.state, WTI_CUDA_OFF);
}

static void say_what_is_missing(void)
{
	wti_cuda_report_note(wti_cuda.agent->here(), wti_cuda.missing);
}

static void start(void)
{
	char path[PATH_MAX], why[160];

	read_settings(path);
	wti_cuda.report.call_name = call_name;
	if (!wti_cupti_load(&wti_cuda.cupti, path, why, sizeof(why))) {
		snprintf(wti_cuda.missing, sizeof(wti_cuda.missing),
			 "CUDA: nothing of devices is recorded: %s", why);
		say_what_is_missing();
		return;
	}
	choose_clock();
	if (!wti_cuda_calls_start())
		start_without_callbacks();
	if (!enable_all()) {
		say_what_is_missing();
		return;
	}
	atomic_store(&wti_cuda.state, WTI_CUDA_ON);
	if (!wti_cuda_worker_start())
		atomic_store(&wti_cuda.state, WTI_CUDA_OFF);
	else
		atexit(at_exit);
}

/* The driver finds it by this name. */
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static bool done;

	pthread_mutex_lock(&once);
	if (!done) {
		done = true;
		wti_cuda.agent = wti_guest_find();
		if (wti_cuda.agent) {
			pthread_atfork(NULL, NULL, in_child);
			start();
		}
	}
	pthread_mutex_unlock(&once);
	return 1;
}
