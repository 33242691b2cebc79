/* SPDX-License-Identifier: Apache-2.0 */
/* Finding libcupti. A program must not have two: the one that it has loaded itself comes first. */
#include "cupti.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* The one that this CUDA's programs load, newest first; 11 has its minor version in the name. */
static const char *const names[] = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
				    "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so"};

#define ENTRY(member, symbol, needed)                                                              \
	{                                                                                          \
		offsetof(struct wti_cupti, member), symbol, needed                                 \
	}
static const struct {
	size_t at;
	const char *symbol;
	bool needed;
} entries[] = {
	ENTRY(get_version, "cuptiGetVersion", true),
	ENTRY(get_timestamp, "cuptiGetTimestamp", true),
	ENTRY(register_callbacks, "cuptiActivityRegisterCallbacks", true),
	ENTRY(enable, "cuptiActivityEnable", true),
	ENTRY(flush_all, "cuptiActivityFlushAll", true),
	ENTRY(next_record, "cuptiActivityGetNextRecord", true),
	ENTRY(dropped_records, "cuptiActivityGetNumDroppedRecords", true),
	ENTRY(subscribe, "cuptiSubscribe", true),
	ENTRY(unsubscribe, "cuptiUnsubscribe", true),
	ENTRY(enable_domain, "cuptiEnableDomain", true),
	ENTRY(enable_callback, "cuptiEnableCallback", true),
	ENTRY(callback_name, "cuptiGetCallbackName", true),
	ENTRY(result_string, "cuptiGetResultString", false),
	ENTRY(flush_period, "cuptiActivityFlushPeriod", false),
	ENTRY(push_external, "cuptiActivityPushExternalCorrelationId", false),
	ENTRY(pop_external, "cuptiActivityPopExternalCorrelationId", false),
	ENTRY(timestamp_callback, "cuptiActivityRegisterTimestampCallback", false),
	ENTRY(latency_timestamps, "cuptiActivityEnableLatencyTimestamps", false),
	ENTRY(thread_id_type, "cuptiSetThreadIdType", false),
	ENTRY(enable_runtime_call, "cuptiActivityEnableRuntimeApi", false),
	ENTRY(enable_driver_call, "cuptiActivityEnableDriverApi", false),
};

static int find_loaded(struct dl_phdr_info *info, size_t bytes, void *cookie)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	char *path = cookie;

	(void)bytes;
	if (!slash || strncmp(slash + 1, "libcupti.so", 11) != 0 ||
	    strlen(info->dlpi_name) >= PATH_MAX)
		return 0;
	memcpy(path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 1;
}

static void *open_library(const char *path)
{
	char loaded[PATH_MAX];
	void *library = NULL;

	if (dl_iterate_phdr(find_loaded, loaded))
		library = dlopen(loaded, RTLD_NOW | RTLD_NOLOAD);
	if (!library && path[0])
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* The first function that is missing, or NULL. */
static const char *find_functions(struct wti_cupti *cupti)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		void *function = dlsym(cupti->library, entries[i].symbol);

		if (!function && entries[i].needed)
			return entries[i].symbol;
		memcpy((uint8_t *)cupti + entries[i].at, &function, sizeof(function));
	}
	return NULL;
}

/* CUDA 12.0 and 12.1 did not count the version up: the name of the file tells them from 11.8. */
static uint32_t version_of(const struct wti_cupti *cupti, uint32_t said)
{
	void *function = dlsym(cupti->library, "cuptiGetVersion");
	Dl_info info;

	if (said != 18 || !dladdr(function, &info) || !info.dli_fname)
		return said;
	return strstr(info.dli_fname, "libcupti.so.12") ? 19 : said;
}

bool wti_cupti_load(struct wti_cupti *cupti, const char *path, char *why, size_t why_bytes)
{
	const char *missing;
	uint32_t version = 0;

	*cupti = (struct wti_cupti){.library = open_library(path)};
	if (!cupti->library) {
		snprintf(why, why_bytes,
			 "libcupti was not found; install nvidia-cuda-cupti, or set CUDA_HOME");
		return false;
	}
	missing = find_functions(cupti);
	if (missing) {
		snprintf(why, why_bytes, "libcupti has no %s: it is too old", missing);
		return false;
	}
	if (cupti->get_version(&version) || !version) {
		snprintf(why, why_bytes, "libcupti gives no version: its driver is missing");
		return false;
	}
	cupti->version = version_of(cupti, version);
	return true;
}
