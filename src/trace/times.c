/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps of a run's streams to nanoseconds since its start, through the clock events. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "trace.h"

void wti_times_release(struct wt_trace *trace)
{
	for (size_t i = 0; i < trace->group_count; i++) {
		wti_clock_release(&trace->groups[i].to_monotonic);
		wti_clock_release(&trace->groups[i].to_realtime);
	}
	free(trace->groups);
	trace->groups = NULL;
	trace->group_count = trace->group_capacity = 0;
	for (size_t i = 0; i < trace->stream_count; i++) {
		struct wti_trace_stream *stream = &trace->streams[i];

		for (size_t j = 0; j < stream->device_count; j++)
			wti_clock_release(&stream->devices[j].to_stream);
		free(stream->devices);
		stream->devices = NULL;
		stream->device_count = stream->device_capacity = 0;
	}
}

/* The group of a stream, made if it is the first of its kind. */
static int join_group(struct wt_trace *trace, struct wti_trace_stream *stream)
{
	const struct wt_identity *identity = wt_reader_identity(stream->reader);
	struct wti_clock_group *group;

	for (size_t i = 0; i < trace->group_count; i++) {
		if (trace->groups[i].clock == identity->clock &&
		    !memcmp(trace->groups[i].boot, identity->boot, sizeof(identity->boot))) {
			stream->group = i;
			return 0;
		}
	}
	if (wti_grow(&trace->groups, trace->group_count + 1, &trace->group_capacity,
		     trace->stream_count))
		return WT_E_NOMEM;
	stream->group = trace->group_count++;
	group = &trace->groups[stream->group];
	*group = (struct wti_clock_group){.clock = identity->clock};
	memcpy(group->boot, identity->boot, sizeof(identity->boot));
	return 0;
}

static const struct wti_clock *monotonic_of(const struct wt_trace *trace, size_t stream)
{
	return &trace->groups[trace->streams[stream].group].to_monotonic;
}

static struct wti_clock *device_clock(struct wti_trace_stream *stream, uint32_t domain)
{
	for (size_t i = 0; i < stream->device_count; i++) {
		if (stream->devices[i].domain == domain)
			return &stream->devices[i].to_stream;
	}
	if (wti_grow(&stream->devices, stream->device_count + 1, &stream->device_capacity,
		     WTI_DEVICE_CLOCKS_MAX))
		return NULL;
	stream->devices[stream->device_count] = (struct wti_device_clock){.domain = domain};
	return &stream->devices[stream->device_count++].to_stream;
}

/* One pair: the stream's `ticks` were `value` in `domain`. */
static int take_pair(struct wti_clock_group *group, struct wti_trace_stream *stream, uint64_t ticks,
		     uint32_t domain, uint64_t value, uint32_t error)
{
	struct wti_clock *clock;

	if (value > INT64_MAX || ticks > INT64_MAX)
		return 0; /* no clock runs that long */
	/* A stream that counts in MONOTONIC is its own measure. */
	if (domain == WT_CLOCK_MONOTONIC)
		return group->clock == WT_CLOCK_MONOTONIC
			       ? 0
			       : wti_clock_add(&group->to_monotonic, ticks, (int64_t)value, error);
	if (domain == WT_CLOCK_REALTIME)
		return wti_clock_add(&group->to_realtime, ticks, (int64_t)value, error);
	clock = device_clock(stream, domain);
	return clock ? wti_clock_add(clock, value, (int64_t)ticks, error) : 0;
}

static int take_batch(struct wti_clock_group *group, struct wti_trace_stream *stream,
		      const struct wt_batch *batch)
{
	int status = 0;

	if (batch->kind->field_count <= WT_CLOCK_FIELD_VALUE)
		return 0;
	for (uint32_t i = 0; i < batch->rows && !status; i++)
		status = take_pair(group, stream, batch->time[i],
				   (uint32_t)batch->values[WT_CLOCK_FIELD_DOMAIN][i],
				   batch->values[WT_CLOCK_FIELD_VALUE][i],
				   (uint32_t)batch->values[WT_CLOCK_FIELD_ERROR][i]);
	return status;
}

static int take_pairs(struct wt_trace *trace, struct wti_trace_stream *stream,
		      struct wt_batch *batch)
{
	const struct wt_reader *reader = stream->reader;
	int status = join_group(trace, stream);

	for (size_t i = 0; i < wt_reader_block_count(reader) && !status; i++) {
		if (wt_reader_block(reader, i)->kind != WT_KIND_CLOCK)
			continue;
		status = wt_reader_decode(reader, i, WT_ALL_FIELDS, batch, NULL);
		if (!status)
			status = take_batch(&trace->groups[stream->group], stream, batch);
		else if (status != WT_E_NOMEM)
			status = 0; /* damage: whoever reads the events will say so */
	}
	return status;
}

static int make_ready(struct wt_trace *trace)
{
	int status = 0;

	trace->clock_error_ns = 0;
	for (size_t i = 0; i < trace->group_count && !status; i++) {
		struct wti_clock_group *group = &trace->groups[i];

		status = wti_clock_ready(&group->to_monotonic);
		if (!status)
			status = wti_clock_ready(&group->to_realtime);
		if (group->to_monotonic.error_ns > trace->clock_error_ns)
			trace->clock_error_ns = group->to_monotonic.error_ns;
	}
	for (size_t i = 0; i < trace->stream_count && !status; i++) {
		struct wti_trace_stream *stream = &trace->streams[i];

		for (size_t j = 0; j < stream->device_count && !status; j++)
			status = wti_clock_ready(&stream->devices[j].to_stream);
	}
	return status;
}

/* The first moment of a stream, in MONOTONIC: its first clock pair, or its first event. */
static bool first_moment(const struct wt_trace *trace, size_t stream, int64_t *ret_ns)
{
	const struct wt_reader *reader = trace->streams[stream].reader;
	const struct wti_clock *clock = monotonic_of(trace, stream);
	uint64_t least = UINT64_MAX;

	if (clock->count) {
		*ret_ns = clock->pairs[0].to;
		return true;
	}
	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		least = block->time_min < least ? block->time_min : least;
	}
	if (least == UINT64_MAX)
		return false;
	*ret_ns = wti_clock_convert(clock, least);
	return true;
}

static void find_start(struct wt_trace *trace)
{
	for (size_t i = 0; i < trace->stream_count; i++) {
		const struct wti_clock *realtime =
			&trace->groups[trace->streams[i].group].to_realtime;
		int64_t ns;

		if (!first_moment(trace, i, &ns) || (trace->start_known && ns >= trace->start_ns))
			continue;
		trace->start_known = true;
		trace->start_ns = ns;
		if (realtime->count)
			trace->start_realtime_ns = wti_bounded(wti_clock_convert(
				realtime, wti_clock_invert(monotonic_of(trace, i), ns)));
	}
}

int wti_times_fit(struct wt_trace *trace, struct wt_err *err)
{
	struct wt_batch batch = {0};
	int status = 0;

	wti_times_release(trace);
	for (size_t i = 0; i < trace->stream_count && !status; i++)
		status = take_pairs(trace, &trace->streams[i], &batch);
	wt_batch_release(&batch);
	if (!status)
		status = make_ready(trace);
	if (status)
		return wti_err(err, status, "out of memory for the clocks of the run");
	/* Once known, the start of a run does not move: a running one is refreshed. */
	if (!trace->start_known)
		find_start(trace);
	return 0;
}

int64_t wt_trace_ns(const struct wt_trace *trace, size_t stream, uint64_t ticks)
{
	int64_t ns = wti_clock_convert(monotonic_of(trace, stream), ticks);

	/* Bounded, so that whoever subtracts two of them need not think of absurd ones. */
	return wti_bounded(wti_difference(ns, trace->start_ns));
}

/* Clocks of devices count ns: where there is one pair alone, it shifts them. */
static int64_t device_ns(const struct wt_trace *trace, size_t stream, const struct wti_clock *clock,
			 uint64_t ticks)
{
	const struct wti_clock_pair *pair = clock->pairs;

	if (clock->count != 1)
		return wt_trace_ns(trace, stream, (uint64_t)wti_clock_convert(clock, ticks));
	return wti_bounded(wti_sum(wt_trace_ns(trace, stream, (uint64_t)pair->to),
				   wti_difference(wti_i64(ticks), wti_i64(pair->from))));
}

int64_t wt_trace_domain_ns(const struct wt_trace *trace, size_t stream, uint32_t domain,
			   uint64_t ticks)
{
	const struct wti_trace_stream *from = &trace->streams[stream];
	const struct wti_clock *realtime = &trace->groups[from->group].to_realtime;

	if (domain == WT_CLOCK_STREAM || domain == wt_reader_identity(from->reader)->clock)
		return wt_trace_ns(trace, stream, ticks);
	for (size_t i = 0; i < from->device_count; i++) {
		if (from->devices[i].domain == domain)
			return device_ns(trace, stream, &from->devices[i].to_stream, ticks);
	}
	if (domain == WT_CLOCK_REALTIME && realtime->count)
		return wt_trace_ns(trace, stream, wti_clock_invert(realtime, wti_i64(ticks)));
	if (domain == WT_CLOCK_MONOTONIC)
		return wti_bounded(wti_difference(wti_i64(ticks), trace->start_ns));
	return wt_trace_ns(trace, stream, ticks);
}

uint64_t wt_trace_ticks(const struct wt_trace *trace, size_t stream, int64_t ns)
{
	int64_t monotonic;

	if (__builtin_add_overflow(ns, trace->start_ns, &monotonic))
		return ns < 0 ? 0 : UINT64_MAX;
	return wti_clock_invert(monotonic_of(trace, stream), monotonic);
}

int64_t wt_trace_start_realtime_ns(const struct wt_trace *trace)
{
	return trace->start_realtime_ns;
}

uint64_t wt_trace_clock_error_ns(const struct wt_trace *trace)
{
	return trace->clock_error_ns;
}
