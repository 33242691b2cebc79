/* SPDX-License-Identifier: Apache-2.0 */
/* Files of safetensors made here, and for each rule of the specification one that breaks it. */
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/file.h"
#include "model/examine.h"
#include "model/format.h"
#include "model/write.h"

static char folder[] = "/tmp/wheeltap-safetensors-XXXXXX";
static char path[128];
static struct wt_err err;
static struct wti_model *model;

static void write_file(const char *name, const void *data, size_t bytes)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	err = (struct wt_err){0};
	CHECK_INT(wti_file_replace(path, data, bytes, &err), 0);
}

/* A header, and `bytes` bytes behind it that count up. */
static void make(const char *name, const char *header, size_t bytes)
{
	uint8_t file[4096];
	size_t length = strlen(header);

	wti_put64(file, length);
	memcpy(file + 8, header, length);
	for (size_t i = 0; i < bytes; i++)
		file[8 + length + i] = (uint8_t)i;
	write_file(name, file, 8 + length + bytes);
}

static int reopen(void)
{
	wti_model_free(model);
	model = NULL;
	err = (struct wt_err){0};
	return wti_model_open(path, &model, &err);
}

static void refused_file(const char *why)
{
	CHECK(reopen() < 0);
	if (!strstr(err.message, why))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.message, why);
}

static void refused(const char *header, size_t bytes, const char *why)
{
	make("refused", header, bytes);
	refused_file(why);
}

#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define ENTRY(dtype, shape, offsets)                                                               \
	"{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_good(void)
{
	make("good",
	     "{\"__metadata__\":{\"k\":\"v\"}," A ",\"none\":{\"dtype\":\"F64\",\"shape\":[0,3],"
	     "\"data_offsets\":[8,8]},\"s\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[8,10]"
	     "}, \"f4\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[10,12]}}   ",
	     12);
	REQUIRE(!reopen());
	CHECK_INT(model->tensor_count, 4);
	CHECK_TEXT(model->format->name, "safetensors");
	CHECK_INT(wti_model_find(model, "a")->count, 2);
	CHECK_INT(wti_model_find(model, "a")->dtype, WT_DTYPE_F32);
	CHECK_INT(wti_model_find(model, "none")->bytes, 0);
	CHECK_INT(wti_model_find(model, "s")->rank, 0);
	CHECK_INT(wti_model_find(model, "s")->count, 1);
	CHECK_INT(wti_model_find(model, "f4")->dtype, WT_DTYPE_OTHER);
	CHECK_INT(wti_model_find(model, "f4")->bytes, 2);
	CHECK_TEXT(wti_model_entry_value(model, "k"), "v");
	make("empty", "{}", 0);
	CHECK_INT(reopen(), 0);
}

static void test_length(void)
{
	uint8_t file[16] = {0};

	memset(file + 8, '{', 8);
	wti_put64(file, 100000001);
	write_file("length", file, 16);
	CHECK_INT(reopen(), WT_E_FORMAT);
	wti_put64(file, 100000000);
	write_file("length", file, 16);
	refused_file("ends inside its header");
	wti_put64(file, UINT64_MAX);
	write_file("length", file, 16);
	CHECK_INT(reopen(), WT_E_FORMAT);
}

static void test_header(void)
{
	refused("{", 0, "ends");
	refused("{\"a\":1}", 0, "not described by an object");
	refused("{" A "," A "}", 8, "twice");
	refused("{" A "}{}", 8, "end of the file");
	refused("{\"a\\u0000\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
		"NUL");
	refused("{\"\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "no name");
	refused("{\"\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "UTF-8");
	refused("{\"__metadata__\":{\"k\":1}," A "}", 8, "not a text");
	refused("{\"__metadata__\":[]," A "}", 8, "not an object");
	refused("{\"__metadata__\":{\"k\":\"a\\u0000\"}," A "}", 8, "not a text");
}

/* More than a JSON document may have elsewhere: entry by entry, with the same rules. */
static void large(const char *front, const char *back, size_t bytes, const char *why)
{
	enum { PADDING = 17 << 20 };
	size_t length = strlen(front) + PADDING + strlen(back);
	uint8_t *file = calloc(1, 8 + length + bytes);

	wti_put64(file, length);
	memset(file + 8, ' ', length);
	memcpy(file + 8, front, strlen(front));
	memcpy(file + 8 + length - strlen(back), back, strlen(back));
	write_file("large", file, 8 + length + bytes);
	if (why)
		refused_file(why);
	else
		CHECK_INT(reopen(), 0);
	free(file);
}

static void test_large_header(void)
{
	static const char b[] =
		"\"b,}\\\"\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}";

	large("{" A, "}", 8, NULL);
	large("{", A "}", 8, NULL);
	large("{" A ",", b, 12, NULL);
	CHECK_INT(model->tensor_count, 2);
	CHECK_TEXT(model->tensors[1].name, "b,}\"");
	large("{" A ",", A "}", 8, "twice");
	large("{\"__metadata__\":{},", "\"__metadata__\":{}}", 0, "twice");
	large("{" A, b, 12, "larger than");
	large("{" A ",", "}", 8, "missing");
	large("{" A, "", 8, "should be");
	large("{" A "}", "{}", 8, "the end should be");
	large("{" A ",", "\"b\":{\"dtype\":[}", 8, "should be");
}

static void test_entry(void)
{
	refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "needs dtype, shape");
	refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8,
		"unknown key");
	refused(ENTRY("\"F33\"", "[2]", "[0,8]"), 8, "unknown dtype");
	refused(ENTRY("32", "[2]", "[0,8]"), 8, "unknown dtype");
	refused(ENTRY("\"F32\"", "2", "[0,8]"), 8, "shape");
	refused(ENTRY("\"F32\"", "[-2]", "[0,8]"), 8, "shape");
	refused(ENTRY("\"F32\"", "[2.0]", "[0,8]"), 8, "shape");
	refused(ENTRY("\"F32\"", "[2]", "[0,8,8]"), 8, "data_offsets");
	refused(ENTRY("\"F32\"", "[2]", "[8]"), 8, "data_offsets");
	refused(ENTRY("\"F32\"", "[2]", "[8,0]"), 8, "outside");
	refused(ENTRY("\"F32\"", "[2]", "[0,9]"), 8, "outside");
	refused(ENTRY("\"F32\"", "[3]", "[0,8]"), 8, "another size");
	refused(ENTRY("\"F4\"", "[3]", "[0,2]"), 2, "no number of bytes");
	refused(ENTRY("\"U8\"", "[4194305,4194305,211106198978564]", "[0,4]"), 4, "no number");
	refused(ENTRY("\"U8\"", "[9223372036854775807,9223372036854775807,0]", "[0,0]"), 0,
		"no number");
	refused(ENTRY("\"U8\"", "[18446744073709551616]", "[0,0]"), 0, "shape");
}

/* Each byte belongs to one tensor. */
static void test_ranges(void)
{
	refused("{" A "}", 9, "behind the last tensor");
	refused("{" A "}", 7, "outside");
	refused("{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[9,11]}}", 11,
		"belong to no tensor");
	refused("{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[7,9]}}", 9,
		"overlap");
	refused("{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 8,
		"overlap");
	refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3,
		"belong to no tensor");
}

/* Where the bytes are enough, and every tensor's are its own: in any order. */
static void test_order(void)
{
	make("order", "{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[8,10]}," A "}", 10);
	REQUIRE(!reopen());
	CHECK_TEXT(model->tensors[0].name, "b");
}

static void test_many(void)
{
	enum { COUNT = 100000 };
	struct wti_buf file;
	uint8_t length[8] = {0};

	wti_buf_init(&file, 64 << 20);
	wti_buf_append(&file, length, 8);
	for (unsigned i = 0; i < COUNT; i++)
		wti_buf_printf(&file,
			       "%c\"model.layers.%u.weight\":{\"dtype\":\"U8\",\"shape\":[1],"
			       "\"data_offsets\":[%u,%u]}",
			       i ? ',' : '{', i, i, i + 1);
	wti_buf_byte(&file, '}');
	wti_put64(file.data, file.bytes - 8);
	for (unsigned i = 0; i < COUNT; i++)
		wti_buf_byte(&file, (uint8_t)i);
	write_file("many", file.data, file.bytes);
	wti_buf_release(&file);
	REQUIRE(!reopen());
	CHECK_INT(model->tensor_count, COUNT);
	CHECK_INT(wti_model_find(model, "model.layers.77777.weight")->offset % 256,
		  (model->tensors[0].offset + 77777) % 256);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void test_write(void)
{
	static const char expected[] =
		"{\"__metadata__\":{\"k\":\"v\"},\"b\":{\"dtype\":\"F32\",\"shape\":[2],"
		"\"data_offsets\":[0,8]},\"c\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8"
		",12]},\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[12,15]}}";
	struct wti_buf written;
	char out[160];

	make("in",
	     "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\"c\":{\"dtype\":"
	     "\"F32\",\"shape\":[1],\"data_offsets\":[3,7]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],"
	     "\"data_offsets\":[7,15]},\"__metadata__\":{\"k\":\"v\"}}",
	     15);
	REQUIRE(!reopen());
	snprintf(out, sizeof(out), "%s/out", folder);
	CHECK_INT(wti_model_save(model, wti_model_format_by_name("safetensors"), out, &err), 0);
	wti_buf_init(&written, 4096);
	CHECK_INT(wti_file_read(out, 4096, &written, &err), 0);
	REQUIRE(written.bytes == (8 + sizeof(expected) - 1 + 7) / 8 * 8 + 15);
	CHECK_INT(wti_get64(written.data), written.bytes - 15 - 8);
	CHECK_BYTES(written.data + 8, expected, sizeof(expected) - 1);
	CHECK_INT(written.data[written.bytes - 16], ' ');
	CHECK_BYTES(written.data + written.bytes - 15, "\7\10\11\12\13\14\15\16\3\4\5\6\0\1\2", 15);
	wti_buf_release(&written);
	unlink(out);
}

/* ---- Shards --------------------------------------------------------------------------------- */

#define SHARD(name) "{\"" name "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}"
#define INDEX(map) "{\"metadata\":{\"total_size\":4},\"weight_map\":{" map "}}"

static void put_index(const char *text)
{
	write_file("m.safetensors.index.json", text, strlen(text));
}

static void open_shards(const char *index, const char *why)
{
	make("m-1.safetensors", SHARD("a"), 2);
	make("m-2.safetensors", SHARD("b"), 2);
	put_index(index);
	if (why)
		refused_file(why);
	else
		CHECK_INT(reopen(), 0);
}

static void test_shards(void)
{
	static const char good[] = INDEX("\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\"");

	open_shards(good, NULL);
	REQUIRE(model);
	CHECK_TEXT(model->format->name, "safetensors-index");
	CHECK_INT(model->tensor_count, 2);
	CHECK_TEXT(wti_model_entry_value(model, "total_size"), "4");
	open_shards(INDEX("\"a\":\"m-2.safetensors\",\"b\":\"m-1.safetensors\""), "is in shard");
	open_shards(INDEX("\"a\":\"m-1.safetensors\""), NULL);
	open_shards(INDEX("\"a\":\"m-1.safetensors\",\"c\":\"m-1.safetensors\""), "'c' is not in");
	open_shards(INDEX("\"c\":\"m-1.safetensors\""), "does not list");
	open_shards(INDEX("\"a\":\"m-3.safetensors\""), "m-3.safetensors' is missing");
	open_shards(INDEX("\"a\":\"../m-1.safetensors\""), "not inside its folder");
	open_shards(INDEX("\"a\":\"/etc/passwd\""), "not inside its folder");
	open_shards(INDEX("\"a\":3"), "not a file name");
	open_shards("{\"weight_map\":[]}", "needs a 'weight_map'");
	/* The folder stands for its index. */
	put_index(good);
	snprintf(path, sizeof(path), "%s", folder);
	CHECK_INT(reopen(), 0);
	CHECK_INT(model ? model->tensor_count : 0, 2);
}

static void remove_all(void)
{
	static const char *const names[] = {"refused",
					    "good",
					    "empty",
					    "length",
					    "order",
					    "many",
					    "in",
					    "m-1.safetensors",
					    "m-2.safetensors",
					    "m.safetensors.index.json"};

	wti_model_free(model);
	for (size_t i = 0; i < WTI_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static const struct test tests[] = {
	{"good", test_good},
	{"length", test_length},
	{"header", test_header},
	{"large_header", test_large_header},
	{"entry", test_entry},
	{"ranges", test_ranges},
	{"order", test_order},
	{"many", test_many},
	{"write", test_write},
	{"shards", test_shards},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int r;

	if (!mkdtemp(folder))
		return 1;
	r = test_main(tests, argc, argv);
	remove_all();
	return r;
}
