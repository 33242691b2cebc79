/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of curves: a spike of one value is drawn to its height, and the picture stays small. */
#include <math.h>
#include <stdlib.h>

#include "inspect/core/curve.h"
#include "show/report/svg.h"
#include "test.h"

#define PICTURE_MAX (1u << 20)
/* So large is no picture, however many values it has: columns times what one takes. */
#define PICTURE_LIMIT 40000u

struct drawn {
	struct wt_result result;
	struct wti_buf out;
	bool is_drawn;
};

static struct drawn draw(struct wti_curve *curve, const char *title)
{
	struct drawn drawn;

	wt_result_init(&drawn.result, "test");
	wti_buf_init(&drawn.out, PICTURE_MAX);
	wti_curve_series(curve, &drawn.result, "curve", title, "");
	drawn.is_drawn = wti_svg_series(&drawn.out, drawn.result.series[0], "steps");
	return drawn;
}

static void release(struct drawn *drawn)
{
	wt_result_release(&drawn->result);
	wti_buf_release(&drawn->out);
}

/* The lowest y of a range's end, which is the highest value: y grows downwards. */
static double top_of_ranges(const char *picture)
{
	const char *at = strstr(picture, "class=\"range\""), *end = at ? strchr(at, '/') : NULL;
	double top = INFINITY;

	for (; at && at < end; at++)
		if (*at == 'V')
			top = fmin(top, strtod(at + 1, NULL));
	return top;
}

static void test_spike(void)
{
	struct wti_curve curve = {0};
	struct drawn drawn;

	for (int64_t i = 0; i < 1000000; i++)
		wti_curve_add(&curve, i, i == 654321 ? 100 : sin((double)i / 5e4));
	drawn = draw(&curve, "loss");
	REQUIRE(drawn.is_drawn);
	CHECK(drawn.out.bytes < PICTURE_LIMIT);
	CHECK(top_of_ranges(wti_buf_cstr(&drawn.out)) == 12); /* the upper edge of the plane */
	release(&drawn);
	wti_curve_release(&curve);
}

static void test_gap(void)
{
	struct wti_curve curve = {0};
	struct drawn drawn;
	const char *line;

	for (int64_t i = 0; i < 30; i++)
		wti_curve_add(&curve, i, i == 10 ? NAN : (double)i);
	drawn = draw(&curve, "loss");
	REQUIRE(drawn.is_drawn);
	CHECK(strstr(wti_buf_cstr(&drawn.out), "class=\"nonfinite\""));
	line = strstr(wti_buf_cstr(&drawn.out), "class=\"line\"");
	REQUIRE(line);
	line = strchr(line, 'M');
	CHECK(line && strchr(line + 1, 'M')); /* it begins anew behind the gap */
	release(&drawn);
	wti_curve_release(&curve);
}

static void test_nothing(void)
{
	struct wti_curve curve = {0};
	struct drawn drawn;

	wti_curve_add(&curve, 1, NAN);
	drawn = draw(&curve, "loss");
	CHECK(!drawn.is_drawn);
	release(&drawn);
	wti_curve_release(&curve);
}

/* Ends, though steps are smaller than what a double can tell apart. */
static void test_extremes(void)
{
	static const double values[] = {0, 1, -1e308, 1e308, 5e-324, 1e16};
	struct wti_curve curve = {0};
	struct drawn drawn;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		wti_curve_add(&curve, INT64_MAX - 9 + (int64_t)i, values[i]);
		drawn = draw(&curve, "<b>\"&");
		if (drawn.is_drawn)
			CHECK(strstr(wti_buf_cstr(&drawn.out), "&lt;b&gt;&quot;&amp;"));
		CHECK(drawn.out.bytes < PICTURE_LIMIT);
		CHECK(!strstr(wti_buf_cstr(&drawn.out), "nan"));
		release(&drawn);
	}
	wti_curve_release(&curve);
	wti_curve_add(&curve, 0, 1e16);
	wti_curve_add(&curve, 1, 1e16 + 2);
	drawn = draw(&curve, "near");
	CHECK(drawn.is_drawn);
	release(&drawn);
	wti_curve_release(&curve);
}

static const struct test tests[] = {
	{"spike", test_spike},       {"gap", test_gap}, {"nothing", test_nothing},
	{"extremes", test_extremes}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
