/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of models: Ed25519 keys in the files that openssl makes and reads (PEM), and envelopes
 * that carry a text with its signature (DSSE). libsodium does the arithmetic.
 */
#ifndef WTI_MODEL_SIGN_H
#define WTI_MODEL_SIGN_H

#include "base/buf.h"
#include "base/json_read.h"
#include "model/manifest.h"

#define WTI_PUBLIC_BYTES 32u

struct wti_signing_key {
	uint8_t secret[64]; /* as libsodium has it: the seed, and the public key */
	uint8_t shared[WTI_PUBLIC_BYTES];
};

/* A new one: the private key to `path`, mode 0600, which must not exist yet, and the public one to
 * `path` with ".pub" behind it. */
int wti_key_make(const char *path, struct wt_err *err);
/* Refuses a file that others may read. */
int wti_key_read(const char *path, struct wti_signing_key *ret, struct wt_err *err);
int wti_key_read_public(const char *path, uint8_t ret_public[WTI_PUBLIC_BYTES], struct wt_err *err);
/* Forgets it. */
void wti_key_release(struct wti_signing_key *key);

/* An envelope as JSON around a statement of in-toto; `key` NULL: the statement itself. */
int wti_envelope_write(struct wti_buf *out, const struct wti_signing_key *key,
		       const char *statement, size_t bytes, struct wt_err *err);
/*
 * The statement in the envelope `path`. *ret_reason: why the signature does not prove it; NULL: it
 * does. A file that is no envelope is an error.
 */
int wti_envelope_read(const char *path, const uint8_t public_key[WTI_PUBLIC_BYTES],
		      struct wti_buf *ret_statement, const char **ret_reason, struct wt_err *err);

/* A statement of in-toto that these files and this model are what the manifest describes. */
void wti_statement_manifest(struct wti_buf *out, const struct wti_manifest *manifest);
/* The manifest in such a statement. */
int wti_statement_read(const char *path, const char *text, size_t bytes, struct wti_manifest **ret,
		       struct wt_err *err);

/* What a run says about where a model comes from; NULL and 0: not known. */
struct wti_provenance {
	const char *run;
	const char *command;
	const char *directory;
	const char *status;
	const char *commit;       /* of the sources; as git has it */
	const char *changes;      /* files that differed from it: their hash, or "none" */
	const char *lineage;      /* whether the model is what the run saved, in words */
	int64_t start_ns, end_ns; /* since 1970 */
};

/* A statement of in-toto with SLSA provenance of the files of the manifest. */
void wti_statement_provenance(struct wti_buf *out, const struct wti_manifest *manifest,
			      const struct wti_provenance *provenance);

#endif
