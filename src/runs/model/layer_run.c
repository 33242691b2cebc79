/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model against the run that should have saved it: hashes every tensor as the trace does, and
 * asks the inspector `origin` where each comes from. Where nothing is of that run, the runs beside
 * it are searched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/text.h"
#include "inspect/core/inspectors.h"
#include "inspect/origin/origin.h"
#include "model/format.h"
#include "runs/model/changes.h"
#include "runs/model/verify.h"
#include "runs/open.h"

#define TURNED_BYTES_MAX ((uint64_t)256 << 20) /* of a matrix that is hashed transposed, too */
#define NEIGHBOURS_MAX 64u                     /* runs that are searched, the newest first */

static void put_shape(const struct wti_model_tensor *tensor, char *out, size_t bytes)
{
	size_t at = 0;

	*out = 0;
	for (uint32_t i = 0; i < tensor->rank && at < bytes; i++)
		at += (size_t)snprintf(out + at, bytes - at, "%s%llu", i ? "x" : "",
				       (unsigned long long)tensor->shape[i]);
}

/* The hash of a matrix with rows and columns exchanged; 0: it is none, or too large. */
static int hash_turned(struct wti_model *model, const struct wti_model_tensor *tensor,
		       uint64_t *ret_hash, struct wt_err *err)
{
	struct wti_model_tensor turned = *tensor;
	uint64_t shape[2];
	int64_t strides[2];
	struct wti_model_examined examined;
	int r;

	*ret_hash = 0;
	if (tensor->rank != 2 || tensor->dtype == WT_DTYPE_OTHER ||
	    tensor->bytes > TURNED_BYTES_MAX || tensor->shape[0] < 2 || tensor->shape[1] < 2)
		return 0;
	for (int i = 0; i < 2; i++) {
		shape[i] = tensor->shape[1 - i];
		strides[i] = tensor->strides ? tensor->strides[1 - i]
			     : i == 0        ? 1
					     : (int64_t)tensor->shape[1];
	}
	turned.shape = shape;
	turned.strides = strides;
	r = wti_model_examine(model, &turned, WTI_MODEL_HASH, &examined, err);
	if (!r)
		*ret_hash = examined.digest.hash;
	return r;
}

/* Where a file is, absolute; as it is called if that cannot be known. */
static const char *place_of(struct wti_model *model, const char *path)
{
	char *real = realpath(path, NULL);
	const char *place = real ? wti_arena_text(&model->arena, real, strlen(real)) : path;

	free(real);
	return place ? place : path;
}

static int describe(struct wti_model_verifying *verifying, struct wti_origin_tensor *tensors,
		    struct wt_err *err)
{
	struct wti_model *model = verifying->model;
	const char *file = NULL, *place = NULL;
	char shape[1024];

	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];
		int r = hash_turned(model, tensor, &tensors[i].turned_hash, err);

		if (r)
			return r;
		put_shape(tensor, shape, sizeof(shape));
		tensors[i].name = tensor->name;
		tensors[i].file = wti_model_source_path(model, tensor->source);
		if (!file || strcmp(file, tensors[i].file) != 0)
			place = place_of(model, tensors[i].file);
		file = tensors[i].file;
		tensors[i].place = place;
		tensors[i].shape = wti_arena_text(&model->arena, shape, strlen(shape));
		tensors[i].dtype = tensor->dtype;
		tensors[i].count = tensor->count;
		tensors[i].hash = verifying->examined[i].digest.hash;
		if (!tensors[i].shape)
			return WT_E_NOMEM;
	}
	return 0;
}

static int ask(const struct wti_front *front, const char *word,
	       const struct wti_origin_options *options, struct wt_result *result,
	       struct wt_err *err)
{
	struct wti_opened_run opened;
	int r = wti_open(front, word, &opened, err);

	if (r)
		return r;
	wti_note_damage(&opened, result);
	r = wt_inspect(&wti_inspector_origin, opened.trace, NULL, options, result, NULL, NULL, err);
	wti_close(&opened);
	return r;
}

static void explain(void *cookie, size_t tensor, const struct wti_digest_row *saved,
		    struct wti_buf *out)
{
	const struct wti_model_verifying *verifying = cookie;

	wti_model_explain_change(verifying->model, &verifying->model->tensors[tensor],
				 &verifying->examined[tensor].digest, saved, out);
}

/* ---- Runs beside it ------------------------------------------------------------------------- */

static uint64_t fact(const struct wt_result *result, const char *key)
{
	const struct wt_fact *found = wt_result_fact(result, key);

	return found ? found->value.count : 0;
}

/* Whether it saved the file; a note says so. */
static bool is_of_run(struct wti_model_verifying *verifying, const char *path,
		      const struct wti_origin_options *options)
{
	struct wt_result result;
	struct wt_err err;
	bool is_found = false;

	wt_result_init(&result, "model");
	if (!ask(verifying->front, path, options, &result, &err) && fact(&result, "equal") &&
	    !fact(&result, "is_load")) {
		const struct wt_fact *saved = wt_result_fact(&result, "compared");

		is_found = true;
		wt_result_note(verifying->result,
			       "%llu of %zu tensors are what the run '%s' saved as '%s' in step "
			       "%llu",
			       (unsigned long long)fact(&result, "equal"), options->count, path,
			       saved ? saved->value.text : "?",
			       (unsigned long long)fact(&result, "saved_step"));
	}
	wt_result_release(&result);
	return is_found;
}

static void search_others(struct wti_model_verifying *verifying,
			  const struct wti_origin_options *options)
{
	struct wti_run *runs = NULL;
	size_t count = 0;
	struct wt_err err;

	if (wti_runs_list(verifying->front, &runs, &count, &err))
		return;
	for (size_t i = 0; i < count && i < NEIGHBOURS_MAX; i++)
		if (!runs[i].is_set && is_of_run(verifying, runs[i].path, options))
			break;
	wti_runs_free(runs, count);
}

static bool has_finding(const struct wt_result *result, const char *code)
{
	for (size_t i = 0; i < result->finding_count; i++)
		if (!strcmp(result->findings[i].code, code))
			return true;
	return false;
}

/* ---- The layer ------------------------------------------------------------------------------ */

/* What was not compared may be anything: the layer does not hold by the rest. */
static void conclude(struct wti_model_verifying *verifying, size_t count, bool has_findings)
{
	const struct wt_fact *why = wt_result_fact(verifying->result, "unmeasured_why");
	unsigned long long equal = fact(verifying->result, "equal");

	if (!has_findings && why)
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "%llu of %zu tensors %s; %llu are what the run saved",
			       (unsigned long long)fact(verifying->result, "unmeasured"), count,
			       why->value.text, equal);
	else
		wti_layer_says(verifying, has_findings ? WTI_LAYER_VIOLATED : WTI_LAYER_HELD,
			       "%llu of %zu tensors are what the run saved", equal, count);
}

static int check(struct wti_model_verifying *verifying, struct wti_origin_tensor *tensors,
		 struct wt_err *err)
{
	size_t before = verifying->result->finding_count;
	struct wti_origin_options options = {
		.path = verifying->model->path,
		.place = place_of(verifying->model, verifying->model->path),
		.tensors = tensors,
		.count = verifying->model->tensor_count,
		.explain = explain,
		.cookie = verifying};
	int r = describe(verifying, tensors, err);

	r = r ? r
	      : ask(verifying->front, verifying->options->against, &options, verifying->result,
		    err);
	if (r)
		return r;
	if (!wt_result_fact(verifying->result, "seen")) {
		if (!wti_model_written(verifying, options.place))
			wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
				       "the run saved nothing, or not what it saved was recorded");
		return 0;
	}
	if (has_finding(verifying->result, "WT-LIN-008"))
		search_others(verifying, &options);
	conclude(verifying, options.count, verifying->result->finding_count > before);
	return 0;
}

int wti_layer_run(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wti_origin_tensor *tensors;
	int r;

	if (!verifying->options->against) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "no run: --against RUN names the one that saved it");
		return 0;
	}
	r = wti_model_know(verifying, WTI_MODEL_HASH | WTI_MODEL_STATISTICS, err);
	if (r)
		return r;
	tensors = calloc(verifying->model->tensor_count + 1, sizeof(*tensors));
	if (!tensors)
		return WT_E_NOMEM;
	r = check(verifying, tensors, err);
	free(tensors);
	return r;
}
