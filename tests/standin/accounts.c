/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a run and prints what the stand-in prints of itself: the same lines if nothing is missing
 * and nothing was added. */
#include "standin.h"

#include <stdio.h>
#include <string.h>

#include <wheeltap/trace.h>

static const uint32_t op_of[] = {
	[WT_OP_KERNEL] = STANDIN_KERNEL, [WT_OP_COPY] = STANDIN_COPY,   [WT_OP_FILL] = STANDIN_FILL,
	[WT_OP_SYNC] = STANDIN_SYNC,     [WT_OP_ALLOC] = STANDIN_ALLOC, [WT_OP_FREE] = STANDIN_FREE,
	[WT_OP_RECORD] = STANDIN_RECORD, [WT_OP_WAIT] = STANDIN_WAIT,
};

static struct {
	uint64_t ops[STANDIN_OPS];
	uint64_t sum, nodes, spans, launches, ranges, range_sum, api, externals, dropped, lost,
		calls;
} seen;

static void device_op(const struct wt_event *event)
{
	const uint32_t op = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_OP);
	const uint64_t correlation = wt_event_u64(event, WT_DEVICE_OP_FIELD_CORRELATION);
	uint32_t device = (uint32_t)wt_event_u64(event, WT_DEVICE_OP_FIELD_DEVICE);

	if (op >= sizeof(op_of) / sizeof(op_of[0]))
		return;
	seen.ops[op_of[op]]++;
	if (op == WT_OP_SYNC || op == WT_OP_WAIT)
		device = 0; /* their records have none */
	seen.sum += standin_mix(op_of[op], (uint32_t)correlation, device,
				wt_event_u64(event, WT_DEVICE_OP_FIELD_STARTED),
				wt_event_u64(event, WT_DEVICE_OP_FIELD_ENDED),
				wt_event_u64(event, WT_DEVICE_OP_FIELD_BYTES));
}

static void device_call(const struct wt_event *event)
{
	const uint64_t type = wt_event_u64(event, WT_DEVICE_CALL_FIELD_TYPE);
	const struct wt_text name = wt_event_text(event, WT_DEVICE_CALL_FIELD_NAME);

	if (type == WT_DEVICE_CALL_TYPE_RANGE) {
		seen.ranges++;
		seen.range_sum += standin_mix_range(
			(uint32_t)wt_event_u64(event, WT_DEVICE_CALL_FIELD_THREAD),
			wt_event_u64(event, WT_DEVICE_CALL_FIELD_STARTED),
			wt_event_u64(event, WT_DEVICE_CALL_FIELD_ENDED), name.data, name.bytes);
	}
	seen.api += type == WT_DEVICE_CALL_TYPE_RUNTIME;
}

static void edge(const struct wt_event *event)
{
	const uint64_t from = wt_event_u64(event, WT_EDGE_FIELD_FROM);
	const uint64_t to = wt_event_u64(event, WT_EDGE_FIELD_TO);

	if (wt_event_u64(event, WT_EDGE_FIELD_TYPE) != WT_EDGE_LAUNCH)
		return;
	seen.launches += from == to;
	seen.externals += from >> 63;
}

static void lost(const struct wt_event *event)
{
	const uint64_t count = wt_event_u64(event, WT_LOST_FIELD_COUNT);

	if (wt_event_u64(event, WT_LOST_FIELD_REASON) == WT_LOST_DEVICE)
		seen.dropped += count;
	else
		seen.lost += count;
}

static void look(const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_DEVICE_OP:
		device_op(event);
		break;
	case WT_KIND_DEVICE_NODE:
		seen.nodes++;
		break;
	case WT_KIND_DEVICE_CALL:
		device_call(event);
		break;
	case WT_KIND_EDGE:
		edge(event);
		break;
	case WT_KIND_LOST:
		lost(event);
		break;
	case WT_KIND_SPAN_BEGIN:
		seen.spans += wt_event_u64(event, WT_SPAN_BEGIN_FIELD_FLAGS) == WT_SPAN_RUNTIME;
		break;
	default:
		break;
	}
}

int main(int argc, char **argv)
{
	struct wt_err err = {0};
	struct wt_cursor *cursor = NULL;
	struct wt_trace *trace = NULL;
	struct wt_event event;

	if (argc != 2 || wt_trace_open(argv[1], &trace, &err) ||
	    wt_cursor_open(trace, NULL, &cursor, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	while (wt_cursor_next(cursor, &event, &err) > 0)
		look(&event);
	printf("dropped %lu\nnodes %lu\nsum %lu\nspans %lu\nlaunches %lu\nranges %lu\nrange_sum "
	       "%lu\n"
	       "api %lu\nexternals %lu\nlost %lu\n",
	       seen.dropped, seen.nodes, seen.sum, seen.spans, seen.launches, seen.ranges,
	       seen.range_sum, seen.api, seen.externals, seen.lost);
	for (uint32_t i = 0; i < STANDIN_OPS; i++)
		printf("op%u %lu\n", i, seen.ops[i]);
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	return 0;
}
