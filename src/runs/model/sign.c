/* SPDX-License-Identifier: Apache-2.0 */
/* Signing models, and saying which run a model comes from. */
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "model/sign.h"
#include "runs/model/actions.h"
#include "runs/model/facts.h"
#include "runs/run.h"

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

int wti_model_attest(const struct wti_front *front, const char *path, const char *run_word,
		     const char *key, const char *output, struct wt_result *result,
		     struct wt_err *err)
{
	struct wti_manifest *manifest = NULL;
	struct wti_provenance provenance;
	struct wti_buf statement;
	struct wti_run run;
	int r = output ? wti_run_find(front, run_word, &run, err)
		       : wti_err(err, WT_E_ARG, "no file given: use -o FILE for the statement");

	if (r)
		return r;
	provenance = (struct wti_provenance){.run = run.name,
					     .command = run.command,
					     .directory = run.directory,
					     .status = run.status,
					     .start_ns = run.start_ns,
					     .end_ns = run.start_ns && run.duration_ns >= 0
							       ? run.start_ns + run.duration_ns
							       : 0};
	wti_buf_init(&statement, STATEMENT_MAX);
	r = manifest_of(front, path, &manifest, result, err);
	if (!r) {
		wti_statement_provenance(&statement, manifest, &provenance);
		r = save_statement(output, key, &statement, err);
	}
	if (!r) {
		wt_result_fact_text(result, "run", "run", run.name);
		wt_result_fact_text(result, "statement", key ? "signed statement" : "statement",
				    output);
	}
	wti_buf_release(&statement);
	wti_manifest_free(manifest);
	wti_run_release(&run);
	return r;
}
