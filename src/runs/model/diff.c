/* SPDX-License-Identifier: Apache-2.0 */
/* Two models, tensor by tensor: which differ, by how much, and where first. */
#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "digest/digest.h"
#include "digest/values.h"
#include "inspect/core/cells.h"
#include "model/compare.h"
#include "model/examine.h"
#include "model/format.h"
#include "runs/model/actions.h"
#include "runs/model/facts.h"

#define TEXT_MAX 256u

struct diffing {
	const struct wti_front *front;
	struct wti_model *a, *b;
	struct wt_result *result;
	struct wt_table *table;
	uint64_t bytes, done_bytes; /* of the tensors of a */
	uint64_t same, different, only_a, only_b;
	uint64_t elements;
};

static void begin_table(struct diffing *diffing)
{
	struct wt_table *table = wt_result_table(diffing->result, "differences", "differences");

	wt_table_column(table, "name", "tensor", WT_CELL_TEXT);
	wt_table_column(table, "what", "what differs", WT_CELL_TEXT);
	wt_table_column(table, "differing", "elements", WT_CELL_COUNT);
	wt_table_column(table, "count", "of", WT_CELL_COUNT);
	wt_table_column(table, "ulp", "max ulp", WT_CELL_COUNT);
	wt_table_column(table, "abs", "max abs", WT_CELL_NUMBER);
	wt_table_column(table, "rel", "max rel", WT_CELL_NUMBER);
	wt_table_hide(table, 2);
	wt_table_column(table, "first", "first at", WT_CELL_TEXT);
	wt_table_column(table, "a", "a", WT_CELL_TEXT);
	wt_table_hide(table, 1);
	wt_table_column(table, "b", "b", WT_CELL_TEXT);
	wt_table_hide(table, 1);
	diffing->table = table;
}

static void add_empty(struct diffing *diffing, const char *name, const char *what)
{
	wt_table_row(diffing->table);
	wti_table_word(diffing->table, name);
	wti_table_word(diffing->table, what);
	for (unsigned i = 0; i < 8; i++)
		wt_table_empty(diffing->table);
}

/* ---- One pair ------------------------------------------------------------------------------- */

/* "0x3f800000 (1)": the bits, the highest first, and the value. */
static void put_value(struct wt_table *table, const struct wti_model_tensor *tensor,
		      const uint8_t *bits, size_t bytes)
{
	uint32_t real = wti_dtype_real(tensor->dtype);
	char text[TEXT_MAX];
	size_t at = (size_t)snprintf(text, sizeof(text), "0x");
	double value;

	for (size_t i = bytes; i-- > 0;)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%02x", bits[i]);
	if (wti_dtype_bytes(tensor->dtype)) {
		wti_values(bits, real, 1, &value);
		snprintf(text + at, sizeof(text) - at,
			 real == tensor->dtype ? " (%.9g)" : " (%.9g ...)", value);
	}
	wti_table_word(table, text);
}

static void put_numbers(struct wt_table *table, const struct wti_model_tensor *tensor,
			const struct wti_model_difference *difference)
{
	bool has_ulp = difference->is_same_type && tensor->dtype >= WT_DTYPE_F16;

	wt_table_count(table, difference->differing);
	wt_table_count(table, difference->count);
	if (has_ulp)
		wt_table_count(table, difference->ulp_max);
	else
		wt_table_empty(table);
	if (tensor->dtype != WT_DTYPE_OTHER) {
		wt_table_number(table, difference->abs_max);
		wt_table_number(table, difference->rel_max);
	} else {
		wt_table_empty(table);
		wt_table_empty(table);
	}
}

static void add_differing(struct diffing *diffing, const struct wti_model_tensor *a,
			  const struct wti_model_tensor *b,
			  const struct wti_model_difference *difference)
{
	char what[TEXT_MAX], place[TEXT_MAX];

	if (difference->is_same_type)
		snprintf(what, sizeof(what),
			 difference->not_finite ? "values (%llu not finite)" : "values",
			 (unsigned long long)difference->not_finite);
	else
		snprintf(what, sizeof(what), "type: %s, %s", wti_model_dtype_word(a),
			 wti_model_dtype_word(b));
	wt_table_row(diffing->table);
	wti_table_word(diffing->table, a->name);
	wti_table_word(diffing->table, what);
	put_numbers(diffing->table, a, difference);
	if (!difference->differing) {
		for (unsigned i = 0; i < 3; i++)
			wt_table_empty(diffing->table);
		return;
	}
	wti_model_index_text(a, difference->first, place, sizeof(place));
	wti_table_word(diffing->table, place);
	put_value(diffing->table, a, difference->first_a, difference->bytes_a);
	put_value(diffing->table, b, difference->first_b, difference->bytes_b);
}

static void add_shapes(struct diffing *diffing, const struct wti_model_tensor *a,
		       const struct wti_model_tensor *b)
{
	char shape_a[TEXT_MAX / 4], shape_b[TEXT_MAX / 4], what[TEXT_MAX];

	wti_model_shape_text(a, shape_a, sizeof(shape_a));
	wti_model_shape_text(b, shape_b, sizeof(shape_b));
	snprintf(what, sizeof(what), "shape: %s, %s", shape_a, shape_b);
	add_empty(diffing, a->name, what);
}

static int compare_tensor(struct diffing *diffing, const struct wti_model_tensor *a,
			  struct wt_err *err)
{
	const struct wti_model_tensor *b = wti_model_find(diffing->b, a->name);
	struct wti_model_difference difference;
	int r;

	if (!b) {
		diffing->only_a++;
		add_empty(diffing, a->name, "only in a");
		return 0;
	}
	r = wti_model_compare(diffing->a, a, diffing->b, b, &difference, err);
	if (r)
		return r;
	diffing->elements += difference.differing;
	if (difference.is_same_type && difference.is_same_shape && !difference.differing) {
		diffing->same++;
		return 0;
	}
	diffing->different++;
	if (!difference.is_same_shape)
		add_shapes(diffing, a, b);
	else
		add_differing(diffing, a, b, &difference);
	return 0;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int compare_models(struct diffing *diffing, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < diffing->a->tensor_count; i++)
		diffing->bytes += diffing->a->tensors[i].bytes;
	for (size_t i = 0; i < diffing->a->tensor_count && !r; i++) {
		r = compare_tensor(diffing, &diffing->a->tensors[i], err);
		diffing->done_bytes += diffing->a->tensors[i].bytes;
		if (diffing->bytes)
			wti_front_progress(diffing->front,
					   (double)diffing->done_bytes / (double)diffing->bytes);
	}
	for (size_t i = 0; i < diffing->b->tensor_count && !r; i++) {
		if (!wti_model_find(diffing->a, diffing->b->tensors[i].name)) {
			diffing->only_b++;
			add_empty(diffing, diffing->b->tensors[i].name, "only in b");
		}
	}
	return r;
}

static void add_facts(struct diffing *diffing)
{
	struct wt_result *result = diffing->result;
	bool is_same = !diffing->different && !diffing->only_a && !diffing->only_b;

	wt_result_fact_text(result, "a", "a", diffing->a->path);
	wt_result_fact_text(result, "a_format", "", diffing->a->format->title);
	wt_result_fact_text(result, "b", "b", diffing->b->path);
	wt_result_fact_text(result, "b_format", "", diffing->b->format->title);
	wt_result_fact_count(result, "same", "tensors that are bit for bit the same", WT_CELL_COUNT,
			     diffing->same);
	wt_result_fact_count(result, "different", "different", WT_CELL_COUNT, diffing->different);
	wt_result_fact_count(result, "only_a", "only in a", WT_CELL_COUNT, diffing->only_a);
	wt_result_fact_count(result, "only_b", "only in b", WT_CELL_COUNT, diffing->only_b);
	wt_result_fact_count(result, "elements", "differing elements", WT_CELL_COUNT,
			     diffing->elements);
	wt_result_set_status(result, is_same ? "clean" : "findings");
}

int wti_model_diff(const struct wti_front *front, const char *a, const char *b,
		   struct wt_result *result, struct wt_err *err)
{
	struct diffing diffing = {.front = front, .result = result};
	int r = wti_model_open(a, &diffing.a, err);

	r = r ? r : wti_model_open(b, &diffing.b, err);
	if (!r) {
		begin_table(&diffing);
		wti_front_progress(front, 0);
		r = compare_models(&diffing, err);
		wti_front_progress(front, WTI_PROGRESS_OVER);
	}
	if (!r)
		add_facts(&diffing);
	wti_model_free(diffing.a);
	wti_model_free(diffing.b);
	return r;
}
