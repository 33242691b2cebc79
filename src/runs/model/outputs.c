/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No file has the program that its parameters belong to. A chain of linear layers can be told from
 * its tensors and is computed here; for everything else there is the person's own program.
 */
#include "runs/model/outputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/numbers.h"

#define NUMBERS_MAX ((uint64_t)1 << 24)

static int read_tensor(struct wti_model *model, struct wti_number_rows *ret, struct wt_err *err)
{
	const struct wti_model_tensor *tensor = model->tensors;
	struct wti_number_rows rows;
	int r;

	if (model->tensor_count != 1 || !tensor->rank || !tensor->count ||
	    tensor->count > NUMBERS_MAX || !wti_model_has_numbers(tensor))
		return wti_err(err, WT_E_ARG,
			       "'%s' is not a batch: a file with one tensor of numbers, a row for "
			       "each input, as numpy.save() writes it",
			       model->path);
	rows.count = (size_t)tensor->shape[0];
	rows.columns = (size_t)tensor->count / rows.count;
	r = wti_model_numbers(model, tensor, &rows.numbers, err);
	if (!r)
		*ret = rows;
	return r;
}

int wti_number_rows_read(const char *path, struct wti_number_rows *ret, struct wt_err *err)
{
	struct wti_model *model;
	int r = wti_model_open(path, &model, err);

	if (r)
		return r;
	r = read_tensor(model, ret, err);
	wti_model_free(model);
	return r;
}

static int run_network(struct wti_network *network, const struct wti_number_rows *inputs,
		       struct wti_number_rows *ret, struct wt_err *err)
{
	struct wti_number_rows rows = {.count = inputs->count,
				       .columns = wti_network_outputs(network)};

	rows.numbers = calloc(rows.count, rows.columns * sizeof(*rows.numbers));
	if (!rows.numbers)
		return wti_err(err, WT_E_NOMEM, "out of memory for outputs");
	for (size_t i = 0; i < rows.count; i++)
		memcpy(rows.numbers + i * rows.columns,
		       wti_network_run(network, inputs->numbers + i * inputs->columns),
		       rows.columns * sizeof(*rows.numbers));
	*ret = rows;
	return 0;
}

static int compute(struct wti_model_verifying *verifying, const struct wti_number_rows *inputs,
		   struct wti_number_rows *ret, struct wt_err *err)
{
	struct wti_network *network;
	struct wt_err why = {.offset = -1};
	int r = wti_network_open(verifying->model, inputs->columns, verifying->options->activation,
				 &network, &why);

	if (r == WT_E_ARG) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "%.150s; --compute names a program that runs it", why.message);
		return 0;
	}
	if (r) {
		*err = why;
		return r;
	}
	r = run_network(network, inputs, ret, err);
	wti_network_free(network);
	return r;
}

int wti_model_outputs(struct wti_model_verifying *verifying, const char *path,
		      const struct wti_number_rows *inputs, struct wti_number_rows *ret,
		      struct wt_err *err)
{
	const struct wti_model_program *program = &verifying->options->program;
	char outputs[PATH_MAX];
	int r;

	*ret = (struct wti_number_rows){0};
	if (!program->run)
		return compute(verifying, inputs, ret, err);
	r = program->run(program->cookie, verifying->model->path, path, outputs, err);
	return r ? r : wti_number_rows_read(outputs, ret, err);
}
