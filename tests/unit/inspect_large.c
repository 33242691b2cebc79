/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings of many ranks and large models: more names than 20 bits can number. */
#include "test.h"

#include "inspect/learn/relation.h"
#include "inspect/training/members.h"

#define NAMES ((1u << 20) + 100u)

static struct wti_training training;

static void ignore_moment(void *self, const struct wti_moment *moment)
{
}
static void ignore_occasion(void *self, const struct wti_occasion *occasion)
{
}

/* The symbols from `first` on, up to one above it by more than 2^20. */
static uint32_t name_many(void)
{
	uint32_t first = (uint32_t)training.symbols->texts.count;
	char text[32];

	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "layers.%u.weight", i);
		wti_symbol_word(training.symbols, text);
	}
	return first;
}

static void set_up(void)
{
	REQUIRE(!wti_training_init(&training, ignore_moment, NULL, NULL));
}

static void test_symbols(void)
{
	uint32_t first;
	char text[32];

	set_up();
	first = name_many();
	snprintf(text, sizeof(text), "layers.%u.weight", NAMES - 1);
	CHECK_INT(training.symbols->other_count, 0);
	CHECK_INT(wti_symbol_known(training.symbols, text), first + NAMES - 1);
	CHECK_TEXT(wti_symbol_text(training.symbols, first + NAMES - 1), text);
	wti_training_release(&training);
}

/* Owners and names that differ above their 20th bit, in a stream beyond the 65,536th. */
static void test_parameters(void)
{
	const size_t stream = 70000;
	uint32_t low, high, owner;

	set_up();
	low = name_many();
	high = low + (1u << 20);
	owner = low & ~1u;
	CHECK(wti_parameter_of(&training, stream, owner, high) !=
	      wti_parameter_of(&training, stream, owner | 1, low));
	CHECK(wti_parameter_of(&training, stream, high, low) !=
	      wti_parameter_of(&training, stream + 1, low, low));
	CHECK_INT(training.parameters.count, 4);
	CHECK(wti_parameter_find(&training, stream, owner, high) ==
	      wti_parameter_of(&training, stream, owner, high));
	CHECK(!wti_parameter_find(&training, stream, owner, low));
	CHECK_INT(training.overflow_count, 0);
	wti_training_release(&training);
}

static void test_functions(void)
{
	struct wti_scene scene;
	struct wti_call call = {0};
	uint32_t low, one;

	set_up();
	low = name_many();
	wti_scene_init(&scene, &training, (struct wti_sink_of_occasions){NULL, ignore_occasion});
	call.module = low & ~1u;
	call.callee = low + (1u << 20);
	one = wti_scene_function(&scene, &call);
	call.module |= 1;
	call.callee = low;
	CHECK(wti_scene_function(&scene, &call) != one);
	wti_scene_release(&scene);
	wti_training_release(&training);
}

static const struct test tests[] = {
	{"symbols", test_symbols},
	{"parameters", test_parameters},
	{"functions", test_functions},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
