/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest as JSON. What is read is checked as strictly as a model: it is what others trust. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "model/format.h"
#include "model/manifest.h"
#include "model/own.h"

#define VERSION 1

/* ---- Writing -------------------------------------------------------------------------------- */

static void put_hex(struct wti_json *json, const char *key, const uint8_t *data, size_t bytes)
{
	char text[2 * WTI_SHA256_BYTES + 1] = "";

	for (size_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", data[i]);
	wti_json_key(json, key);
	wti_json_text(json, text);
}

static void put_file(struct wti_json *json, const struct wti_manifest_file *file)
{
	wti_json_object(json);
	wti_json_key(json, "path");
	wti_json_text(json, file->path);
	wti_json_key(json, "bytes");
	wti_json_u64(json, file->bytes);
	put_hex(json, "sha256", file->sha, sizeof(file->sha));
	wti_json_object_end(json);
}

static void put_tensor(struct wti_json *json, const struct wti_manifest_tensor *tensor)
{
	char hash[17];

	wti_json_object(json);
	wti_json_key(json, "name");
	wti_json_text(json, tensor->name);
	wti_json_key(json, "dtype");
	wti_json_text(json, tensor->dtype);
	wti_json_key(json, "shape");
	wti_json_array(json);
	for (uint32_t i = 0; i < tensor->rank; i++)
		wti_json_u64(json, tensor->shape[i]);
	wti_json_array_end(json);
	wti_json_key(json, "bytes");
	wti_json_u64(json, tensor->bytes);
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)tensor->hash);
	wti_json_key(json, "xxh3");
	wti_json_text(json, hash);
	put_hex(json, "sha256", tensor->sha, sizeof(tensor->sha));
	wti_json_object_end(json);
}

void wti_manifest_put(struct wti_json *json, const struct wti_manifest *manifest)
{
	wti_json_object(json);
	wti_json_key(json, "wheeltap_manifest");
	wti_json_u64(json, VERSION);
	wti_json_key(json, "format");
	wti_json_text(json, manifest->format);
	put_hex(json, "canonical_sha256", manifest->canonical, sizeof(manifest->canonical));
	wti_json_key(json, "files");
	wti_json_array(json);
	for (size_t i = 0; i < manifest->file_count; i++)
		put_file(json, &manifest->files[i]);
	wti_json_array_end(json);
	wti_json_key(json, "tensors");
	wti_json_array(json);
	for (size_t i = 0; i < manifest->tensor_count; i++)
		put_tensor(json, &manifest->tensors[i]);
	wti_json_array_end(json);
	wti_json_object_end(json);
}

void wti_manifest_write(struct wti_buf *out, const struct wti_manifest *manifest)
{
	struct wti_json json;

	wti_json_init(&json, out, true);
	wti_manifest_put(&json, manifest);
	wti_buf_byte(out, '\n');
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct reading {
	const char *path;
	struct wti_manifest *manifest;
	struct wt_err *err;
};

static int bad(const struct reading *reading, const struct wti_doc *at, const char *reason)
{
	return wti_doc_fail(at, reading->path, reading->err, WT_E_FORMAT,
			    "not a manifest of a model: %s", reason);
}

/* Lower case, as they are written: one text for one number. */
static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const struct wti_doc *table, const char *key, uint8_t *out, size_t bytes)
{
	const struct wti_doc *text = wti_doc_get(table, key);

	if (!text || text->type != WTI_DOC_STRING || text->string.bytes != 2 * bytes)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		int high = digit(text->string.data[2 * i]);
		int low = digit(text->string.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high * 16 + low);
	}
	return true;
}

/* A text of the document, kept. */
static const char *keep_text(struct reading *reading, const struct wti_doc *table, const char *key)
{
	const struct wti_doc *text = wti_doc_get(table, key);

	return wti_doc_is_text(text, WTI_MODEL_NAME_MAX) && text->string.bytes
		       ? wti_arena_text(&reading->manifest->arena, text->string.data,
					text->string.bytes)
		       : NULL;
}

static int read_file(struct reading *reading, const struct wti_doc *entry)
{
	struct wti_manifest_file *file = &reading->manifest->files[reading->manifest->file_count];
	int64_t bytes = wti_doc_count(entry, "bytes");

	file->path = keep_text(reading, entry, "path");
	if (!file->path || bytes < 0 || !read_hex(entry, "sha256", file->sha, sizeof(file->sha)))
		return bad(reading, entry, "a file needs path, bytes and sha256");
	if (wti_manifest_find_file(reading->manifest, file->path))
		return bad(reading, entry, "a file is listed twice");
	file->bytes = (uint64_t)bytes;
	reading->manifest->file_count++;
	return 0;
}

static int read_shape(struct reading *reading, const struct wti_doc *list,
		      struct wti_manifest_tensor *tensor)
{
	uint64_t shape[WTI_MODEL_RANK_MAX];
	uint64_t *kept;

	if (!list || list->type != WTI_DOC_ARRAY)
		return WT_E_FORMAT;
	for (const struct wti_doc *item = list->first; item; item = item->next) {
		if (item->type != WTI_DOC_INT || item->integer < 0 ||
		    tensor->rank == WTI_MODEL_RANK_MAX)
			return WT_E_FORMAT;
		shape[tensor->rank++] = (uint64_t)item->integer;
	}
	kept = wti_arena_alloc(&reading->manifest->arena, tensor->rank * sizeof(*kept) + 1);
	if (!kept)
		return WT_E_NOMEM;
	memcpy(kept, shape, tensor->rank * sizeof(*kept));
	tensor->shape = kept;
	return 0;
}

static int read_tensor(struct reading *reading, const struct wti_doc *entry)
{
	struct wti_manifest *manifest = reading->manifest;
	struct wti_manifest_tensor *tensor = &manifest->tensors[manifest->tensor_count];
	int64_t bytes = wti_doc_count(entry, "bytes");
	uint8_t hash[8];

	tensor->name = keep_text(reading, entry, "name");
	tensor->dtype = keep_text(reading, entry, "dtype");
	if (!tensor->name || !tensor->dtype || bytes < 0 ||
	    !read_hex(entry, "sha256", tensor->sha, sizeof(tensor->sha)) ||
	    !read_hex(entry, "xxh3", hash, sizeof(hash)) ||
	    read_shape(reading, wti_doc_get(entry, "shape"), tensor))
		return bad(reading, entry,
			   "a tensor needs name, dtype, shape, bytes, xxh3 and sha256");
	if (manifest->tensor_count && strcmp(tensor[-1].name, tensor->name) >= 0)
		return bad(reading, entry, "tensors are not in the order of their names");
	tensor->bytes = (uint64_t)bytes;
	for (size_t i = 0; i < sizeof(hash); i++)
		tensor->hash = tensor->hash << 8 | hash[i];
	manifest->tensor_count++;
	return 0;
}

static int read_list(struct reading *reading, const struct wti_doc *root, const char *key,
		     int (*read)(struct reading *, const struct wti_doc *))
{
	const struct wti_doc *list = wti_doc_get(root, key);
	int r = 0;

	if (!list || list->type != WTI_DOC_ARRAY)
		return bad(reading, root, "it needs lists of files and tensors");
	for (const struct wti_doc *entry = list->first; entry && !r; entry = entry->next)
		r = read(reading, entry);
	return r;
}

static size_t length(const struct wti_doc *root, const char *key)
{
	const struct wti_doc *list = wti_doc_get(root, key);
	size_t count = 0;

	for (const struct wti_doc *entry = list ? list->first : NULL; entry; entry = entry->next)
		count++;
	return count;
}

int wti_manifest_read_doc(const char *path, const struct wti_doc *root, struct wti_manifest **ret,
			  struct wt_err *err)
{
	struct reading reading = {.path = path, .err = err};
	int r;

	if (root->type != WTI_DOC_TABLE || wti_doc_count(root, "wheeltap_manifest") < 0)
		return bad(&reading, root, "'wheeltap model manifest' makes one");
	if (wti_doc_count(root, "wheeltap_manifest") != VERSION)
		return wti_err(err, WT_E_VERSION,
			       "the manifest '%s' was made by a newer wheeltap: update this one",
			       path);
	r = wti_manifest_new(length(root, "files"), length(root, "tensors"), &reading.manifest,
			     err);
	if (r)
		return r;
	reading.manifest->format = keep_text(&reading, root, "format");
	if (!reading.manifest->format ||
	    !read_hex(root, "canonical_sha256", reading.manifest->canonical, WTI_SHA256_BYTES))
		r = bad(&reading, root, "it needs format and canonical_sha256");
	r = r ? r : read_list(&reading, root, "files", read_file);
	r = r ? r : read_list(&reading, root, "tensors", read_tensor);
	if (r)
		wti_manifest_free(reading.manifest);
	else
		*ret = reading.manifest;
	return r;
}

int wti_manifest_parse(const char *path, const char *text, size_t bytes, struct wti_manifest **ret,
		       struct wt_err *err)
{
	struct wti_doc *root;
	int r = wti_json_parse(path, text, bytes, &root, err);

	if (r)
		return r;
	r = wti_manifest_read_doc(path, root, ret, err);
	wti_doc_free(root);
	return r;
}

int wti_manifest_read(const char *path, struct wti_manifest **ret, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, WTI_DOC_TEXT_MAX);
	r = wti_file_read(path, WTI_DOC_TEXT_MAX, &text, err);
	r = r ? r : wti_manifest_parse(path, (const char *)text.data, text.bytes, ret, err);
	wti_buf_release(&text);
	return r;
}
