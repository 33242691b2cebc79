/* SPDX-License-Identifier: Apache-2.0 */
/* Digits: the published estimators on values whose digits are known, to 1e-9 bits. */
#include "inspect/core/library.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "inspect/digits/bisect.h"
#include "inspect/digits/element.h"
#include "inspect/digits/merge.h"
#include "inspect/digits/quantile.h"
#include "inspect/digits/statistics.h"

#define ANY NAN /* as expected value: not a number */

static bool near(double actual, double expected, double within)
{
	if (isnan(expected))
		return isnan(actual);
	return actual == expected || fabs(actual - expected) <= within;
}

static void check_near(int line, const char *what, double actual, double expected, double within)
{
	if (!near(actual, expected, within))
		test_fail(__FILE__, line, "%s is %.17g, should be %.17g", what, actual, expected);
}
#define NEAR(actual, expected) check_near(__LINE__, #actual, actual, expected, 1e-9)
#define CLOSE(actual, expected, within) check_near(__LINE__, #actual, actual, expected, within)

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

static double bits(enum wti_digits_method method, bool contributing, bool absolute, const double *x,
		   unsigned mantissa)
{
	struct wti_digits_how how = wti_digits_usual(contributing);

	how.method = method;
	how.absolute = absolute;
	return wti_digits_of(&how, x, 5, mean_of(x, 5), mantissa);
}

static void test_quantiles(void)
{
	static const struct {
		double n, chi2, significant, contributing;
	} known[] = {
		{2, 0.000982069117175258, 5.96677105214042, 0.677835782864865},
		{3, 0.0506356159685798, 3.62267898830306, -1.66625628097249},
		{5, 0.48441855708793, 2.49366412528147, -2.79527114399408},
		{10, 2.70038949998036, 1.83920588777154, -3.44972938150402},
		{20, 8.90651648198797, 1.51736026347183, -3.77157500580373},
		{30, 16.0470716953649, 1.39769856674292, -3.89123670253264},
		{100, 73.3610801912837, 1.18703396594395, -4.1019013033316},
	};
	struct wti_digits_how s = wti_digits_usual(false), c = wti_digits_usual(true);

	CLOSE(wti_normal_quantile(.975) / 1.959963984540054, 1, 1e-14);
	CLOSE(wti_normal_quantile(.025) / -1.959963984540054, 1, 1e-14);
	CLOSE(wti_normal_quantile(1e-300) / -37.0470962993612, 1, 1e-12);
	CHECK(wti_normal_quantile(.5) == 0 || fabs(wti_normal_quantile(.5)) < 1e-15);
	CHECK(isnan(wti_normal_quantile(0)) && isnan(wti_normal_quantile(1)));
	for (size_t i = 0; i < WTI_COUNT(known); i++) {
		CLOSE(wti_chi2_quantile(.025, known[i].n - 1) / known[i].chi2, 1, 1e-12);
		CLOSE(wti_digits_delta(&s, (uint64_t)known[i].n), known[i].significant, 1e-12);
		CLOSE(wti_digits_delta(&c, (uint64_t)known[i].n), known[i].contributing, 1e-12);
	}
	for (double f = 1; f < 1e6; f *= 3.7) {
		for (double p = 1e-6; p < 1; p = p < .9 ? p * 4 + .01 : 2) {
			double x = wti_chi2_quantile(p, f);

			CLOSE(wti_chi2_cdf(x, f) / p, 1, 1e-10);
		}
	}
	CLOSE(wti_chi2_quantile(.975, 4) / 11.143286781877796, 1, 1e-12);
	CLOSE(wti_chi2_quantile(.5, 2) / (2 * M_LN2), 1, 1e-12);
}

struct vector {
	char id;
	double x[5];
	double relative_s, relative_c, absolute_s, absolute_c; /* CNH */
	double general[4];                                     /* the same order */
};

static const struct vector vectors[] = {
	{'A',
	 {1, 1.0000001, .9999999, 1.00000005, .99999995},
	 21.25983253904875,
	 26.548767808324307,
	 21.25983253904875,
	 26.548767808324307,
	 {23, 23, 23, 23}},
	{'B',
	 {100, 101, 99, 102, 98},
	 3.650192064493255,
	 8.939127333768809,
	 3.0063358747185314,
	 8.295271143994086,
	 {5, 5, 5, 4}},
	{'C',
	 {3.14, 3.14, 3.14, 3.14, 3.14},
	 49.50633587471853,
	 54.795271143994086,
	 49.50633587471853,
	 55.795271143994086,
	 {52, 52, 52, 52}},
	{'D',
	 {1, -1, 2, -2, .5},
	 -6.329876796267216,
	 -1.0409415269916633,
	 -7.007948701379854,
	 -1.7190134321043002,
	 {0, 52, 0, 1}},
	{'E',
	 {0, 1e-16, -1e-16, 2e-16, -2e-16},
	 ANY,
	 ANY,
	 50.157185392916325,
	 55.44612066219188,
	 {0, 52, 52, 52}},
	{'F',
	 {1, 1 + 0x1p-52, 1 - 0x1p-53, 1, 1 + 0x1p-51},
	 49.667299922162215,
	 54.95623519143777,
	 49.667299922162215,
	 54.95623519143777,
	 {51, 50, 51, 50}},
	{'H', {1, NAN, 1, 1, 1}, ANY, ANY, ANY, ANY, {0, 52, 0, 52}},
	/* The published figure of absolute errors is minus infinity: the squares overflow. */
	{'I',
	 {1e300, 1.0000001e300, .9999999e300, 1e300, 1e300},
	 21.420796586332262,
	 26.709731855607817,
	 20.842368120218,
	 26.131303389494,
	 {23, 23, 22, 22}},
	{'J',
	 {-2.5, -2.5000001, -2.4999999, -2.50000005, -2.49999995},
	 22.581760632975087,
	 27.87069590225064,
	 22.259832540009782,
	 27.548767809285337,
	 {24, 24, 24, 24}},
};

static void test_vectors(void)
{
	for (const struct vector *v = vectors; v < vectors + WTI_COUNT(vectors); v++) {
		double rs = bits(WTI_DIGITS_CNH, false, false, v->x, 52);
		double rc = bits(WTI_DIGITS_CNH, true, false, v->x, 52);
		double as = bits(WTI_DIGITS_CNH, false, true, v->x, 52);
		double ac = bits(WTI_DIGITS_CNH, true, true, v->x, 52);

		if (!near(rs, v->relative_s, 1e-9) || !near(rc, v->relative_c, 1e-9) ||
		    !near(as, v->absolute_s, 1e-9) || !near(ac, v->absolute_c, 1e-9))
			test_fail(__FILE__, __LINE__, "%c: %.12f %.12f %.12f %.12f", v->id, rs, rc,
				  as, ac);
		for (unsigned i = 0; i < 4; i++) {
			double b = bits(WTI_DIGITS_GENERAL, i & 1, i & 2, v->x, 52);

			if (b != v->general[i])
				test_fail(__FILE__, __LINE__, "%c: general %u is %g, should be %g",
					  v->id, i, b, v->general[i]);
		}
	}
}

static void test_single_precision(void)
{
	double x[] = {1, (double)1.0001f, (double).9999f, (double)1.00005f, (double).99995f};
	double exact[] = {1, 1, 1, 1, 1};

	CLOSE(bits(WTI_DIGITS_CNH, false, false, x, 23), 11.2939807, 5e-8);
	CLOSE(bits(WTI_DIGITS_CNH, true, false, x, 23), 16.5829160, 5e-8);
	CLOSE(bits(WTI_DIGITS_CNH, false, true, x, 23), 10.2939808, 5e-8);
	CHECK(bits(WTI_DIGITS_GENERAL, false, false, x, 23) == 13);
	CHECK(bits(WTI_DIGITS_GENERAL, false, true, x, 23) == 12);
	/* What never varies has no more digits than its type. */
	NEAR(bits(WTI_DIGITS_CNH, false, false, exact, 23), 23 - 2.49366412528147);
	CHECK(wti_digits_cap(49.5, 23) == 24 && wti_digits_cap(-3, 23) == 0);
	CHECK(wti_digits_cap(49.5, 7) == 8 && isnan(wti_digits_cap(NAN, 7)));
}

static void test_elements_one_by_one(void)
{
	double first[] = {1, 1.01, .99, 1, 1}, second[] = {10, 10, 10.0001, 9.9999, 10};

	NEAR(bits(WTI_DIGITS_CNH, false, false, first, 52), 4.811156111937);
	NEAR(bits(WTI_DIGITS_CNH, false, false, second, 52), 14.776940396598);
	NEAR(bits(WTI_DIGITS_CNH, true, false, first, 52), 10.100091381212);
	NEAR(bits(WTI_DIGITS_CNH, true, false, second, 52), 20.065875665873);
	CHECK(bits(WTI_DIGITS_GENERAL, false, false, first, 52) == 6);
	CHECK(bits(WTI_DIGITS_GENERAL, false, false, second, 52) == 16);
}

static void test_settings(void)
{
	const double *a = vectors[0].x;
	struct wti_digits_how how = wti_digits_usual(false);

	how.probability = .99;
	NEAR(wti_digits_of(&how, a, 5, mean_of(a, 5), 52), 20.86562269196173);
	how.probability = .5;
	NEAR(wti_digits_of(&how, a, 5, mean_of(a, 5), 52), 22.798791258577975);
	how = wti_digits_usual(false);
	how.confidence = .99;
	NEAR(wti_digits_of(&how, a, 5, mean_of(a, 5), 52), 20.64648284884638);
	NEAR(wti_digits_in_base(bits(WTI_DIGITS_CNH, false, false, a, 52), 10), 6.3998472970468105);
}

static void test_complex(void)
{
	static const double x[] = {1, 2, 1.001, 2, .999, 2.001, 1, 1.999, 1, 2};
	struct wti_digits_how how = wti_digits_usual(false);
	double both[2];

	wti_digits_of_complex(&how, x, 5, 52, both);
	CLOSE(both[0], 8.13308, 5e-6);
	CLOSE(both[1], 9.13308, 5e-6);
}

/* 10,000 samples of a published data set: its mean and standard deviation. */
static void test_many_runs(void)
{
	double deviation = 5.342739375763118e-09;
	struct wti_moments moments = {10000, 1.99999999908671, 1e4 * deviation * deviation, 0, 0};
	struct wti_digits_how s = wti_digits_usual(false), c = wti_digits_usual(true);

	s.probability = .99;
	/* The published relative figures have rounding of X / mean - 1 in them, 5e-9 of it. */
	CLOSE(wti_digits_of_moments(&s, &moments, 52), 27.094599370144074, 3e-8);
	CLOSE(wti_digits_of_moments(&c, &moments, 52), 32.77774448650665, 3e-8);
	s.absolute = c.absolute = true;
	NEAR(wti_digits_of_moments(&s, &moments, 52), 26.094599393993263);
	NEAR(wti_digits_of_moments(&c, &moments, 52), 31.777744510355838);
}

static double noise(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(int64_t)*state * 0x1p-63;
}

/* n, mean, m2, min and max say as much as the values; merging halves is adding all. */
static void test_moments(void)
{
	uint64_t state = 7;

	for (int i = 0; i < 1000; i++) {
		double scale = exp2(20 * noise(&state)), base = exp2(30 * noise(&state)), x[10];
		struct wti_moments all = {0}, half = {0}, other = {0};

		scale = base * exp2(-10 - fabs(log2(scale)));
		for (int j = 0; j < 10; j++) {
			x[j] = base + scale * noise(&state);
			wti_moments_add(&all, x[j]);
			wti_moments_add(j % 3 ? &half : &other, x[j]);
		}
		wti_moments_merge(&half, &other);
		CLOSE(half.mean / all.mean, 1, 1e-14);
		CLOSE(half.m2 / all.m2, 1, 1e-6);
		for (unsigned k = 0; k < 4; k++) {
			struct wti_digits_how how = wti_digits_usual(k == 1);

			how.method = k == 3 ? WTI_DIGITS_GENERAL : WTI_DIGITS_CNH;
			how.absolute = k == 2;
			CLOSE(wti_digits_of_moments(&how, &all, 52),
			      wti_digits_of(&how, x, 10, all.mean, 52), 1e-6);
		}
	}
}

static void test_normality(void)
{
	const double *a = vectors[0].x, *b = vectors[1].x, *d = vectors[3].x;
	double w, p, ramp[100], spike[100];

	CHECK(wti_shapiro_wilk(a, 5, &w, &p));
	CLOSE(w, 0.9867621660232544, 1e-6);
	CLOSE(p, 0.9671739339828491, 1e-5);
	CHECK(wti_shapiro_wilk(b, 5, &w, &p));
	CLOSE(w, 0.9867621660232544, 1e-6);
	CLOSE(p, 0.9671739339828491, 1e-5);
	CHECK(wti_shapiro_wilk(d, 5, &w, &p));
	CLOSE(w, 0.9674138426780701, 1e-6);
	CLOSE(p, 0.8584102988243103, 1e-5);
	for (int i = 0; i < 100; i++) {
		ramp[i] = wti_normal_quantile((i + .5) / 100);
		spike[i] = i ? 1 + 1e-9 * i : 100;
	}
	CHECK(wti_shapiro_wilk(ramp, 100, &w, &p) && p > .9);
	CHECK(wti_shapiro_wilk(spike, 100, &w, &p) && p < 1e-10);
	CHECK(!wti_shapiro_wilk(vectors[2].x, 5, &w, &p)); /* all equal */
	CHECK(!wti_shapiro_wilk(a, 2, &w, &p));
	CHECK(!wti_shapiro_wilk(vectors[6].x, 5, &w, &p)); /* not a number */
}

static void test_trials(void)
{
	static const double three[] = {1, 1.0001, .9999};

	CHECK_INT(wti_digits_trials(.9, .95), 29);
	CHECK_INT(wti_digits_trials(.95, .95), 59);
	CHECK_INT(wti_digits_trials(.99, .95), 299);
	CHECK_INT(wti_digits_trials(.999, .999), 6905);
	NEAR(wti_digits_bernoulli(5, 5, .95), .40085354528920203);
	NEAR(wti_digits_bernoulli(30, 30, .95), .9001422575482003);
	NEAR(wti_digits_bernoulli(100, 100, .95), .9700426772644601);
	NEAR(wti_digits_bernoulli(299, 299, .95), .9899808285165418);
	NEAR(wti_digits_bernoulli(30, 28, .95), .7914664150167774);
	/* tau of 2 degrees of freedom is 4.303: log10(sqrt(3) / (1e-4 * 4.3026527)) */
	CLOSE(wti_digits_cestac(three, 3, .95), log10(sqrt(3) / (1e-4 * 4.302652729696144)), 1e-9);
	CHECK(wti_digits_cestac(vectors[3].x, 5, .95) == 0);
	CHECK(wti_digits_cestac(vectors[4].x, 5, .95) == 0);
}

/* Which of them are needed, and how often was asked. */
struct guess {
	size_t count, tests;
	bool needed[100];
};

static int enough(void *opaque, const bool *chosen, struct wt_err *err)
{
	struct guess *guess = opaque;

	(void)err;
	guess->tests++;
	for (size_t i = 0; i < guess->count; i++) {
		if (guess->needed[i] && !chosen[i])
			return 0;
	}
	return 1;
}

static void test_bisect(void)
{
	static const size_t needed[][3] = {{0, 0, 0}, {99, 99, 99}, {3, 70, 71}, {0, 50, 99}};
	bool chosen[100];
	struct wt_err err;

	for (size_t i = 0; i < WTI_COUNT(needed); i++) {
		struct guess guess = {.count = 100};

		for (size_t j = 0; j < 3; j++)
			guess.needed[needed[i][j]] = true;
		CHECK_INT(wti_bisect(100, enough, &guess, 1000, chosen, &err), 0);
		CHECK_BYTES(chosen, guess.needed, sizeof(chosen));
		CHECK(guess.tests < 300);
		CHECK_INT(wti_bisect(100, enough, &guess, 3, chosen, &err), 1);
		CHECK(chosen[needed[i][0]] && chosen[needed[i][2]]);
	}
}

static double digits_of(const struct wti_spread *spread)
{
	struct wti_digits_how how = wti_digits_usual(false);

	return -wti_spread_norm(spread) - wti_digits_delta(&how, spread->runs);
}

/* Of one element the merge is the estimator itself; of many, that of the norm. */
static void test_merge(void)
{
	double x[5][1000], scatter = 0, norm = 0;
	const double *runs[5];
	struct wti_spread spread = {0};
	uint64_t state = 11, bins = 0;

	for (size_t i = 0; i < 9; i++) {
		struct wti_spread one = {0};

		for (unsigned r = 0; r < 5; r++)
			runs[r] = &vectors[i].x[r];
		wti_merge_doubles(&one, runs, 5, 1);
		if (isnan(vectors[i].x[1]))
			CHECK(one.bad == 1 && isnan(wti_spread_norm(&one)));
		else if (vectors[i].id == 'C')
			CHECK(one.exact == 1 && wti_spread_norm(&one) == WTI_SPREAD_EXACT);
		else if (vectors[i].id != 'D' && vectors[i].id != 'E' && vectors[i].id != 'I')
			CLOSE(digits_of(&one), vectors[i].relative_s, 1e-6);
	}
	for (unsigned r = 0; r < 5; r++) {
		runs[r] = x[r];
		for (size_t i = 0; i < 1000; i++)
			x[r][i] = (double)i - 500 + 1e-6 * noise(&state);
	}
	x[3][7] = INFINITY;
	wti_merge_doubles(&spread, runs, 5, 1000);
	for (size_t i = 0; i < 1000; i++) {
		struct wti_moments moments = {0};

		for (unsigned r = 0; r < 5; r++)
			wti_moments_add(&moments, x[r][i]);
		if (i == 7)
			continue;
		norm += moments.mean * moments.mean;
		scatter += moments.m2;
	}
	for (unsigned i = 0; i < WTI_SPREAD_BINS; i++)
		bins += spread.bins[i];
	CHECK(spread.reals == 999 && spread.bad == 1 && bins == 999);
	CLOSE(wti_spread_norm(&spread), .5 * log2(scatter / 5 / norm), 1e-6);
	CLOSE(wti_spread_quantile(&spread, .5), log2(1e-6 / sqrt(3) / 250), 1.5);
}

static void test_elements_of_types(void)
{
	static const uint16_t halves[] = {0x3c00, 0xc000, 0x7c00, 0x0001, 0x7bff};
	static const uint16_t brains[] = {0x3f80, 0xc000, 0x7f80, 0x0001};
	static const uint8_t eighths[] = {0x38, 0xc0, 0x7e, 0x01};
	double out[8];

	wti_element_read(WT_DTYPE_F16, halves, 5, out);
	CHECK(out[0] == 1 && out[1] == -2 && isinf(out[2]) && out[3] == 0x1p-24 && out[4] == 65504);
	wti_element_read(WT_DTYPE_BF16, brains, 4, out);
	CHECK(out[0] == 1 && out[1] == -2 && isinf(out[2]) && out[3] == 0x1p-133);
	wti_element_read(WT_DTYPE_F8E4M3, eighths, 4, out);
	CHECK(out[0] == 1 && out[1] == -2 && out[2] == 448 && out[3] == 0x1p-9);
	CHECK(wti_element_ulp(1.5, 7) == 0x1p-7 && wti_element_ulp(-4, 52) == 0x1p-50);
}

/* Many elements for tests/compare_significantdigits.py: numbers in, digits out. */
static int answer(void)
{
	unsigned method, contributing, absolute, n;
	double x[64];

	while (scanf("%u %u %u %u", &method, &contributing, &absolute, &n) == 4 && n <= 64) {
		struct wti_digits_how how = wti_digits_usual(contributing);

		how.method = method;
		how.absolute = absolute;
		for (unsigned i = 0; i < n; i++) {
			if (scanf("%la", &x[i]) != 1)
				return 1;
		}
		printf("%.17g\n", wti_digits_of(&how, x, n, mean_of(x, n), 52));
	}
	return 0;
}

/* What has no file counts as the program's only if somebody typed it. */
static void test_library(void)
{
	static const char *const of_libraries[] = {
		"<string>", "<frozen runpy>", "/usr/lib64/python3.12/dataclasses.py",
		"/usr/lib/python3.11/runpy.py",
		"/v/lib/python3.12/site-packages/torch/optim/sgd.py"};
	static const char *const of_programs[] = {"<stdin>", "<python-input-3>",
						  "<ipython-input-12-0a1b2c3d4e5f>",
						  "/home/me/lib/python/train.py", "train.py"};

	for (size_t i = 0; i < sizeof(of_libraries) / sizeof(*of_libraries); i++)
		CHECK(wti_is_library(of_libraries[i]));
	for (size_t i = 0; i < sizeof(of_programs) / sizeof(*of_programs); i++)
		CHECK(!wti_is_library(of_programs[i]));
}

static const struct test tests[] = {
	{"quantiles", test_quantiles},
	{"vectors", test_vectors},
	{"single_precision", test_single_precision},
	{"elements_one_by_one", test_elements_one_by_one},
	{"settings", test_settings},
	{"complex", test_complex},
	{"many_runs", test_many_runs},
	{"moments", test_moments},
	{"normality", test_normality},
	{"trials", test_trials},
	{"bisect", test_bisect},
	{"merge", test_merge},
	{"elements_of_types", test_elements_of_types},
	{"library", test_library},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "answer"))
		return answer();
	return test_main(tests, argc, argv);
}
