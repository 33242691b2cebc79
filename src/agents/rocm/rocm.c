/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entrance: rocprofiler-sdk calls rocprofiler_configure() when the program starts to use a
 * device. Whatever is missing, the program goes on as if we were not there.
 */
#include "rocm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"

#define BUFFER_BYTES (4u << 20)
#define WATERMARK_BYTES (BUFFER_BYTES / 2) /* half full: it is handed over */

struct wti_rocm wti_rocm;

#define ENTRY(member, symbol)                                                                      \
	{                                                                                          \
		offsetof(struct wti_rocm_sdk, member), symbol                                      \
	}
static const struct {
	size_t at;
	const char *symbol;
} entries[] = {
	ENTRY(create_context, "rocprofiler_create_context"),
	ENTRY(start_context, "rocprofiler_start_context"),
	ENTRY(create_buffer, "rocprofiler_create_buffer"),
	ENTRY(flush_buffer, "rocprofiler_flush_buffer"),
	ENTRY(trace_buffer, "rocprofiler_configure_buffer_tracing_service"),
	ENTRY(trace_callback, "rocprofiler_configure_callback_tracing_service"),
	ENTRY(operation_name, "rocprofiler_query_callback_tracing_kind_operation_name"),
	ENTRY(get_timestamp, "rocprofiler_get_timestamp"),
};

static void say(const char *what)
{
	const struct wti_here here = wti_rocm.agent->here();
	char text[160];
	struct wti_kept_text kept = {.data = text};

	kept.bytes = (uint32_t)snprintf(text, sizeof(text),
					"ROCm: nothing of devices is recorded: %s", what);
	if (kept.bytes >= sizeof(text))
		kept.bytes = sizeof(text) - 1;
	if (here.ring)
		wti_emit_note(here, &(struct wti_record_note){.code = WT_NOTE_DEVICE}, &kept);
}

/* The library has loaded us: its functions are in the program already. */
static bool find_functions(void)
{
	void *library = dlopen("librocprofiler-sdk.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		library = dlopen("librocprofiler-sdk.so.0", RTLD_NOW | RTLD_NOLOAD);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		void *function = dlsym(library ? library : RTLD_DEFAULT, entries[i].symbol);

		if (!function)
			return false;
		memcpy((uint8_t *)&wti_rocm.sdk + entries[i].at, &function, sizeof(function));
	}
	return true;
}

static int trace_calls(int kind)
{
	void *callback = wti_rocm.version >= WTI_ROCM_VERSION_ANCESTOR ? (void *)wti_rocm_called1
								       : (void *)wti_rocm_called0;

	return wti_rocm.sdk.trace_callback(wti_rocm.context, kind, NULL, 0, callback, NULL);
}

static int configure(void)
{
	const struct wti_rocm_sdk *sdk = &wti_rocm.sdk;
	int r = sdk->create_context(&wti_rocm.context);

	if (!r)
		r = sdk->create_buffer(wti_rocm.context, BUFFER_BYTES, WATERMARK_BYTES,
				       WTI_ROCM_POLICY_LOSSLESS, wti_rocm_records, NULL,
				       &wti_rocm.buffer);
	if (!r)
		r = trace_calls(WTI_ROCM_CODE_OBJECT);
	if (!r)
		r = trace_calls(WTI_ROCM_CALL_HIP);
	if (!r) /* without roctx there are no ranges, and all else */
		trace_calls(WTI_ROCM_CALL_MARKER);
	if (!r)
		r = sdk->trace_buffer(wti_rocm.context, WTI_ROCM_KERNEL, NULL, 0, wti_rocm.buffer);
	if (!r)
		r = sdk->trace_buffer(wti_rocm.context, WTI_ROCM_COPY, NULL, 0, wti_rocm.buffer);
	return r;
}

static int initialize(void (*finalize)(struct wti_rocm_client), void *data)
{
	atomic_store(&wti_rocm.is_on, true);
	if (configure() || wti_rocm.sdk.start_context(wti_rocm.context)) {
		atomic_store(&wti_rocm.is_on, false);
		say("rocprofiler-sdk refused; is another tool in the program?");
	}
	return 0;
}

static void finalize(void *data)
{
	if (!atomic_load(&wti_rocm.is_on))
		return;
	wti_rocm.sdk.flush_buffer(wti_rocm.buffer);
	wti_rocm_records_end();
	atomic_store(&wti_rocm.is_on, false);
}

/* A child has no thread of the library's. */
static void in_child(void)
{
	atomic_store(&wti_rocm.is_on, false);
}

/* The library finds it by this name. */
__attribute__((visibility("default"))) struct wti_rocm_tool *
rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority,
		      struct wti_rocm_client *client);

struct wti_rocm_tool *rocprofiler_configure(uint32_t version, const char *runtime,
					    uint32_t priority, struct wti_rocm_client *client)
{
	static struct wti_rocm_tool tool = {sizeof(tool), initialize, finalize, NULL};

	if (wti_rocm.agent)
		return NULL; /* once is enough */
	wti_rocm.agent = wti_guest_find();
	if (!wti_rocm.agent)
		return NULL;
	if (client)
		client->name = "wheeltap";
	wti_rocm.version = version;
	if (!find_functions()) {
		say("a function of rocprofiler-sdk is missing; version 0.5 or later has it");
		return NULL;
	}
	pthread_atfork(NULL, NULL, in_child);
	return &tool;
}
