/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a classifier learned anything? Its accuracy is held against that of always giving the same
 * answer, with a binomial test. A model can be right more often than that while its outputs are all
 * alike, so those are looked at, too.
 */
#include "model/answers.h"

#include <math.h>
#include <string.h>

double wti_binomial_tail(uint64_t right, uint64_t count, double share)
{
	double n = (double)count, sum = 0;

	if (!right)
		return 1;
	if (share <= 0 || share >= 1)
		return share >= 1 ? 1 : 0;
	for (uint64_t k = right; k <= count; k++) {
		double x = (double)k;
		double term = exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) +
				  x * log(share) + (n - x) * log1p(-share));

		sum += term;
		if (x > n * share && term < sum * 1e-17)
			break;
	}
	return sum < 1 ? sum : 1;
}

/* Adds what one row's outputs say. */
static void add_row(struct wti_answers *answers, const double *outputs, uint32_t label,
		    uint64_t *given)
{
	size_t classes = answers->classes, best = 0;
	double largest = outputs[0], sum = 0;

	for (size_t c = 0; c < classes; c++) {
		if (isnan(outputs[c]))
			answers->has_nan = true;
		if (outputs[c] > largest) {
			largest = outputs[c];
			best = c;
		}
	}
	for (size_t c = 0; c < classes; c++)
		sum += exp(outputs[c] - largest);
	for (size_t c = 0; c < classes; c++) {
		double p = exp(outputs[c] - largest) / sum;
		double distance = fabs(p - 1 / (double)classes);

		answers->spread = distance > answers->spread ? distance : answers->spread;
	}
	answers->loss += largest + log(sum) - outputs[label];
	answers->right += best == label;
	answers->distinct += !given[best]++;
}

static void measure_labels(struct wti_answers *answers, const uint32_t *labels, uint64_t *counts)
{
	uint64_t most = 0;

	memset(counts, 0, WTI_ANSWERS_CLASSES_MAX * sizeof(*counts));
	for (uint64_t i = 0; i < answers->rows; i++) {
		uint64_t count = ++counts[labels[i]];

		most = count > most ? count : most;
	}
	for (size_t c = 0; c < answers->classes; c++) {
		double share = (double)counts[c] / (double)answers->rows;

		if (counts[c])
			answers->entropy -= share * log(share);
	}
	answers->majority = (double)most / (double)answers->rows;
}

void wti_answers_measure(const double *outputs, size_t classes, const uint32_t *labels,
			 uint64_t count, struct wti_answers *ret)
{
	uint64_t counts[WTI_ANSWERS_CLASSES_MAX] = {0};

	*ret = (struct wti_answers){.rows = count, .classes = classes};
	if (!count)
		return;
	for (uint64_t i = 0; i < count; i++)
		add_row(ret, outputs + i * classes, labels[i], counts);
	ret->loss /= (double)count;
	ret->accuracy = (double)ret->right / (double)count;
	ret->uniform_loss = log((double)ret->classes);
	measure_labels(ret, labels, counts);
	ret->p = wti_binomial_tail(ret->right, count, ret->majority);
}

bool wti_answers_are_chance(const struct wti_answers *answers)
{
	return answers->has_nan || answers->p > WTI_ANSWERS_P ||
	       answers->spread < WTI_ANSWERS_SPREAD;
}
