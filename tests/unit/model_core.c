/* SPDX-License-Identifier: Apache-2.0 */
/* What every format relies on: sources that end, tensors that are refused, elements in order. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "model/format.h"

static struct wti_model *model;
static struct wt_err err;

static void begin(void)
{
	err = (struct wt_err){0};
	wti_model_free(model);
	model = NULL;
	CHECK_INT(wti_model_new("made", false, &model, &err), 0);
}

static uint32_t memory(const void *data, size_t bytes)
{
	struct wti_buf buf;
	uint32_t source = 99;

	wti_buf_init(&buf, 1 << 20);
	wti_buf_append(&buf, data, bytes);
	CHECK_INT(wti_model_add_memory(model, &buf, &source, &err), 0);
	wti_buf_release(&buf);
	return source;
}

/* A file in the folder for tests; what it is called is in `path`. */
static char path[64];
static void make_file(const void *data, size_t bytes)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/wheeltap-model-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

static struct wti_model_tensor tensor_of(const char *name, uint32_t dtype, uint32_t rank,
					 const uint64_t *shape)
{
	return (struct wti_model_tensor){
		.name = name, .dtype = dtype, .type = "T", .rank = rank, .shape = shape};
}

/* ---- Refused -------------------------------------------------------------------------------- */

static void refused(struct wti_model_tensor tensor, const char *why)
{
	size_t before = model->tensor_count;

	err = (struct wt_err){0};
	CHECK(wti_model_add(model, &tensor, &err) < 0);
	if (!strstr(err.message, why))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.message, why);
	CHECK_INT(model->tensor_count, before);
}

static void test_names(void)
{
	uint64_t shape[] = {2};
	struct wti_model_tensor good = tensor_of("w", WT_DTYPE_U8, 1, shape);
	char *longest = calloc(1, WTI_MODEL_NAME_MAX + 2);

	begin();
	memory("abcdef", 6);
	CHECK_INT(wti_model_add(model, &good, &err), 0);
	refused(good, "twice");
	refused(tensor_of("", WT_DTYPE_U8, 1, shape), "no name");
	refused(tensor_of("\xff", WT_DTYPE_U8, 1, shape), "UTF-8");
	memset(longest, 'n', WTI_MODEL_NAME_MAX + 1);
	refused(tensor_of(longest, WT_DTYPE_U8, 1, shape), "too long");
	free(longest);
	CHECK(wti_model_find(model, "w") == &model->tensors[0]);
	CHECK(!wti_model_find(model, "v"));
}

static void test_sizes(void)
{
	static const uint64_t wraps[] = {4194305, 4194305, 211106198978564};
	static const uint64_t hidden[] = {UINT64_MAX, UINT64_MAX, 0};
	static const uint64_t negative[] = {(uint64_t)1 << 62, 1};
	static const uint64_t seven[] = {7}, three[] = {3};
	struct wti_model_tensor at = tensor_of("a", WT_DTYPE_U8, 1, three);
	static uint64_t many[WTI_MODEL_RANK_MAX + 1];

	begin();
	memory("abcdef", 6);
	refused(tensor_of("a", WT_DTYPE_U8, 3, wraps), "too many elements");
	refused(tensor_of("a", WT_DTYPE_U8, 3, hidden), "too many elements");
	refused(tensor_of("a", WT_DTYPE_F32, 2, negative), "too many elements");
	refused(tensor_of("a", WT_DTYPE_U8, WTI_MODEL_RANK_MAX + 1, many), "dimensions");
	refused(tensor_of("a", 9999, 1, three), "unknown type");
	refused(tensor_of("a", WT_DTYPE_U8, 1, seven), "ends behind");
	refused(tensor_of("a", WT_DTYPE_F64, 0, NULL), "ends behind");
	at.offset = 4;
	refused(at, "ends behind");
	at.offset = 7;
	refused(at, "begins behind");
	at.offset = UINT64_MAX;
	refused(at, "begins behind");
	at.offset = 3;
	at.source = 1;
	refused(at, "no file");
	at.source = 0;
	CHECK_INT(wti_model_add(model, &at, &err), 0);
}

static void test_zero(void)
{
	static const uint64_t none[] = {3, 0};
	struct wti_model_tensor empty = tensor_of("a", WT_DTYPE_F32, 2, none);

	begin();
	memory("", 0);
	CHECK_INT(wti_model_add(model, &empty, &err), 0);
	CHECK_INT(model->tensors[0].count, 0);
	CHECK_INT(model->tensors[0].bytes, 0);
}

static struct wti_model_tensor strided(const uint64_t *shape, const int64_t *strides,
				       uint64_t offset)
{
	struct wti_model_tensor tensor = tensor_of("s", WT_DTYPE_U16, 2, shape);

	tensor.strides = strides;
	tensor.offset = offset;
	return tensor;
}

static void test_bad_strides(void)
{
	static const uint64_t shape[] = {2, 3}, huge[] = {1u << 20, 1u << 20};
	static const int64_t fits[] = {3, 1}, far[] = {4, 1}, back[] = {-3, 1}, none[] = {0, 0},
			     most[] = {INT64_MAX, INT64_MIN};
	struct wti_model_tensor other = strided(shape, fits, 0);

	begin();
	memory("abcdefghijkl", 12);
	refused(strided(shape, far, 0), "leave its file");
	refused(strided(shape, fits, 2), "leave its file");
	refused(strided(shape, back, 0), "leave its file");
	refused(strided(shape, most, 0), "leave its file");
	refused(strided(huge, none, 0), "repeats");
	other.dtype = WT_DTYPE_OTHER;
	other.bytes = 4;
	refused(other, "does not allow");
	other = strided(shape, back, 6);
	CHECK_INT(wti_model_add(model, &other, &err), 0);
	CHECK(model->tensors[0].strides);
	other = strided(shape, fits, 0);
	other.name = "packed";
	CHECK_INT(wti_model_add(model, &other, &err), 0);
	CHECK(!model->tensors[1].strides);
}

static void test_files(void)
{
	uint32_t source;

	begin();
	CHECK_INT(wti_model_add_file(model, "../etc/passwd", &source, &err), WT_E_FORMAT);
	CHECK_INT(wti_model_add_file(model, "/etc/passwd", &source, &err), WT_E_FORMAT);
	CHECK_INT(wti_model_add_file(model, "a/./b", &source, &err), WT_E_FORMAT);
	CHECK_INT(wti_model_add_file(model, "a//b", &source, &err), WT_E_FORMAT);
	CHECK_INT(wti_model_add_file(model, "", &source, &err), WT_E_FORMAT);
	CHECK_INT(wti_model_add_file(model, "a/", &source, &err), WT_E_FORMAT);
	CHECK_INT(wti_model_add_file(model, "no-such-file", &source, &err), WT_E_MISSING);
	CHECK(strstr(err.message, "no-such-file"));
}

/* ---- Elements ------------------------------------------------------------------------------- */

struct collected {
	uint8_t bytes[64];
	size_t count;
};

static int collect(void *cookie, const void *data, size_t bytes)
{
	struct collected *all = cookie;

	if (all->count + bytes > sizeof(all->bytes))
		return -1;
	memcpy(all->bytes + all->count, data, bytes);
	all->count += bytes;
	return 0;
}

static void walks_to(const char *expected)
{
	struct collected all = {0};

	CHECK_INT(wti_model_walk(model, &model->tensors[model->tensor_count - 1], collect, &all,
				 &err),
		  0);
	CHECK_INT(all.count, strlen(expected));
	CHECK_TEXT((char *)all.bytes, expected);
}

/* The same tensors over memory and over a file. */
static void test_order(void)
{
	static const uint64_t shape[] = {2, 3};
	static const int64_t transposed[] = {1, 2}, back[] = {-3, 1}, same[] = {0, 1};
	struct wti_model_tensor tensor;

	for (int in_file = 0; in_file < 2; in_file++) {
		uint32_t source;

		begin();
		make_file("aAbBcCdDeEfF", 12);
		if (in_file) {
			wti_model_free(model);
			CHECK_INT(wti_model_new("/tmp", true, &model, &err), 0);
			CHECK_INT(wti_model_add_file(model, path + 5, &source, &err), 0);
		} else {
			memory("aAbBcCdDeEfF", 12);
		}
		tensor = tensor_of("packed", WT_DTYPE_U16, 2, shape);
		CHECK_INT(wti_model_add(model, &tensor, &err), 0);
		walks_to("aAbBcCdDeEfF");
		tensor.name = "big";
		tensor.is_big_endian = true;
		CHECK_INT(wti_model_add(model, &tensor, &err), 0);
		walks_to("AaBbCcDdEeFf");
		tensor = strided(shape, transposed, 0);
		CHECK_INT(wti_model_add(model, &tensor, &err), 0);
		walks_to("aAcCeEbBdDfF");
		tensor = strided(shape, back, 6);
		tensor.name = "back";
		CHECK_INT(wti_model_add(model, &tensor, &err), 0);
		walks_to("dDeEfFaAbBcC");
		tensor = strided(shape, same, 2);
		tensor.name = "same";
		CHECK_INT(wti_model_add(model, &tensor, &err), 0);
		walks_to("bBcCdDbBcCdD");
		unlink(path);
	}
}

/* More than a block, out of lines of the cache and out of rows: against a plain loop. */
static void test_large(void)
{
	enum { ROWS = 700, COLUMNS = 501 };
	static const uint64_t shape[] = {COLUMNS, ROWS};
	static const int64_t transposed[] = {1, COLUMNS};
	static uint32_t matrix[ROWS * COLUMNS];
	struct wti_model_tensor tensor = tensor_of("t", WT_DTYPE_U32, 2, shape);
	struct wti_model_elements elements;
	const uint8_t *data;
	size_t seen = 0, wrong = 0;
	uint32_t source;

	for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
		matrix[i] = i;
	begin();
	make_file(matrix, sizeof(matrix));
	wti_model_free(model);
	CHECK_INT(wti_model_new("/tmp/", true, &model, &err), 0);
	CHECK_INT(wti_model_add_file(model, path + 5, &source, &err), 0);
	tensor.strides = transposed;
	CHECK_INT(wti_model_add(model, &tensor, &err), 0);
	REQUIRE(!wti_model_elements_init(&elements, model, &model->tensors[0], &err));
	for (int64_t got; (got = wti_model_elements_next(&elements, 1003, &data, &err)) > 0;) {
		for (int64_t i = 0; i < got; i += 4, seen++) {
			uint32_t value;

			memcpy(&value, data + i, 4);
			wrong += value != seen % ROWS * COLUMNS + seen / ROWS;
		}
	}
	CHECK_INT(seen, ROWS * COLUMNS);
	CHECK_INT(wrong, 0);
	wti_model_elements_release(&elements);
	unlink(path);
}

static void test_cut_meanwhile(void)
{
	static const uint64_t shape[] = {8};
	struct wti_model_tensor tensor = tensor_of("t", WT_DTYPE_U8, 1, shape);
	struct collected all = {0};
	uint32_t source;

	begin();
	make_file("12345678", 8);
	wti_model_free(model);
	CHECK_INT(wti_model_new("/tmp", true, &model, &err), 0);
	CHECK_INT(wti_model_add_file(model, path + 5, &source, &err), 0);
	CHECK_INT(wti_model_add(model, &tensor, &err), 0);
	CHECK_INT(truncate(path, 3), 0);
	CHECK_INT(wti_model_walk(model, &model->tensors[0], collect, &all, &err), WT_E_FORMAT);
	CHECK(strstr(err.message, "byte 3: the file became shorter"));
	unlink(path);
}

static void test_not_a_model(void)
{
	struct wti_model *opened = NULL;

	make_file("hello", 5);
	CHECK_INT(wti_model_open(path, &opened, &err), WT_E_FORMAT);
	CHECK(strstr(err.message, "not a model file"));
	CHECK_INT(truncate(path, 0), 0);
	CHECK_INT(wti_model_open(path, &opened, &err), WT_E_FORMAT);
	CHECK(strstr(err.message, "is empty"));
	unlink(path);
	CHECK_INT(wti_model_open(path, &opened, &err), WT_E_MISSING);
	CHECK(!opened);
	begin();
	wti_model_free(model);
	model = NULL;
}

static const struct test tests[] = {
	{"names", test_names},
	{"sizes", test_sizes},
	{"zero", test_zero},
	{"bad_strides", test_bad_strides},
	{"files", test_files},
	{"order", test_order},
	{"large", test_large},
	{"cut_meanwhile", test_cut_meanwhile},
	{"not_a_model", test_not_a_model},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
