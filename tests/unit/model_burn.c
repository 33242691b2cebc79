/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burn's files. Those in tests/model/burn/samples were written by Burn itself (peer.rs there), all
 * forms of "tiny" from one module: they have to have the same tensors, and those that we write have
 * to be Burn's own bytes. For each check of a reader there is a file that breaks it. One file,
 * though a long one: a list of cases, all made from the same samples.
 */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "base/file.h"
#include "base/sha.h"
#include "model/burn/burn.h"
#include "model/format.h"

enum { CEILING = 1 << 22 };

/* ---- Models from bytes and to bytes ---------------------------------------------------------- */

static int open_bytes(const uint8_t *data, size_t bytes, struct wti_model **ret, struct wt_err *err)
{
	struct wti_model_probe probe = {.path = "input",
					.bytes = bytes,
					.head = data,
					.head_bytes = bytes < 4096 ? bytes : 4096};
	struct wti_buf copy;
	uint32_t source;
	int r = wti_model_new("input", false, ret, err);

	if (r)
		return r;
	wti_buf_init(&copy, CEILING);
	wti_buf_append(&copy, data, bytes);
	r = wti_model_add_memory(*ret, &copy, &source, err);
	wti_buf_release(&copy);
	for (size_t i = 0; !r && wti_model_formats[i]; i++) {
		if (!wti_model_formats[i]->is_one(&probe))
			continue;
		(*ret)->format = wti_model_formats[i];
		r = wti_model_formats[i]->read(*ret, err);
		if (!r)
			return 0;
	}
	wti_model_free(*ret);
	*ret = NULL;
	return r ? r : WT_E_FORMAT;
}

static void read_sample(const char *name, struct wti_buf *out)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", SAMPLES, name);
	wti_buf_init(out, CEILING);
	CHECK_INT(wti_file_read(path, CEILING, out, NULL), 0);
}

static struct wti_model *open_sample(const char *name)
{
	struct wti_buf bytes;
	struct wti_model *model = NULL;
	struct wt_err err = {0};

	read_sample(name, &bytes);
	if (open_bytes(bytes.data, bytes.bytes, &model, &err))
		test_fail(__FILE__, __LINE__, "%s: %s", name, err.message);
	wti_buf_release(&bytes);
	return model;
}

static int write_bytes(struct wti_model *model, const char *format, struct wti_buf *out,
		       struct wt_err *err)
{
	char path[] = "/tmp/wheeltap-burn-XXXXXX";
	int fd = mkstemp(path);
	int r = wti_model_format_by_name(format)->write(model, fd, err);

	close(fd);
	wti_buf_init(out, CEILING);
	if (!r)
		r = wti_file_read(path, CEILING, out, err);
	unlink(path);
	return r;
}

/* ---- What Burn wrote ------------------------------------------------------------------------- */

static int add_block(void *cookie, const void *data, size_t bytes)
{
	wti_sha_add(cookie, data, bytes);
	return 0;
}

/* Over types, shapes and elements in the order of the file, whatever the names. */
static void fingerprint(struct wti_model *model, uint8_t ret[WTI_SHA256_BYTES])
{
	struct wti_sha sha;

	wti_sha_init(&sha, true);
	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];

		wti_sha_add(&sha, &tensor->dtype, sizeof(tensor->dtype));
		wti_sha_add(&sha, tensor->shape, tensor->rank * sizeof(uint64_t));
		CHECK_INT(wti_model_walk(model, tensor, add_block, &sha, NULL), 0);
	}
	wti_sha_end(&sha, ret);
}

static void check_same(const char *a, const char *b)
{
	struct wti_model *x = open_sample(a), *y = open_sample(b);
	uint8_t first[WTI_SHA256_BYTES] = {0}, second[WTI_SHA256_BYTES] = {1};

	if (x && y) {
		fingerprint(x, first);
		fingerprint(y, second);
	}
	if (memcmp(first, second, sizeof(first)))
		test_fail(__FILE__, __LINE__, "%s and %s have other tensors", a, b);
	wti_model_free(x);
	wti_model_free(y);
}

static void test_forms(void)
{
	static const char *const same[][2] = {
		{"tiny-full.bin", "tiny-full.bin.gz"},  {"tiny-full.bin", "tiny-full.mpk"},
		{"tiny-full.bin", "tiny-full.mpk.gz"},  {"tiny-full.bin", "tiny-full.json"},
		{"tiny-full.bin", "tiny-full.json.gz"}, {"tiny-half.bin", "tiny-half.mpk"},
		{"zoo-full.bin", "zoo-full.mpk"},       {"zoo-full.bin", "zoo-full.json.gz"},
		{"tiny-21.bin", "tiny-21.mpk"},         {"zoo-21.bin", "zoo-21.mpk"},
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		check_same(same[i][0], same[i][1]);
}

static void check_tensor(const struct wti_model *model, size_t index, const char *name,
			 uint32_t rank, uint64_t first)
{
	REQUIRE(index < model->tensor_count);
	CHECK_TEXT(model->tensors[index].name, name);
	CHECK_INT(model->tensors[index].rank, rank);
	CHECK_INT(model->tensors[index].shape[0], first);
}

static void test_names(void)
{
	struct wti_model *mpk = open_sample("tiny-full.mpk"), *bin = open_sample("tiny-full.bin");
	struct wti_model *zoo = open_sample("zoo-full.mpk");

	REQUIRE(mpk && bin && zoo);
	CHECK_INT(mpk->tensor_count, 4);
	check_tensor(mpk, 0, "linear1.weight", 2, 4);
	check_tensor(mpk, 3, "linear2.bias", 1, 3);
	check_tensor(bin, 0, "0.weight", 2, 4);
	check_tensor(bin, 1, "0.bias", 1, 16);
	check_tensor(bin, 2, "1.weight", 2, 16);
	check_tensor(bin, 3, "1.bias", 1, 3);
	CHECK_TEXT(wti_burn_entry(mpk, "burn.", "record"),
		   "{\"linear1\":{\"weight\":\"@\",\"bias\":\"@\"},\"relu\":null,"
		   "\"linear2\":{\"weight\":\"@\",\"bias\":\"@\"}}");
	CHECK_TEXT(wti_burn_entry(bin, "burn.", "fields"), "[\"@\",1,\"@\",0,\"@\",1,\"@\"]");
	CHECK_TEXT(wti_burn_entry(bin, "burn.", "version"), "0.17.1");
	CHECK(wti_model_find(zoo, "layers.2.weight"));
	CHECK(wti_model_find(zoo, "pair.1.bias"));
	CHECK_INT(wti_model_find(zoo, "table")->dtype, WT_DTYPE_I32);
	CHECK_INT(wti_model_find(zoo, "mask")->dtype, WT_DTYPE_BOOL);
	wti_model_free(mpk);
	wti_model_free(bin);
	wti_model_free(zoo);
}

/* What is read from `from` and written as `format` has to be the bytes of `as`. */
static void check_written(const char *from, const char *format, const char *as)
{
	struct wti_model *model = open_sample(from);
	struct wti_buf written, expected;
	struct wt_err err = {0};

	read_sample(as, &expected);
	REQUIRE(model);
	if (write_bytes(model, format, &written, &err))
		test_fail(__FILE__, __LINE__, "%s to %s: %s", from, format, err.message);
	if (written.bytes != expected.bytes || memcmp(written.data, expected.data, expected.bytes))
		test_fail(__FILE__, __LINE__, "%s to %s is not %s", from, format, as);
	wti_buf_release(&written);
	wti_buf_release(&expected);
	wti_model_free(model);
}

static void test_rewritten(void)
{
	static const char *const samples[][3] = {
		{"tiny-full.bin", "burn-bin", "tiny-full.bin"},
		{"tiny-half.bin", "burn-bin", "tiny-half.bin"},
		{"zoo-full.bin", "burn-bin", "zoo-full.bin"},
		{"zoo-21.bin", "burn-bin", "zoo-21.bin"},
		{"tiny-full.bin.gz", "burn-bin", "tiny-full.bin"},
		{"tiny-full.mpk", "burn-mpk", "tiny-full.mpk"},
		{"tiny-half.mpk", "burn-mpk", "tiny-half.mpk"},
		{"zoo-full.mpk", "burn-mpk", "zoo-full.mpk"},
		{"zoo-21.mpk", "burn-mpk", "zoo-21.mpk"},
		/* From one form to another: still Burn's own bytes. */
		{"tiny-full.mpk", "burn-bin", "tiny-full.bin"},
		{"tiny-full.json", "burn-bin", "tiny-full.bin"},
		{"tiny-full.json", "burn-mpk", "tiny-full.mpk"},
		{"tiny-full.mpk.gz", "burn-mpk", "tiny-full.mpk"},
		{"zoo-full.json.gz", "burn-mpk", "zoo-full.mpk"},
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
		check_written(samples[i][0], samples[i][1], samples[i][2]);
}

static void test_burnpack(void)
{
	static const char *const packs[][2] = {{"tiny-21.bpk", "tiny-21.mpk"},
					       {"zoo-21.bpk", "zoo-21.mpk"}};

	for (size_t i = 0; i < 2; i++) {
		struct wti_model *pack = open_sample(packs[i][0]), *mpk = open_sample(packs[i][1]);

		REQUIRE(pack && mpk);
		CHECK_INT(pack->tensor_count, mpk->tensor_count);
		for (size_t j = 0; j < mpk->tensor_count; j++) {
			const struct wti_model_tensor *a = &mpk->tensors[j];
			const struct wti_model_tensor *b = wti_model_find(pack, a->name);
			const char *id = wti_burn_entry(mpk, "burn.id.", a->name);
			struct wti_sha sha[2];
			uint8_t hash[2][WTI_SHA256_BYTES];

			if (!b) {
				test_fail(__FILE__, __LINE__, "no %s", a->name);
				continue;
			}
			wti_sha_init(&sha[0], true);
			wti_sha_init(&sha[1], true);
			CHECK_INT(wti_model_walk(mpk, a, add_block, &sha[0], NULL), 0);
			CHECK_INT(wti_model_walk(pack, b, add_block, &sha[1], NULL), 0);
			wti_sha_end(&sha[0], hash[0]);
			wti_sha_end(&sha[1], hash[1]);
			/* A record has integers as its settings say, a burnpack as they are. */
			if (a->dtype == b->dtype)
				CHECK_BYTES(hash[0], hash[1], sizeof(hash[0]));
			else
				CHECK_TEXT(a->name, "table");
			CHECK_TEXT(wti_burn_entry(pack, "burn.id.", a->name), id);
		}
		wti_model_free(pack);
		wti_model_free(mpk);
	}
}

/* The published samples that the formats were described from; they are not part of the project. */
static void test_published(void)
{
	static const char *const names[][2] = {
		{"sample_trained_model_1749801369.bin", "burn-bin"},
		{"sample_trained_model_1749802802.bin", "burn-bin"},
		{"c4_016.mpk", "burn-mpk"},
	};

	if (access(PUBLISHED, R_OK))
		SKIP("the published samples are not in %s", PUBLISHED);
	for (size_t i = 0; i < 3; i++) {
		char path[4096];
		struct wti_model *model = NULL;
		struct wti_buf original, written;
		struct wt_err err = {0};

		snprintf(path, sizeof(path), "%s/%s", PUBLISHED, names[i][0]);
		wti_buf_init(&original, CEILING);
		CHECK_INT(wti_file_read(path, CEILING, &original, &err), 0);
		CHECK_INT(wti_model_open(path, &model, &err), 0);
		REQUIRE(model);
		CHECK_INT(write_bytes(model, names[i][1], &written, &err), 0);
		CHECK_INT(written.bytes, original.bytes);
		CHECK_BYTES(written.data, original.data, original.bytes);
		wti_buf_release(&original);
		wti_buf_release(&written);
		wti_model_free(model);
	}
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static bool opens(const uint8_t *data, size_t bytes)
{
	struct wti_model *model = NULL;
	struct wt_err err = {0};
	int r = open_bytes(data, bytes, &model, &err);

	wti_model_free(model);
	return !r;
}

/* Every single bit of the file, turned over. How many of the files still open. */
static size_t flip_all(const char *name, size_t *ret_bits)
{
	struct wti_buf bytes;
	size_t opened = 0;

	read_sample(name, &bytes);
	for (size_t bit = 0; bit < 8 * bytes.bytes; bit++) {
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		opened += opens(bytes.data, bytes.bytes);
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	*ret_bits = 8 * bytes.bytes;
	wti_buf_release(&bytes);
	return opened;
}

/*
 * No form but gzip has a checksum: a flipped bit of a weight, a name or an id cannot be seen in the
 * file itself, which is what manifests are for. What can be seen is everything of the structure.
 */
static void test_bits(void)
{
	static const struct {
		const char *name;
		size_t least; /* so many bits are structure, and are seen */
	} files[] = {{"tiny-full.bin", 458},
		     {"tiny-full.mpk", 1800},
		     {"tiny-full.bin.gz", 5500},
		     {"tiny-full.mpk.gz", 6600},
		     {"tiny-21.bpk", 1500}};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		size_t bits, opened = flip_all(files[i].name, &bits);

		printf("# %s: %zu of %zu flipped bits are seen\n", files[i].name, bits - opened,
		       bits);
		CHECK(bits - opened >= files[i].least);
		if (strstr(files[i].name, ".gz"))
			CHECK(opened * 100 < bits); /* time and name in gzip's header */
	}
}

/* Of a .bin only what ends with a parameter or a constant can be a smaller module. */
static void test_truncated(void)
{
	static const struct {
		const char *name;
		size_t whole; /* beginnings that are a record themselves */
	} files[] = {{"tiny-full.bin", 4},    {"tiny-full.mpk", 0},     {"tiny-full.json", 0},
		     {"tiny-full.bin.gz", 0}, {"tiny-full.json.gz", 0}, {"tiny-21.bpk", 0},
		     {"zoo-21.bpk", 0}};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct wti_buf bytes;
		size_t opened = 0;

		read_sample(files[i].name, &bytes);
		for (size_t length = 0; length < bytes.bytes; length++) {
			bool end_of_json = strstr(files[i].name, ".json") &&
					   length + 1 == bytes.bytes && bytes.data[length] == '\n';

			opened += !end_of_json && opens(bytes.data, length);
		}
		if (opened != files[i].whole)
			test_fail(__FILE__, __LINE__, "%s: %zu beginnings open", files[i].name,
				  opened);
		wti_buf_release(&bytes);
	}
}

/* `length` bytes at `at` are replaced; -1: at the end. */
struct broken {
	const char *sample;
	long at;
	size_t length;
	const char *with;
	size_t with_bytes;
	const char *message;
};

#define WITH(text) text, sizeof(text) - 1

static const struct broken broken[] = {
	/* .bin */
	{"tiny-full.bin", 0x65, 7, WITH("\x06zero.1"), "not a model"},
	{"tiny-full.bin", 0x82, 1, WITH("\x0c"), "no parameter begins at byte 130"},
	{"tiny-full.bin", 0x83, 1, WITH("T"), "no parameter"},
	{"tiny-full.bin", 0x8f, 1, WITH("1"), "no parameter"}, /* the last bit of an id is 0 */
	{"tiny-full.bin", 0x90, 3, WITH("\xfc\x00\x01\x00\x00"), "no parameter"}, /* not shortest */
	{"tiny-full.bin", 0x90, 3, WITH("\xfd\xff\xff\xff\xff\xff\xff\xff\x7f"), "no parameter"},
	{"tiny-full.bin", 0x194, 1, WITH("\x05"), "no parameter"}, /* 5 x 16 */
	{"tiny-full.bin", 0x193, 1, WITH("\x7f"), "no parameter"}, /* dimensions */
	{"tiny-full.bin", 0x196, 1, WITH("\x20"), "no parameter"}, /* type */
	{"tiny-full.bin", 0x196, 1, WITH("\x03"), "no parameter"}, /* half */
	{"tiny-full.bin", -1, 0, WITH("\x01"), "no parameter begins at byte 734"},
	{"tiny-full.bin", -1, 0, WITH("\xff"), "no parameter"},
	{"tiny-full.bin", 0x1ea, 1, WITH("\xc8"), "no parameter"}, /* 200 items that do not come */
	{"tiny-full.bin", 0x1a6, 1, WITH("\xfb\x40\x00"), "no parameter"}, /* not shortest */
	/* .mpk */
	{"tiny-full.mpk", -1, 0, WITH("\xc0"), "behind the end"},
	{"tiny-full.mpk", 0, 1, WITH("\x82"), "not a model"},
	{"tiny-full.mpk", 0xc6, 1, WITH("\xff"), "a text that is not UTF-8"},
	/* JSON */
	{"tiny-full.json", -1, 0, WITH("x"), "something behind the document"},
	{"tiny-full.json", 1, 0, WITH("\"a\": 1,"), "not a model"},
	/* gzip */
	{"tiny-full.bin.gz", -1, 0, WITH("x"), "behind the compressed data"},
	/* burnpack */
	{"tiny-21.bpk", 4, 1, WITH("\x02"), "version 2"},
	{"tiny-21.bpk", 6, 4, WITH("\xff\xff\xff\x7f"), "a header longer than the file"},
	{"tiny-21.bpk", -1, 0, WITH("x"), "not as long as its tensors ask for"},
};

static void check_broken(const struct broken *b)
{
	struct wti_buf bytes, made;
	struct wti_model *model = NULL;
	struct wt_err err = {.message = "not a model"};
	size_t at;

	read_sample(b->sample, &bytes);
	wti_buf_init(&made, CEILING);
	at = b->at < 0 ? bytes.bytes : (size_t)b->at;
	REQUIRE(at + b->length <= bytes.bytes);
	wti_buf_append(&made, bytes.data, at);
	wti_buf_append(&made, b->with, b->with_bytes);
	wti_buf_append(&made, bytes.data + at + b->length, bytes.bytes - at - b->length);
	if (!open_bytes(made.data, made.bytes, &model, &err))
		test_fail(__FILE__, __LINE__, "%s opens: should be '%s'", b->sample, b->message);
	else if (!strstr(err.message, b->message))
		test_fail(__FILE__, __LINE__, "%s: '%s', should be '%s'", b->sample, err.message,
			  b->message);
	wti_model_free(model);
	wti_buf_release(&bytes);
	wti_buf_release(&made);
}

static void test_broken(void)
{
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		check_broken(&broken[i]);
}

/* A text replaced everywhere in a small record, and what is said then. */
static const struct {
	const char *old, *new, *message;
} wrong[] = {
	{"\"metadata\"", "\"metadata\"", NULL},
	{"\"item\"", "\"items\"", "not metadata, item and _b"},
	{"\"_b\"", "\"_c\"", "not metadata, item and _b"},
	{"\"version\"", "\"wersion\"", "unknown metadata"},
	{"0.17.1", "x", "bad version"},
	{",\"settings\":\"S\"", "", "metadata are missing"},
	{"\"00000000000g0\"", "\"00000000000g1\"", "a bad id"},
	{"\"00000000000g0\"", "\"00000000000z0\"", "a bad id"},
	{"\"param\"", "\"parm\"", "not an id and a tensor"},
	{"\"F32\"", "\"F31\"", "unknown type"},
	{"\"F32\"", "{\"F31\":1}", "unknown type"},
	{"[1,2]", "[1,3]", "do not fit its shape"},
	{"[1,2]", "[1,-2]", "a bad shape"},
	{"[1,2]", "[18446744073709551615,18446744073709551615]", "do not fit its shape"},
	{"0,0,128,63", "0,0,128,256", "not a byte"},
	{"\"shape\":[1,2],", "", "unknown field of a tensor"},
	{"\"dtype\"", "\"dtyp\"", "unknown field of a tensor"},
	{"\"relu\":null", "\"w\":null", NULL},
	{"\"relu\":null", "\"relu\":[[[]]]", NULL},
	{"\"relu\":null", "\"as_long_as_the_shortest_form_has\":null", NULL}, /* 31 bytes */
	{"\"relu\":null", "\"relu\":nul", "not valid JSON"},
	{"\"relu\":null", "\"relu\":01", "not valid JSON"},
	{"\"relu\":null", "\"relu\":1.5,\"b\":-7,\"c\":true,\"d\":\"\\u00e9\\n\"", NULL},
	{"\"relu\":null", "\"relu\":\"\\ud800\"", "a bad escape"},
	{"\"relu\":null", "\"relu\":\"\xff\"", "not UTF-8"},
	{"\"relu\":null", "\"relu\":null,", "no key"},
	{"\"relu\":null", "\"relu\":[1,]", "not a value"},
	{"\"relu\":null", "\"relu\":}", "not a value"},
	{"\"relu\":null", "\"relu\":[}", "wrong bracket"},
};

static const char small[] =
	"{\"metadata\":{\"float\":\"f32\",\"int\":\"i32\",\"format\":\"a::Recorder<b>\","
	"\"version\":\"0.17.1\",\"settings\":\"S\"},\"item\":{\"w\":{\"id\":\"00000000000g0\","
	"\"param\":{\"bytes\":[0,0,128,63,0,0,0,64],\"shape\":[1,2],\"dtype\":\"F32\"}},"
	"\"relu\":null},\"_b\":null}";

static void test_wrong(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *at = strstr(small, wrong[i].old);
		struct wti_model *model = NULL;
		struct wt_err err = {0};
		struct wti_buf made, again;
		int r;

		REQUIRE(at);
		wti_buf_init(&made, CEILING);
		wti_buf_append(&made, small, (size_t)(at - small));
		wti_buf_text(&made, wrong[i].new);
		wti_buf_text(&made, at + strlen(wrong[i].old));
		r = open_bytes(made.data, made.bytes, &model, &err);
		if (wrong[i].message ? !r || !strstr(err.message, wrong[i].message) : r)
			test_fail(__FILE__, __LINE__, "'%s': %d '%s', should be '%s'", wrong[i].new,
				  r, err.message, wrong[i].message ? wrong[i].message : "");
		if (!r && strcmp(wrong[i].new, "\"w\":null")) {
			/* Whatever a module has besides tensors survives. */
			CHECK_INT(write_bytes(model, "burn-mpk", &again, &err), 0);
			CHECK(opens(again.data, again.bytes));
			wti_buf_release(&again);
		}
		wti_model_free(model);
		wti_buf_release(&made);
	}
}

/* Nothing recurses: a document that nests a million times is only refused. */
static void test_deep(void)
{
	struct wti_model *model = NULL;
	struct wt_err err = {0};
	struct wti_buf made;
	const char *at = strstr(small, "null");

	wti_buf_init(&made, CEILING);
	wti_buf_append(&made, small, (size_t)(at - small));
	for (size_t i = 0; i < 1000000; i++)
		wti_buf_byte(&made, '[');
	CHECK_INT(open_bytes(made.data, made.bytes, &model, &err), WT_E_FORMAT);
	CHECK(strstr(err.message, "nested too deeply"));
	wti_buf_release(&made);
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* A record as Burn up to 0.13 has it: elements are counted, there is no type. */
static void test_untyped(void)
{
	static const char bin[] = "\x03"
				  "f32\x03i32\x0b"
				  "a::Recorder\x06"
				  "0.13.2\x01S"
				  "\x24"
				  "01234567-89ab-cdef-0123-456789abcdef"
				  "\x02\x00\x00\x80\x3f\x00\x00\x00\x40\x01\x02";
	struct wti_model *model = NULL;
	struct wt_err err = {0};
	struct wti_buf again, mpk;

	CHECK_INT(open_bytes((const uint8_t *)bin, sizeof(bin) - 1, &model, &err), 0);
	REQUIRE(model);
	CHECK_INT(model->tensors[0].bytes, 8);
	CHECK_INT(model->tensors[0].shape[0], 2);
	CHECK_INT(write_bytes(model, "burn-bin", &again, &err), 0);
	CHECK_INT(again.bytes, sizeof(bin) - 1);
	CHECK_BYTES(again.data, bin, sizeof(bin) - 1);
	CHECK_INT(write_bytes(model, "burn-mpk", &mpk, &err), 0);
	wti_model_free(model);
	CHECK_INT(open_bytes(mpk.data, mpk.bytes, &model, &err), 0);
	REQUIRE(model);
	CHECK_INT(model->tensors[0].bytes, 8);
	wti_buf_release(&again);
	CHECK_INT(write_bytes(model, "burn-mpk", &again, &err), 0);
	CHECK_INT(again.bytes, mpk.bytes);
	CHECK_BYTES(again.data, mpk.data, mpk.bytes);
	wti_buf_release(&again);
	wti_buf_release(&mpk);
	wti_model_free(model);
}

static void test_types(void)
{
	/* F16 is 2 up to 0.16 and 3 from then on: the version decides. */
	CHECK_TEXT(wti_burn_dtype_numbered(14, 2)->name, "F16");
	CHECK_TEXT(wti_burn_dtype_numbered(16, 2)->name, "F16");
	CHECK_TEXT(wti_burn_dtype_numbered(17, 2)->name, "Flex32");
	CHECK_TEXT(wti_burn_dtype_numbered(17, 3)->name, "F16");
	CHECK_TEXT(wti_burn_dtype_numbered(15, 10)->name, "U8");
	CHECK_TEXT(wti_burn_dtype_numbered(16, 10)->name, "U16");
	CHECK_TEXT(wti_burn_dtype_numbered(21, 13)->name, "Bool");
	CHECK(!wti_burn_dtype_numbered(17, 14));
	CHECK(wti_burn_id_valid(17, "t7rgd9nj3d5lg", 13));
	CHECK(!wti_burn_id_valid(17, "t7rgd9nj3d5lh", 13));
	CHECK(wti_burn_id_valid(14, "0123456789", 10));
	CHECK(!wti_burn_id_valid(15, "0123456789", 10));
}

/* A model from elsewhere: weights come first, numbers are lists, ids are made of names. */
static void test_from_names(void)
{
	static const char *const names[] = {"a.0.bias", "a.0.weight", "a.1.bias", "a.1.weight",
					    "z"};
	struct wti_model *model = NULL;
	struct wt_err err = {0};
	struct wti_buf memory, mpk;
	uint64_t shape = 1;
	uint32_t source;

	REQUIRE(!wti_model_new("made", false, &model, &err));
	wti_buf_init(&memory, 64);
	wti_buf_append(&memory, "0123456789abcdefghij", 20);
	REQUIRE(!wti_model_add_memory(model, &memory, &source, &err));
	for (size_t i = 0; i < 5; i++) {
		struct wti_model_tensor tensor = {.name = names[i],
						  .dtype = WT_DTYPE_F32,
						  .type = "F32",
						  .rank = 1,
						  .shape = &shape,
						  .source = source,
						  .offset = 4 * i};

		CHECK_INT(wti_model_add(model, &tensor, &err), 0);
	}
	CHECK_INT(write_bytes(model, "burn-mpk", &mpk, &err), 0);
	wti_model_free(model);
	REQUIRE(!open_bytes(mpk.data, mpk.bytes, &model, &err));
	CHECK_TEXT(wti_burn_entry(model, "burn.", "record"),
		   "{\"a\":[{\"weight\":\"@\",\"bias\":\"@\"},{\"weight\":\"@\",\"bias\":\"@\"}],"
		   "\"z\":\"@\"}");
	CHECK_TEXT(model->tensors[0].name, "a.0.weight");
	wti_model_free(model);
	wti_buf_release(&mpk);
	wti_buf_release(&memory);
}

static const struct test tests[] = {
	{"forms", test_forms},           {"names", test_names},
	{"rewritten", test_rewritten},   {"burnpack", test_burnpack},
	{"published", test_published},   {"bits", test_bits},
	{"truncated", test_truncated},   {"broken", test_broken},
	{"wrong", test_wrong},           {"deep", test_deep},
	{"untyped", test_untyped},       {"types", test_types},
	{"from_names", test_from_names}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
