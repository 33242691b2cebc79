/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of tensors: no extreme is lost, whatever the size. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "model/format.h"
#include "model/heat.h"

static struct wt_err err;

static struct wti_model *make(const float *values, uint32_t rank, const uint64_t *shape)
{
	struct wti_model *model = NULL;
	struct wti_model_tensor tensor = {
		.name = "w", .dtype = WT_DTYPE_F32, .type = "F32", .rank = rank, .shape = shape};
	struct wti_buf buf;
	uint32_t source;

	tensor.bytes = 4;
	for (uint32_t i = 0; i < rank; i++)
		tensor.bytes *= shape[i];
	CHECK_INT(wti_model_new("made", false, &model, &err), 0);
	wti_buf_init(&buf, 1 << 24);
	wti_buf_append(&buf, values, tensor.bytes);
	CHECK_INT(wti_model_add_memory(model, &buf, &source, &err), 0);
	CHECK_INT(wti_model_add(model, &tensor, &err), 0);
	return model;
}

/* Every element is in the cell that its place asks for, and in no other. */
static void compare(const struct wti_heat *heat, const float *values)
{
	unsigned wrong = 0;

	for (uint64_t i = 0; i < heat->down; i++) {
		for (uint64_t j = 0; j < heat->across; j++) {
			double low = NAN, high = NAN;
			bool is_odd = false;

			for (uint64_t row = 0; row < heat->rows; row++) {
				for (uint64_t column = 0; column < heat->columns; column++) {
					float value = values[row * heat->columns + column];

					if (row * heat->down / heat->rows != i ||
					    column * heat->across / heat->columns != j)
						continue;
					is_odd |= !isfinite(value);
					low = isfinite(value) ? fmin(low, (double)value) : low;
					high = isfinite(value) ? fmax(high, (double)value) : high;
				}
			}
			wrong += is_odd != heat->is_odd[i * heat->across + j];
			wrong += isnan(low) ? !isnan(heat->low[i * heat->across + j])
					    : low != heat->low[i * heat->across + j] ||
						      high != heat->high[i * heat->across + j];
		}
	}
	CHECK_INT(wrong, 0);
}

static void test_every_element(void)
{
	static const uint64_t shapes[][2] = {{1, 1},   {5, 3},   {64, 64}, {65, 64}, {100, 70},
					     {1, 200}, {200, 1}, {3, 129}, {90, 7}};
	static float values[100 * 70];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		values[i] = (float)((i * 7919) % 1009) - 500;
	values[17] = INFINITY;
	values[0] = NAN;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t cells = 1; cells <= 1024; cells *= 4) {
			struct wti_model *model = make(values, 2, shapes[i]);
			struct wti_heat heat;

			REQUIRE(!wti_heat_make(model, model->tensors, cells, &heat, &err));
			CHECK(heat.down * heat.across <= cells);
			CHECK(heat.down && heat.across);
			compare(&heat, values);
			wti_heat_release(&heat);
			wti_model_free(model);
		}
	}
}

/* One element among a million is still seen; four dimensions are rows and all others. */
static void test_outlier(void)
{
	enum { COUNT = 1 << 20, PLACE = 777777 };
	float *values = calloc(COUNT, sizeof(*values));
	struct wti_model *model;
	struct wti_heat heat;
	size_t seen = 0;

	values[PLACE] = -3e38f;
	model = make(values, 4, (uint64_t[]){256, 64, 8, 8});
	REQUIRE(!wti_heat_make(model, model->tensors, 256, &heat, &err));
	CHECK_INT(heat.rows, 256);
	CHECK_INT(heat.columns, 4096);
	for (size_t i = 0; i < heat.down * heat.across; i++)
		seen += heat.low[i] < -1e38 && heat.high[i] == 0;
	CHECK_INT(seen, 1);
	wti_heat_release(&heat);
	wti_model_free(model);
	free(values);
}

static const struct test tests[] = {
	{"every_element", test_every_element},
	{"outlier", test_outlier},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
