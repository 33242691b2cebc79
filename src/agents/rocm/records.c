/* SPDX-License-Identifier: Apache-2.0 */
/* What is in buffers. They come on a thread of the library's, one at a time. */
#include <stdio.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "common/queue.h"
#include "emit.h"

#include "rocm.h"

#define CLOCK_DOMAIN WT_CLOCK_DEVICE /* the library's own, in ns */

/* ---- Clock, devices, queues ------------------------------------------------------------------ */

static void look_at_clock(struct wti_here here)
{
	const uint64_t before_ns = wti_clock_monotonic_ns();
	uint64_t ns, half_ns;

	if (wti_rocm.sdk.get_timestamp(&ns))
		return;
	/* The moment of the event is that after both; the time was read in the middle, or half as
	 * much before or after it. */
	half_ns = (wti_clock_monotonic_ns() - before_ns) / 2;
	wti_emit_clock(here, &(struct wti_record_clock){.domain = CLOCK_DOMAIN,
							.error = half_ns < UINT32_MAX
									 ? (uint32_t)half_ns + 1
									 : UINT32_MAX,
							.value = ns + half_ns});
}

/* Handles of agents are no numbers: devices count in the order of their first operation. */
static uint32_t device_of(uint64_t agent)
{
	for (uint32_t i = 0; i < wti_rocm.agent_count; i++)
		if (wti_rocm.agents[i] == agent)
			return i;
	if (wti_rocm.agent_count == WTI_ROCM_AGENTS_MAX)
		return WTI_ROCM_AGENTS_MAX;
	wti_rocm.agents[wti_rocm.agent_count] = agent;
	return wti_rocm.agent_count++;
}

static uint32_t queue_of(uint32_t device, uint64_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "queue %llu", (unsigned long long)number);
	return wti_queue_track(device, name);
}

static uint32_t text_name(struct wti_here here, const char *text)
{
	return *text ? wti_name(here, wti_name_find(text, strlen(text))) : 0;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* The call that launches a graph has one correlation for all its kernels. */
static uint64_t node_correlation(struct wti_here here, const struct wti_rocm_kernel *kernel)
{
	const uint64_t own =
		(kernel->dispatch & 0x7fffffffu) << 32 | (kernel->correlation & 0xffffffffu);

	wti_emit_device_node(here,
			     &(struct wti_record_device_node){.correlation = own,
							      .launch = kernel->correlation,
							      .node = kernel->dispatch,
							      .device = device_of(kernel->agent)});
	wti_emit_edge(here, &(struct wti_record_edge){.type = WT_EDGE_LAUNCH,
						      .from = kernel->correlation,
						      .to = own});
	return own;
}

/* The library has work-items where a trace has groups; the last group may be a part of one. */
static uint32_t groups(const struct wti_rocm_kernel *ran, size_t dimension)
{
	const uint32_t items = ran->grid[dimension], block = ran->block[dimension];

	return block ? items / block + (items % block != 0) : items;
}

static bool kernel(struct wti_here here, const struct wti_rocm_kernel *ran)
{
	const uint32_t *block = ran->block;
	struct wt_name *name;
	char geometry[96];
	uint32_t device;

	if (ran->bytes < offsetof(struct wti_rocm_kernel, grid) + sizeof(ran->grid))
		return false;
	device = device_of(ran->agent);
	name = wti_rocm_kernel_name(ran->kernel);
	snprintf(geometry, sizeof(geometry), "%ux%ux%u/%ux%ux%u", groups(ran, 0), groups(ran, 1),
		 groups(ran, 2), block[0], block[1], block[2]);
	wti_emit_device_op(here,
			   &(struct wti_record_device_op){
				   .op = WT_OP_KERNEL,
				   .name = name ? wti_name(here, name) : text_name(here, "kernel"),
				   .device = device,
				   .queue = queue_of(device, ran->queue),
				   .clock = CLOCK_DOMAIN,
				   .geometry = text_name(here, geometry),
				   .correlation = wti_rocm_is_graph(ran->correlation)
							  ? node_correlation(here, ran)
							  : ran->correlation,
				   .started = ran->start,
				   .ended = ran->end});
	return true;
}

enum { TO_HOST = 3 }; /* an operation of copies, as in the names below */

/* A copy from or to the host belongs to the device; the library has no queue for it. */
static bool copy(struct wti_here here, const struct wti_rocm_copy *ran)
{
	static const char *const names[] = {"Memcpy", "Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH",
					    "Memcpy DtoD"};
	uint32_t device;

	if (ran->bytes_of_record < offsetof(struct wti_rocm_copy, bytes))
		return false;
	device = device_of(ran->operation == TO_HOST ? ran->from_agent : ran->to_agent);
	wti_emit_device_op(
		here,
		&(struct wti_record_device_op){
			.op = WT_OP_COPY,
			.name = text_name(here, names[ran->operation < 5 ? ran->operation : 0]),
			.device = device,
			.queue = wti_queue_track(device, "copies"),
			.clock = CLOCK_DOMAIN,
			.correlation = ran->correlation,
			.started = ran->start,
			.ended = ran->end,
			.bytes = ran->bytes_of_record >= sizeof(*ran) ? ran->bytes : 0});
	return true;
}

static bool report(struct wti_here here, const struct wti_rocm_header *header)
{
	if (!header || !header->payload || header->category != WTI_ROCM_CATEGORY_TRACING)
		return false;
	if (header->kind == WTI_ROCM_KERNEL)
		return kernel(here, header->payload);
	return header->kind == WTI_ROCM_COPY && copy(here, header->payload);
}

/* What could not be emitted when it was known is made up for by whoever can emit next. */
static void report_dropped(struct wti_here here, uint64_t count)
{
	wti_rocm.dropped += count;
	wti_rocm.unreported += count;
	if (!here.ring || !wti_rocm.unreported)
		return;
	wti_emit_lost(here,
		      &(struct wti_record_lost){.reason = WT_LOST_DEVICE,
						.of = WT_KIND_DEVICE_OP,
						.count = atomic_exchange(&wti_rocm.unreported, 0)});
}

/* Without a ring all that came is lost. */
void wti_rocm_records(struct wti_rocm_id context, struct wti_rocm_id buffer,
		      struct wti_rocm_header **headers, size_t count, void *cookie,
		      uint64_t dropped)
{
	struct wti_here here;

	if (!atomic_load(&wti_rocm.is_on))
		return;
	here = wti_rocm.agent->here();
	if (here.ring)
		look_at_clock(here);
	for (size_t i = 0; here.ring && i < count; i++) {
		const bool known = report(here, headers[i]);

		wti_rocm.emitted += known;
		wti_rocm.unknown += !known;
	}
	report_dropped(here, here.ring ? dropped : dropped + count);
}

static void count(struct wti_here here, const char *name, uint64_t value)
{
	wti_emit_counter(here, &(struct wti_record_counter){.name = text_name(here, name),
							    .unit = text_name(here, "records"),
							    .value = (double)value});
}

void wti_rocm_records_end(void)
{
	const struct wti_here here = wti_rocm.agent->here();

	if (!here.ring)
		return;
	look_at_clock(here);
	report_dropped(here, 0);
	count(here, "rocprofiler.emitted", wti_rocm.emitted);
	count(here, "rocprofiler.unknown", wti_rocm.unknown);
	count(here, "rocprofiler.dropped", wti_rocm.dropped);
}
