/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the layers, and puts what they say into one result. */
#include "runs/model/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "model/format.h"
#include "runs/model/facts.h"

#define NAMED_MAX 5u /* tensors that a finding names */
#define NAMES_BYTES_MAX 8192u

const struct wti_model_layer wti_model_layers[] = {
	{"structure", "structure of the file", wti_layer_structure},
	{"signature", "signature", wti_layer_signature},
	{"files", "SHA-256 of the files", wti_layer_files},
	{"tensors", "digests of the tensors", wti_layer_tensors},
	{"values", "NaN and infinity", wti_layer_values},
	{"units", "dead and equal units", wti_layer_units},
	{"initial", "untouched initialisation", wti_layer_initial},
	{"probe", "outputs for a kept batch", wti_layer_probe},
	{"answers", "answers for labelled data", wti_layer_answers},
	{"run", "what the run saved", wti_layer_run},
	{NULL},
};

/* ---- For layers ----------------------------------------------------------------------------- */

int wti_model_know(struct wti_model_verifying *verifying, unsigned what, struct wt_err *err)
{
	struct wti_model_watch watch = {verifying->front->progress, verifying->front->cookie};
	int r;

	if ((verifying->known & what) == what)
		return 0;
	free(verifying->examined);
	verifying->examined = NULL;
	verifying->known |= what;
	wti_front_progress(verifying->front, 0);
	r = wti_model_examine_all(verifying->model, verifying->known, &watch, &verifying->examined,
				  err);
	wti_front_progress(verifying->front, WTI_PROGRESS_OVER);
	if (r)
		verifying->known = 0;
	return r;
}

void wti_layer_says(struct wti_model_verifying *verifying, enum wti_model_verdict verdict,
		    const char *format, ...)
{
	va_list args;

	verifying->verdict = verdict;
	va_start(args, format);
	vsnprintf(verifying->why, sizeof(verifying->why), format, args);
	va_end(args);
}

void wti_model_finding(struct wt_result *result, enum wti_model_code_number number,
		       const struct wt_finding *more)
{
	const struct wti_model_code *code = wti_model_code_at(number);
	struct wt_finding finding = *more;

	finding.code = code->code.code;
	finding.severity = code->severity;
	finding.title = code->code.title;
	finding.means = code->code.means;
	finding.hint = code->code.hint;
	finding.step = finding.rank = finding.line = finding.first_step = finding.last_step = -1;
	wt_result_finding(result, &finding);
}

void wti_affected_init(struct wti_model_affected *affected)
{
	*affected = (struct wti_model_affected){0};
	wti_buf_init(&affected->names, NAMES_BYTES_MAX);
}

void wti_affected_add(struct wti_model_affected *affected, const char *name, const char *detail)
{
	if (affected->count < NAMED_MAX) {
		wti_textf(&affected->names, "%s%.200s", affected->count ? ", " : "", name);
		if (detail)
			wti_textf(&affected->names, " (%s)", detail);
	} else if (affected->count == NAMED_MAX) {
		wti_textf(&affected->names, " and more");
	}
	if (!affected->count++)
		affected->first = name;
}

bool wti_affected_end(struct wti_model_affected *affected, struct wti_model_verifying *verifying,
		      enum wti_model_code_number number)
{
	bool is_any = affected->count;
	struct wt_finding finding = {
		.op = affected->first,
		.file = verifying->model->path,
		.evidence = wti_buf_cstr(&affected->names),
		.count = affected->count,
		.case_count = affected->cases,
	};

	if (is_any)
		wti_model_finding(verifying->result, number, &finding);
	wti_buf_release(&affected->names);
	return is_any;
}

/* ---- The first layer ------------------------------------------------------------------------ */

/* That it opened is the check: every format checks all it can before. */
int wti_layer_structure(struct wti_model_verifying *verifying, struct wt_err *err)
{
	wti_layer_says(verifying, WTI_LAYER_HELD, "%s: %zu tensor%s, all inside the file",
		       verifying->model->format->title, verifying->model->tensor_count,
		       verifying->model->tensor_count == 1 ? "" : "s");
	return 0;
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* The manifest that was named, or the one beside the model. */
static int find_manifest(struct wti_model_verifying *verifying, struct wt_err *err)
{
	const char *given = verifying->options->manifest;

	if (given)
		snprintf(verifying->manifest_path, sizeof(verifying->manifest_path), "%s", given);
	else
		wti_manifest_path(verifying->model->path, verifying->manifest_path,
				  sizeof(verifying->manifest_path));
	if (!given && access(verifying->manifest_path, F_OK))
		return 0;
	return wti_manifest_read(verifying->manifest_path, &verifying->manifest, err);
}

static void add_layer(struct wt_table *table, const struct wti_model_layer *layer,
		      const struct wti_model_verifying *verifying)
{
	static const char *const words[] = {"NOT MEASURED", "held", "VIOLATED"};
	const char *word = words[verifying->verdict];

	wt_table_row(table);
	wt_table_text(table, layer->name, strlen(layer->name));
	wt_table_text(table, layer->title, strlen(layer->title));
	wt_table_text(table, word, strlen(word));
	wt_table_text(table, verifying->why, strlen(verifying->why));
}

static int run_layers(struct wti_model_verifying *verifying, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(verifying->result, "layers", "layers");

	wt_table_column(table, "layer", "", WT_CELL_TEXT);
	wt_table_column(table, "title", "layer", WT_CELL_TEXT);
	wt_table_column(table, "verdict", "verdict", WT_CELL_TEXT);
	wt_table_column(table, "why", "what was checked", WT_CELL_TEXT);
	for (const struct wti_model_layer *layer = wti_model_layers; layer->name; layer++) {
		int r;

		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED, "not asked for");
		r = layer->check(verifying, err);
		if (r)
			return r;
		add_layer(table, layer, verifying);
	}
	return 0;
}

int wti_model_verify(const struct wti_front *front, const char *path,
		     const struct wti_model_verify_options *options, struct wt_result *result,
		     struct wt_err *err)
{
	struct wti_model_verifying verifying = {
		.front = front, .options = options, .result = result};
	int r = wti_model_open(path, &verifying.model, err);

	if (r)
		return r;
	r = find_manifest(&verifying, err);
	if (!r) {
		wti_model_facts(verifying.model, result);
		if (verifying.manifest)
			wt_result_fact_text(result, "manifest", "manifest",
					    verifying.manifest_path);
	}
	r = r ? r : run_layers(&verifying, err);
	/* A model without tensors proves nothing. */
	wt_result_set_status(result, result->finding_count           ? "findings"
				     : verifying.model->tensor_count ? "clean"
								     : "not_measured");
	free(verifying.examined);
	wti_manifest_free(verifying.manifest);
	wti_model_free(verifying.model);
	return r;
}
