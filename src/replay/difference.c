/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the formats of floats, and hides how distances are taken. */
#include "difference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* Floats by their bits: how many there are for the fraction, and for the exponent. */
static const struct format {
	const char *word;
	uint32_t bytes, fraction_bits, exponent_bits;
} formats[WTI_ELEMENTS] = {
	[WTI_ELEMENT_BYTE] = {"byte", 1, 0, 0}, [WTI_ELEMENT_F16] = {"f16", 2, 10, 5},
	[WTI_ELEMENT_BF16] = {"bf16", 2, 7, 8}, [WTI_ELEMENT_F32] = {"f32", 4, 23, 8},
	[WTI_ELEMENT_F64] = {"f64", 8, 52, 11}, [WTI_ELEMENT_INT] = {"integer", 0, 0, 0},
};

static const struct {
	const char *word;
	enum wti_replay_element element;
	uint32_t bytes;
} words[] = {
	{"bfloat16", WTI_ELEMENT_BF16, 2}, {"bf16", WTI_ELEMENT_BF16, 2},
	{"half", WTI_ELEMENT_F16, 2},      {"float", WTI_ELEMENT_F32, 4},
	{"double", WTI_ELEMENT_F64, 8},    {"uchar", WTI_ELEMENT_INT, 1},
	{"char", WTI_ELEMENT_INT, 1},      {"ushort", WTI_ELEMENT_INT, 2},
	{"short", WTI_ELEMENT_INT, 2},     {"uint", WTI_ELEMENT_INT, 4},
	{"ulong", WTI_ELEMENT_INT, 8},     {"long", WTI_ELEMENT_INT, 8},
	{"int", WTI_ELEMENT_INT, 4},
};

/* A vector type is its word and a number; a name that only begins like one is another type. */
struct wti_replay_element_type wti_replay_element_of(const char *type)
{
	for (size_t i = 0; i < WTI_COUNT(words); i++) {
		const char *at = strstr(type, words[i].word);
		size_t end = strlen(words[i].word);

		if (!at || (at > type && at[-1] != ' ' && at[-1] != '*'))
			continue;
		if (strspn(at + end, "0123456789") <= 2 &&
		    strchr(" *", at[end + strspn(at + end, "0123456789")]))
			return (struct wti_replay_element_type){words[i].element, words[i].bytes};
	}
	return (struct wti_replay_element_type){WTI_ELEMENT_BYTE, 1};
}

const char *wti_replay_element_word(struct wti_replay_element_type type)
{
	return formats[type.element].word;
}

static uint64_t element_at(const void *data, uint64_t index, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)data + index * bytes, bytes);
	return value;
}

/* Floats by their bits, numbered in their order: neighbours differ by one, -0 and 0 are the same.
 */
static int64_t rank_of(uint64_t bits, const struct format *format)
{
	uint64_t sign = UINT64_C(1) << (8 * format->bytes - 1);

	return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool is_nan(uint64_t bits, const struct format *format)
{
	uint64_t fraction = (UINT64_C(1) << format->fraction_bits) - 1;
	uint64_t exponent = ((UINT64_C(1) << format->exponent_bits) - 1) << format->fraction_bits;

	return (bits & exponent) == exponent && bits & fraction;
}

static double value_of(uint64_t bits, const struct format *format)
{
	int bias = (1 << (format->exponent_bits - 1)) - 1;
	uint64_t mask = (UINT64_C(1) << format->fraction_bits) - 1;
	int exponent = (int)(bits >> format->fraction_bits & ((1u << format->exponent_bits) - 1));
	double sign = bits >> (8 * format->bytes - 1) ? -1 : 1;
	double fraction = ldexp((double)(bits & mask), -(int)format->fraction_bits);

	if (is_nan(bits, format))
		return NAN;
	if (exponent == (1 << format->exponent_bits) - 1)
		return sign * INFINITY;
	return sign * (exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias));
}

static void print(char out[32], uint64_t bits, struct wti_replay_element_type type)
{
	const struct format *format = &formats[type.element];

	if (format->exponent_bits)
		snprintf(out, 32, "%.*g", type.bytes == 8 ? 17 : 9, value_of(bits, format));
	else
		snprintf(out, 32, "0x%0*" PRIx64, (int)(2 * type.bytes), bits);
}

static void see_floats(struct wti_replay_difference *d, uint64_t left, uint64_t right)
{
	const struct format *format = &formats[d->type.element];
	bool is_left = is_nan(left, format), is_right = is_nan(right, format);
	double a, b, largest;
	uint64_t ulp;

	d->nan_count += is_left != is_right;
	if (is_left || is_right)
		return;
	ulp = (uint64_t)rank_of(left, format) - (uint64_t)rank_of(right, format);
	ulp = (int64_t)ulp < 0 ? -ulp : ulp;
	d->ulp_max = ulp > d->ulp_max ? ulp : d->ulp_max;
	d->ulp_mean += (double)ulp;
	a = value_of(left, format);
	b = value_of(right, format);
	d->sign_count += (a < 0 && b > 0) || (a > 0 && b < 0);
	largest = fmax(fabs(a), fabs(b));
	if (largest > 0 && isfinite(a) && isfinite(b))
		d->relative_max = fmax(d->relative_max, fabs(a - b) / largest);
}

bool wti_replay_difference(const void *left, const void *right, uint64_t bytes,
			   struct wti_replay_element_type type, struct wti_replay_difference *ret)
{
	struct wti_replay_difference d = {.type = type};
	uint64_t floats = 0;

	*ret = d;
	if (!bytes || !memcmp(left, right, bytes))
		return false;
	if (bytes % type.bytes)
		d.type = (struct wti_replay_element_type){WTI_ELEMENT_BYTE, 1};
	d.element_count = bytes / d.type.bytes;
	for (uint64_t i = 0; i < d.element_count; i++) {
		uint64_t a = element_at(left, i, d.type.bytes);
		uint64_t b = element_at(right, i, d.type.bytes);

		if (a == b)
			continue;
		if (!d.differing_count++) {
			d.first = i;
			d.from_byte = i * d.type.bytes;
			print(d.left, a, d.type);
			print(d.right, b, d.type);
		}
		d.to_byte = (i + 1) * d.type.bytes;
		if (formats[d.type.element].exponent_bits) {
			see_floats(&d, a, b);
			floats++;
		}
	}
	if (floats)
		d.ulp_mean /= (double)floats;
	*ret = d;
	return true;
}

bool wti_replay_difference_is_within(const struct wti_replay_difference *difference, uint64_t ulp)
{
	return formats[difference->type.element].exponent_bits && !difference->nan_count &&
	       difference->ulp_max <= ulp;
}
