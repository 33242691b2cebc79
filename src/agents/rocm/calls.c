/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of HIP as they are made, and the names of kernels when their code is loaded. */
#include <string.h>

#include "common/launching.h"
#include "emit.h"

#include "rocm.h"

struct known_call {
	struct wt_name *_Atomic name;
	_Atomic bool launches; /* set before the name, by whoever comes first: all set the same */
	_Atomic bool is_graph;
};

static struct known_call known[WTI_ROCM_OPERATIONS_MAX];

static void learn(struct known_call *call, uint32_t operation)
{
	const char *text = NULL;
	uint64_t bytes = 0;

	if (wti_rocm.sdk.operation_name(WTI_ROCM_CALL_HIP, operation, &text, &bytes) || !text)
		text = "HIP call";
	call->launches = wti_launching(text);
	call->is_graph = strstr(text, "GraphLaunch") != NULL;
	atomic_store_explicit(&call->name, wti_name_find(text, strlen(text)), memory_order_release);
}

static void enter(struct wti_here here, const struct known_call *call, uint64_t correlation)
{
	if (call->is_graph)
		atomic_store(&wti_rocm.graphs[correlation % WTI_ROCM_GRAPHS_MAX], correlation);
	wti_emit_span_begin(here, &(struct wti_record_span_begin){
					  .name = wti_name(here, atomic_load(&call->name)),
					  .flags = WT_SPAN_RUNTIME});
	if (call->launches)
		wti_emit_edge(here, &(struct wti_record_edge){.type = WT_EDGE_LAUNCH,
							      .from = correlation,
							      .to = correlation});
}

static void called(uint32_t operation, uint32_t phase, uint64_t correlation)
{
	struct known_call *call;
	struct wti_here here;

	if (operation >= WTI_ROCM_OPERATIONS_MAX)
		return;
	here = wti_rocm.agent->here();
	if (!here.ring)
		return;
	call = &known[operation];
	if (!atomic_load_explicit(&call->name, memory_order_acquire))
		learn(call, operation);
	if (phase == WTI_ROCM_ENTER)
		enter(here, call, correlation);
	else
		wti_emit_span_end(here, &(struct wti_record_span_end){
						.name = wti_name(here, atomic_load(&call->name))});
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Ids count up, so a place is free nearly always; once all are taken, searching must not take long.
 */
enum { PROBES_MAX = 64 };

static struct wti_rocm_named *kernel_place(uint64_t kernel)
{
	for (uint64_t i = 0; i < PROBES_MAX; i++) {
		struct wti_rocm_named *place =
			&wti_rocm.kernels[(kernel + i) % WTI_ROCM_KERNELS_MAX];
		uint64_t id = atomic_load(&place->id);

		if (id == kernel + 1)
			return place;
		if (!id && atomic_compare_exchange_strong(&place->id, &id, kernel + 1))
			return place;
	}
	return NULL;
}

/* Names of the compiler's end in ".kd". */
static void loaded(const struct wti_rocm_symbol *symbol)
{
	struct wti_rocm_named *place;
	size_t bytes;

	if (!symbol || symbol->bytes < sizeof(*symbol) || !symbol->name)
		return;
	bytes = strlen(symbol->name);
	if (bytes > 3 && !strcmp(symbol->name + bytes - 3, ".kd"))
		bytes -= 3;
	place = kernel_place(symbol->kernel);
	if (place)
		atomic_store(&place->name, wti_name_find(symbol->name, bytes));
}

struct wt_name *wti_rocm_kernel_name(uint64_t kernel)
{
	const struct wti_rocm_named *place = kernel_place(kernel);

	return place ? atomic_load(&place->name) : NULL;
}

bool wti_rocm_is_graph(uint64_t correlation)
{
	return correlation &&
	       atomic_load(&wti_rocm.graphs[correlation % WTI_ROCM_GRAPHS_MAX]) == correlation;
}

/* ---- Both versions --------------------------------------------------------------------------- */

static void dispatch(uint32_t kind, uint32_t operation, uint32_t phase, uint64_t correlation,
		     const void *payload)
{
	if (!atomic_load_explicit(&wti_rocm.is_on, memory_order_relaxed))
		return;
	if (kind == WTI_ROCM_CALL_HIP)
		called(operation, phase, correlation);
	else if (kind == WTI_ROCM_CALL_MARKER)
		wti_rocm_marker(operation, phase, payload);
	else if (kind == WTI_ROCM_CODE_OBJECT && operation == WTI_ROCM_KERNEL_SYMBOL &&
		 phase == WTI_ROCM_ENTER)
		loaded(payload);
}

void wti_rocm_called0(struct wti_rocm_call0 call, uint64_t *user, void *cookie)
{
	dispatch(call.kind, call.operation, call.phase, call.correlation, call.payload);
}

void wti_rocm_called1(struct wti_rocm_call1 call, uint64_t *user, void *cookie)
{
	dispatch(call.kind, call.operation, call.phase, call.correlation, call.payload);
}
