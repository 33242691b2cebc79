/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the elements, which knows at every moment in which cell it is. */
#include "model/heat.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "digest/digest.h"
#include "digest/values.h"

#define AT_ONCE 512u

struct pass {
	struct wti_heat *heat;
	uint32_t dtype; /* of a real */
	size_t unit;
	uint64_t row, column;
	size_t i, j;                    /* the cell */
	uint64_t row_next, column_next; /* where the next cell begins */
};

/* The first row, or column, of the cell `number` of `cells`. */
static uint64_t cell_begin(uint64_t number, uint64_t cells, uint64_t extent)
{
	return (uint64_t)(((unsigned __int128)number * extent + cells - 1) / cells);
}

static void begin_row(struct pass *pass)
{
	const struct wti_heat *heat = pass->heat;

	if (pass->row == pass->row_next) {
		pass->i++;
		pass->row_next = cell_begin(pass->i + 1, heat->down, heat->rows);
	}
	pass->column = 0;
	pass->j = 0;
	pass->column_next = cell_begin(1, heat->across, heat->columns);
}

static void take_value(struct pass *pass, double value)
{
	const struct wti_heat *heat = pass->heat;
	size_t cell;

	if (pass->column == heat->columns) {
		pass->row++;
		begin_row(pass);
	} else if (pass->column == pass->column_next) {
		pass->j++;
		pass->column_next = cell_begin(pass->j + 1, heat->across, heat->columns);
	}
	pass->column++;
	cell = pass->i * heat->across + pass->j;
	if (!isfinite(value)) {
		heat->is_odd[cell] = true;
		return;
	}
	/* fmin() and fmax() take the number where the other is NaN. */
	heat->low[cell] = fmin(heat->low[cell], value);
	heat->high[cell] = fmax(heat->high[cell], value);
}

static int take_block(void *cookie, const void *data, size_t bytes)
{
	struct pass *pass = cookie;
	const uint8_t *at = data;
	double values[AT_ONCE];

	for (size_t left = bytes / pass->unit; left;) {
		size_t some = left < AT_ONCE ? left : AT_ONCE;

		wti_values(at, pass->dtype, some, values);
		for (size_t i = 0; i < some; i++)
			take_value(pass, values[i]);
		at += some * pass->unit;
		left -= some;
	}
	return 0;
}

/* ---- The map -------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* As many cells as there may be, and no more than there are rows and columns. */
static void choose_size(struct wti_heat *heat, size_t cells_max)
{
	uint64_t side = (uint64_t)sqrt((double)cells_max);

	side = side ? side : 1;
	heat->down = (size_t)least(least(heat->rows, WTI_HEAT_SIDE_MAX), side);
	heat->across = (size_t)least(least(heat->columns, WTI_HEAT_SIDE_MAX),
				     cells_max > heat->down ? cells_max / heat->down : 1);
	heat->down = (size_t)least(least(heat->rows, WTI_HEAT_SIDE_MAX),
				   cells_max > heat->across ? cells_max / heat->across : 1);
}

static int make_cells(struct wti_heat *heat, struct wt_err *err)
{
	size_t cells = heat->down * heat->across;

	heat->low = calloc(cells, sizeof(*heat->low));
	heat->high = calloc(cells, sizeof(*heat->high));
	heat->is_odd = calloc(cells, sizeof(*heat->is_odd));
	if (!heat->low || !heat->high || !heat->is_odd)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < cells; i++)
		heat->low[i] = heat->high[i] = NAN;
	return 0;
}

int wti_heat_make(struct wti_model *model, const struct wti_model_tensor *tensor, size_t cells_max,
		  struct wti_heat *ret, struct wt_err *err)
{
	struct pass pass = {.heat = ret, .dtype = wti_dtype_real(tensor->dtype)};
	int r;

	*ret = (struct wti_heat){0};
	pass.unit = wti_dtype_bytes(pass.dtype);
	if (!tensor->count || !pass.unit)
		return 0;
	ret->rows = tensor->rank > 1 ? tensor->shape[0] : 1;
	ret->columns = tensor->bytes / pass.unit / ret->rows;
	choose_size(ret, cells_max);
	r = make_cells(ret, err);
	pass.row_next = cell_begin(1, ret->down, ret->rows);
	pass.column_next = cell_begin(1, ret->across, ret->columns);
	r = r ? r : wti_model_walk(model, tensor, take_block, &pass, err);
	if (r)
		wti_heat_release(ret);
	return r;
}

void wti_heat_release(struct wti_heat *heat)
{
	free(heat->low);
	free(heat->high);
	free(heat->is_odd);
	*heat = (struct wti_heat){0};
}
