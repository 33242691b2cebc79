/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model against its manifest. Where every file has its SHA-256, so has every tensor in it, and
 * nothing is read twice. Where a file differs, the tensors say which part of it does, or that only
 * the container was written anew.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/format.h"
#include "model/manifest.h"
#include "runs/model/facts.h"
#include "runs/model/verify.h"

static int without_manifest(struct wti_model_verifying *verifying)
{
	wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
		       "no manifest: `wheeltap model manifest` makes one");
	return 0;
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* Whether the file `source` is bit for bit the one in the manifest. */
static int check_file(struct wti_model_verifying *verifying, uint32_t source, bool *ret_holds,
		      struct wt_err *err)
{
	struct wti_model *model = verifying->model;
	struct wti_model_watch watch = {verifying->front->progress, verifying->front->cookie};
	const struct wti_manifest_file *file =
		wti_manifest_find_file(verifying->manifest, wti_manifest_name(model, source));
	uint8_t sha[WTI_SHA256_BYTES];
	int r;

	*ret_holds = false;
	if (!file && verifying->manifest->file_count == 1 && model->source_count == 1)
		file = &verifying->manifest->files[0]; /* it was given another name */
	if (!file || file->bytes != wti_model_source_bytes(model, source))
		return 0;
	wti_front_progress(verifying->front, 0);
	r = wti_model_file_sha(model, source, &watch, sha, err);
	wti_front_progress(verifying->front, WTI_PROGRESS_OVER);
	*ret_holds = !r && !memcmp(sha, file->sha, sizeof(sha));
	return r;
}

int wti_layer_files(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wti_model *model = verifying->model;
	size_t files = 0, holding = 0;

	if (!verifying->manifest)
		return without_manifest(verifying);
	for (uint32_t i = 0; i < model->source_count; i++) {
		bool holds;
		int r;

		if (!wti_model_source_is_file(model, i))
			continue;
		r = check_file(verifying, i, &holds, err);
		if (r)
			return r;
		files++;
		holding += holds;
	}
	verifying->files_hold =
		files && files == holding && files == verifying->manifest->file_count;
	if (verifying->files_hold)
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "%zu of %zu files are those of the "
			       "manifest",
			       holding, files);
	else /* the tensors decide whether this matters */
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "%zu of %zu files are those of the manifest: see the tensors",
			       holding, files);
	return 0;
}

/* ---- Tensors -------------------------------------------------------------------------------- */

static void compare_one(struct wti_model_verifying *verifying, size_t number,
			struct wti_model_affected *differing, struct wti_model_affected *missing)
{
	const struct wti_model_tensor *tensor = &verifying->model->tensors[number];
	const struct wti_manifest_tensor *expected =
		wti_manifest_find(verifying->manifest, tensor->name);

	differing->cases++;
	if (!expected)
		wti_affected_add(missing, tensor->name, "not in the manifest");
	else if (!wti_manifest_is_like(expected, tensor))
		wti_affected_add(differing, tensor->name, "type or shape");
	else if (memcmp(expected->sha, verifying->examined[number].sha, WTI_SHA256_BYTES))
		wti_affected_add(differing, tensor->name, "elements");
}

/* Only the container differs: then the canonical digest is the same. */
static void say_rewritten(struct wti_model_verifying *verifying)
{
	const char *format = verifying->model->format->name;

	if (strcmp(format, verifying->manifest->format))
		wti_layer_says(verifying, WTI_LAYER_HELD,
			       "the same %zu tensors, as %s instead of %s",
			       verifying->model->tensor_count, format, verifying->manifest->format);
	else
		wti_layer_says(verifying, WTI_LAYER_HELD, "the same %zu tensors in another file",
			       verifying->model->tensor_count);
}

/* Tensors hold, but the file of the same format is another one: metadata or padding changed. */
static void report_container(struct wti_model_verifying *verifying)
{
	struct wt_finding finding = {.file = verifying->model->path,
				     .expected = "the SHA-256 of the manifest",
				     .actual = "another one, with the same tensors",
				     .evidence = "only bytes outside of the tensors differ: names, "
						 "metadata or padding",
				     .count = 1};

	wti_model_finding(verifying->result, WTI_MODEL_FILE_DIFFERS, &finding);
	wti_layer_says(verifying, WTI_LAYER_VIOLATED, "the tensors hold, the file does not");
}

static int compare_tensors(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wti_model *model = verifying->model;
	struct wti_model_affected differing, missing;
	bool is_any;
	int r = wti_model_know(verifying, WTI_MODEL_SHA | WTI_MODEL_HASH, err);

	if (r)
		return r;
	wti_affected_init(&differing);
	wti_affected_init(&missing);
	for (size_t i = 0; i < model->tensor_count; i++)
		compare_one(verifying, i, &differing, &missing);
	for (size_t i = 0; i < verifying->manifest->tensor_count; i++)
		if (!wti_model_find(model, verifying->manifest->tensors[i].name))
			wti_affected_add(&missing, verifying->manifest->tensors[i].name,
					 "not in the model");
	is_any = wti_affected_end(&differing, verifying, WTI_MODEL_TENSOR_DIFFERS);
	is_any |= wti_affected_end(&missing, verifying, WTI_MODEL_TENSOR_MISSING);
	if (is_any)
		wti_layer_says(verifying, WTI_LAYER_VIOLATED, "tensors differ from the manifest");
	else if (!strcmp(model->format->name, verifying->manifest->format))
		report_container(verifying);
	else
		say_rewritten(verifying);
	return 0;
}

int wti_layer_tensors(struct wti_model_verifying *verifying, struct wt_err *err)
{
	if (!verifying->manifest)
		return without_manifest(verifying);
	if (!verifying->files_hold)
		return compare_tensors(verifying, err);
	wti_layer_says(verifying, WTI_LAYER_HELD, "follows from the files");
	return 0;
}
