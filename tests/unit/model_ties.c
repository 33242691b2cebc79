/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that are one: by their place in the file, or by their elements. */
#include "test.h"

#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "model/format.h"
#include "model/ties.h"

static struct wt_err err;
static struct wti_model *model;
static struct wti_model_tie *ties;

/* Floats in memory: the source of all tensors that are added. */
static void begin(const float *values, size_t count)
{
	struct wti_buf buf;
	uint32_t source;

	CHECK_INT(wti_model_new("made", false, &model, &err), 0);
	wti_buf_init(&buf, 1 << 20);
	wti_buf_append(&buf, values, count * sizeof(*values));
	CHECK_INT(wti_model_add_memory(model, &buf, &source, &err), 0);
}

static void add(const char *name, uint64_t first, uint64_t rows, uint64_t columns,
		const int64_t *strides)
{
	struct wti_model_tensor tensor = {.name = name,
					  .dtype = WT_DTYPE_F32,
					  .type = "F32",
					  .rank = 2,
					  .shape = (uint64_t[]){rows, columns},
					  .strides = strides,
					  .offset = 4 * first,
					  .bytes = 4 * rows * columns};

	CHECK_INT(wti_model_add(model, &tensor, &err), 0);
}

static void find_ties(void)
{
	struct wti_model_examined *examined = NULL;

	REQUIRE(!wti_model_examine_all(model, WTI_MODEL_HASH | WTI_MODEL_STATISTICS | WTI_MODEL_SHA,
				       NULL, &examined, &err));
	CHECK_INT(wti_model_ties(model, examined, &ties, &err), 0);
	free(examined);
}

static void end(void)
{
	free(ties);
	wti_model_free(model);
}

static void test_storage(void)
{
	static const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

	begin(values, 12);
	add("before", 0, 1, 2, NULL);
	add("first", 2, 2, 3, NULL);
	add("again", 2, 2, 3, NULL);
	add("turned", 2, 3, 2, (int64_t[]){1, 3});
	add("part", 4, 1, 2, NULL);
	add("behind", 8, 2, 2, NULL);
	find_ties();
	CHECK_INT(ties[0].how, WTI_TIE_NONE);
	CHECK_INT(ties[1].how, WTI_TIE_NONE);
	CHECK_INT(ties[1].to, 1);
	CHECK_INT(ties[2].how, WTI_TIE_STORAGE);
	CHECK_INT(ties[3].how, WTI_TIE_STORAGE);
	CHECK_INT(ties[4].how, WTI_TIE_OVERLAP);
	for (size_t i = 2; i < 5; i++)
		CHECK_INT(ties[i].to, 1);
	CHECK_INT(ties[5].how, WTI_TIE_NONE);
	end();
}

/* The one that stands first in the file is the one that the others are tied to. */
static void test_bytes(void)
{
	static const float values[] = {1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4};

	begin(values, 16);
	add("late", 12, 2, 2, NULL);
	add("first", 0, 2, 2, NULL);
	add("copy", 4, 2, 2, NULL);
	add("reshaped", 0, 1, 4, NULL);
	find_ties();
	CHECK_INT(ties[0].how, WTI_TIE_NONE);
	CHECK_INT(ties[1].how, WTI_TIE_BYTES);
	CHECK_INT(ties[1].to, 0);
	CHECK_INT(ties[2].how, WTI_TIE_BYTES);
	CHECK_INT(ties[2].to, 0);
	CHECK_INT(ties[3].how, WTI_TIE_STORAGE);
	CHECK_INT(ties[3].to, 1);
	end();
}

/* Zeros are equal everywhere, which says nothing, unless they are the same zeros. */
static void test_one_value(void)
{
	static const float values[8] = {0};

	begin(values, 8);
	add("a", 0, 2, 2, NULL);
	add("b", 4, 2, 2, NULL);
	add("c", 4, 2, 2, NULL);
	find_ties();
	CHECK_INT(ties[0].how, WTI_TIE_NONE);
	CHECK_INT(ties[1].how, WTI_TIE_NONE);
	CHECK_INT(ties[2].how, WTI_TIE_STORAGE);
	CHECK_INT(ties[2].to, 1);
	end();
}

static const struct test tests[] = {
	{"storage", test_storage},
	{"bytes", test_bytes},
	{"one_value", test_one_value},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
