/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numpy, GGUF and ONNX, made here byte by byte, and a broken one for each check. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/file.h"
#include "model/format.h"

static struct wti_model *model;
static struct wt_err err;
static struct wti_buf file;

static void begin(void)
{
	wti_buf_release(&file);
	wti_buf_init(&file, 1 << 20);
}

static void put(const void *data, size_t bytes)
{
	wti_buf_append(&file, data, bytes);
}

static void put32(uint32_t value)
{
	put(&value, 4);
}

static void put64(uint64_t value)
{
	put(&value, 8);
}

static void put_text(const char *text)
{
	put64(strlen(text));
	put(text, strlen(text));
}

/* Reads what was put together. */
static int read_as(const struct wti_model_format *format)
{
	struct wti_model_probe probe = {
		.path = "made", .bytes = file.bytes, .head = file.data, .head_bytes = file.bytes};
	struct wti_buf copy;
	uint32_t source;

	wti_model_free(model);
	model = NULL;
	err = (struct wt_err){0};
	wti_buf_init(&copy, 1 << 20);
	wti_buf_append(&copy, file.data, file.bytes);
	if (!CHECK(format->is_one(&probe)))
		return -100;
	CHECK_INT(wti_model_new("/tmp/made", false, &model, &err), 0);
	CHECK_INT(wti_model_add_memory(model, &copy, &source, &err), 0);
	return format->read(model, &err);
}

static void refused(const struct wti_model_format *format, const char *why)
{
	CHECK(read_as(format) < 0);
	if (!strstr(err.message, why))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.message, why);
}

/* ---- numpy ---------------------------------------------------------------------------------- */

static void array(const char *header, size_t bytes)
{
	uint16_t length = (uint16_t)strlen(header);

	begin();
	put("\x93NUMPY\1\0", 8);
	put(&length, 2);
	put(header, length);
	for (size_t i = 0; i < bytes; i++)
		put("x", 1);
}

static void bad_array(const char *header, const char *why)
{
	array(header, 8);
	refused(&wti_model_npy, why);
}

#define NPY(descr, fortran, shape)                                                                 \
	"{'descr': " descr ", 'fortran_order': " fortran ", 'shape': " shape ", }\n"

static void test_npy(void)
{
	array(NPY("'<f4'", "False", "(2,)"), 8);
	REQUIRE(!read_as(&wti_model_npy));
	CHECK_INT(model->tensors[0].dtype, WT_DTYPE_F32);
	CHECK_TEXT(model->tensors[0].name, "array");
	array(NPY("'>i2'", "True", "(2, 2)"), 8);
	REQUIRE(!read_as(&wti_model_npy));
	CHECK(model->tensors[0].is_big_endian && model->tensors[0].strides);
	array("{\"shape\":(),\"fortran_order\":False,\"descr\":\"<f8\"}", 8);
	REQUIRE(!read_as(&wti_model_npy));
	array(NPY("'>U1'", "False", "(2,)"), 8);
	REQUIRE(!read_as(&wti_model_npy));
	CHECK(!model->tensors[0].is_big_endian); /* it would be swapped without end */
	bad_array(NPY("'|O'", "False", "(1,)"), "Python objects");
	bad_array(NPY("'<x4'", "False", "(2,)"), "unknown type");
	bad_array(NPY("'f4'", "False", "(2,)"), "unknown type");
	bad_array(NPY("[('a', '<f4')]", "False", "(2,)"), "fields");
	bad_array(NPY("'<f4'", "Maybe", "(2,)"), "neither True nor False");
	bad_array(NPY("'<f4'", "False", "(-2,)"), "tuple");
	bad_array(NPY("'<f4'", "False", "(2)"), "tuple");
	bad_array(NPY("'<f4'", "False", "(99999999999999999999,)"), "tuple");
	bad_array(NPY("'<f4'", "False", "(3,)"), "ask for");
	bad_array(NPY("'<f4'", "False", "(4611686018427387904, 4)"), "ask for");
	bad_array("{'descr': '<f4', 'shape': (2,)}", "needs descr");
	bad_array("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
		  "twice");
	bad_array(NPY("'<f4'", "False", "(2,)") "x", "follows");
	bad_array("{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "comma");
	bad_array("[]", "dictionary");
	array(NPY("'<f4'", "False", "(2,)"), 9);
	refused(&wti_model_npy, "ask for");
	array(NPY("'<f4'", "False", "(2,)"), 8);
	file.data[6] = 4;
	refused(&wti_model_npy, "version");
	array(NPY("'<f4'", "False", "(2,)"), 8);
	file.data[9] = 0xff;
	refused(&wti_model_npy, "too long");
}

static void test_npy_cut(void)
{
	array(NPY("'<f4'", "False", "(2,)"), 8);
	while (file.bytes > 6) {
		file.bytes--;
		CHECK(read_as(&wti_model_npy) < 0);
	}
}

/* ---- GGUF ----------------------------------------------------------------------------------- */

struct gguf {
	uint32_t version, alignment_type, alignment, rank, type;
	uint64_t tensors, values, extent, offset, data;
};

static const struct gguf good_gguf = {.version = 3,
				      .alignment_type = 4,
				      .alignment = 32,
				      .rank = 2,
				      .tensors = 1,
				      .values = 3,
				      .extent = 3,
				      .data = 24};

static void make_gguf(const struct gguf *is)
{
	begin();
	put("GGUF", 4);
	put32(is->version);
	put64(is->tensors);
	put64(is->values);
	put_text("general.alignment");
	put32(is->alignment_type);
	put32(is->alignment);
	put_text("name");
	put32(8);
	put_text("value");
	put_text("list");
	put32(9);
	put32(8);
	put64(2);
	put_text("a");
	put_text("b");
	put_text("w");
	put32(is->rank);
	for (uint32_t i = 0; i < is->rank; i++)
		put64(i ? 2 : is->extent);
	put32(is->type);
	put64(is->offset);
	while (file.bytes % 32)
		put("", 1);
	for (uint64_t i = 0; i < is->data; i++)
		put("x", 1);
}

#define GGUF_WITH(member, value, why)                                                              \
	do {                                                                                       \
		struct gguf is = good_gguf;                                                        \
                                                                                                   \
		is.member = value;                                                                 \
		make_gguf(&is);                                                                    \
		refused(&wti_model_gguf, why);                                                     \
	} while (0)

static void test_gguf(void)
{
	struct gguf quantised = good_gguf;

	make_gguf(&good_gguf);
	REQUIRE(!read_as(&wti_model_gguf));
	CHECK_INT(model->tensor_count, 1);
	CHECK_INT(model->tensors[0].shape[0], 2);
	CHECK_INT(model->tensors[0].shape[1], 3);
	CHECK_TEXT(wti_model_entry_value(model, "name"), "value");
	CHECK_TEXT(wti_model_entry_value(model, "list"), "(2 values)");
	CHECK_TEXT(wti_model_entry_value(model, "general.alignment"), "32");
	quantised.type = 2;
	quantised.extent = 64;
	quantised.data = 72;
	make_gguf(&quantised);
	REQUIRE(!read_as(&wti_model_gguf));
	CHECK_INT(model->tensors[0].bytes, 72);
	CHECK_TEXT(model->tensors[0].type, "Q4_0");
	GGUF_WITH(version, 1, "versions 2 and 3");
	GGUF_WITH(version, 0x03000000, "big-endian");
	GGUF_WITH(tensors, UINT64_MAX, "more entries");
	GGUF_WITH(values, (uint64_t)1 << 40, "more entries");
	GGUF_WITH(alignment, 33, "power of two");
	GGUF_WITH(alignment, 0, "power of two");
	GGUF_WITH(alignment_type, 5, "power of two");
	GGUF_WITH(alignment_type, 77, "unknown type");
	GGUF_WITH(rank, 5, "four dimensions");
	GGUF_WITH(type, 4, "unknown type");
	GGUF_WITH(type, 1000, "unknown type");
	GGUF_WITH(type, 2, "does not fit");
	GGUF_WITH(extent, UINT64_MAX, "does not fit");
	GGUF_WITH(offset, 1, "multiple of the alignment");
	GGUF_WITH(offset, 32, "begins behind");
	GGUF_WITH(offset, (uint64_t)1 << 62, "begins behind");
	GGUF_WITH(data, 23, "ends behind");
	GGUF_WITH(data, 100, "behind the last tensor");
}

static void test_gguf_cut(void)
{
	make_gguf(&good_gguf);
	while (file.bytes > 4) {
		file.bytes--;
		CHECK(read_as(&wti_model_gguf) < 0);
	}
}

/* ---- ONNX ----------------------------------------------------------------------------------- */

static void field(struct wti_buf *out, unsigned number, const void *data, size_t bytes)
{
	wti_buf_byte(out, (uint8_t)(number << 3 | 2));
	CHECK(bytes < 128);
	wti_buf_byte(out, (uint8_t)bytes);
	wti_buf_append(out, data, bytes);
}

static void number(struct wti_buf *out, unsigned field_number, uint8_t value)
{
	wti_buf_byte(out, (uint8_t)(field_number << 3));
	wti_buf_byte(out, value);
}

/* A model with one initialiser, of which the fields are given. */
static void make_onnx(const struct wti_buf *tensor)
{
	struct wti_buf graph;

	begin();
	wti_buf_init(&graph, 1000);
	field(&graph, 2, "g", 1);
	field(&graph, 5, tensor->data, tensor->bytes);
	number(&file, 1, 8);
	field(&file, 2, "maker", 5);
	field(&file, 7, graph.data, graph.bytes);
	wti_buf_release(&graph);
}

struct onnx {
	uint8_t type, extent, field;
	const char *data;
	size_t bytes;
	const char *location;
};

static void onnx_with(const struct onnx *is, const char *why)
{
	struct wti_buf tensor, pair;

	wti_buf_init(&tensor, 1000);
	wti_buf_init(&pair, 1000);
	number(&tensor, 1, is->extent);
	number(&tensor, 2, is->type);
	field(&tensor, 8, "w", 1);
	if (is->field)
		field(&tensor, is->field, is->data, is->bytes);
	if (is->location) {
		number(&tensor, 14, 1);
		field(&pair, 1, "location", 8);
		field(&pair, 2, is->location, strlen(is->location));
		field(&tensor, 13, pair.data, pair.bytes);
	}
	make_onnx(&tensor);
	wti_buf_release(&tensor);
	wti_buf_release(&pair);
	if (why)
		refused(&wti_model_onnx, why);
	else
		CHECK_INT(read_as(&wti_model_onnx), 0);
}

static void test_onnx(void)
{
	onnx_with(&(struct onnx){1, 2, 9, "12345678", 8}, NULL);
	REQUIRE(model && model->tensor_count == 1);
	CHECK_INT(model->tensors[0].dtype, WT_DTYPE_F32);
	CHECK_TEXT(wti_model_entry_value(model, "producer_name"), "maker");
	onnx_with(&(struct onnx){7, 3, 7, "\1\2\3", 3}, NULL);
	CHECK_INT(model->tensors[0].bytes, 24);
	onnx_with(&(struct onnx){21, 3, 9, "12", 2}, NULL);
	onnx_with(&(struct onnx){1, 0, 0, "", 0}, NULL);
	onnx_with(&(struct onnx){1, 3, 9, "12345678", 8}, "ask for");
	onnx_with(&(struct onnx){7, 2, 7, "\1\2\3", 3}, "ask for");
	onnx_with(&(struct onnx){1, 2, 7, "\1\2", 2}, "another type");
	onnx_with(&(struct onnx){7, 2, 7, "\1\x82", 2}, "ends inside");
	onnx_with(&(struct onnx){8, 2, 9, "12", 2}, "texts");
	onnx_with(&(struct onnx){99, 2, 9, "12", 2}, "unknown type");
	onnx_with(&(struct onnx){1, 2, 6, "12", 2}, "texts");
	onnx_with(&(struct onnx){1, 2, 3, "12", 2}, "segments");
	onnx_with(&(struct onnx){1, 2, 0, "", 0, "../passwd"}, "not inside its folder");
	onnx_with(&(struct onnx){1, 2, 0, "", 0, "/etc/passwd"}, "not inside its folder");
	onnx_with(&(struct onnx){1, 2, 0, "", 0, "wheeltap-no-such-file"}, "No such file");
	onnx_with(&(struct onnx){1, 2, 9, "12345678", 8, "x"}, "no others");
}

static void test_onnx_cut(void)
{
	onnx_with(&(struct onnx){1, 2, 9, "12345678", 8}, NULL);
	while (file.bytes > 4) {
		file.bytes--;
		CHECK(read_as(&wti_model_onnx) < 0);
	}
}

static void end(void)
{
	wti_model_free(model);
	wti_buf_release(&file);
}

static const struct test tests[] = {
	{"npy", test_npy},   {"npy_cut", test_npy_cut},
	{"gguf", test_gguf}, {"gguf_cut", test_gguf_cut},
	{"onnx", test_onnx}, {"onnx_cut", test_onnx_cut},
	{"end", end},        {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
