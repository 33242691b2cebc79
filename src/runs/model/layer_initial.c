/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a model was saved before its first step. Matrices that fill a sharp range prove it by
 * themselves. Normal ones do not, but a step changes the zeros of biases and the ones of norms as
 * well: where all of these are still exact, and all matrices fit, nothing was trained.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "inspect/training/optimizer_state.h"
#include "model/initial.h"
#include "runs/model/verify.h"

#define WANTED (WTI_MODEL_HASH | WTI_MODEL_STATISTICS | WTI_MODEL_UNITS)
#define CONSTANTS_MIN 64u /* zeros and ones that no step has changed */

struct census {
	uint64_t matrices, bounded, normal;
	uint64_t constants;       /* elements of constant vectors */
	const char *other;        /* a matrix of no family, or NULL */
	const char *other_vector; /* one that is not as it begins, or NULL */
	const char *family;       /* of the last matrix that fitted */
};

static bool is_counted(const struct wti_model_tensor *tensor)
{
	return tensor->dtype >= WT_DTYPE_F16 && tensor->dtype <= WT_DTYPE_F64 && tensor->count &&
	       !wti_optimizer_keeps(tensor->name);
}

/* "a.bias" to "a.weight", "bias_ih" to "weight_ih"; NULL: it is no bias, or has no matrix. */
static const struct wti_model_tensor *matrix_of(const struct wti_model *model, const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *bias = strstr(dot ? dot : name, "bias");
	const struct wti_model_tensor *found;
	char weight[512];

	if (!bias || strlen(name) + sizeof("weight") > sizeof(weight))
		return NULL;
	snprintf(weight, sizeof(weight), "%.*sweight%s", (int)(bias - name), name, bias + 4);
	found = wti_model_find(model, weight);
	return found && found->rank >= 2 && found->count ? found : NULL;
}

/* 1/sqrt(fan_in) of that matrix: the range of a bias. The larger one, as either dimension may be
 * the input. */
static double bias_bound(const struct wti_model *model, const struct wti_model_tensor *vector)
{
	const struct wti_model_tensor *matrix = matrix_of(model, vector->name);
	double rows = matrix ? (double)matrix->shape[0] : 0;

	return matrix ? 1 / sqrt(fmin(rows, (double)matrix->count / rows)) : 0;
}

static void count_matrix(struct census *census, const struct wti_model_tensor *tensor,
			 const struct wt_digest *digest, struct wti_model_affected *drawn)
{
	struct wti_initial_guess guess = wti_initial_matrix(tensor, digest);

	census->matrices++;
	census->bounded += guess.kind == WTI_INITIAL_BOUNDED;
	census->normal += guess.kind == WTI_INITIAL_NORMAL;
	if (guess.kind) {
		census->family = guess.family;
		wti_affected_add(drawn, tensor->name, guess.family);
	} else if (!census->other) {
		census->other = tensor->name;
	}
}

static void count_vector(struct census *census, const struct wti_model *model,
			 const struct wti_model_tensor *tensor, const struct wt_digest *digest)
{
	enum wti_initial kind = wti_initial_vector(digest, 0);

	if (!kind)
		kind = wti_initial_vector(digest, bias_bound(model, tensor));
	if (kind == WTI_INITIAL_CONSTANT)
		census->constants += tensor->count;
	if (!kind && !census->other_vector)
		census->other_vector = tensor->name;
}

static void take_census(struct wti_model_verifying *verifying, struct census *census,
			struct wti_model_affected *drawn)
{
	const struct wti_model *model = verifying->model;

	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];
		const struct wt_digest *digest = &verifying->examined[i].digest;

		if (!is_counted(tensor))
			continue;
		if (tensor->rank >= 2 && tensor->count >= WTI_INITIAL_COUNT_MIN)
			count_matrix(census, tensor, digest, drawn);
		else if (tensor->rank == 1 && !census->other_vector)
			count_vector(census, model, tensor, digest);
	}
	drawn->cases = census->matrices;
}

/* Whether it is proven that nothing was trained; if not, what is said instead. */
static bool judge(struct wti_model_verifying *verifying, const struct census *census)
{
	unsigned long long matrices = census->matrices;

	if (!matrices)
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "no weight matrix of 1,000 elements or more");
	else if (census->other)
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "%llu of %llu matrices are as they could be drawn; '%.100s' is not",
			       (unsigned long long)(census->bounded + census->normal), matrices,
			       census->other);
	else if (census->other_vector)
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "'%.100s' is not as it begins, though all %llu matrices could be",
			       census->other_vector, matrices);
	else if (census->bounded < matrices && census->constants < CONSTANTS_MIN)
		wti_layer_says(
			verifying, WTI_LAYER_NOT_MEASURED,
			"%llu of %llu matrices have the spread of %s, which a little training "
			"does not change",
			(unsigned long long)census->normal, matrices, census->family);
	else
		return true;
	return false;
}

int wti_layer_initial(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wti_model_affected drawn;
	struct census census = {0};
	int r = wti_model_know(verifying, WANTED, err);

	if (r)
		return r;
	wti_affected_init(&drawn);
	take_census(verifying, &census, &drawn);
	if (!judge(verifying, &census))
		drawn.count = 0;
	if (wti_affected_end(&drawn, verifying, WTI_MODEL_INITIAL))
		wti_layer_says(verifying, WTI_LAYER_VIOLATED,
			       "%llu of %llu are as they are drawn; %llu zeros and ones are exact",
			       (unsigned long long)census.matrices,
			       (unsigned long long)census.matrices,
			       (unsigned long long)census.constants);
	return 0;
}
