/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model computes for a batch that was kept, against the outputs that were kept with it.
 * Models that are a chain of linear layers are computed here; of others nothing can be said, as no
 * file has the program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "digest/digest.h"
#include "digest/values.h"
#include "model/network.h"
#include "runs/model/verify.h"

#define NUMBERS_MAX ((uint64_t)1 << 24)

/* Rows of numbers, out of the only tensor of a file. */
struct batch {
	double *numbers;
	size_t rows, columns;
	uint32_t dtype;
	size_t filled;
};

static int take_block(void *cookie, const void *data, size_t bytes)
{
	struct batch *batch = cookie;
	size_t count = bytes / wti_dtype_bytes(batch->dtype);

	wti_values(data, batch->dtype, count, batch->numbers + batch->filled);
	batch->filled += count;
	return 0;
}

static int read_tensor(struct wti_model *model, struct batch *ret, struct wt_err *err)
{
	const struct wti_model_tensor *tensor = model->tensors;

	if (model->tensor_count != 1 || tensor->rank != 2 || !tensor->count ||
	    tensor->count > NUMBERS_MAX || !wti_dtype_bytes(tensor->dtype) ||
	    wti_dtype_real(tensor->dtype) != tensor->dtype)
		return wti_err(err, WT_E_ARG,
			       "'%s' is not a batch: a file with one tensor of rows and columns, "
			       "as numpy.save() writes it",
			       model->path);
	*ret = (struct batch){.rows = (size_t)tensor->shape[0],
			      .columns = (size_t)tensor->shape[1],
			      .dtype = tensor->dtype};
	ret->numbers = malloc(tensor->count * sizeof(*ret->numbers));
	if (!ret->numbers)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_model_walk(model, tensor, take_block, ret, err);
}

static int read_batch(const char *path, struct batch *ret, struct wt_err *err)
{
	struct wti_model *model;
	int r = wti_model_open(path, &model, err);

	if (r)
		return r;
	r = read_tensor(model, ret, err);
	wti_model_free(model);
	return r;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

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

static void compare(struct wti_network *network, const struct batch *inputs,
		    const struct batch *expected, double tolerance, struct worst *worst)
{
	for (size_t row = 0; row < inputs->rows; row++) {
		const double *outputs =
			wti_network_run(network, inputs->numbers + row * inputs->columns);

		for (size_t i = 0; i < expected->columns; i++) {
			double wanted = expected->numbers[row * expected->columns + i];
			double far = distance(outputs[i], wanted);

			worst->count += far > tolerance;
			if (far > worst->distance)
				*worst = (struct worst){far,        row,    i,
							outputs[i], wanted, worst->count};
		}
	}
}

static void judge(struct wti_model_verifying *verifying, const struct worst *worst,
		  const struct batch *expected)
{
	char wanted[64], actual[64], evidence[160];
	double tolerance = verifying->options->tolerance;

	if (!worst->count) {
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "%zu outputs for %zu rows, at most %.3g away (tolerance %g)",
			       expected->rows * expected->columns, expected->rows, worst->distance,
			       tolerance);
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
					       .case_count = expected->rows * expected->columns});
	wti_layer_says(verifying, WTI_LAYER_VIOLATED, "%llu of %zu outputs differ",
		       (unsigned long long)worst->count, expected->rows * expected->columns);
}

static int run_probe(struct wti_model_verifying *verifying, const struct batch *inputs,
		     const struct batch *expected, struct wt_err *err)
{
	struct wti_network *network = NULL;
	struct worst worst = {0};
	struct wt_err why = {0};
	int r = wti_network_open(verifying->model, inputs->columns, verifying->options->activation,
				 &network, &why);

	if (r == WT_E_ARG) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED, "%s", why.message);
		return 0;
	}
	if (r) {
		*err = why;
		return r;
	}
	if (wti_network_outputs(network) != expected->columns || inputs->rows != expected->rows)
		r = wti_err(err, WT_E_ARG,
			    "the probe gives %zu rows of %zu outputs; '%s' has %zu rows of %zu",
			    inputs->rows, wti_network_outputs(network), verifying->options->expect,
			    expected->rows, expected->columns);
	if (!r) {
		compare(network, inputs, expected, verifying->options->tolerance, &worst);
		judge(verifying, &worst, expected);
	}
	wti_network_free(network);
	return r;
}

int wti_layer_probe(struct wti_model_verifying *verifying, struct wt_err *err)
{
	const struct wti_model_verify_options *options = verifying->options;
	struct batch inputs = {0}, expected = {0};
	int r = 0;

	if (!options->probe && !options->expect) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "no probe: --probe INPUTS --expect OUTPUTS");
		return 0;
	}
	if (!options->probe || !options->expect)
		return wti_err(err, WT_E_ARG, "--probe and --expect need one another");
	r = read_batch(options->probe, &inputs, err);
	r = r ? r : read_batch(options->expect, &expected, err);
	r = r ? r : run_probe(verifying, &inputs, &expected, err);
	free(inputs.numbers);
	free(expected.numbers);
	return r;
}
