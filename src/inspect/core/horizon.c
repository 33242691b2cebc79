/* SPDX-License-Identifier: Apache-2.0 */
/* Goes by the heads of the blocks that are left: nothing is decoded. */
#include "horizon.h"

#include <stdlib.h>

#include "base/err.h"
#include "trace/reader.h"

#define KINDS 6 /* of spans, calls and operators: begins at even places, ends behind them */

static int place_of(uint16_t kind)
{
	switch (kind) {
	case WT_KIND_SPAN_BEGIN:
		return 0;
	case WT_KIND_SPAN_END:
		return 1;
	case WT_KIND_CALL_BEGIN:
		return 2;
	case WT_KIND_CALL_END:
		return 3;
	case WT_KIND_OPERATOR_BEGIN:
		return 4;
	case WT_KIND_OPERATOR_END:
		return 5;
	default:
		return -1;
	}
}

/*
 * Before this nothing is missing: the recorder's clock stands early in each of its flushes, so that
 * all of a flush is there if the next one has its clock. 0: no flush is known to be whole. A stream
 * that was imported is flushed as its blocks are full, and has one clock at most.
 */
static uint64_t flushed_ticks(const struct wt_reader *reader)
{
	uint64_t last = 0, before = 0;

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		if (block->kind != WT_KIND_CLOCK)
			continue;
		before = last;
		last = block->time_max;
	}
	return before;
}

/* Of the kinds that it has, the one whose last block ends first: either it stopped happening then,
 * or its later blocks are missing. Where all ends are gone nothing is known of the calls that
 * began.
 */
static int64_t horizon_of(const struct wt_trace *trace, size_t stream)
{
	const struct wt_reader *reader = wt_trace_stream(trace, stream);
	uint64_t last_ticks[KINDS] = {0}, first_tick = UINT64_MAX, horizon = UINT64_MAX;
	uint64_t flushed = flushed_ticks(reader);

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);
		int place = place_of(block->kind);

		first_tick = block->time_min < first_tick ? block->time_min : first_tick;
		if (place >= 0 && block->time_max > last_ticks[place])
			last_ticks[place] = block->time_max;
	}
	for (size_t i = 0; i < KINDS; i += 2) {
		uint64_t begin = last_ticks[i], end = last_ticks[i + 1];
		uint64_t known = begin && !end ? first_tick : begin < end ? begin : end;

		horizon = (begin || end) && known < horizon ? known : horizon;
	}
	if (horizon == UINT64_MAX)
		return INT64_MAX;
	return wt_trace_ns(trace, stream, horizon > flushed ? horizon : flushed);
}

static int64_t end_of(const struct wt_trace *trace, size_t stream)
{
	const struct wt_reader *reader = wt_trace_stream(trace, stream);
	uint64_t last_tick = 0;

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		last_tick = block->time_max > last_tick ? block->time_max : last_tick;
	}
	return wt_trace_ns(trace, stream, last_tick);
}

int wti_horizons_init(struct wti_horizons *horizons, const struct wt_trace *trace)
{
	size_t count = wt_trace_stream_count(trace);

	*horizons = (struct wti_horizons){.count = count};
	horizons->streams = calloc(count ? count : 1, 2 * sizeof(*horizons->streams));
	if (!horizons->streams)
		return WT_E_NOMEM;
	horizons->ends = horizons->streams + count;
	for (size_t i = 0; i < count; i++) {
		horizons->streams[i] = wti_reader_is_cut(wt_trace_stream(trace, i))
					       ? horizon_of(trace, i)
					       : INT64_MAX;
		horizons->ends[i] = end_of(trace, i);
	}
	return 0;
}

void wti_horizons_release(struct wti_horizons *horizons)
{
	free(horizons->streams);
	*horizons = (struct wti_horizons){0};
}

bool wti_is_beyond(const struct wti_horizons *horizons, size_t stream, int64_t time_ns)
{
	return stream < horizons->count && time_ns > horizons->streams[stream];
}
