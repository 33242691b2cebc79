/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signature of a model. What is signed is a manifest: once the signature proves it, the model
 * is compared with that one, and a manifest that lies beside the model has to say the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/sign.h"
#include "runs/model/verify.h"

static void violated(struct wti_model_verifying *verifying, const char *path, const char *reason)
{
	struct wt_finding finding = {.file = path, .evidence = reason, .count = 1};

	wti_model_finding(verifying->result, WTI_MODEL_NOT_SIGNED, &finding);
	wti_layer_says(verifying, WTI_LAYER_VIOLATED, "%s", reason);
}

/* The manifest that was signed takes the place of the one that was found. */
static void take_manifest(struct wti_model_verifying *verifying, const char *path,
			  struct wti_manifest *signed_one)
{
	if (verifying->manifest && memcmp(verifying->manifest->canonical, signed_one->canonical,
					  sizeof(signed_one->canonical)) != 0)
		violated(verifying, path, "the manifest beside it describes another model");
	else
		wti_layer_says(verifying, WTI_LAYER_HELD, "by the key that was given");
	wti_manifest_free(verifying->manifest);
	verifying->manifest = signed_one;
}

static int check_envelope(struct wti_model_verifying *verifying, const char *path,
			  struct wt_err *err)
{
	uint8_t public_key[WTI_PUBLIC_BYTES];
	struct wti_manifest *signed_one = NULL;
	struct wti_buf statement;
	const char *reason = NULL;
	int r = wti_key_read_public(verifying->options->key, public_key, err);

	if (r)
		return r;
	wti_buf_init(&statement, WTI_DOC_TEXT_MAX);
	r = wti_envelope_read(path, public_key, &statement, &reason, err);
	if (!r && reason)
		violated(verifying, path, reason);
	else if (!r)
		r = wti_statement_read(path, (const char *)statement.data, statement.bytes,
				       &signed_one, err);
	wti_buf_release(&statement);
	if (signed_one)
		take_manifest(verifying, path, signed_one);
	return r;
}

int wti_layer_signature(struct wti_model_verifying *verifying, struct wt_err *err)
{
	const char *given = verifying->options->signature;
	char beside[4096];

	if (!verifying->options->key) {
		wti_layer_says(verifying, WTI_LAYER_NOT_MEASURED,
			       "no public key was given (--key)");
		return 0;
	}
	wti_signature_path(verifying->model->path, beside, sizeof(beside));
	return check_envelope(verifying, given ? given : beside, err);
}
