/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family is a standard deviation that follows from the shape, and one of three forms.
 *
 * Uniform, and normal cut at two deviations: the range is sharp. The largest of 1,000 uniform
 * numbers or more is within 1 % of its end but for e^-10, and training moves some of the many
 * numbers near the end beyond it: that n of them all move inwards has probability 2^-n.
 *
 * Normal: the sample deviation is within 4 / sqrt(2n) of the true one but for 1 in 16,000. This
 * says little of a tensor that was trained a little: updates of a share e of the deviation change
 * it by e^2 / 2 only.
 */
#include "model/initial.h"

#include <math.h>

#define FILL_MIN 0.99        /* of a range */
#define SPREAD 0.03          /* three deviations of the spread of 1,000 uniform numbers */
#define DEVIATIONS 4.0       /* of a mean or a spread of normal numbers */
#define CUT_SHARE 0.87962566 /* the deviation of a normal distribution that is cut at 2 */

struct fans {
	double in, out;
};

static double default_variance(struct fans fans)
{
	return 1 / (3 * fans.in);
}

static double he_variance(struct fans fans)
{
	return 2 / fans.in;
}

static double lecun_variance(struct fans fans)
{
	return 1 / fans.in;
}

static double xavier_variance(struct fans fans)
{
	return 2 / (fans.in + fans.out);
}

static double fixed_variance(struct fans fans)
{
	(void)fans;
	return 0.02 * 0.02;
}

static double unit_variance(struct fans fans)
{
	(void)fans;
	return 1;
}

static const struct family {
	double (*variance)(struct fans fans);
	const char *uniform, *cut, *normal; /* NULL: nobody draws so */
} families[] = {
	{default_variance, "the default of PyTorch", NULL, NULL},
	{he_variance, "kaiming uniform", "kaiming truncated normal", "kaiming normal"},
	{xavier_variance, "xavier uniform", "xavier truncated normal", "xavier normal"},
	{lecun_variance, "lecun uniform", "lecun truncated normal", "lecun normal"},
	{fixed_variance, NULL, "truncated normal 0.02", "normal 0.02"},
	{unit_variance, NULL, NULL, "normal 1"},
};

struct seen {
	double count, mean, deviation, largest;
};

static bool fills(const struct seen *seen, double bound, double deviation)
{
	/* Rounding to the type may reach the end, and passes it by its last digit. */
	return seen->largest <= bound * (1 + 1e-6) && seen->largest >= FILL_MIN * bound &&
	       fabs(seen->deviation / deviation - 1) < SPREAD;
}

/* The largest of n normal numbers is near sqrt(2 ln n) deviations. */
static bool is_normal(const struct seen *seen, double deviation)
{
	double most = sqrt(2 * log(seen->count)) * deviation;

	return fabs(seen->deviation / deviation - 1) < DEVIATIONS / sqrt(2 * seen->count) &&
	       fabs(seen->mean) < DEVIATIONS * deviation / sqrt(seen->count) &&
	       seen->largest > most - deviation && seen->largest < most + 2 * deviation;
}

static struct wti_initial_guess guess(const struct seen *seen, struct fans fans)
{
	struct wti_initial_guess normal = {WTI_INITIAL_NONE, NULL};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct family *family = &families[i];
		double deviation = sqrt(family->variance(fans));

		if (family->uniform && fills(seen, deviation * sqrt(3), deviation))
			return (struct wti_initial_guess){WTI_INITIAL_BOUNDED, family->uniform};
		/* Some scale the cut distribution to the deviation, some do not. */
		if (family->cut && (fills(seen, 2 * deviation / CUT_SHARE, deviation) ||
				    fills(seen, 2 * deviation, deviation * CUT_SHARE)))
			return (struct wti_initial_guess){WTI_INITIAL_BOUNDED, family->cut};
		if (family->normal && is_normal(seen, deviation))
			normal = (struct wti_initial_guess){WTI_INITIAL_NORMAL, family->normal};
	}
	return normal;
}

struct wti_initial_guess wti_initial_matrix(const struct wti_model_tensor *tensor,
					    const struct wt_digest *digest)
{
	double rows = (double)tensor->shape[0], columns = (double)tensor->count / rows;
	double inner = tensor->rank > 2 ? columns / (double)tensor->shape[1] : 1;
	struct seen seen = {.count = (double)digest->count,
			    .mean = digest->mean,
			    .deviation = sqrt(digest->m2 / (double)digest->count),
			    .largest = fmax(fabs(digest->min), fabs(digest->max))};
	struct wti_initial_guess first, second;

	if (digest->nan || digest->inf)
		return (struct wti_initial_guess){WTI_INITIAL_NONE, NULL};
	first = guess(&seen, (struct fans){columns, rows * inner});
	if (first.kind == WTI_INITIAL_BOUNDED || tensor->rank != 2)
		return first;
	/* Which dimension is the input depends on the format. */
	second = guess(&seen, (struct fans){rows, columns});
	return second.kind == WTI_INITIAL_BOUNDED || !first.kind ? second : first;
}

enum wti_initial wti_initial_vector(const struct wt_digest *digest, double bound)
{
	if (digest->nan || digest->inf)
		return WTI_INITIAL_NONE;
	if (digest->min == digest->max)
		return digest->min == 0 || digest->min == 1 ? WTI_INITIAL_CONSTANT
							    : WTI_INITIAL_NONE;
	return fmax(fabs(digest->min), fabs(digest->max)) <= bound * (1 + 1e-6) ? WTI_INITIAL_SMALL
										: WTI_INITIAL_NONE;
}
