/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a table of tensors, with what is known of their elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "digest/digest.h"
#include "inspect/core/cells.h"
#include "model/format.h"
#include "model/ties.h"
#include "runs/model/actions.h"
#include "runs/model/facts.h"
#include "runs/model/pictures.h"

#define SHAPE_TEXT_MAX 256u
#define VALUE_MAX 200u /* of metadata: the rest is counted */
#define WANTED (WTI_MODEL_HASH | WTI_MODEL_STATISTICS | WTI_MODEL_SHA)

/* ---- Tensors -------------------------------------------------------------------------------- */

/* `has_ties`: people get a column of them, too; machines always do. */
static struct wt_table *begin_table(struct wt_result *result, bool has_ties)
{
	static const struct {
		const char *key, *title;
		enum wt_cell_type type;
		unsigned hide;
	} columns[] = {
		{"name", "tensor", WT_CELL_TEXT, 0}, {"dtype", "type", WT_CELL_TEXT, 0},
		{"shape", "shape", WT_CELL_TEXT, 0}, {"count", "parameters", WT_CELL_COUNT, 2},
		{"bytes", "", WT_CELL_BYTES, 0},     {"min", "min", WT_CELL_NUMBER, 0},
		{"max", "max", WT_CELL_NUMBER, 0},   {"mean", "mean", WT_CELL_NUMBER, 0},
		{"std", "std", WT_CELL_NUMBER, 0},   {"zeros", "zeros", WT_CELL_PERCENT, 3},
		{"nan", "nan", WT_CELL_COUNT, 1},    {"inf", "inf", WT_CELL_COUNT, 4},
		{"xxh3", "xxh3", WT_CELL_TEXT, 5},   {"sha256", "", WT_CELL_TEXT, 0},
		{"stored_as", "", WT_CELL_TEXT, 0},  {"file", "", WT_CELL_TEXT, 0},
		{"offset", "", WT_CELL_COUNT, 0},
	};
	struct wt_table *table = wt_result_table(result, "tensors", "tensors");

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		wt_table_column(table, columns[i].key, columns[i].title, columns[i].type);
		if (columns[i].hide)
			wt_table_hide(table, columns[i].hide);
	}
	wt_table_column(table, "tied_to", has_ties ? "tied to" : "", WT_CELL_TEXT);
	wt_table_column(table, "tied_by", has_ties ? "by" : "", WT_CELL_TEXT);
	return table;
}

static void put_statistics(struct wt_table *table, const struct wti_model_tensor *tensor,
			   const struct wt_digest *digest)
{
	/* Of complex elements both halves are counted. */
	uint64_t reals =
		wti_dtype_real(tensor->dtype) == tensor->dtype ? digest->count : 2 * digest->count;
	uint64_t finite = reals - digest->nan - digest->inf;

	if (tensor->dtype == WT_DTYPE_OTHER || !finite) {
		for (unsigned i = 0; i < 4; i++)
			wt_table_empty(table);
	} else {
		wt_table_number(table, digest->min);
		wt_table_number(table, digest->max);
		wt_table_number(table, digest->mean);
		wt_table_number(table, sqrt(digest->m2 / (double)finite));
	}
	if (tensor->dtype == WT_DTYPE_OTHER) {
		for (unsigned i = 0; i < 3; i++)
			wt_table_empty(table);
		return;
	}
	wt_table_number(table, reals ? 100.0 * (double)digest->zeros / (double)reals : 0);
	wt_table_count(table, digest->nan);
	wt_table_count(table, digest->inf);
}

static void put_tie(struct wt_table *table, const struct wti_model *model,
		    const struct wti_model_tie *tie)
{
	if (tie->how) {
		wti_table_word(table, model->tensors[tie->to].name);
		wti_table_word(table, wti_tie_word(tie->how));
	} else {
		wt_table_empty(table);
		wt_table_empty(table);
	}
}

static void add_tensor(struct wt_table *table, const struct wti_model *model,
		       const struct wti_model_tensor *tensor,
		       const struct wti_model_examined *examined, const struct wti_model_tie *tie)
{
	char shape[SHAPE_TEXT_MAX], hash[17], sha[2 * WTI_SHA256_BYTES + 1];

	wti_model_shape_text(tensor, shape, sizeof(shape));
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)examined->digest.hash);
	wt_table_row(table);
	wti_table_word(table, tensor->name);
	wti_table_word(table, wti_model_dtype_word(tensor));
	wti_table_word(table, shape);
	wt_table_count(table, tensor->count);
	wt_table_count(table, tensor->bytes);
	put_statistics(table, tensor, &examined->digest);
	wti_table_word(table, hash);
	wti_table_word(table, wti_model_hex(sha, examined->sha));
	wti_table_word(table, tensor->type);
	wti_table_word(table, wti_model_source_path(model, tensor->source));
	wt_table_count(table, tensor->offset);
	put_tie(table, model, tie);
}

static int add_tensors(const struct wti_model *model, const struct wti_model_examined *examined,
		       struct wt_result *result, struct wt_err *err)
{
	struct wti_model_tie *ties;
	struct wt_table *table;
	size_t tied = 0;
	uint64_t parameters = 0;
	int r = wti_model_ties(model, examined, &ties, err);

	if (r)
		return r;
	for (size_t i = 0; i < model->tensor_count; i++) {
		tied += ties[i].how != WTI_TIE_NONE;
		parameters += ties[i].how ? 0 : model->tensors[i].count;
	}
	if (tied) {
		wt_result_fact_count(result, "tied", "tied tensors", WT_CELL_COUNT, tied);
		wt_result_fact_count(result, "untied_parameters", "parameters without these",
				     WT_CELL_COUNT, parameters);
	}
	table = begin_table(result, tied);
	for (size_t i = 0; i < model->tensor_count; i++)
		add_tensor(table, model, &model->tensors[i], &examined[i], &ties[i]);
	free(ties);
	return 0;
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void add_entries(const struct wti_model *model, struct wt_result *result)
{
	struct wt_table *table;

	if (!model->entry_count)
		return;
	table = wt_result_table(result, "metadata", "metadata");
	wt_table_column(table, "key", "key", WT_CELL_TEXT);
	wt_table_column(table, "value", "value", WT_CELL_TEXT);
	for (size_t i = 0; i < model->entry_count; i++) {
		const char *value = model->entries[i].value;
		size_t bytes = strlen(value);

		wt_table_row(table);
		wti_table_word(table, model->entries[i].key);
		wt_table_text(table, value, bytes < VALUE_MAX ? bytes : VALUE_MAX);
	}
}

int wti_model_inspect(const struct wti_front *front, const char *path, bool pictures,
		      struct wt_result *result, struct wt_err *err)
{
	struct wti_model_watch watch = {front->progress, front->cookie};
	struct wti_model_examined *examined = NULL;
	char hex[2 * WTI_SHA256_BYTES + 1];
	uint8_t canonical[WTI_SHA256_BYTES];
	struct wti_model *model;
	int r = wti_model_open(path, &model, err);

	if (r)
		return r;
	wti_front_progress(front, 0);
	r = wti_model_examine_all(model, WANTED, &watch, &examined, err);
	wti_front_progress(front, WTI_PROGRESS_OVER);
	r = r ? r : wti_model_canonical(model, examined, canonical, err);
	if (!r) {
		wti_model_facts(model, result);
		wt_result_fact_text(result, "canonical", "canonical digest",
				    wti_model_hex(hex, canonical));
		add_entries(model, result);
		r = add_tensors(model, examined, result, err);
	}
	if (!r && pictures)
		r = wti_model_pictures(model, examined, result, err);
	free(examined);
	wti_model_free(model);
	return r;
}
