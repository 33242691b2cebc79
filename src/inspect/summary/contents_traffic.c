/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came in and what went out: batches of loaders, field by field, and checkpoints that were
 * saved or loaded. The values of a call follow its begin and have its number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "contents.h"
#include "inspect/core/saved.h"

#define TRACKS_MAX (1u << 16)
#define BATCHES_MAX 4096u
#define FILES_MAX (1u << 16)
#define RETURNED (-1)
/* Of all checkpoints together; 20 bytes each. */
#define SAVED_MAX (1u << 20)

struct wti_traffic_batch {
	uint32_t loader, field; /* symbols */
	uint32_t shape, dtype;  /* of the first */
	uint64_t batch_count, row_count, element_count, nan_count, inf_count;
	bool has_statistics; /* of all of them */
	double min, max, sum;
};

struct wti_traffic_file {
	bool is_load;
	uint32_t function, path; /* symbols; no path: it is not a name */
	uint32_t file;           /* symbol: where the call is */
	int64_t line;
	int64_t step; /* -1: not known */
	uint64_t tensor_count;
	bool has_failed;
};

/* A tensor in a call that saves. */
struct wti_traffic_saved {
	uint32_t file; /* place */
	uint32_t name; /* symbol */
	uint64_t hash;
};

/* The calls that a track is in: a loader's, and one that saves or loads. */
struct wti_traffic_open {
	uint32_t batch_seq, file_seq; /* low 32 bits of their begins; 0: in none */
	uint32_t loader;
	size_t file; /* place */
};

void wti_traffic_init(struct wti_traffic *traffic, struct wti_symbols *symbols)
{
	*traffic = (struct wti_traffic){.symbols = symbols};
	wti_map_init(&traffic->open_index, TRACKS_MAX);
	wti_map_init(&traffic->batch_index, BATCHES_MAX);
}

void wti_traffic_release(struct wti_traffic *traffic)
{
	free(traffic->open);
	free(traffic->batches);
	free(traffic->files);
	free(traffic->saved);
	wti_map_release(&traffic->open_index);
	wti_map_release(&traffic->batch_index);
}

/* NULL: too many tracks, or out of memory, as the map has failed then. */
static struct wti_traffic_open *open_of(struct wti_traffic *traffic, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&traffic->open_index, (uint64_t)event->stream << 32 | event->track);

	if (!slot)
		return NULL;
	if (*slot)
		return &traffic->open[*slot - 1];
	if (wti_grow_zeroed(&traffic->open, traffic->open_count + 1, &traffic->open_capacity,
			    (size_t)TRACKS_MAX)) {
		traffic->open_index.failed = true;
		return NULL;
	}
	*slot = ++traffic->open_count;
	return &traffic->open[*slot - 1];
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static int begin_file(struct wti_traffic *traffic, struct wti_traffic_open *open,
		      const struct wt_event *event, uint64_t action, int64_t step)
{
	const struct wt_site *site = wt_reader_site(
		event->reader, (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE));
	struct wti_traffic_file file = {
		.is_load = action == WT_ACTION_LOAD, .line = -1, .step = step};
	struct wt_text text;

	if (traffic->file_count == FILES_MAX) {
		traffic->overflow_count++;
		return 0;
	}
	if (wti_grow(&traffic->files, traffic->file_count + 1, &traffic->file_capacity,
		     (size_t)FILES_MAX))
		return WT_E_NOMEM;
	file.function = wti_symbol_of(traffic->symbols, event, WT_CALL_BEGIN_FIELD_CALLEE);
	if (site) {
		text = wt_reader_string(event->reader, site->file);
		file.file = wti_symbol(traffic->symbols, text.data, text.bytes);
		file.line = site->line;
	}
	open->file = traffic->file_count;
	open->file_seq = (uint32_t)event->seq;
	traffic->files[traffic->file_count++] = file;
	return 0;
}

/* The name of the file, as functions that save and load call that argument. */
static bool is_path_name(struct wt_text name)
{
	static const char *const names[] = {"f", "file", "filename", "path", "checkpoint_id"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == name.bytes && !memcmp(names[i], name.data, name.bytes))
			return true;
	return false;
}

static void take_argument(struct wti_traffic *traffic, const struct wti_traffic_open *open,
			  const struct wt_event *event)
{
	uint32_t call = (uint32_t)wt_event_u64(event, WT_ARGUMENT_FIELD_CALL);

	if (!open->file_seq || call != open->file_seq ||
	    wt_event_u64(event, WT_ARGUMENT_FIELD_TYPE) != WT_VALUE_TYPE_TEXT ||
	    !is_path_name(wt_event_text(event, WT_ARGUMENT_FIELD_NAME)))
		return;
	traffic->files[open->file].path =
		wti_symbol_of_word(traffic->symbols, event, WT_ARGUMENT_FIELD_TEXT);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static struct wti_traffic_batch *batch_of(struct wti_traffic *traffic, uint32_t loader,
					  const struct wt_event *event)
{
	uint32_t field = wti_symbol_of(traffic->symbols, event, WT_TENSOR_FIELD_NAME);
	uint64_t *slot = wti_map_number(&traffic->batch_index, (uint64_t)loader << 32 | field);

	if (!slot) {
		traffic->overflow_count++;
		return NULL;
	}
	if (*slot)
		return &traffic->batches[*slot - 1];
	if (wti_grow(&traffic->batches, traffic->batch_count + 1, &traffic->batch_capacity,
		     (size_t)BATCHES_MAX)) {
		traffic->batch_index.failed = true;
		return NULL;
	}
	traffic->batches[traffic->batch_count] = (struct wti_traffic_batch){
		.loader = loader,
		.field = field,
		.shape = wti_symbol_of(traffic->symbols, event, WT_TENSOR_FIELD_SHAPE),
		.dtype = wti_symbol_of_word(traffic->symbols, event, WT_TENSOR_FIELD_DTYPE),
		.has_statistics = true,
		.min = INFINITY,
		.max = -INFINITY,
	};
	*slot = ++traffic->batch_count;
	return &traffic->batches[*slot - 1];
}

static void add_batch(struct wti_traffic *traffic, struct wti_traffic_batch *batch,
		      const struct wt_event *event)
{
	const char *shape = wti_symbol_text(
		traffic->symbols, wti_symbol_of(traffic->symbols, event, WT_TENSOR_FIELD_SHAPE));
	uint64_t count = wt_event_u64(event, WT_TENSOR_FIELD_COUNT);
	uint64_t nan = wt_event_u64(event, WT_TENSOR_FIELD_NAN);
	uint64_t inf = wt_event_u64(event, WT_TENSOR_FIELD_INF);
	double mean = wt_event_f64(event, WT_TENSOR_FIELD_MEAN);

	batch->batch_count++;
	batch->row_count += *shape ? strtoull(shape, NULL, 10) : 1;
	if (!count)
		return;
	if (wt_event_u64(event, WT_TENSOR_FIELD_FLAGS) & WT_TENSOR_NO_STATISTICS) {
		batch->has_statistics = false;
		return;
	}
	batch->nan_count += nan;
	batch->inf_count += inf;
	if (nan + inf >= count)
		return;
	batch->element_count += count - nan - inf;
	batch->sum += mean * (double)(count - nan - inf);
	batch->min = fmin(batch->min, wt_event_f64(event, WT_TENSOR_FIELD_MIN));
	batch->max = fmax(batch->max, wt_event_f64(event, WT_TENSOR_FIELD_MAX));
}

static int add_saved(struct wti_traffic *traffic, size_t file, const struct wt_event *event)
{
	uint32_t symbol = wti_symbol_of(traffic->symbols, event, WT_TENSOR_FIELD_NAME);
	const char *name = wti_saved_name(wti_symbol_text(traffic->symbols, symbol));
	bool is_returned = wt_event_i64(event, WT_TENSOR_FIELD_POSITION) < 0;

	if (!name || is_returned != traffic->files[file].is_load)
		return 0;
	traffic->files[file].tensor_count++;
	if (traffic->files[file].is_load ||
	    wt_event_u64(event, WT_TENSOR_FIELD_FLAGS) & WT_TENSOR_NO_HASH)
		return 0;
	if (traffic->saved_count == SAVED_MAX) {
		traffic->overflow_count++;
		return 0;
	}
	if (wti_grow(&traffic->saved, traffic->saved_count + 1, &traffic->saved_capacity,
		     (size_t)SAVED_MAX))
		return WT_E_NOMEM;
	traffic->saved[traffic->saved_count++] =
		(struct wti_traffic_saved){(uint32_t)file, wti_symbol_word(traffic->symbols, name),
					   wt_event_u64(event, WT_TENSOR_FIELD_HASH)};
	return 0;
}

static int take_tensor(struct wti_traffic *traffic, const struct wti_traffic_open *open,
		       const struct wt_event *event)
{
	uint32_t call = (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_CALL);
	struct wti_traffic_batch *batch;

	if (!call)
		return 0;
	if (call == open->batch_seq &&
	    (int32_t)wt_event_i64(event, WT_TENSOR_FIELD_POSITION) == RETURNED) {
		batch = batch_of(traffic, open->loader, event);
		if (batch)
			add_batch(traffic, batch, event);
	} else if (call == open->file_seq) {
		return add_saved(traffic, open->file, event);
	}
	return 0;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int take_begin(struct wti_traffic *traffic, struct wti_traffic_open *open,
		      const struct wt_event *event, int64_t step)
{
	uint64_t action = wt_event_u64(event, WT_CALL_BEGIN_FIELD_ACTION);

	if (action == WT_ACTION_BATCH) {
		open->batch_seq = (uint32_t)event->seq;
		open->loader = wti_symbol_of(traffic->symbols, event, WT_CALL_BEGIN_FIELD_OBJECT);
	}
	if (action == WT_ACTION_SAVE || action == WT_ACTION_LOAD)
		return begin_file(traffic, open, event, action, step);
	return 0;
}

static void take_end(struct wti_traffic *traffic, struct wti_traffic_open *open,
		     const struct wt_event *event)
{
	struct wti_traffic_file *file = open->file_seq ? &traffic->files[open->file] : NULL;

	if (!file ||
	    wti_symbol_of(traffic->symbols, event, WT_CALL_END_FIELD_CALLEE) != file->function)
		return;
	file->has_failed = wt_event_text(event, WT_CALL_END_FIELD_EXCEPTION).bytes;
	open->file_seq = 0;
}

int wti_traffic_event(struct wti_traffic *traffic, const struct wt_event *event, int64_t step)
{
	struct wti_traffic_open *open = open_of(traffic, event);
	int r = 0;

	if (!open)
		return traffic->open_index.failed ? WT_E_NOMEM : 0;
	switch (event->kind->number) {
	case WT_KIND_CALL_BEGIN:
		r = take_begin(traffic, open, event, step);
		break;
	case WT_KIND_CALL_END:
		take_end(traffic, open, event);
		break;
	case WT_KIND_ARGUMENT:
		take_argument(traffic, open, event);
		break;
	case WT_KIND_TENSOR:
		r = take_tensor(traffic, open, event);
		break;
	default:
		break;
	}
	return traffic->batch_index.failed ? WT_E_NOMEM : r;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void batches_table(const struct wti_traffic *traffic, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "batches", "batches");

	wt_table_column(table, "loader", "loader", WT_CELL_TEXT);
	wt_table_column(table, "field", "field", WT_CELL_TEXT);
	wt_table_column(table, "shape", "first batch", WT_CELL_TEXT);
	wt_table_column(table, "dtype", "dtype", WT_CELL_TEXT);
	wt_table_column(table, "batches", "batches", WT_CELL_COUNT);
	wt_table_column(table, "rows", "rows in all", WT_CELL_COUNT);
	wt_table_column(table, "min", "min", WT_CELL_NUMBER);
	wt_table_column(table, "mean", "mean", WT_CELL_NUMBER);
	wt_table_column(table, "max", "max", WT_CELL_NUMBER);
	wt_table_column(table, "nan", "NaN", WT_CELL_COUNT);
	wt_table_column(table, "inf", "inf", WT_CELL_COUNT);
	for (size_t i = 0; i < traffic->batch_count; i++) {
		const struct wti_traffic_batch *batch = &traffic->batches[i];

		wt_table_row(table);
		wti_symbol_cell(table, traffic->symbols, batch->loader);
		wti_symbol_cell(table, traffic->symbols, batch->field);
		wti_symbol_cell(table, traffic->symbols, batch->shape);
		wti_symbol_cell(table, traffic->symbols, batch->dtype);
		wt_table_count(table, batch->batch_count);
		wt_table_count(table, batch->row_count);
		if (!batch->has_statistics || !batch->element_count)
			continue;
		wt_table_number(table, batch->min);
		wt_table_number(table, batch->sum / (double)batch->element_count);
		wt_table_number(table, batch->max);
		wt_table_count(table, batch->nan_count);
		wt_table_count(table, batch->inf_count);
	}
}

static void files_table(const struct wti_traffic *traffic, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "files", "checkpoints");

	wt_table_column(table, "action", "action", WT_CELL_TEXT);
	wt_table_column(table, "path", "file", WT_CELL_TEXT);
	wt_table_column(table, "function", "by", WT_CELL_TEXT);
	wt_table_column(table, "step", "step", WT_CELL_ID);
	wt_table_column(table, "tensors", "tensors", WT_CELL_COUNT);
	wt_table_column(table, "outcome", "outcome", WT_CELL_TEXT);
	wt_table_column(table, "file", "in", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	for (size_t i = 0; i < traffic->file_count; i++) {
		const struct wti_traffic_file *file = &traffic->files[i];
		const char *action = file->is_load ? "load" : "save";
		const char *outcome = file->has_failed ? "failed" : "done";

		wt_table_row(table);
		wt_table_text(table, action, strlen(action));
		wti_symbol_cell(table, traffic->symbols, file->path);
		wti_symbol_cell(table, traffic->symbols, file->function);
		if (file->step >= 0)
			wt_table_count(table, (uint64_t)file->step);
		else
			wt_table_empty(table);
		wt_table_count(table, file->tensor_count);
		wt_table_text(table, outcome, strlen(outcome));
		wti_symbol_cell(table, traffic->symbols, file->file);
		if (file->line >= 0)
			wt_table_count(table, (uint64_t)file->line);
	}
}

static void saved_table(const struct wti_traffic *traffic, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "saved_tensors", "");

	wt_table_column(table, "file", "", WT_CELL_COUNT);
	wt_table_column(table, "name", "", WT_CELL_TEXT);
	wt_table_column(table, "hash", "", WT_CELL_TEXT);
	for (size_t i = 0; i < traffic->saved_count; i++) {
		char hash[17];

		snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)traffic->saved[i].hash);
		wt_table_row(table);
		wt_table_count(table, traffic->saved[i].file);
		wti_symbol_cell(table, traffic->symbols, traffic->saved[i].name);
		wt_table_text(table, hash, strlen(hash));
	}
}

void wti_traffic_tables(const struct wti_traffic *traffic, struct wt_result *result)
{
	batches_table(traffic, result);
	files_table(traffic, result);
	saved_table(traffic, result);
}
