/* SPDX-License-Identifier: Apache-2.0 */
/* Pickles that want something executed are refused by name; the others become inert values. */
#include "test.h"

#include <stdlib.h>

#include "model/torch/pickle.h"
#include "model/torch/torch.h"

static struct wt_err err;

static int open_bytes(struct wti_pickle *pickle, const void *data, size_t bytes)
{
	err = (struct wt_err){0};
	return wti_pickle_open(pickle, "made.pt", 0, data, bytes, &err);
}

/* ---- Hostile -------------------------------------------------------------------------------- */

static const struct hostile {
	const char *what;
	const char *pickle;
	size_t bytes;
	const char *says;
} hostile[] = {
#define HOSTILE(what, pickle, says)                                                                \
	{                                                                                          \
		what, pickle, sizeof(pickle) - 1, says                                             \
	}
	HOSTILE("a call", "cposix\nsystem\n(S'id'\ntR.", "'posix.system'"),
	HOSTILE("of protocol 2",
		"\x80\x02"
		"cos\nsystem\nX\x02\x00\x00\x00id\x85R.",
		"'os.system'"),
	HOSTILE("of protocol 4",
		"\x80\x04\x8c\x08"
		"builtins\x8c\x04"
		"eval\x93\x8c\x01"
		"1\x85R.",
		"'builtins.eval'"),
	HOSTILE("exec",
		"\x80\x02"
		"c__builtin__\nexec\nX\x01\x00\x00\x00"
		"1\x85R.",
		"'__builtin__.exec'"),
	HOSTILE("nested calls",
		"\x80\x02"
		"cbuiltins\ngetattr\ncos\nos\nX\x06\x00\x00\x00system\x86RX\x02\x00\x00\x00id\x85R"
		".",
		"'builtins.getattr'"),
	HOSTILE("what a known call makes",
		"\x80\x02"
		"ctorch\ndevice\nX\x03\x00\x00\x00"
		"cpu\x85R)R.",
		"what 'torch.device' makes"),
	HOSTILE("INST", "(S'id'\nios\nsystem\n.", "'os.system'"),
	HOSTILE("OBJ", "(cos\nsystem\nS'id'\no.", "'os.system'"),
	HOSTILE("NEWOBJ with arguments",
		"\x80\x02"
		"csubprocess\nPopen\nX\x02\x00\x00\x00id\x85\x81.",
		"'subprocess.Popen'"),
	HOSTILE("NEWOBJ_EX",
		"\x80\x04\x8c\x0a"
		"subprocess\x8c\x05"
		"Popen\x93)}\x8c\x04"
		"args\x8c\x02ids\x92.",
		"'subprocess.Popen'"),
	HOSTILE("_reconstructor of a value", "ccopy_reg\n_reconstructor\n(S'x'\nNNtR.",
		"'copy_reg._reconstructor'"),
	HOSTILE("EXT1", "\x80\x02\x82\x01.", "extensions"),
	HOSTILE("EXT2", "\x80\x02\x83\x01\x00.", "extensions"),
	HOSTILE("EXT4", "\x80\x02\x84\x01\x00\x00\x00.", "extensions"),
	HOSTILE("a name that is computed", "\x80\x04\x8c\x02os}\x93.", "computes"),
	HOSTILE("a name with NUL", "\x80\x04\x8c\x0btorch\0SizeX\x8c\x04Size\x93.",
		"an invalid name"),
	HOSTILE("a name with an escape", "c\x1b[2Jos\nsystem\n)R.", "an invalid name"),
	HOSTILE("the state of a class",
		"\x80\x02"
		"cos\npath\n}b.",
		"change 'os.path'"),
	HOSTILE("the state of a tensor",
		"\x80\x02"
		"ctorch._utils\n_rebuild_tensor_v2\n)R)b.",
		"change what 'torch._utils._rebuild_tensor_v2' makes"),
	HOSTILE("two states",
		"\x80\x02"
		"cargparse\nNamespace\n)\x81}b}b.",
		"change what"),
	HOSTILE("a type as a function",
		"\x80\x02"
		"ctorch\nfloat32\n)R.",
		"'torch.float32'"),
	HOSTILE("a storage as a function",
		"\x80\x02"
		"ctorch\nFloatStorage\n)R.",
		"'torch.FloatStorage'"),
	HOSTILE("a name that begins like a known one",
		"\x80\x02"
		"ctorch\nSizeX\n)R.",
		"'torch.SizeX'"),
	HOSTILE("another codec",
		"\x80\x02"
		"c_codecs\nencode\nX\x01\x00\x00\x00"
		"aX\x03\x00\x00\x00zip\x86R.",
		"'_codecs.encode'"),
	HOSTILE("arguments that are no tuple",
		"\x80\x02"
		"cos\nsystem\n]R.",
		"'os.system'"),
#undef HOSTILE
};

static void test_hostile(void)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct wti_pickle pickle = {0};
		int r = open_bytes(&pickle, hostile[i].pickle, hostile[i].bytes);

		CHECK_INT(r, WT_E_FORMAT);
		if (!CHECK(strstr(err.message, hostile[i].says) != NULL) ||
		    !CHECK(strstr(err.message, "refused") != NULL))
			printf("# %s: '%s'\n", hostile[i].what, err.message);
		CHECK(r && (strstr(err.message, "nothing was executed") != NULL));
		if (!r)
			wti_pickle_release(&pickle);
	}
}

/* ---- Broken --------------------------------------------------------------------------------- */

/* A dictionary of everything: every cut of it is refused, and none reads behind its end. */
static const char whole[] = "\x80\x04}(\x8c\x01"
			    "aK\x01\x8c\x01"
			    "bG?\xf0\0\0\0\0\0\0\x8c\x01"
			    "c](K\x01M\x02\x03J\xff\xff\xff\xff"
			    "e\x8c\x01"
			    "d(\x88\x89Nt\x8c\x01"
			    "e\x8a\x03\x00\x00\x80\x8c\x01"
			    "fC\x02xy\x94h\x00\x8c\x01"
			    "gu.";

static void test_cuts(void)
{
	for (size_t bytes = 0; bytes < sizeof(whole) - 1; bytes++) {
		struct wti_pickle pickle = {0};
		char *copy = malloc(bytes ? bytes : 1); /* so that a sanitizer sees its end */

		memcpy(copy, whole, bytes);
		CHECK(open_bytes(&pickle, copy, bytes) < 0);
		free(copy);
	}
}

static void check_refused(const char *data, size_t bytes, int code, const char *says)
{
	struct wti_pickle pickle = {0};
	int r = open_bytes(&pickle, data, bytes);

	CHECK_INT(r, code);
	if (!CHECK(strstr(err.message, says) != NULL))
		printf("# '%s'\n", err.message);
	if (!r)
		wti_pickle_release(&pickle);
}

static void test_broken(void)
{
	check_refused(".", 1, WT_E_FORMAT, "stack");
	check_refused("(.", 2, WT_E_FORMAT, "stack");
	check_refused("NN.", 3, WT_E_FORMAT, "stack");
	check_refused("0.", 2, WT_E_FORMAT, "stack");
	check_refused("]K\x01s.", 5, WT_E_FORMAT, "stack");
	check_refused("K\x01K\x01"
		      "a.",
		      6, WT_E_FORMAT, "not a container");
	check_refused("}(K\x01u.", 6, WT_E_FORMAT, "stack");
	check_refused("h\x05.", 3, WT_E_FORMAT, "not kept");
	check_refused("Nr\xff\xff\xff\x7f.", 7, WT_E_LIMIT, "gaps");
	check_refused("\x80\x09N.", 4, WT_E_VERSION, "protocol 9");
	check_refused("\xff.", 2, WT_E_FORMAT, "not an opcode");
	check_refused("X\xff\xff\xff\x7fx.", 7, WT_E_FORMAT, "cut");
	check_refused("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx.", 11, WT_E_FORMAT, "cut");
	check_refused("\x97.", 2, WT_E_FORMAT, "out-of-band");
}

/* ---- Ceilings ------------------------------------------------------------------------------- */

static int add_values(const struct wti_pickle *pickle)
{
	struct wti_model *model = NULL;
	struct wti_torch torch = {0};
	int r = wti_model_new("made", false, &model, &err);

	if (r)
		return r;
	torch.model = model;
	r = wti_torch_add(&torch, "", pickle->root, &err);
	wti_model_free(model);
	return r;
}

/* A list of ten times the list before, twelve times over: a thousand billion values. */
static void test_laughs(void)
{
	char data[4096] = "(K\x01l";
	size_t at = 4;
	struct wti_pickle pickle = {0};

	for (int level = 0; level < 12; level++) {
		data[at++] = 'q';
		data[at++] = (char)level;
		data[at++] = '0';
		data[at++] = '(';
		for (int i = 0; i < 10; i++) {
			data[at++] = 'h';
			data[at++] = (char)level;
		}
		data[at++] = 'l';
	}
	data[at++] = '.';
	REQUIRE(open_bytes(&pickle, data, at) == 0);
	CHECK_INT(add_values(&pickle), WT_E_LIMIT);
	wti_pickle_release(&pickle);
}

/* A list that contains itself. */
static void test_cycle(void)
{
	struct wti_pickle pickle = {0};

	REQUIRE(open_bytes(&pickle,
			   "]q\0h\0"
			   "a.",
			   7) == 0);
	CHECK_INT(add_values(&pickle), WT_E_LIMIT);
	wti_pickle_release(&pickle);
}

/* A million lists inside of one another: no stack of ours is used up. */
static void test_deep(void)
{
	size_t bytes = 3u << 20;
	char *data = malloc(bytes);
	struct wti_pickle pickle = {0};

	REQUIRE(data);
	memset(data, ']', bytes / 2);
	memset(data + bytes / 2, 'a', bytes - bytes / 2);
	data[bytes / 2 * 2 - 1] = '.';
	REQUIRE(open_bytes(&pickle, data, bytes / 2 * 2) == 0);
	CHECK_INT(add_values(&pickle), WT_E_LIMIT);
	wti_pickle_release(&pickle);
	free(data);
}

/* ---- Values --------------------------------------------------------------------------------- */

static const char *entry(struct wti_model *model, const char *key)
{
	const char *value = wti_model_entry_value(model, key);

	return value ? value : "(missing)";
}

static void test_values(void)
{
	struct wti_model *model = NULL;
	struct wti_torch torch = {0};
	struct wti_pickle pickle = {0};

	REQUIRE(open_bytes(&pickle, whole, sizeof(whole) - 1) == 0);
	CHECK_INT(pickle.used, sizeof(whole) - 1);
	REQUIRE(wti_model_new("made", false, &model, &err) == 0);
	torch.model = model;
	CHECK_INT(wti_torch_add(&torch, "top", pickle.root, &err), 0);
	CHECK_TEXT(entry(model, "top.a"), "1");
	CHECK_TEXT(entry(model, "top.b"), "1");
	CHECK_TEXT(entry(model, "top.c.1"), "770");
	CHECK_TEXT(entry(model, "top.c.2"), "-1");
	CHECK_TEXT(entry(model, "top.d.0"), "True");
	CHECK_TEXT(entry(model, "top.d.2"), "None");
	CHECK_TEXT(entry(model, "top.e"), "-8388608");
	CHECK_TEXT(entry(model, "top.f"), "2 bytes");
	wti_model_free(model);
	wti_pickle_release(&pickle);
}

/* A plain object of a class that is not known is data: shown, not read. */
static void test_instance(void)
{
	static const char data[] = "\x80\x02"
				   "ctrain\nConfig\n)\x81}X\x02\x00\x00\x00lrK\x01sb.";
	struct wti_model *model = NULL;
	struct wti_torch torch = {0};
	struct wti_pickle pickle = {0};

	REQUIRE(open_bytes(&pickle, data, sizeof(data) - 1) == 0);
	REQUIRE(wti_model_new("made", false, &model, &err) == 0);
	torch.model = model;
	CHECK_INT(wti_torch_add(&torch, "config", pickle.root, &err), 0);
	CHECK_TEXT(entry(model, "config"), "an instance of 'train.Config' (not read)");
	wti_model_free(model);
	wti_pickle_release(&pickle);
}

static const struct test tests[] = {
	{"hostile", test_hostile}, {"cuts", test_cuts},         {"broken", test_broken},
	{"laughs", test_laughs},   {"cycle", test_cycle},       {"deep", test_deep},
	{"values", test_values},   {"instance", test_instance}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
