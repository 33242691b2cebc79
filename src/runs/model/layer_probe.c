/* SPDX-License-Identifier: Apache-2.0 */
/* What a model computes for a batch that was kept, against the outputs that were kept with it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "runs/model/outputs.h"

struct worst {
	double distance;
	size_t row, column;
	double actual, expected;
	uint64_t count; /* of outputs beyond the tolerance */
};

/* NaN is as far away as can be, unless NaN was expected. */
static double distance(double actual, double expected)
{
	if (isnan(actual) || isnan(expected))
		return isnan(actual) && isnan(expected) ? 0 : INFINITY;
	return actual == expected ? 0 : fabs(actual - expected) / fmax(1, fabs(expected));
}

static void compare(const struct wti_number_rows *outputs, const struct wti_number_rows *expected,
		    double tolerance, struct worst *worst)
{
	for (size_t i = 0; i < expected->count * expected->columns; i++) {
		double actual = outputs->numbers[i], wanted = expected->numbers[i];
		double far = distance(actual, wanted);

		worst->count += far > tolerance;
		if (far > worst->distance)
			*worst = (struct worst){
				far,    i / expected->columns, i % expected->columns, actual,
				wanted, worst->count};
	}
}

static void judge(struct wti_model_verifying *verifying, const struct worst *worst,
		  const struct wti_number_rows *expected)
{
	char wanted[64], actual[64], evidence[160];
	double tolerance = verifying->options->tolerance;

	if (!worst->count) {
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "%zu outputs for %zu rows, at most %.3g away (tolerance %g)",
			       expected->count * expected->columns, expected->count,
			       worst->distance, tolerance);
		return;
	}
	snprintf(wanted, sizeof(wanted), "%.9g, within %g", worst->expected, tolerance);
	snprintf(actual, sizeof(actual), "%.9g", worst->actual);
	snprintf(evidence, sizeof(evidence), "the worst is output %zu of row %zu", worst->column,
		 worst->row);
	wti_model_finding(verifying->result, WTI_MODEL_PROBE,
			  &(struct wt_finding){.file = verifying->model->path,
					       .expected = wanted,
					       .actual = actual,
					       .evidence = evidence,
					       .count = worst->count,
					       .case_count = expected->count * expected->columns});
	wti_layer_says(verifying, WTI_LAYER_VIOLATED, "%llu of %zu outputs differ",
		       (unsigned long long)worst->count, expected->count * expected->columns);
}

static int judge_outputs(struct wti_model_verifying *verifying,
			 const struct wti_number_rows *outputs,
			 const struct wti_number_rows *expected, struct wt_err *err)
{
	struct worst worst = {0};

	if (outputs->count != expected->count || outputs->columns != expected->columns)
		return wti_err(err, WT_E_ARG,
			       "the probe gives %zu rows of %zu outputs; '%s' has %zu rows of %zu",
			       outputs->count, outputs->columns, verifying->options->expect,
			       expected->count, expected->columns);
	compare(outputs, expected, verifying->options->tolerance, &worst);
	judge(verifying, &worst, expected);
	return 0;
}

int wti_layer_probe(struct wti_model_verifying *verifying, struct wt_err *err)
{
	const struct wti_model_verify_options *options = verifying->options;
	struct wti_number_rows inputs = {0}, outputs = {0}, expected = {0};
	int r = 0;

	if (!options->probe && !options->expect) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "no probe: --probe INPUTS --expect OUTPUTS");
		return 0;
	}
	if (!options->probe || !options->expect)
		return wti_err(err, WT_E_ARG, "--probe and --expect need one another");
	/* A program reads its inputs itself: they need not be rows of numbers. */
	if (!options->program.run)
		r = wti_number_rows_read(options->probe, &inputs, err);
	r = r ? r : wti_number_rows_read(options->expect, &expected, err);
	r = r ? r : wti_model_outputs(verifying, options->probe, &inputs, &outputs, err);
	if (!r && outputs.numbers)
		r = judge_outputs(verifying, &outputs, &expected, err);
	free(inputs.numbers);
	free(outputs.numbers);
	free(expected.numbers);
	return r;
}
