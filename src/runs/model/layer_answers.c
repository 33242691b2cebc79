/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a classifier has learned anything: what it answers for the rows of a data set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dataset/dataset.h"
#include "model/answers.h"
#include "runs/model/outputs.h"

/* Labels as numbers of outputs; false, and why, if they are not. */
static bool number_labels(const struct wti_dataset *set, size_t outputs, uint32_t *labels,
			  struct wti_model_verifying *verifying)
{
	for (uint64_t i = 0; i < set->rows; i++) {
		if (wti_dataset_class_number(set, set->labels[i], &labels[i]) &&
		    labels[i] < outputs)
			continue;
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "class '%.60s' of the data is not among the %zu outputs",
			       set->classes[set->labels[i]], outputs);
		return false;
	}
	return true;
}

static void add_facts(const struct wti_answers *answers, struct wt_result *result)
{
	wt_result_fact_number(result, "accuracy", "accuracy", WT_CELL_PERCENT,
			      100 * answers->accuracy);
	wt_result_fact_number(result, "majority", "of the most frequent class", WT_CELL_PERCENT,
			      100 * answers->majority);
	wt_result_fact_number(result, "p_value", "p of that by chance", WT_CELL_NUMBER, answers->p);
	wt_result_fact_number(result, "loss", "loss", WT_CELL_NUMBER, answers->loss);
	wt_result_fact_number(result, "uniform_loss", "loss of uniform answers (ln C)",
			      WT_CELL_NUMBER, answers->uniform_loss);
	wt_result_fact_number(result, "spread", "largest distance of a probability from 1/C",
			      WT_CELL_NUMBER, answers->spread);
}

static void report(const struct wti_answers *answers, struct wti_model_verifying *verifying)
{
	char expected[160], actual[160], evidence[400];

	snprintf(expected, sizeof(expected),
		 "more than %.1f %% right, with p <= %g; a probability %g or more away from 1/%zu",
		 100 * answers->majority, WTI_ANSWERS_P, WTI_ANSWERS_SPREAD, answers->classes);
	snprintf(actual, sizeof(actual), "%.1f %% right, p = %.3g; at most %.3g away",
		 100 * answers->accuracy, answers->p, answers->spread);
	snprintf(evidence, sizeof(evidence),
		 "%llu of %llu rows are right (%.1f %%); always answering the most frequent class "
		 "gives %.1f %%; loss %.4f, uniform answers give ln %zu = %.4f; no probability is "
		 "further than %.3f from 1/%zu%s",
		 (unsigned long long)answers->right, (unsigned long long)answers->rows,
		 100 * answers->accuracy, 100 * answers->majority, answers->loss, answers->classes,
		 answers->uniform_loss, answers->spread, answers->classes,
		 answers->has_nan ? "; outputs are NaN" : "");
	wti_model_finding(verifying->result, WTI_MODEL_CHANCE,
			  &(struct wt_finding){.file = verifying->model->path,
					       .expected = expected,
					       .actual = actual,
					       .evidence = evidence,
					       .count = answers->rows - answers->right,
					       .case_count = answers->rows});
	wti_layer_says(
		verifying, WTI_LAYER_VIOLATED,
		"%.1f %% right, chance gives %.1f %%; all probabilities within %.2g of 1/%zu",
		100 * answers->accuracy, 100 * answers->majority, answers->spread,
		answers->classes);
}

static void answer(struct wti_model_verifying *verifying, const struct wti_number_rows *outputs,
		   const uint32_t *labels)
{
	struct wti_answers answers;

	wti_answers_measure(outputs->numbers, outputs->columns, labels, outputs->count, &answers);
	add_facts(&answers, verifying->result);
	if (wti_answers_are_chance(&answers))
		report(&answers, verifying);
	else
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "%.1f %% of %llu rows right, chance gives %.1f %%",
			       100 * answers.accuracy, (unsigned long long)answers.rows,
			       100 * answers.majority);
}

static int judge(struct wti_model_verifying *verifying, const struct wti_dataset *set,
		 const struct wti_number_rows *outputs, struct wt_err *err)
{
	uint32_t *labels;

	if (outputs->count != set->rows)
		return wti_err(err, WT_E_ARG, "there are outputs for %zu rows; '%s' has %llu",
			       outputs->count, set->path, (unsigned long long)set->rows);
	if (outputs->columns > WTI_ANSWERS_CLASSES_MAX) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "%zu outputs are more classes than are counted (%u)",
			       outputs->columns, WTI_ANSWERS_CLASSES_MAX);
		return 0;
	}
	labels = calloc((size_t)set->rows + 1, sizeof(*labels));
	if (!labels)
		return wti_err(err, WT_E_NOMEM, "out of memory for labels");
	if (number_labels(set, outputs->columns, labels, verifying))
		answer(verifying, outputs, labels);
	free(labels);
	return 0;
}

static int run_on(struct wti_model_verifying *verifying, const struct wti_dataset *set,
		  struct wt_err *err)
{
	struct wti_number_rows inputs = {set->values, (size_t)set->rows, set->columns}, outputs;
	int r = wti_model_outputs(verifying, verifying->options->data, &inputs, &outputs, err);

	if (!r && outputs.numbers)
		r = judge(verifying, set, &outputs, err);
	free(outputs.numbers);
	return r;
}

static int open_data(const struct wti_model_verify_options *options, struct wti_dataset **ret,
		     struct wt_err *err)
{
	int r = wti_dataset_open(options->data, NULL, ret, err);

	if (!r && options->labels) {
		r = wti_dataset_take_labels(*ret, options->labels, err);
		if (r)
			wti_dataset_free(*ret);
	}
	return r;
}

int wti_layer_answers(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wti_dataset *set = NULL;
	int r;

	if (!verifying->options->data) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "no data: --data FILE, and --labels FILE");
		return 0;
	}
	r = open_data(verifying->options, &set, err);
	if (r)
		return r;
	if (!set->labels)
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "the data have no labels: --labels");
	else
		r = run_on(verifying, set, err);
	wti_dataset_free(set);
	return r;
}
