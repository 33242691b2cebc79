/* SPDX-License-Identifier: Apache-2.0 */
/* Signing models, and saying which run a model comes from. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/file.h"
#include "model/sign.h"
#include "runs/model/actions.h"
#include "runs/model/facts.h"
#include "runs/model/verify.h"
#include "runs/run.h"
#include "runs/runjson.h"

#define STATEMENT_MAX ((size_t)12 << 20) /* in an envelope it is a third longer */
#define ENVELOPE_MAX ((size_t)16 << 20)

/* Writes the statement to `output`, in an envelope if there is a key. */
static int save_statement(const char *output, const char *key_path, struct wti_buf *statement,
			  struct wt_err *err)
{
	struct wti_signing_key key;
	struct wti_buf out;
	int r = wti_buf_status(statement);

	if (r)
		return wti_err(err, r, "the statement is too large to be signed");
	if (key_path)
		r = wti_key_read(key_path, &key, err);
	if (r)
		return r;
	wti_buf_init(&out, ENVELOPE_MAX);
	r = wti_envelope_write(&out, key_path ? &key : NULL, (const char *)statement->data,
			       statement->bytes, err);
	r = r ? r : wti_file_replace(output, out.data, out.bytes, err);
	wti_buf_release(&out);
	if (key_path)
		wti_key_release(&key);
	return r;
}

static int manifest_of(const struct wti_front *front, const char *path, struct wti_manifest **ret,
		       struct wt_result *result, struct wt_err *err)
{
	char hex[2 * WTI_SHA256_BYTES + 1];
	struct wti_model *model;
	int r = wti_model_open(path, &model, err);

	if (r)
		return r;
	r = wti_manifest_of(front, model, ret, err);
	if (!r) {
		wti_model_facts(model, result);
		wt_result_fact_text(result, "canonical", "canonical digest",
				    wti_model_hex(hex, (*ret)->canonical));
	}
	wti_model_free(model);
	return r;
}

int wti_model_sign(const struct wti_front *front, const char *path, const char *key,
		   const char *output, struct wt_result *result, struct wt_err *err)
{
	struct wti_manifest *manifest = NULL;
	struct wti_buf statement;
	char beside[4096];
	int r;

	if (!key)
		return wti_err(err, WT_E_ARG,
			       "no key given: use --key FILE; `wheeltap model key FILE` makes one");
	wti_signature_path(path, beside, sizeof(beside));
	wti_buf_init(&statement, STATEMENT_MAX);
	r = manifest_of(front, path, &manifest, result, err);
	if (!r) {
		wti_statement_manifest(&statement, manifest);
		r = save_statement(output ? output : beside, key, &statement, err);
	}
	if (!r)
		wt_result_fact_text(result, "signature", "signature", output ? output : beside);
	wti_buf_release(&statement);
	wti_manifest_free(manifest);
	return r;
}

/* ---- Where a model comes from ---------------------------------------------------------------- */

/* What verify --against finds: a statement that the file contradicts is not made. */
static int judge_lineage(const struct wti_front *front, const char *path, const char *run,
			 struct wti_model_verifying *verifying, struct wt_err *err)
{
	const struct wti_model_verify_options options = {.against = run};
	int r = wti_model_open(path, &verifying->model, err);

	if (r)
		return r;
	verifying->front = front;
	verifying->options = &options;
	r = wti_layer_run(verifying, err);
	free(verifying->examined);
	wti_model_free(verifying->model);
	return r;
}

static int write_provenance(const struct wti_front *front, const char *path,
			    const struct wti_provenance *provenance, const char *key,
			    const char *output, struct wt_result *result, struct wt_err *err)
{
	struct wti_manifest *manifest = NULL;
	struct wti_buf statement;
	int r;

	wti_buf_init(&statement, STATEMENT_MAX);
	r = manifest_of(front, path, &manifest, result, err);
	if (!r) {
		wti_statement_provenance(&statement, manifest, provenance);
		r = save_statement(output, key, &statement, err);
	}
	if (!r) {
		wt_result_fact_text(result, "run", "run", provenance->run);
		wt_result_fact_text(result, "lineage", "is it what the run saved",
				    provenance->lineage);
		wt_result_fact_text(result, "statement", key ? "signed statement" : "statement",
				    output);
	}
	wti_buf_release(&statement);
	wti_manifest_free(manifest);
	return r;
}

/* The sources, as run.json has them; without one they are not known. */
static void take_sources(struct wti_provenance *provenance, const struct wti_doc *json)
{
	const struct wti_doc *git = json ? wti_doc_get(json, "git") : NULL;
	const struct wti_doc *dirty = git ? wti_doc_get(git, "dirty") : NULL;
	const char *hash = git ? wti_doc_text(git, "diff_hash") : NULL;

	provenance->commit = git ? wti_doc_text(git, "commit") : NULL;
	if (dirty && dirty->type == WTI_DOC_BOOL)
		provenance->changes = !dirty->boolean ? "none" : hash ? hash : "yes";
}

static int attest(const struct wti_front *front, const char *path, const struct wti_run *run,
		  const char *key, const char *output, struct wt_result *result, struct wt_err *err)
{
	struct wti_model_verifying verifying = {.result = result};
	struct wti_provenance provenance;
	struct wti_doc *json = NULL;
	char lineage[sizeof(verifying.why) + 32];
	int r = judge_lineage(front, path, run->path, &verifying, err);

	if (r)
		return r;
	if (verifying.verdict == WTI_LAYER_VIOLATED) {
		wt_result_note(result,
			       "no statement was written: the model is not what the run '%s' saved",
			       run->name);
		wt_result_set_status(result, "findings");
		return 0;
	}
	if (run->is_folder && wti_runjson_read(run->path, &json, NULL) == WT_E_NOMEM)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	snprintf(lineage, sizeof(lineage), "%s: %s",
		 verifying.verdict == WTI_LAYER_HELD ? "held" : "NOT MEASURED", verifying.why);
	provenance = (struct wti_provenance){.run = run->name,
					     .command = run->command,
					     .directory = run->directory,
					     .status = run->status,
					     .lineage = lineage,
					     .start_ns = run->start_ns,
					     .end_ns = run->start_ns && run->duration_ns >= 0
							       ? run->start_ns + run->duration_ns
							       : 0};
	take_sources(&provenance, json);
	r = write_provenance(front, path, &provenance, key, output, result, err);
	/* What was not measured is in the statement, and is no failure to write it. */
	wt_result_set_status(result, "clean");
	wti_doc_free(json);
	return r;
}

int wti_model_attest(const struct wti_front *front, const char *path, const char *run_word,
		     const char *key, const char *output, struct wt_result *result,
		     struct wt_err *err)
{
	struct wti_run run;
	int r = output ? wti_run_find(front, run_word, &run, err)
		       : wti_err(err, WT_E_ARG, "no file given: use -o FILE for the statement");

	if (r)
		return r;
	r = attest(front, path, &run, key, output, result, err);
	wti_run_release(&run);
	return r;
}
