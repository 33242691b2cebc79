/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of in-toto about models: the manifest, and SLSA provenance. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/json.h"
#include "model/own.h"
#include "model/sign.h"

#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define MANIFEST_TYPE "urn:wheeltap:model-manifest:1"
#define PROVENANCE_TYPE "https://slsa.dev/provenance/v1"
#define BUILD_TYPE "urn:wheeltap:training-run:1"

static void put_digest(struct wti_json *json, const uint8_t sha[WTI_SHA256_BYTES])
{
	char text[2 * WTI_SHA256_BYTES + 1];

	for (size_t i = 0; i < WTI_SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", sha[i]);
	wti_json_key(json, "digest");
	wti_json_object(json);
	wti_json_member(json, "sha256", text);
	wti_json_object_end(json);
}

/* Up to the predicate. */
static void begin(struct wti_json *json, const struct wti_manifest *manifest, const char *type)
{
	wti_json_object(json);
	wti_json_member(json, "_type", STATEMENT_TYPE);
	wti_json_key(json, "subject");
	wti_json_array(json);
	for (size_t i = 0; i < manifest->file_count; i++) {
		wti_json_object(json);
		wti_json_member(json, "name", manifest->files[i].path);
		put_digest(json, manifest->files[i].sha);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
	wti_json_member(json, "predicateType", type);
	wti_json_key(json, "predicate");
}

void wti_statement_manifest(struct wti_buf *out, const struct wti_manifest *manifest)
{
	struct wti_json json;

	wti_json_init(&json, out, false);
	begin(&json, manifest, MANIFEST_TYPE);
	wti_manifest_put(&json, manifest);
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
}

int wti_statement_read(const char *path, const char *text, size_t bytes, struct wti_manifest **ret,
		       struct wt_err *err)
{
	struct wti_doc *root;
	const char *type;
	int r = wti_json_parse(path, text, bytes, &root, err);

	if (r)
		return r;
	type = wti_doc_text(root, "predicateType");
	if (!type || strcmp(type, MANIFEST_TYPE) != 0 || !wti_doc_get(root, "predicate"))
		r = wti_err(err, WT_E_FORMAT,
			    "what '%s' signs is not a manifest of a model: `wheeltap model sign` "
			    "makes one",
			    path);
	else
		r = wti_manifest_read_doc(path, wti_doc_get(root, "predicate"), ret, err);
	wti_doc_free(root);
	return r;
}

/* ---- Provenance ----------------------------------------------------------------------------- */

static void put_time(struct wti_json *json, const char *key, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;
	char text[64];

	if (ns <= 0 || !gmtime_r(&seconds, &parts) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
		return;
	wti_json_member(json, key, text);
}

static void put_known(struct wti_json *json, const char *key, const char *text)
{
	if (text && *text)
		wti_json_member(json, key, text);
}

static void put_dependencies(struct wti_json *json, const struct wti_provenance *provenance)
{
	if (!provenance->commit || !*provenance->commit)
		return;
	wti_json_key(json, "resolvedDependencies");
	wti_json_array(json);
	wti_json_object(json);
	wti_json_member(json, "name", "git commit");
	wti_json_key(json, "digest");
	wti_json_object(json);
	wti_json_member(json, "gitCommit", provenance->commit);
	wti_json_object_end(json);
	wti_json_object_end(json);
	wti_json_array_end(json);
}

static void put_definition(struct wti_json *json, const struct wti_manifest *manifest,
			   const struct wti_provenance *provenance)
{
	wti_json_key(json, "buildDefinition");
	wti_json_object(json);
	wti_json_member(json, "buildType", BUILD_TYPE);
	wti_json_key(json, "externalParameters");
	wti_json_object(json);
	put_known(json, "command", provenance->command);
	put_known(json, "directory", provenance->directory);
	wti_json_object_end(json);
	wti_json_key(json, "internalParameters");
	wti_json_object(json);
	wti_json_member(json, "format", manifest->format);
	put_known(json, "status", provenance->status);
	put_known(json, "changedFiles", provenance->changes);
	put_known(json, "lineage", provenance->lineage);
	wti_json_object_end(json);
	put_dependencies(json, provenance);
	wti_json_object_end(json);
}

void wti_statement_provenance(struct wti_buf *out, const struct wti_manifest *manifest,
			      const struct wti_provenance *provenance)
{
	struct wti_json json;

	wti_json_init(&json, out, false);
	begin(&json, manifest, PROVENANCE_TYPE);
	wti_json_object(&json);
	put_definition(&json, manifest, provenance);
	wti_json_key(&json, "runDetails");
	wti_json_object(&json);
	wti_json_key(&json, "builder");
	wti_json_object(&json);
	wti_json_member(&json, "id", "urn:wheeltap:" WTI_VERSION);
	wti_json_object_end(&json);
	wti_json_key(&json, "metadata");
	wti_json_object(&json);
	put_known(&json, "invocationId", provenance->run);
	put_time(&json, "startedOn", provenance->start_ns);
	put_time(&json, "finishedOn", provenance->end_ns);
	wti_json_object_end(&json);
	wti_json_object_end(&json);
	wti_json_object_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
}
