/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a classifier has learned anything, by its outputs for labelled rows. */
#ifndef WTI_MODEL_ANSWERS_H
#define WTI_MODEL_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WTI_ANSWERS_CLASSES_MAX 4096u
/* From here on an accuracy is taken to be better than that of one constant answer. */
#define WTI_ANSWERS_P 0.01
/* Probabilities that stay this close to 1 / C tell no row from another, even where the largest of
 * them is the right one more often than chance: models that were trained are at 0.5 and more. */
#define WTI_ANSWERS_SPREAD 0.1

struct wti_answers {
	uint64_t rows;
	size_t classes;
	uint64_t right;
	double accuracy;
	double majority; /* of always answering the most frequent class */
	double p;        /* that chance alone is right as often, or more often, with `majority` */
	double loss;     /* cross-entropy of the softmax, natural logarithm */
	double entropy;  /* the loss of always answering with the frequencies of the classes */
	double uniform_loss; /* ln C */
	double spread;       /* the largest distance of a probability from 1 / C */
	uint64_t distinct;   /* classes that were answered at all */
	bool has_nan;
};

/* `count` rows of `classes` outputs each, WTI_ANSWERS_CLASSES_MAX at most; `labels` have to be
 * below `classes`. */
void wti_answers_measure(const double *outputs, size_t classes, const uint32_t *labels,
			 uint64_t count, struct wti_answers *ret);
bool wti_answers_are_chance(const struct wti_answers *answers);
/* The probability of `right` or more of `count`, each with probability `share`. */
double wti_binomial_tail(uint64_t right, uint64_t count, double share);

#endif
