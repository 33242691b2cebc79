/* SPDX-License-Identifier: Apache-2.0 */
/* What another level of recording can be the reason of, and what it cannot. */
#include <stdio.h>
#include <string.h>

#include "inspect/learn/level.h"
#include "test.h"

#define PACK                                                                                       \
	"{\"wheeltap\": \"pack\", \"version\": 1, \"recorded\": [%s], \"invariants\": ["           \
	"{\"relation\": \"%s\", \"subject\": [\"%s\"], \"holds\": [%s]}]}"

static struct wti_pack *read_pack(const char *recorded, const char *relation, const char *subject,
				  const char *holds)
{
	struct wti_pack *pack = NULL;
	char text[512];
	int bytes = snprintf(text, sizeof(text), PACK, recorded, relation, subject, holds);

	CHECK_INT(wti_pack_read("p", text, (size_t)bytes, &pack, NULL), 0);
	return pack;
}

static bool explains(const char *recorded, uint32_t of_run, const char *relation,
		     const char *subject, const char *holds)
{
	struct wti_pack *pack = read_pack(recorded, relation, subject, holds);
	bool is = pack && wti_levels_explain(pack, of_run, &pack->invariants[0]);

	wti_pack_free(pack);
	return is;
}

static const char *const linear = "\"calls\", \"nn.linear\"";
static const char *const step = "\"calls\", \"Optimizer.step\"";
static const char *const type = "\"is\", \"argument 1.dtype\", \"f32\"";

static void a_lower_level_tells_fewer_calls(void)
{
	CHECK(explains("\"normal\"", WTI_LEVEL_LEAN, "every-step", "step", linear));
	CHECK(explains("\"full\"", WTI_LEVEL_NORMAL, "contain", "Module.forward", linear));
	/* Acts are told at every level; what is there can be judged. */
	CHECK(!explains("\"normal\"", WTI_LEVEL_LEAN, "every-step", "step", step));
	CHECK(!explains("\"normal\"", WTI_LEVEL_LEAN, "data", "batch", type));
	/* Its arguments may not be told. */
	CHECK(explains("\"normal\"", WTI_LEVEL_LEAN, "argument", "nn.linear", type));
}

static void a_higher_level_tells_more(void)
{
	CHECK(explains("\"normal\"", WTI_LEVEL_FULL, "argument", "nn.linear", type));
	CHECK(!explains("\"normal\"", WTI_LEVEL_FULL, "every-step", "step", linear));
	CHECK(!explains("\"normal\"", WTI_LEVEL_FULL, "order", "Optimizer.step",
			"\"since\", \"torch.Tensor.backward\""));
}

static void the_same_level_explains_nothing(void)
{
	CHECK(!explains("\"normal\"", WTI_LEVEL_NORMAL, "every-step", "step", linear));
	CHECK(!explains("", WTI_LEVEL_LEAN, "every-step", "step", linear));
	CHECK(!explains("\"normal\"", 0, "every-step", "step", linear));
}

static void what_is_picked_lacks_the_rest(void)
{
	CHECK(explains("\"normal\"", WTI_LEVEL_NORMAL | WTI_LEVEL_PICKED, "every-step", "step",
		       linear));
	CHECK(!explains("\"normal\", \"picked\"", WTI_LEVEL_NORMAL | WTI_LEVEL_PICKED, "every-step",
			"step", linear));
}

/* Of runs at several levels: what one of them did not tell cannot be expected of all. */
static void levels_add_up(void)
{
	CHECK(explains("\"lean\", \"full\"", WTI_LEVEL_NORMAL, "every-step", "step", linear));
	CHECK(explains("\"lean\", \"full\"", WTI_LEVEL_NORMAL, "argument", "nn.linear", type));
}

static void packs_say_it(void)
{
	struct wti_pack *pack = read_pack("\"lean\", \"full\"", "every-step", "step", step), *back;
	struct wti_buf text, words;

	wti_buf_init(&text, 1u << 16);
	wti_buf_init(&words, 256);
	wti_pack_write(&text, pack);
	CHECK_INT(wti_pack_read("p", (const char *)text.data, text.bytes, &back, NULL), 0);
	CHECK_INT(back->levels, WTI_LEVEL_LEAN | WTI_LEVEL_FULL);
	wti_levels_words(&words, back->levels);
	CHECK_TEXT(wti_buf_cstr(&words), "lean and full");
	wti_buf_release(&text);
	wti_buf_release(&words);
	wti_pack_free(pack);
	wti_pack_free(back);
}

static const struct test tests[] = {
	{"a_lower_level_tells_fewer_calls", a_lower_level_tells_fewer_calls},
	{"a_higher_level_tells_more", a_higher_level_tells_more},
	{"the_same_level_explains_nothing", the_same_level_explains_nothing},
	{"what_is_picked_lacks_the_rest", what_is_picked_lacks_the_rest},
	{"levels_add_up", levels_add_up},
	{"packs_say_it", packs_say_it},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
