/* SPDX-License-Identifier: Apache-2.0 */
/* What the elements themselves give away: NaN, dead units. */
#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "inspect/training/optimizer_state.h"
#include "runs/model/verify.h"

#define WANTED (WTI_MODEL_HASH | WTI_MODEL_STATISTICS | WTI_MODEL_UNITS)

/* Types that weights have: integers are tables, masks and counters. */
static bool is_float(const struct wti_model_tensor *tensor)
{
	return tensor->dtype >= WT_DTYPE_F16;
}

/* ---- NaN and infinity ----------------------------------------------------------------------- */

int wti_layer_values(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wti_model_affected nan, inf;
	bool is_any;
	int r = wti_model_know(verifying, WANTED, err);

	if (r)
		return r;
	wti_affected_init(&nan);
	wti_affected_init(&inf);
	for (size_t i = 0; i < verifying->model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &verifying->model->tensors[i];
		const struct wt_digest *digest = &verifying->examined[i].digest;
		char detail[64];

		if (!is_float(tensor))
			continue;
		nan.cases++;
		inf.cases++;
		snprintf(detail, sizeof(detail), "%llu of %llu",
			 (unsigned long long)(digest->nan ? digest->nan : digest->inf),
			 (unsigned long long)digest->count);
		if (digest->nan)
			wti_affected_add(&nan, tensor->name, detail);
		if (digest->inf)
			wti_affected_add(&inf, tensor->name, detail);
	}
	if (nan.cases)
		wti_layer_says(verifying, WTI_LAYER_HELD, "all elements of %llu tensors are finite",
			       (unsigned long long)nan.cases);
	else
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED, "no tensor of known floats");
	is_any = wti_affected_end(&nan, verifying, WTI_MODEL_NAN);
	is_any |= wti_affected_end(&inf, verifying, WTI_MODEL_INFINITE);
	if (is_any)
		wti_layer_says(verifying, WTI_LAYER_VIOLATED, "elements are not finite");
	return 0;
}

/* ---- Units ---------------------------------------------------------------------------------- */

struct dead {
	struct wti_model_affected rows, columns, same, constant;
};

static void look_at_units(const struct wti_model_tensor *tensor,
			  const struct wti_model_examined *examined, struct dead *dead)
{
	const struct wti_model_units *units = &examined->units;
	uint64_t rows = units->zero_rows + units->equal_rows;
	uint64_t columns = units->zero_columns + units->equal_columns;
	char detail[96];

	dead->rows.cases++;
	dead->columns.cases += units->columns > 0;
	dead->same.cases += units->columns > 0;
	dead->constant.cases++;
	if (examined->digest.min == examined->digest.max && !examined->digest.nan &&
	    !examined->digest.inf) {
		snprintf(detail, sizeof(detail), "all %g", examined->digest.min);
		wti_affected_add(&dead->constant, tensor->name, detail);
		return;
	}
	if (units->has_same_rows) {
		snprintf(detail, sizeof(detail), "%llu rows", (unsigned long long)units->rows);
		wti_affected_add(&dead->same, tensor->name, detail);
		return;
	}
	if (rows && rows < units->rows) {
		snprintf(detail, sizeof(detail), "%llu of %llu rows, the first is %llu",
			 (unsigned long long)rows, (unsigned long long)units->rows,
			 (unsigned long long)units->first_row);
		wti_affected_add(&dead->rows, tensor->name, detail);
	}
	if (columns && columns < units->columns) {
		snprintf(detail, sizeof(detail), "%llu of %llu columns, the first is %llu",
			 (unsigned long long)columns, (unsigned long long)units->columns,
			 (unsigned long long)units->first_column);
		wti_affected_add(&dead->columns, tensor->name, detail);
	}
}

/* A file with the state of more optimizers than this is not known. */
#define OPTIMIZERS_MAX 16

struct optimizers {
	struct wti_optimizer_part parts[OPTIMIZERS_MAX];
	size_t count;
};

static void note_optimizer(struct optimizers *optimizers, const char *path)
{
	struct wti_optimizer_part part;

	if (optimizers->count == OPTIMIZERS_MAX || !wti_optimizer_groups(path, &part))
		return;
	for (size_t i = 0; i < optimizers->count; i++)
		if (optimizers->parts[i].bytes == part.bytes &&
		    !memcmp(optimizers->parts[i].path, part.path, part.bytes))
			return;
	optimizers->parts[optimizers->count++] = part;
}

static void find_optimizers(const struct wti_model *model, struct optimizers *ret)
{
	*ret = (struct optimizers){.count = 0};
	for (size_t i = 0; i < model->entry_count; i++)
		note_optimizer(ret, model->entries[i].key);
	for (size_t i = 0; i < model->tensor_count; i++)
		note_optimizer(ret, model->tensors[i].name);
}

/* What an optimizer keeps beside the model has rows that are alike, and no units. */
static bool is_of_optimizer(const struct optimizers *optimizers,
			    const struct wti_model_tensor *tensor)
{
	for (size_t i = 0; i < optimizers->count; i++)
		if (wti_optimizer_state_bytes(tensor->name, &optimizers->parts[i]))
			return true;
	return wti_optimizer_keeps(tensor->name);
}

int wti_layer_units(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct optimizers optimizers;
	struct dead dead;
	uint64_t cases;
	bool is_any;
	int r = wti_model_know(verifying, WANTED, err);

	if (r)
		return r;
	find_optimizers(verifying->model, &optimizers);
	wti_affected_init(&dead.rows);
	wti_affected_init(&dead.columns);
	wti_affected_init(&dead.same);
	wti_affected_init(&dead.constant);
	for (size_t i = 0; i < verifying->model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &verifying->model->tensors[i];

		if (is_float(tensor) && tensor->rank >= 2 && tensor->count > tensor->shape[0] &&
		    !is_of_optimizer(&optimizers, tensor))
			look_at_units(tensor, &verifying->examined[i], &dead);
	}
	cases = dead.rows.cases;
	is_any = wti_affected_end(&dead.constant, verifying, WTI_MODEL_CONSTANT);
	is_any |= wti_affected_end(&dead.same, verifying, WTI_MODEL_SAME_ROWS);
	is_any |= wti_affected_end(&dead.rows, verifying, WTI_MODEL_DEAD_ROWS);
	is_any |= wti_affected_end(&dead.columns, verifying, WTI_MODEL_DEAD_COLUMNS);
	if (is_any)
		wti_layer_says(verifying, WTI_LAYER_VIOLATED, "units that do not differ");
	else if (cases)
		wti_layer_says(verifying, WTI_LAYER_HELD, "rows and columns of %llu %s",
			       (unsigned long long)cases, cases == 1 ? "matrix" : "matrices");
	else
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED, "no matrix of known floats");
	return 0;
}
