/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of CUDA's two APIs as they are made. Each is a span on its thread, so that it nests in what
 * the program's own agent emits there, and launches carry their correlation. A call of the driver
 * that one of the runtime makes is no call of the program's and is passed over. No lock, no
 * allocation: a name is looked up at its first call.
 */
#include <string.h>

#include "common/launching.h"
#include "emit.h"

#include "cuda.h"

enum { CBIDS_MAX = 2048 }; /* CUDA 13 has 500 of the runtime and 800 of the driver */

struct known_call {
	struct wt_name *_Atomic name;
	bool launches; /* it may have to do with an operation of its correlation */
};

static struct known_call known[2][CBIDS_MAX]; /* driver, runtime */
static __thread uint32_t runtime_depth __attribute__((tls_model("initial-exec")));

/* Questions that programs ask all the time and that do nothing on a device. */
static const char *const quiet[] = {
	"cudaGetDevice",
	"cudaSetDevice",
	"cudaGetLastError",
	"cudaPeekAtLastError",
	"cudaDeviceGetAttribute",
	"cudaGetDeviceCount",
	"cudaGetDeviceProperties",
	"cudaPointerGetAttributes",
	"cudaFuncGetAttributes",
	"cudaOccupancy",
	"cudaStreamIsCapturing",
	"cudaStreamGetCaptureInfo",
	"cudaStreamGetPriority",
	"cudaThreadExchangeStreamCaptureMode",
	"__cudaPushCallConfiguration",
	"__cudaPopCallConfiguration",
	"cuCtxGet",
	"cuCtxSetCurrent",
	"cuCtxPushCurrent",
	"cuCtxPopCurrent",
	"cuDeviceGet",
	"cuKernelGet",
	"cuFuncGetAttribute",
	"cuPointerGetAttribute",
	"cuDevicePrimaryCtxGetState",
	"cuGetProcAddress",
	"cuGetExportTable",
	"cuDriverGetVersion",
	"cuModuleGetFunction",
	"cuLibraryGetKernel",
	"cuOccupancy",
};

static bool is_quiet(const char *name)
{
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
		if (!strncmp(name, quiet[i], strlen(quiet[i])))
			return true;
	return false;
}

/* Two threads may do this at once: both write the same. */
static struct wt_name *learn(struct known_call *call, const char *text)
{
	struct wt_name *name;

	if (!text)
		text = "CUDA call";
	name = wti_name_find(text, strlen(text));
	call->launches = wti_launching(text);
	atomic_store_explicit(&call->name, name, memory_order_release);
	return name;
}

static void enter(struct wti_here here, struct known_call *call, const struct wti_cupti_call *data)
{
	struct wt_name *name = atomic_load_explicit(&call->name, memory_order_acquire);

	if (!name)
		name = learn(call, data->function);
	wti_emit_span_begin(here, &(struct wti_record_span_begin){.name = wti_name(here, name),
								  .flags = WT_SPAN_RUNTIME});
	if (call->launches)
		wti_emit_edge(here, &(struct wti_record_edge){.type = WT_EDGE_LAUNCH,
							      .from = data->correlation,
							      .to = data->correlation});
}

static void leave(struct wti_here here, const struct known_call *call)
{
	struct wt_name *name = atomic_load_explicit(&call->name, memory_order_acquire);

	if (name)
		wti_emit_span_end(here,
				  &(struct wti_record_span_end){.name = wti_name(here, name)});
}

static void called(void *cookie, int domain, uint32_t cbid, const void *opaque)
{
	const struct wti_cupti_call *data = opaque;
	struct known_call *call;
	struct wti_here here;

	(void)cookie;
	if (atomic_load_explicit(&wti_cuda.state, memory_order_relaxed) != WTI_CUDA_ON || !data ||
	    cbid >= CBIDS_MAX ||
	    (domain != WTI_CUPTI_DOMAIN_DRIVER && domain != WTI_CUPTI_DOMAIN_RUNTIME))
		return;
	if (domain == WTI_CUPTI_DOMAIN_DRIVER && runtime_depth)
		return;
	here = wti_cuda.agent->here();
	if (!here.ring)
		return;
	call = &known[domain == WTI_CUPTI_DOMAIN_RUNTIME][cbid];
	if (domain == WTI_CUPTI_DOMAIN_RUNTIME)
		runtime_depth += data->site == 0 ? 1u : -(uint32_t)(runtime_depth != 0);
	if (data->site == 0)
		enter(here, call, data);
	else
		leave(here, call);
}

static void silence(int domain, int (*off)(int domain, uint32_t cbid))
{
	const char *name;

	for (uint32_t cbid = 1; cbid < CBIDS_MAX; cbid++) {
		if (wti_cuda.cupti.callback_name(domain, cbid, &name) || !name)
			continue;
		if (is_quiet(name))
			off(domain, cbid);
	}
}

static int callback_off(int domain, uint32_t cbid)
{
	return wti_cuda.cupti.enable_callback(0, wti_cuda.subscriber, domain, cbid);
}

static int record_off(int domain, uint32_t cbid)
{
	int (*off)(uint32_t, uint8_t) = domain == WTI_CUPTI_DOMAIN_RUNTIME
						? wti_cuda.cupti.enable_runtime_call
						: wti_cuda.cupti.enable_driver_call;

	return off ? off(cbid, 0) : 0;
}

bool wti_cuda_calls_start(void)
{
	const struct wti_cupti *cupti = &wti_cuda.cupti;
	int r = cupti->subscribe(&wti_cuda.subscriber, called, NULL);

	if (!r) {
		r = cupti->enable_domain(1, wti_cuda.subscriber, WTI_CUPTI_DOMAIN_RUNTIME);
		r = r ? r : cupti->enable_domain(1, wti_cuda.subscriber, WTI_CUPTI_DOMAIN_DRIVER);
		if (r)
			cupti->unsubscribe(wti_cuda.subscriber);
	}
	if (r) {
		wti_cuda.subscriber = NULL;
		return false;
	}
	silence(WTI_CUPTI_DOMAIN_RUNTIME, callback_off);
	silence(WTI_CUPTI_DOMAIN_DRIVER, callback_off);
	return true;
}

void wti_cuda_calls_quiet(void)
{
	silence(WTI_CUPTI_DOMAIN_RUNTIME, record_off);
	silence(WTI_CUPTI_DOMAIN_DRIVER, record_off);
}
