/* SPDX-License-Identifier: Apache-2.0 */
/* Globs over names and tracks are resolved to ids once, so that rows are compared by number. */
#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "protocol.h"
#include "reader.h"
#include "schema.h"

#define IDS_MAX ((size_t)8 << 20)
/* Ticks of slack on both sides of a window, for the rounding of clock conversions. */
#define SLACK 16u

void wt_query_init(struct wt_query *query)
{
	*query = (struct wt_query){
		.size = sizeof(*query),
		.from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.fields = WT_ALL_FIELDS,
	};
}

int wti_cursor_of(const struct wt_trace *trace, const char *const *kinds, const char *name,
		  uint32_t fields, struct wt_cursor **ret_cursor, struct wt_err *err)
{
	struct wt_query query;

	wt_query_init(&query);
	query.kinds = kinds;
	while (kinds[query.kind_count])
		query.kind_count++;
	query.name = name;
	query.fields = fields;
	return wt_cursor_open(trace, &query, ret_cursor, err);
}

static int want(struct wti_map *map, uint64_t id, uint64_t *filter)
{
	uint64_t *slot = wti_map_number(map, id);

	if (!slot)
		return WT_E_LIMIT;
	*slot = 1;
	*filter |= 1ull << (id & 63);
	return 0;
}

/* A track is wanted by its name, or as "STREAM:TRACK". */
static bool track_matches(const char *pattern, size_t stream, const struct wt_track *track)
{
	char numbers[48];

	snprintf(numbers, sizeof(numbers), "%zu:%u", stream, track->id);
	return !strcmp(pattern, numbers) || wti_glob(pattern, track->name, track->name_bytes);
}

static int select_tracks(struct wti_selection *selection, size_t stream)
{
	const struct wt_reader *reader = selection->reader;
	int status = 0;

	if (!selection->query->track) {
		selection->track_filter = UINT64_MAX;
		return 0;
	}
	for (size_t i = 0; i < wt_reader_track_count(reader) && !status; i++) {
		const struct wt_track *track = wt_reader_track_at(reader, i);

		if (track && track_matches(selection->query->track, stream, track))
			status = want(&selection->tracks, track->id, &selection->track_filter);
	}
	selection->impossible |= !selection->track_filter;
	return status;
}

static int select_names(struct wti_selection *selection)
{
	const struct wti_map *strings = &selection->reader->definitions.ids[WTI_DEF_STRING];
	const char *pattern = selection->query->name;
	int status = 0;

	if (!pattern) {
		selection->name_filter = UINT64_MAX;
		return 0;
	}
	if (wti_glob(pattern, "", 0))
		status = want(&selection->names, 0, &selection->name_filter);
	for (size_t i = 0; i < strings->count && !status; i++) {
		uint32_t id = (uint32_t)strings->entries[i].key;
		struct wt_text name = wt_reader_string(selection->reader, id);

		if (wti_glob(pattern, name.data, name.bytes))
			status = want(&selection->names, id, &selection->name_filter);
	}
	selection->impossible |= !selection->name_filter;
	return status;
}

static void select_window(struct wti_selection *selection, const struct wt_trace *trace,
			  size_t stream)
{
	const struct wt_query *query = selection->query;

	selection->from = 0;
	selection->to = UINT64_MAX;
	if (query->from_ns != INT64_MIN)
		selection->from = wt_trace_ticks(trace, stream, query->from_ns);
	if (query->to_ns != INT64_MAX)
		selection->to = wt_trace_ticks(trace, stream, query->to_ns);
	selection->from -= selection->from > SLACK ? SLACK : selection->from;
	selection->to += selection->to < UINT64_MAX - SLACK ? SLACK : 0;
}

static int select_context(struct wti_selection *selection, const char *key, const char *value)
{
	struct wti_context *context = &selection->contexts[selection->context_count];

	if (!key)
		return 0;
	selection->context_count++;
	return wti_context_read(context, selection->reader, key, value);
}

static int select_contexts(struct wti_selection *selection)
{
	const struct wt_query *query = selection->query;
	int status;

	selection->contexts = calloc(query->condition_count + 1, sizeof(*selection->contexts));
	if (!selection->contexts)
		return WT_E_NOMEM;
	status = select_context(selection, query->context_key, query->context_value);
	for (size_t i = 0; i < query->condition_count && !status; i++)
		status = select_context(selection, query->conditions[i].key,
					query->conditions[i].value);
	return status;
}

int wti_selection_init(struct wti_selection *selection, const struct wt_query *query,
		       const struct wt_trace *trace, size_t stream)
{
	int status;

	*selection = (struct wti_selection){
		.query = query,
		.reader = wt_trace_stream(trace, stream),
	};
	wti_map_init(&selection->tracks, IDS_MAX);
	wti_map_init(&selection->names, IDS_MAX);
	select_window(selection, trace, stream);
	status = select_tracks(selection, stream);
	if (!status)
		status = select_names(selection);
	return status ? status : select_contexts(selection);
}

void wti_selection_release(struct wti_selection *selection)
{
	wti_map_release(&selection->tracks);
	wti_map_release(&selection->names);
	for (size_t i = 0; i < selection->context_count; i++)
		wti_context_release(&selection->contexts[i]);
	free(selection->contexts);
	selection->contexts = NULL;
	selection->context_count = 0;
}

static bool kind_wanted(const struct wti_selection *selection, uint16_t number)
{
	const struct wt_query *query = selection->query;
	const struct wt_kind *kind = wt_reader_kind(selection->reader, number);

	if (!query->kinds)
		return true;
	for (size_t i = 0; kind && i < query->kind_count; i++) {
		if (!strcmp(kind->name, query->kinds[i]))
			return true;
	}
	return false;
}

bool wti_selection_block(const struct wti_selection *selection, const struct wt_block *block)
{
	const struct wt_query *query = selection->query;

	if (selection->impossible || block->time_max < selection->from ||
	    block->time_min > selection->to)
		return false;
	if (!(block->track_filter & selection->track_filter) ||
	    !kind_wanted(selection, block->kind))
		return false;
	if (query->name && !(block->name_filter & selection->name_filter))
		return false;
	for (size_t i = 0; i < selection->context_count; i++) {
		if (!wti_context_overlaps(&selection->contexts[i], block->time_min,
					  block->time_max))
			return false;
	}
	return true;
}

bool wti_selection_row(const struct wti_selection *selection, const struct wt_batch *batch,
		       int name_field, uint32_t row, int64_t time_ns)
{
	const struct wt_query *query = selection->query;

	if (time_ns < query->from_ns || time_ns >= query->to_ns)
		return query->to_ns == INT64_MAX && time_ns == INT64_MAX;
	if (query->track && !wti_map_find_number(&selection->tracks, batch->track[row]))
		return false;
	if (query->name && (name_field < 0 || !wti_map_find_number(&selection->names,
								   batch->values[name_field][row])))
		return false;
	for (size_t i = 0; i < selection->context_count; i++) {
		if (!wti_context_holds(&selection->contexts[i], batch->track[row],
				       batch->time[row]))
			return false;
	}
	return true;
}
