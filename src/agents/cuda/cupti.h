/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libcupti, found while the program runs. Knows their names and shapes, and where
 * the library may be; nothing is linked and no header of NVIDIA's is needed.
 */
#ifndef WTI_AGENTS_CUDA_CUPTI_H
#define WTI_AGENTS_CUDA_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity.h"

enum {
	WTI_CUPTI_SUCCESS = 0,
	WTI_CUPTI_NOT_COMPATIBLE = 14,
	WTI_CUPTI_NO_PRIVILEGES = 35,
	WTI_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	/* CUpti_CallbackDomain */
	WTI_CUPTI_DOMAIN_DRIVER = 1,
	WTI_CUPTI_DOMAIN_RUNTIME = 2,
	/* CUpti_ExternalCorrelationKind: 3 and 4 are those of PyTorch's profiler */
	WTI_CUPTI_EXTERNAL_OURS = 5,
	WTI_CUPTI_THREAD_ID_SYSTEM = 1,
	WTI_CUPTI_FLUSH_FORCED = 1,
	/* From here on a buffer may be refused; before, the library would not look. */
	WTI_CUPTI_VERSION_REFUSE = 27,
};

typedef void wti_cupti_request_fn(uint8_t **buffer, size_t *bytes, size_t *records_max);
typedef void wti_cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				   size_t valid_bytes);
typedef void wti_cupti_callback_fn(void *cookie, int domain, uint32_t cbid, const void *data);
typedef uint64_t wti_cupti_clock_fn(void);

/* CUpti_CallbackData, as far as it is used; the same from CUPTI 11 to 13. */
struct wti_cupti_call {
	uint32_t site; /* 0: entered, 1: left */
	uint32_t pad0;
	const char *function;
	const void *parameters;
	void *returned;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint32_t pad1;
	uint64_t *correlation_data;
	uint32_t correlation;
};

/* Those without a remark are needed; others are NULL where the library is too old for them. */
struct wti_cupti {
	void *library;
	uint32_t version; /* with 19 for the 18 of CUDA 12, see activity.h */
	int (*get_version)(uint32_t *version);
	int (*get_timestamp)(uint64_t *ns);
	int (*register_callbacks)(wti_cupti_request_fn *request, wti_cupti_complete_fn *complete);
	int (*enable)(uint32_t kind);
	int (*flush_all)(uint32_t flags);
	wti_cuda_next_fn *next_record;
	int (*dropped_records)(void *context, uint32_t stream, size_t *count);
	int (*subscribe)(void **subscriber, wti_cupti_callback_fn *callback, void *cookie);
	int (*unsubscribe)(void *subscriber);
	int (*enable_domain)(uint32_t enable, void *subscriber, int domain);
	int (*enable_callback)(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
	int (*callback_name)(int domain, uint32_t cbid, const char **name);
	int (*result_string)(int result, const char **text); /* optional, as all below */
	int (*flush_period)(uint32_t milliseconds);          /* since 11.1 */
	int (*push_external)(int kind, uint64_t id);
	int (*pop_external)(int kind, uint64_t *id);
	int (*timestamp_callback)(wti_cupti_clock_fn *clock); /* since 11.6 */
	int (*latency_timestamps)(uint8_t enable);
	int (*thread_id_type)(int type);
	int (*enable_runtime_call)(uint32_t cbid, uint8_t enable); /* since 12.5 */
	int (*enable_driver_call)(uint32_t cbid, uint8_t enable);
};

/*
 * Loads it: the copy that the program has loaded already, otherwise `path` if that is not empty,
 * otherwise by the names under which the loader may know it. False: there is none, or one that
 * cannot be used, and `why` says so.
 */
bool wti_cupti_load(struct wti_cupti *cupti, const char *path, char *why, size_t why_bytes);

#endif
