/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that the user gave names to (record_function(), NVTX, spans): how often and how long, on
 * the host and, where a profiler shows them there, on queues of devices.
 *
 * Sources mark them. Of a process without any that is marked, spans that say nothing else are the
 * user's: wheeltap's own have no mark.
 */
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/number.h"
#include "describe.h"

struct range {
	double ns;
	uint32_t stream, name;
	bool is_on_device;
};

struct group { /* of one name */
	uint32_t stream, name;
	bool is_on_device;
	struct wti_description lengths;
};

static int by_group(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->is_on_device != y->is_on_device)
		return x->is_on_device ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int longest_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->lengths.sum != y->lengths.sum)
		return x->lengths.sum > y->lengths.sum ? -1 : 1;
	if (x->is_on_device != y->is_on_device)
		return x->is_on_device ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* ---- Which there are ------------------------------------------------------------------------- */

/* By stream: whether a range of it is marked; to be freed. */
static bool *marked_streams(const struct wti_work *work)
{
	bool *is_marked = calloc(wt_trace_stream_count(work->trace) + 1, sizeof(*is_marked));

	for (size_t i = 0; is_marked && i < work->call_count; i++)
		if (work->calls[i].flags & WTI_WORK_MARKED)
			is_marked[work->threads[work->calls[i].thread].stream] = true;
	return is_marked;
}

static bool is_on_queue(const struct wti_work *work, const struct wti_work_thread *thread)
{
	const struct wt_track *track =
		wt_reader_track(wt_trace_stream(work->trace, thread->stream), thread->track);

	return track && track->type == WT_TRACK_QUEUE;
}

/* Their number; with `ranges` also they themselves. */
static size_t gather(const struct wti_work *work, const bool *is_marked, struct range *ranges)
{
	size_t count = 0;

	for (size_t i = 0; i < work->call_count; i++) {
		const struct wti_work_call *call = &work->calls[i];
		const struct wti_work_thread *thread = &work->threads[call->thread];
		uint8_t wanted = is_marked[thread->stream] ? WTI_WORK_MARKED : WTI_WORK_ANNOTATION;

		if (!(call->flags & wanted))
			continue;
		if (ranges)
			ranges[count] = (struct range){(double)(call->end_ns - call->begin_ns),
						       thread->stream, call->name,
						       is_on_queue(work, thread)};
		count++;
	}
	return count;
}

static size_t group_count(const struct range *ranges, size_t count)
{
	size_t groups = count ? 1 : 0;

	for (size_t i = 1; i < count; i++)
		groups += by_group(&ranges[i - 1], &ranges[i]) != 0;
	return groups;
}

static void summarise(struct range *ranges, size_t count, double *lengths, struct group *groups)
{
	size_t found = 0;

	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && !by_group(&ranges[i], &ranges[end]); end++)
			lengths[end - i] = ranges[end].ns;
		groups[found++] =
			(struct group){ranges[i].stream, ranges[i].name, ranges[i].is_on_device,
				       wti_description_of(lengths, end - i)};
	}
	if (found)
		qsort(groups, found, sizeof(*groups), longest_first);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void row(struct wt_table *table, const struct wti_work *work, const struct group *group)
{
	const struct wt_identity *identity =
		wt_reader_identity(wt_trace_stream(work->trace, group->stream));
	int64_t rank = wti_steps_scope(&work->steps, group->stream, 0).rank;
	char label[WTI_LABEL_BYTES];
	int bytes = rank < 0 ? snprintf(label, sizeof(label), "%s (%u)", identity->command,
					identity->pid)
			     : snprintf(label, sizeof(label), "rank %lld", (long long)rank);

	wt_table_row(table);
	wti_name_cell(table, work, group->name);
	wt_table_text(table, label, (size_t)bytes);
	wt_table_text(table, group->is_on_device ? "device" : "host", group->is_on_device ? 6 : 4);
	wt_table_ns(table, wti_i64_of(round(group->lengths.sum)));
	wti_description_cells(table, &group->lengths, WT_CELL_NS);
}

static void fill(struct wt_result *result, const struct wti_work *work, const struct group *groups,
		 size_t count, uint64_t limit)
{
	struct wt_table *table =
		wt_result_table(result, "annotations", "Ranges that the user named");
	size_t shown = limit && limit < count ? limit : count;

	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "process", "process", WT_CELL_TEXT);
	wt_table_hide(table, 2);
	wt_table_column(table, "side", "on", WT_CELL_TEXT);
	wt_table_column(table, "sum_ns", "total", WT_CELL_NS);
	wti_description_columns(table, WT_CELL_NS);
	for (size_t i = 0; i < shown; i++)
		row(table, work, &groups[i]);
	if (shown < count)
		wt_result_note(result, "%zu more names of ranges: give --limit", count - shown);
}

static int answer(const struct wti_work *work, struct range *ranges, double *lengths, size_t count,
		  uint64_t limit, struct wt_result *result)
{
	size_t groups_found;
	struct group *groups;

	if (count)
		qsort(ranges, count, sizeof(*ranges), by_group);
	groups_found = group_count(ranges, count);
	groups = malloc((groups_found + 1) * sizeof(*groups));
	if (!groups)
		return WT_E_NOMEM;
	summarise(ranges, count, lengths, groups);
	fill(result, work, groups, groups_found, limit);
	free(groups);
	return 0;
}

int wti_device_annotations(const struct wti_work *work, const struct wti_device_options *options,
			   struct wt_result *result, struct wt_err *err)
{
	bool *is_marked = marked_streams(work);
	size_t count = is_marked ? gather(work, is_marked, NULL) : 0;
	struct range *ranges = malloc((count + 1) * sizeof(*ranges));
	double *lengths = malloc((count + 1) * sizeof(*lengths));
	int r = WT_E_NOMEM;

	if (is_marked && ranges && lengths) {
		gather(work, is_marked, ranges);
		r = answer(work, ranges, lengths, count, options->limit, result);
	}
	free(is_marked);
	free(ranges);
	free(lengths);
	return r ? wti_err(err, r, "out of memory for ranges of the user") : 0;
}
