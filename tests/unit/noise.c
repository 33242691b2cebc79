/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The noise: the generator against its published vectors, the distribution by counting with fixed
 * seeds, what must stay exact, and that pieces, strides and instruction sets change nothing.
 */
#include "noise/noise.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "noise/philox.h"
#include "test.h"

static const struct wti_noise_key key = {.site = 0x1234567890, .call = 7, .value = 1};

static struct wti_noise noise_of(const char *text)
{
	struct wti_noise noise = {0};

	CHECK(wti_noise_parse(text, &noise));
	noise.seed = 20240607;
	return noise;
}

/* The known answers that the authors of the generator publish with it. */
static void test_philox(void)
{
	static const struct {
		struct wti_philox counter;
		uint32_t key[2];
		struct wti_philox drawn;
	} cases[] = {
		{{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
		{{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
		 {0xffffffff, 0xffffffff},
		 {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
		{{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
		 {0xa4093822, 0x299f31d0},
		 {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wti_philox drawn =
			wti_philox(cases[i].counter, cases[i].key[0], cases[i].key[1]);

		CHECK_BYTES(&drawn, &cases[i].drawn, sizeof(drawn));
	}
}

static void test_parse(void)
{
	static const char *const wrong[] = {
		"",      "r",  "rr:",   "rr:0",  "rr:53", "rr:x", "rr:1x",  "sr",           "sr:0",
		"off:3", "RR", "rr:-1", "rr::2", "rr: 2", "ieee", "rr:1e1", "rr:4294967320"};
	struct wti_noise noise = {.mode = 99, .bits = 98};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!wti_noise_parse(wrong[i], &noise));
	CHECK_INT(noise.mode, 99);
	CHECK(wti_noise_parse("rr", &noise) && noise.mode == WTI_NOISE_RR && noise.bits == 0);
	CHECK(wti_noise_parse("mca:24", &noise) && noise.mode == WTI_NOISE_MCA);
	CHECK_INT(noise.bits, 24);
	CHECK(wti_noise_parse("sr:8", &noise) && noise.mode == WTI_NOISE_SR && noise.bits == 8);
	CHECK(wti_noise_parse("cancellation", &noise) && noise.mode == WTI_NOISE_CANCELLATION);
	CHECK(wti_noise_parse("pb:52", &noise) && noise.mode == WTI_NOISE_PB && noise.bits == 52);
	CHECK(wti_noise_parse("off", &noise) && noise.mode == WTI_NOISE_OFF);
}

/* ---- Distribution ---------------------------------------------------------------------------- */

enum { DRAWS = 1 << 18 };
static double doubles[DRAWS];
static float floats[DRAWS];

static double *noisy(const char *mode, double x)
{
	const struct wti_noise noise = noise_of(mode);

	for (int i = 0; i < DRAWS; i++)
		doubles[i] = x;
	wti_noise_apply(&noise, &key, WT_DTYPE_F64, doubles, 0, DRAWS, 8);
	return doubles;
}

/* Within five standard deviations of a count of DRAWS with this probability. */
static bool is_count(int64_t count, double probability)
{
	return fabs((double)count - DRAWS * probability) <=
	       5 * sqrt(DRAWS * probability * (1 - probability)) + 1e-9;
}

static void check_default(double x, double ulp)
{
	int64_t count[3] = {0};

	noisy("rr", x);
	for (int i = 0; i < DRAWS; i++) {
		const double steps = (doubles[i] - x) / ulp;

		REQUIRE(steps == -1 || steps == 0 || steps == 1);
		count[(int)steps + 1]++;
	}
	CHECK(is_count(count[0], .25));
	CHECK(is_count(count[1], .5));
	CHECK(is_count(count[2], .25));
}

/* A power of two, too, although its lower neighbour is nearer. */
static void test_default_t(void)
{
	check_default(0.1, 0x1p-56);
	check_default(-1234.56789, 0x1p-42);
	check_default(0.5, 0x1p-53);
	check_default(1 - 0x1p-53, 0x1p-53);
	check_default(1e300, nextafter(1e300, INFINITY) - 1e300);
}

/* U(-1/2, 1/2) * 2^(e - t): mean 0, variance 1/12, and as many in each of 16 parts. */
static void check_uniform(double x, double width)
{
	int64_t count[16] = {0};
	double sum = 0, squares = 0;

	for (int i = 0; i < DRAWS; i++) {
		const double u = (doubles[i] - x) / width;

		REQUIRE(u >= -.5 && u <= .5);
		sum += u;
		squares += u * u;
		count[u == .5 ? 15 : (int)((u + .5) * 16)]++;
	}
	CHECK(fabs(sum / DRAWS) < 5 * sqrt(1. / 12 / DRAWS));
	CHECK(fabs(squares / DRAWS - 1. / 12) < 5 * sqrt(1. / 180 / DRAWS));
	for (int i = 0; i < 16; i++)
		CHECK(is_count(count[i], 1. / 16));
}

static void test_uniform(void)
{
	noisy("rr:24", 0.7);
	check_uniform(0.7, 0x1p-24);
	noisy("mca:10", 3.3);
	check_uniform(3.3, 0x1p-8);
	noisy("pb:1", -0.9);
	check_uniform(-0.9, 0x1p-1);
}

/* A number just below a power of two: half of the noise leaves its binade. */
static void test_unbiased_across_binades(void)
{
	static const double numbers[] = {1 - 0x1p-53, 0.5, 0x1.8p-3, 0x1.fffffffp+2};

	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
		const double width = ldexp(1, ilogb(numbers[k]) + 1 - 40);
		double sum = 0;

		noisy("rr:40", numbers[k]);
		for (int i = 0; i < DRAWS; i++)
			sum += (doubles[i] - numbers[k]) / width;
		CHECK(fabs(sum / DRAWS) < 5 * sqrt(1. / 12 / DRAWS));
	}
}

/* Up with the probability of the part that is cut off; exact if nothing is. */
static void test_stochastic_rounding(void)
{
	static const double parts[] = {0.25, 0.5, 0.8125, 0x1p-10, 0};

	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		const double low = 0x1.8p-1, unit = 0x1p-8, x = low + parts[k] * unit;
		int64_t up = 0;

		noisy("sr:8", x);
		for (int i = 0; i < DRAWS; i++) {
			REQUIRE(doubles[i] == low || doubles[i] == low + unit);
			up += doubles[i] != low;
		}
		CHECK(is_count(up, parts[k]));
	}
}

static void test_types(void)
{
	static const struct {
		uint32_t dtype;
		uint32_t bytes;
		uint64_t bits; /* not an integer, no neighbour a power of two */
	} cases[] = {{WT_DTYPE_F16, 2, 0x2e66},     {WT_DTYPE_BF16, 2, 0x3dcc},
		     {WT_DTYPE_F32, 4, 0x3dcccccd}, {WT_DTYPE_F8E4M3, 1, 0x1c},
		     {WT_DTYPE_F8E5M2, 1, 0x2e},    {WT_DTYPE_F8E4M3FNUZ, 1, 0x1c},
		     {WT_DTYPE_F8E5M2FNUZ, 1, 0x2e}};
	const struct wti_noise noise = noise_of("rr");
	uint8_t *bytes = (uint8_t *)doubles;

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		int64_t count[3] = {0};

		for (size_t i = 0; i < DRAWS; i++)
			memcpy(bytes + i * cases[k].bytes, &cases[k].bits, cases[k].bytes);
		wti_noise_apply(&noise, &key, cases[k].dtype, bytes, 0, DRAWS, cases[k].bytes);
		for (size_t i = 0; i < DRAWS; i++) {
			uint64_t bits = 0;

			memcpy(&bits, bytes + i * cases[k].bytes, cases[k].bytes);
			REQUIRE(bits + 1 - cases[k].bits <= 2);
			count[bits + 1 - cases[k].bits]++;
		}
		CHECK(is_count(count[0], .25));
		CHECK(is_count(count[1], .5));
	}
}

/* ---- What stays ------------------------------------------------------------------------------ */

static const char *const modes[] = {"rr", "rr:1", "rr:30", "pb:5", "mca", "sr:3", "sr:40"};
enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static void test_exact(void)
{
	static const double kept[] = {0,          -0.,      1,        -1,        2,
				      3,          100,      -65536,   1e15,      0x1p52,
				      -5,         1024,     INFINITY, -INFINITY, 0x1p53 - 1,
				      0x1p52 + 1, 16777216, NAN,      7e14};

	for (size_t k = 0; k < MODES; k++) {
		const struct wti_noise noise = noise_of(modes[k]);

		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
			for (int repeat = 0; repeat < 64; repeat++)
				doubles[repeat] = kept[i], floats[repeat] = (float)kept[i];
			wti_noise_apply(&noise, &key, WT_DTYPE_F64, doubles, 0, 64, 8);
			for (int repeat = 0; repeat < 64; repeat++)
				CHECK_BYTES(&doubles[repeat], &kept[i], 8);
			if (fabs(kept[i]) > 0x1p23)
				continue;
			wti_noise_apply(&noise, &key, WT_DTYPE_F32, floats, 0, 64, 4);
			for (int repeat = 0; repeat < 64; repeat++)
				CHECK_BYTES(&floats[repeat], &(float){(float)kept[i]}, 4);
		}
	}
}

static void test_extremes(void)
{
	static const double numbers[] = {DBL_MAX,   -DBL_MAX,  DBL_MIN,      DBL_MIN * .9999,
					 0x1p-1074, 0x3p-1074, -0x1.5p-1030, DBL_MAX * .75};

	for (size_t k = 0; k < MODES; k++) {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			noisy(modes[k], numbers[i]);
			for (int n = 0; n < 4096; n++) {
				const double share = doubles[n] / numbers[i];

				REQUIRE(isfinite(doubles[n]));
				REQUIRE(share >= .5 && share <= 2);
			}
		}
	}
}

static void test_off(void)
{
	const struct wti_noise off = noise_of("off"), cancellation = noise_of("cancellation");

	for (int i = 0; i < 256; i++)
		doubles[i] = i / 7.;
	memcpy(floats, doubles, 2048);
	wti_noise_apply(&off, &key, WT_DTYPE_F64, doubles, 0, 256, 8);
	wti_noise_apply(&cancellation, &key, WT_DTYPE_F64, doubles, 0, 256, 8);
	for (uint32_t dtype = 0; dtype < 64; dtype++) {
		const struct wti_noise noise = noise_of("rr");

		if (!wti_noise_takes(dtype))
			wti_noise_apply(&noise, &key, dtype, doubles, 0, 256, 8);
	}
	CHECK_BYTES(doubles, floats, 2048);
	CHECK(!wti_noise_takes(WT_DTYPE_I64) && !wti_noise_takes(WT_DTYPE_BOOL));
}

/* ---- The same in every way ------------------------------------------------------------------- */

static const struct {
	uint32_t dtype;
	uint32_t bytes;
} types[] = {{WT_DTYPE_F64, 8},    {WT_DTYPE_F32, 4},       {WT_DTYPE_F16, 2},
	     {WT_DTYPE_BF16, 2},   {WT_DTYPE_C64, 8},       {WT_DTYPE_C128, 16},
	     {WT_DTYPE_F8E4M3, 1}, {WT_DTYPE_F8E5M2FNUZ, 1}};
enum { TYPES = sizeof(types) / sizeof(types[0]), COUNT = 1000, BYTES = COUNT * 16 };

/* All bits there are, and then those that are rare among them. */
static void fill(uint8_t *bytes, uint64_t seed)
{
	for (size_t i = 0; i < BYTES / 16; i++) {
		const struct wti_philox counter = {{(uint32_t)i, (uint32_t)seed, 0, 0}};
		struct wti_philox drawn = wti_philox(counter, 1, 2);

		if (i % 8 == 3)
			drawn.word[3] = drawn.word[1] &= 0x800fffff;
		if (i % 8 == 4)
			drawn.word[0] = 0xffffffff, drawn.word[1] = 0x3fefffff;
		if (i % 8 == 5)
			drawn.word[2] = 0, drawn.word[3] = 0x3fd00000;
		if (i % 8 == 6)
			drawn.word[2] = 0xfffffffe, drawn.word[3] = 0x7fefffff;
		if (i % 8 == 7)
			drawn.word[0] = 0x3f7fffff, drawn.word[1] = 0x00800000;
		memcpy(bytes + 16 * i, &drawn, 16);
	}
}

static void check_ways(const struct wti_noise *noise, uint32_t dtype, uint32_t bytes, uint64_t seed)
{
	static uint8_t plain[BYTES], other[BYTES], apart[BYTES * 3];
	const uint64_t first = seed * 37 % 100;

	fill(plain, seed);
	memcpy(other, plain, BYTES);
	for (size_t i = 0; i < COUNT; i++)
		memcpy(apart + 3 * i * bytes, plain + i * bytes, bytes);
	wti_noise_apply_on(false, noise, &key, dtype, plain, first, COUNT, bytes);
	wti_noise_apply_on(true, noise, &key, dtype, other, first, COUNT, bytes);
	CHECK_BYTES(plain, other, COUNT * bytes);
	wti_noise_apply(noise, &key, dtype, apart, first, COUNT, 3 * bytes);
	for (size_t i = 0; i < COUNT; i++)
		REQUIRE(!memcmp(apart + 3 * i * bytes, plain + i * bytes, bytes));
	fill(other, seed);
	for (uint64_t at = 0, piece = 1; at < COUNT; at += piece, piece = piece * 3 % 101) {
		piece = piece < COUNT - at ? piece : COUNT - at;
		wti_noise_apply(noise, &key, dtype, other + at * bytes, first + at, piece, bytes);
	}
	CHECK_BYTES(plain, other, COUNT * bytes);
	fill(apart, seed);
	for (size_t i = 0; i < COUNT; i++)
		memcpy(other + (COUNT - 1 - i) * bytes, apart + i * bytes, bytes);
	wti_noise_apply(noise, &key, dtype, other + (COUNT - 1) * bytes, first, COUNT,
			-(int64_t)bytes);
	for (size_t i = 0; i < COUNT; i++)
		REQUIRE(!memcmp(other + (COUNT - 1 - i) * bytes, plain + i * bytes, bytes));
}

static void test_ways(void)
{
	for (size_t m = 0; m < MODES; m++)
		for (size_t t = 0; t < TYPES; t++)
			for (uint64_t seed = 0; seed < 20; seed++) {
				const struct wti_noise noise = noise_of(modes[m]);

				check_ways(&noise, types[t].dtype, types[t].bytes, seed);
			}
}

/* Another seed, site, call or value: other noise; a block whose number exceeds 32 bits, too. */
static void test_keys(void)
{
	const struct wti_noise_key keys[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}};
	double drawn[6][64];
	struct wti_noise noise = noise_of("rr:20");

	for (int k = 0; k < 6; k++) {
		for (int i = 0; i < 64; i++)
			drawn[k][i] = 0.3;
		noise.seed = wti_noise_seed(1, k == 4 ? 2 : 1);
		wti_noise_apply(&noise, &keys[k % 4], WT_DTYPE_F64, drawn[k],
				k == 5 ? UINT64_C(1) << 40 : 0, 64, 8);
	}
	for (int a = 0; a < 6; a++)
		for (int b = 0; b < a; b++)
			for (int i = 0; i < 64; i++)
				CHECK(drawn[a][i] != drawn[b][i]);
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

static void test_cancellation(void)
{
	const struct wti_noise noise = noise_of("cancellation:24");
	const double a = 1.7, b = 1.7 - 0x1.234567p-12;
	const struct wti_noise_operands operands = {.data = {&a, &b},
						    .exponent = WTI_NOISE_NO_EXPONENT};
	const struct wti_noise_operands sum = {.exponent = 1}, small = {.exponent = -11};

	for (int i = 0; i < DRAWS; i++)
		doubles[i] = a - b;
	wti_noise_cancel(&noise, &key, WT_DTYPE_F64, doubles, 0, DRAWS, 8, &operands);
	check_uniform(a - b, 0x1p-23);
	for (int i = 0; i < DRAWS; i++)
		doubles[i] = a - b;
	wti_noise_cancel(&noise, &key, WT_DTYPE_F64, doubles, 0, DRAWS, 8, &small);
	CHECK(doubles[0] == a - b && doubles[DRAWS - 1] == a - b);
	wti_noise_cancel(&noise, &key, WT_DTYPE_F64, doubles, 0, DRAWS, 8, &sum);
	check_uniform(a - b, 0x1p-23);
	CHECK_INT(wti_noise_exponent(WT_DTYPE_F64, (double[]){0.3, -5, INFINITY, 0}, 4, 8), 3);
	CHECK_INT(wti_noise_exponent(WT_DTYPE_F64, (double[]){0, NAN}, 2, 8),
		  WTI_NOISE_NO_EXPONENT);
}

static const struct test tests[] = {
	{"philox", test_philox},
	{"parse", test_parse},
	{"default_t", test_default_t},
	{"uniform", test_uniform},
	{"unbiased_across_binades", test_unbiased_across_binades},
	{"stochastic_rounding", test_stochastic_rounding},
	{"types", test_types},
	{"exact", test_exact},
	{"extremes", test_extremes},
	{"off", test_off},
	{"ways", test_ways},
	{"keys", test_keys},
	{"cancellation", test_cancellation},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
