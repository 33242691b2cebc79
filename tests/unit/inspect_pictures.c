/* SPDX-License-Identifier: Apache-2.0 */
/* What pictures are drawn from: ceilings, and that no extreme of a place is lost by them. */
#include <math.h>
#include <stdlib.h>

#include "inspect/digits/pictures.h"
#include "test.h"
#include <wheeltap/trace.h>

static const struct wti_digits_how how = {.probability = .95, .confidence = .95};

static struct wti_seen_value value_of(uint64_t order, const char *file, double digits,
				      const double *const *runs, uint64_t reals)
{
	return (struct wti_seen_value){.order = order,
				       .step = -1,
				       .callee = "torch.add",
				       .file = file,
				       .name = "",
				       .shape = "40x50",
				       .line = 12,
				       .dtype = WT_DTYPE_F64,
				       .position = -1,
				       .is_call = true,
				       .count = reals,
				       .digits = digits,
				       .mantissa = 52,
				       .runs = runs,
				       .run_count = 2,
				       .reals = reals,
				       .how = &how};
}

static const struct wt_table *table_of(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->table_count; i++) {
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	}
	return NULL;
}

/* The lowest and highest digits of a site. */
static void extremes(const struct wt_table *points, const char *site, double *ret_low,
		     double *ret_high)
{
	*ret_low = INFINITY;
	*ret_high = -INFINITY;
	for (size_t row = 0; row < points->row_count; row++) {
		const struct wt_cell *cells = &points->cells[row * points->column_count];

		if (strcmp(cells[2].text, site) != 0)
			continue;
		*ret_low = fmin(*ret_low, cells[5].number);
		*ret_high = fmax(*ret_high, cells[5].number);
	}
}

static void test_thinning_keeps_extremes(void)
{
	static const double one[] = {1};
	const double *const runs[] = {one, one};
	struct wti_pictures *pictures = wti_pictures_new();
	struct wti_digits_watcher watcher;
	const struct wt_table *points;
	struct wt_result result;
	double low, high;

	REQUIRE(pictures);
	watcher = wti_pictures_watcher(pictures);
	for (uint64_t i = 1; i <= 150000; i++) {
		struct wti_seen_value value =
			value_of(i, i % 3 ? "dir/a.py" : "b.py",
				 20 + (double)(i * 7919 % 1000) / 100, runs, 1);

		value.digits = i == 77777 ? 3 : i == 88888 ? 50 : value.digits;
		value.digits = i == 3 ? 1 : value.digits;
		CHECK_INT(watcher.value(watcher.cookie, &value), 0);
	}
	wt_result_init(&result, "digits");
	wti_pictures_report(pictures, 2, &result);
	points = table_of(&result, "points");
	REQUIRE(points);
	CHECK(points->row_count <= WTI_PICTURE_POINTS_MAX);
	CHECK(points->row_count >= WTI_PICTURE_POINTS_MAX / 4);
	extremes(points, "a.py:12 torch.add", &low, &high);
	CHECK(low == 3 && high == 50);
	extremes(points, "b.py:12 torch.add", &low, &high);
	CHECK(low == 1);
	for (size_t row = 1; row < points->row_count; row++)
		CHECK(points->cells[row * points->column_count].count >=
		      points->cells[(row - 1) * points->column_count].count);
	wt_result_release(&result);
	wti_pictures_free(pictures);
}

static void test_worst_tensors_are_kept(void)
{
	double *first = calloc(2000, sizeof(*first)), *second = calloc(2000, sizeof(*second));
	const double *const runs[] = {first, second};
	struct wti_pictures *pictures = wti_pictures_new();
	struct wti_digits_watcher watcher = wti_pictures_watcher(pictures);
	const struct wt_table *elements;
	struct wt_result result;
	char file[32];

	for (size_t i = 0; i < 2000; i++) {
		first[i] = 1;
		second[i] = i % 2 ? 1 + 0x1p-20 : 1;
	}
	for (uint64_t i = 1; i <= 100; i++) {
		struct wti_seen_value value;

		snprintf(file, sizeof(file), "f%u.py", (unsigned)i);
		value = value_of(i, file, (double)(i * 37 % 101) / 2, runs, 2000);
		CHECK_INT(watcher.value(watcher.cookie, &value), 0);
	}
	wt_result_init(&result, "digits");
	wti_pictures_report(pictures, 2, &result);
	elements = table_of(&result, "elements");
	REQUIRE(elements);
	CHECK_INT(elements->row_count, WTI_PICTURE_TENSORS_MAX * WTI_PICTURE_ELEMENTS_MAX);
	CHECK(!strcmp(elements->cells[0].text, "f71.py:12 torch.add out")); /* 71 * 37 % 101 = 1 */
	for (size_t row = 0; row < WTI_PICTURE_ELEMENTS_MAX; row++) {
		const struct wt_cell *cells = &elements->cells[row * elements->column_count];

		CHECK(cells[2].count < 2000);
		CHECK(cells[2].count % 2 ? cells[3].number < 22 : cells[3].number == 53);
	}
	wt_result_release(&result);
	wti_pictures_free(pictures);
	free(first);
	free(second);
}

static void test_edges_have_a_ceiling(void)
{
	struct wti_pictures *pictures = wti_pictures_new();
	struct wti_digits_watcher watcher = wti_pictures_watcher(pictures);
	const struct wt_table *edges;
	struct wt_result result;

	for (unsigned i = 0; i < 1000; i++) {
		char callee[32], path[64];
		struct wti_seen_call call = {.order = i, .lost = i, .callee = callee, .path = path};

		snprintf(callee, sizeof(callee), "f%u", i);
		snprintf(path, sizeof(path), i == 999 ? "%s" : "main > train > %s", callee);
		CHECK_INT(watcher.call(watcher.cookie, &call), 0);
	}
	wt_result_init(&result, "digits");
	wti_pictures_report(pictures, 2, &result);
	edges = table_of(&result, "edges");
	REQUIRE(edges);
	CHECK_INT(edges->row_count, WTI_PICTURE_EDGES_MAX);
	CHECK(!strcmp(edges->cells[0].text, "program"));
	CHECK(!strcmp(edges->cells[1].text, "f999"));
	CHECK(!strcmp(edges->cells[edges->column_count].text, "train"));
	wt_result_release(&result);
	wti_pictures_free(pictures);
}

static const struct test tests[] = {
	{"thinning_keeps_extremes", test_thinning_keeps_extremes},
	{"worst_tensors_are_kept", test_worst_tensors_are_kept},
	{"edges_have_a_ceiling", test_edges_have_a_ceiling},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
