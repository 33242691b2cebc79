/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of a model: a file beside it that says what every file and every tensor of it has to
 * be, to the bit. Most formats have no checksum of their own. docs/model.md describes the file.
 */
#ifndef WTI_MODEL_MANIFEST_H
#define WTI_MODEL_MANIFEST_H

#include "base/buf.h"
#include "base/doc.h"
#include "base/json.h"
#include "model/examine.h"

struct wti_manifest_file {
	const char *path; /* relative to the model's folder */
	uint64_t bytes;
	uint8_t sha[WTI_SHA256_BYTES];
};

struct wti_manifest_tensor {
	const char *name;
	const char *dtype; /* wti_model_dtype_word() */
	uint32_t rank;
	const uint64_t *shape;
	uint64_t bytes;
	uint64_t hash; /* the fast one */
	uint8_t sha[WTI_SHA256_BYTES];
};

struct wti_manifest {
	const char *format;
	uint8_t canonical[WTI_SHA256_BYTES];
	struct wti_manifest_file *files;
	size_t file_count;
	struct wti_manifest_tensor *tensors; /* by name */
	size_t tensor_count;
	struct wti_arena arena;
};

#define WTI_MANIFEST_END ".manifest.json" /* is appended to the model's own name */
#define WTI_SIGNATURE_END ".sig.json"

/* Where the manifest of a model is, unless somebody says otherwise. */
void wti_manifest_path(const char *model_path, char *out, size_t out_bytes);

/* The same of its signature. */
void wti_signature_path(const char *model_path, char *out, size_t out_bytes);

/* Of a model that was examined with WTI_MODEL_HASH and WTI_MODEL_SHA. To be freed. */
int wti_manifest_make(struct wti_model *model, const struct wti_model_examined *examined,
		      const struct wti_model_watch *watch, struct wti_manifest **ret,
		      struct wt_err *err);
void wti_manifest_free(struct wti_manifest *manifest);
/* As a value of something larger, and as a file of its own. */
void wti_manifest_put(struct wti_json *json, const struct wti_manifest *manifest);
void wti_manifest_write(struct wti_buf *out, const struct wti_manifest *manifest);
int wti_manifest_read(const char *path, struct wti_manifest **ret, struct wt_err *err);
/* One that is part of a document. */
int wti_manifest_read_doc(const char *path, const struct wti_doc *root, struct wti_manifest **ret,
			  struct wt_err *err);
int wti_manifest_parse(const char *path, const char *text, size_t bytes, struct wti_manifest **ret,
		       struct wt_err *err);

/* The name of a source as a manifest has it: without the folder. */
const char *wti_manifest_name(const struct wti_model *model, uint32_t source);
/* Of a source; NULL: the manifest has no such file. */
const struct wti_manifest_file *wti_manifest_find_file(const struct wti_manifest *manifest,
						       const char *name);
const struct wti_manifest_tensor *wti_manifest_find(const struct wti_manifest *manifest,
						    const char *name);
/* Type and shape are what the manifest says. */
bool wti_manifest_is_like(const struct wti_manifest_tensor *expected,
			  const struct wti_model_tensor *tensor);

#endif
