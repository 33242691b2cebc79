/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of contents: elements by type, distances in units of the last place. */
#include <math.h>

#include "replay/difference.h"
#include "test.h"

static struct wti_replay_difference difference(const char *type, const void *left,
					       const void *right, uint64_t bytes, bool differs)
{
	struct wti_replay_difference d;

	CHECK(wti_replay_difference(left, right, bytes, wti_replay_element_of(type), &d) ==
	      differs);
	return d;
}

static void is_type(const char *name, const char *word, uint32_t bytes)
{
	struct wti_replay_element_type type = wti_replay_element_of(name);

	if (strcmp(wti_replay_element_word(type), word) || type.bytes != bytes)
		test_fail(__FILE__, __LINE__, "'%s' is %s of %u bytes, should be %s of %u", name,
			  wti_replay_element_word(type), type.bytes, word, bytes);
}

static void test_types(void)
{
	is_type("float*", "f32", 4);
	is_type("__global half4 *", "f16", 2);
	is_type("double16*", "f64", 8);
	is_type("bfloat16*", "bf16", 2);
	is_type("unsigned int*", "integer", 4);
	is_type("uchar4*", "integer", 1);
	is_type("ulong*", "integer", 8);
	is_type("short2*", "integer", 2);
	is_type("struct floaty*", "byte", 1);
	is_type("myfloat*", "byte", 1);
	is_type("floating*", "byte", 1);
	is_type("", "byte", 1);
}

static void test_equal(void)
{
	const float numbers[] = {1, 2, NAN};
	struct wti_replay_difference d = difference("float*", numbers, numbers, 12, false);

	CHECK_INT(d.differing_count, 0);
	difference("float*", numbers, numbers, 0, false);
}

static void test_floats(void)
{
	const float left[] = {1, 2, 3, 4}, right[] = {1, nextafterf(2, 3), 3, -4};
	struct wti_replay_difference d = difference("float*", left, right, sizeof(left), true);

	CHECK_INT(d.element_count, 4);
	CHECK_INT(d.differing_count, 2);
	CHECK_INT(d.first, 1);
	CHECK_INT(d.from_byte, 4);
	CHECK_INT(d.to_byte, 16);
	CHECK_INT(d.sign_count, 1);
	CHECK_INT(d.ulp_max, 2 * INT64_C(0x40800000));
	CHECK_TEXT(d.left, "2");
	CHECK_TEXT(d.right, "2.00000024");
	CHECK(d.relative_max == 2);
}

static void ulp_of(const char *type, uint64_t left, uint64_t right, uint64_t bytes, uint64_t ulp,
		   const char *text)
{
	struct wti_replay_difference d = difference(type, &left, &right, bytes, true);

	CHECK_INT(d.ulp_max, ulp);
	CHECK(d.ulp_mean == (double)ulp);
	CHECK_TEXT(d.left, text);
	CHECK(wti_replay_difference_is_within(&d, ulp));
	CHECK(!ulp || !wti_replay_difference_is_within(&d, ulp - 1));
}

/* Neighbours, neighbours across a power of two, the smallest of both signs, zeros of both signs. */
static void test_ulp_by_type(void)
{
	ulp_of("half*", 0x3c00, 0x3c01, 2, 1, "1");
	ulp_of("half*", 0x3c00, 0x3bff, 2, 1, "1");
	ulp_of("half*", 0x0001, 0x8001, 2, 2, "5.96046448e-08");
	ulp_of("half*", 0x0000, 0x8000, 2, 0, "0");
	ulp_of("half*", 0x7bff, 0x7c00, 2, 1, "65504");
	ulp_of("bfloat16*", 0x3f80, 0x3f84, 2, 4, "1");
	ulp_of("bfloat16*", 0xc2f7, 0xc2f8, 2, 1, "-123.5");
	ulp_of("float*", 0x3f800000, 0x3f800003, 4, 3, "1");
	ulp_of("double*", UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000005), 8, 5, "1");
	ulp_of("double*", UINT64_C(0xbff0000000000000), UINT64_C(0x3ff0000000000000), 8,
	       UINT64_C(0x7fe0000000000000), "-1");
	ulp_of("double*", UINT64_C(0x0000000000000001), UINT64_C(0x0000000000000000), 8, 1,
	       "4.9406564584124654e-324");
}

/* NaN on one side is never within a tolerance; on both sides other bits are no distance. */
static void test_nan(void)
{
	const uint32_t number = 0x3f800000, nan = 0x7fc00000, other = 0x7fc00001;
	struct wti_replay_difference d = difference("float*", &number, &nan, 4, true);

	CHECK_INT(d.nan_count, 1);
	CHECK(!wti_replay_difference_is_within(&d, UINT64_MAX));
	CHECK_TEXT(d.right, "nan");
	d = difference("float*", &nan, &other, 4, true);
	CHECK_INT(d.nan_count, 0);
	CHECK_INT(d.ulp_max, 0);
	CHECK_INT(d.differing_count, 1);
}

static void test_no_tolerance_for_integers(void)
{
	const uint32_t one = 1, two = 2;
	struct wti_replay_difference d = difference("int*", &one, &two, 4, true);

	CHECK(!wti_replay_difference_is_within(&d, UINT64_MAX));
	CHECK_TEXT(d.left, "0x00000001");
	d = difference("", &one, &two, 4, true);
	CHECK(!wti_replay_difference_is_within(&d, UINT64_MAX));
	CHECK_INT(d.element_count, 4);
}

/* A size that its type does not divide is compared by bytes, to the last one. */
static void test_odd_size(void)
{
	struct wti_replay_difference d = difference("float*", "abcdefg", "abcdefX", 7, true);

	CHECK_INT(d.element_count, 7);
	CHECK_INT(d.differing_count, 1);
	CHECK_INT(d.first, 6);
	CHECK_TEXT(wti_replay_element_word(d.type), "byte");
}

static const struct test tests[] = {
	{"types", test_types},       {"equal", test_equal},
	{"floats", test_floats},     {"ulp_by_type", test_ulp_by_type},
	{"nan", test_nan},           {"no_tolerance_for_integers", test_no_tolerance_for_integers},
	{"odd_size", test_odd_size}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
