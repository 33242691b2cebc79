/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is used of rocprofiler-sdk: shapes of its functions and records, in our own words. The
 * library loads us, so that its functions are found in the program; no header of AMD's is needed.
 */
#ifndef WTI_AGENTS_ROCM_SDK_H
#define WTI_AGENTS_ROCM_SDK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WTI_ROCM_CATEGORY_TRACING = 1,
	/* Kinds of records in buffers. */
	WTI_ROCM_COPY = 10,
	WTI_ROCM_KERNEL = 11,
	/* Kinds of callbacks. */
	WTI_ROCM_CALL_HIP = 5,
	WTI_ROCM_CALL_MARKER = 7, /* of roctx */
	WTI_ROCM_CODE_OBJECT = 10,
	WTI_ROCM_KERNEL_SYMBOL = 2, /* operation of a code object */
	WTI_ROCM_ENTER = 1,
	WTI_ROCM_EXIT = 2,
	WTI_ROCM_POLICY_LOSSLESS = 2,
	/* 10000 * major + 100 * minor: from here on a call knows the call that made it. */
	WTI_ROCM_VERSION_ANCESTOR = 10000,
};

struct wti_rocm_id {
	uint64_t handle;
};

struct wti_rocm_header {
	uint32_t category;
	uint32_t kind;
	const void *payload;
};

/* As far as it is used; `bytes` is how much of it there is. */
struct wti_rocm_kernel {
	uint64_t bytes;
	uint32_t kind;
	uint32_t operation;
	uint64_t correlation;
	uint64_t external;
	uint64_t thread;
	uint64_t start;
	uint64_t end;
	uint64_t info_bytes;
	uint64_t agent;
	uint64_t queue;
	uint64_t kernel;
	uint64_t dispatch;
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint32_t block[3];
	uint32_t grid[3]; /* of work-items, not of groups */
};

struct wti_rocm_copy {
	uint64_t bytes_of_record;
	uint32_t kind;
	uint32_t operation;
	uint64_t correlation;
	uint64_t external;
	uint64_t thread;
	uint64_t start;
	uint64_t end;
	uint64_t to_agent;
	uint64_t from_agent;
	uint64_t bytes; /* since 0.5 */
};

struct wti_rocm_symbol {
	uint64_t bytes;
	uint64_t kernel;
	uint64_t code_object;
	const char *name;
};

/* Arguments of roctx: those that have a text have it first. */
struct wti_rocm_marker {
	uint64_t bytes;
	const char *message;
};

/* A call, of version 0 and of version 1. They come by value. */
struct wti_rocm_call0 {
	uint64_t context, thread, correlation, external;
	uint32_t kind, operation, phase, pad;
	const void *payload;
};
struct wti_rocm_call1 {
	uint64_t context, thread, correlation, external, ancestor;
	uint32_t kind, operation, phase, pad;
	const void *payload;
};

typedef void wti_rocm_buffer_fn(struct wti_rocm_id context, struct wti_rocm_id buffer,
				struct wti_rocm_header **headers, size_t count, void *cookie,
				uint64_t dropped);

struct wti_rocm_sdk {
	int (*create_context)(struct wti_rocm_id *context);
	int (*start_context)(struct wti_rocm_id context);
	int (*create_buffer)(struct wti_rocm_id context, size_t bytes, size_t watermark, int policy,
			     wti_rocm_buffer_fn *callback, void *cookie,
			     struct wti_rocm_id *buffer);
	int (*flush_buffer)(struct wti_rocm_id buffer);
	int (*trace_buffer)(struct wti_rocm_id context, int kind, const uint32_t *operations,
			    size_t count, struct wti_rocm_id buffer);
	int (*trace_callback)(struct wti_rocm_id context, int kind, const uint32_t *operations,
			      size_t count, void *callback, void *cookie);
	int (*operation_name)(int kind, uint32_t operation, const char **name, uint64_t *bytes);
	int (*get_timestamp)(uint64_t *ns);
};

struct wti_rocm_client {
	const char *name;
	uint32_t handle;
};

struct wti_rocm_tool {
	size_t bytes;
	int (*initialize)(void (*finalize)(struct wti_rocm_client), void *data);
	void (*finalize)(void *data);
	void *data;
};

#endif
