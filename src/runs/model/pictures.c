/* SPDX-License-Identifier: Apache-2.0 */
/* The page stays small: all maps together have so many cells, however many tensors there are. */
#include "runs/model/pictures.h"

#include <math.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "model/heat.h"
#include "model/histogram.h"

#define PICTURES_MAX 1000u          /* more nobody looks at */
#define CELLS_MAX ((size_t)1 << 17) /* of all maps: half a megabyte of text */
#define CELLS_OF_ONE_MAX ((size_t)32 * 32)
#define LEVEL_MAX 4094u
#define LEVEL_NONE 4095u
#define TEXT_MAX ((size_t)1 << 20)

static bool has_picture(const struct wti_model_tensor *tensor, const struct wt_digest *digest)
{
	double range = digest->max - digest->min;

	return tensor->dtype != WT_DTYPE_OTHER && range > 0 && isfinite(range);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static void put_level(struct wti_buf *out, double value, const struct wt_digest *digest)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned level = LEVEL_NONE;

	if (!isnan(value))
		level = (unsigned)lround((value - digest->min) / (digest->max - digest->min) *
					 LEVEL_MAX);
	wti_buf_append(out, &digits[level / 64], 1);
	wti_buf_append(out, &digits[level % 64], 1);
}

static void put_cells(struct wti_buf *out, const struct wti_heat *heat,
		      const struct wt_digest *digest)
{
	for (size_t i = 0; i < heat->down * heat->across; i++) {
		put_level(out, heat->low[i], digest);
		put_level(out, heat->high[i], digest);
	}
}

static void put_odd(struct wti_buf *out, const struct wti_heat *heat)
{
	for (size_t i = 0; i < heat->down * heat->across; i++) {
		if (heat->is_odd[i])
			wti_textf(out, "%s%zu", out->bytes ? "," : "", i);
	}
}

static void put_bins(struct wti_buf *out, const uint64_t *bins)
{
	for (size_t i = 0; i < WTI_MODEL_BINS; i++)
		wti_textf(out, "%s%llu", i ? "," : "", (unsigned long long)bins[i]);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static struct wt_table *begin_table(struct wt_result *result)
{
	static const struct {
		const char *key;
		enum wt_cell_type type;
	} columns[] = {
		{"tensor", WT_CELL_TEXT}, {"min", WT_CELL_NUMBER},   {"max", WT_CELL_NUMBER},
		{"mean", WT_CELL_NUMBER}, {"rows", WT_CELL_COUNT},   {"columns", WT_CELL_COUNT},
		{"down", WT_CELL_COUNT},  {"across", WT_CELL_COUNT}, {"cells", WT_CELL_TEXT},
		{"odd", WT_CELL_TEXT},    {"bins", WT_CELL_TEXT},
	};
	struct wt_table *table = wt_result_table(result, "pictures", "");

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		wt_table_column(table, columns[i].key, "", columns[i].type);
	return table;
}

static void add_row(struct wt_table *table, const char *name, const struct wt_digest *digest,
		    const struct wti_heat *heat, const uint64_t *bins, struct wti_buf texts[3])
{
	put_cells(&texts[0], heat, digest);
	put_odd(&texts[1], heat);
	put_bins(&texts[2], bins);
	wt_table_row(table);
	wt_table_text(table, name, strlen(name));
	wt_table_number(table, digest->min);
	wt_table_number(table, digest->max);
	wt_table_number(table, digest->mean);
	wt_table_count(table, heat->rows);
	wt_table_count(table, heat->columns);
	wt_table_count(table, heat->down);
	wt_table_count(table, heat->across);
	for (size_t i = 0; i < 3; i++)
		wt_table_text(table, (const char *)texts[i].data, texts[i].bytes);
}

static int add_picture(struct wt_table *table, struct wti_model *model, size_t number,
		       const struct wt_digest *digest, size_t cells, struct wt_err *err)
{
	const struct wti_model_tensor *tensor = &model->tensors[number];
	uint64_t bins[WTI_MODEL_BINS];
	struct wti_buf texts[3];
	struct wti_heat heat;
	int r = wti_model_histogram(model, tensor, digest, bins, err);

	r = r ? r : wti_heat_make(model, tensor, cells, &heat, err);
	if (r)
		return r;
	for (size_t i = 0; i < 3; i++)
		wti_buf_init(&texts[i], TEXT_MAX);
	add_row(table, tensor->name, digest, &heat, bins, texts);
	for (size_t i = 0; i < 3; i++) {
		r = r ? r : wti_buf_status(&texts[i]);
		wti_buf_release(&texts[i]);
	}
	wti_heat_release(&heat);
	return r ? wti_err(err, r, "out of memory") : 0;
}

int wti_model_pictures(struct wti_model *model, const struct wti_model_examined *examined,
		       struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = begin_table(result);
	size_t count = 0, shown = 0, cells;
	int r = 0;

	for (size_t i = 0; i < model->tensor_count; i++)
		count += has_picture(&model->tensors[i], &examined[i].digest);
	cells = CELLS_MAX / (count && count < PICTURES_MAX ? count : PICTURES_MAX);
	cells = cells < CELLS_OF_ONE_MAX ? cells : CELLS_OF_ONE_MAX;
	for (size_t i = 0; !r && i < model->tensor_count && shown < PICTURES_MAX; i++) {
		if (!has_picture(&model->tensors[i], &examined[i].digest))
			continue;
		r = add_picture(table, model, i, &examined[i].digest, cells, err);
		shown++;
	}
	if (shown < count)
		wt_result_note(result, "pictures of the first %zu tensors of %zu", shown, count);
	if (count < model->tensor_count)
		wt_result_note(result,
			       "%zu of %zu tensors have no picture: one value, no finite range, or "
			       "a type that is not known",
			       model->tensor_count - count, model->tensor_count);
	return r;
}
