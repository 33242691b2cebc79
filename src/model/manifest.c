/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest in memory: made of a model, and asked about it. */
#include "model/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/format.h"
#include "model/own.h"

#define MEMORY_MAX ((size_t)512 << 20)

static int out_of_memory(struct wti_manifest *manifest, struct wt_err *err)
{
	wti_manifest_free(manifest);
	return wti_err(err, WT_E_NOMEM, "out of memory");
}

void wti_manifest_free(struct wti_manifest *manifest)
{
	if (!manifest)
		return;
	free(manifest->files);
	free(manifest->tensors);
	wti_arena_release(&manifest->arena);
	free(manifest);
}

/* An empty one with room for so many. */
int wti_manifest_new(size_t files, size_t tensors, struct wti_manifest **ret, struct wt_err *err)
{
	struct wti_manifest *manifest = calloc(1, sizeof(*manifest));

	if (!manifest)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_arena_init(&manifest->arena, MEMORY_MAX);
	manifest->files = calloc(files + 1, sizeof(*manifest->files));
	manifest->tensors = calloc(tensors + 1, sizeof(*manifest->tensors));
	if (!manifest->files || !manifest->tensors)
		return out_of_memory(manifest, err);
	*ret = manifest;
	return 0;
}

/* A folder's name has no slash at its end there. */
static void path_beside(const char *model_path, const char *end, char *out, size_t out_bytes)
{
	size_t bytes = strlen(model_path);

	while (bytes > 1 && model_path[bytes - 1] == '/')
		bytes--;
	snprintf(out, out_bytes, "%.*s%s", (int)bytes, model_path, end);
}

void wti_manifest_path(const char *model_path, char *out, size_t out_bytes)
{
	path_beside(model_path, WTI_MANIFEST_END, out, out_bytes);
}

void wti_signature_path(const char *model_path, char *out, size_t out_bytes)
{
	path_beside(model_path, WTI_SIGNATURE_END, out, out_bytes);
}

/* ---- Making --------------------------------------------------------------------------------- */

const char *wti_manifest_name(const struct wti_model *model, uint32_t source)
{
	const struct wti_model_source *from = model->sources[source];
	const char *slash = strrchr(from->path, '/');

	if (from->is_beside)
		return from->name;
	return slash ? slash + 1 : from->path;
}

static int add_files(struct wti_manifest *manifest, struct wti_model *model,
		     const struct wti_model_watch *watch, struct wt_err *err)
{
	for (uint32_t i = 0; i < model->source_count; i++) {
		struct wti_manifest_file *file = &manifest->files[manifest->file_count];
		const char *name = wti_manifest_name(model, i);
		int r;

		if (!wti_model_source_is_file(model, i))
			continue;
		file->path = wti_arena_text(&manifest->arena, name, strlen(name));
		file->bytes = wti_model_source_bytes(model, i);
		if (!file->path)
			return wti_err(err, WT_E_NOMEM, "out of memory");
		r = wti_model_file_sha(model, i, watch, file->sha, err);
		if (r)
			return r;
		manifest->file_count++;
	}
	return 0;
}

static int add_tensor(struct wti_manifest *manifest, const struct wti_model_tensor *tensor,
		      const struct wti_model_examined *examined)
{
	struct wti_manifest_tensor *entry = &manifest->tensors[manifest->tensor_count];
	const char *word = wti_model_dtype_word(tensor);
	size_t shape_bytes = tensor->rank * sizeof(*tensor->shape);
	uint64_t *shape = wti_arena_alloc(&manifest->arena, shape_bytes + 1);

	entry->name = wti_arena_text(&manifest->arena, tensor->name, strlen(tensor->name));
	entry->dtype = wti_arena_text(&manifest->arena, word, strlen(word));
	if (!entry->name || !entry->dtype || !shape)
		return WT_E_NOMEM;
	if (shape_bytes)
		memcpy(shape, tensor->shape, shape_bytes);
	entry->rank = tensor->rank;
	entry->shape = shape;
	entry->bytes = tensor->bytes;
	entry->hash = examined->digest.hash;
	memcpy(entry->sha, examined->sha, sizeof(entry->sha));
	manifest->tensor_count++;
	return 0;
}

static int add_tensors(struct wti_manifest *manifest, const struct wti_model *model,
		       const struct wti_model_examined *examined, struct wt_err *err)
{
	size_t *order = wti_model_by_name(model);
	int r = order ? 0 : WT_E_NOMEM;

	for (size_t i = 0; i < model->tensor_count && !r; i++)
		r = add_tensor(manifest, &model->tensors[order[i]], &examined[order[i]]);
	free(order);
	return r ? wti_err(err, r, "out of memory") : 0;
}

int wti_manifest_make(struct wti_model *model, const struct wti_model_examined *examined,
		      const struct wti_model_watch *watch, struct wti_manifest **ret,
		      struct wt_err *err)
{
	struct wti_manifest *manifest;
	int r = wti_manifest_new(model->source_count, model->tensor_count, &manifest, err);

	if (r)
		return r;
	manifest->format =
		wti_arena_text(&manifest->arena, model->format->name, strlen(model->format->name));
	if (!manifest->format)
		return out_of_memory(manifest, err);
	r = wti_model_canonical(model, examined, manifest->canonical, err);
	r = r ? r : add_tensors(manifest, model, examined, err);
	r = r ? r : add_files(manifest, model, watch, err);
	if (r)
		wti_manifest_free(manifest);
	else
		*ret = manifest;
	return r;
}

/* ---- Asking --------------------------------------------------------------------------------- */

const struct wti_manifest_file *wti_manifest_find_file(const struct wti_manifest *manifest,
						       const char *name)
{
	for (size_t i = 0; i < manifest->file_count; i++) {
		if (!strcmp(manifest->files[i].path, name))
			return &manifest->files[i];
	}
	return NULL;
}

static int by_name(const void *name, const void *entry)
{
	return strcmp(name, ((const struct wti_manifest_tensor *)entry)->name);
}

const struct wti_manifest_tensor *wti_manifest_find(const struct wti_manifest *manifest,
						    const char *name)
{
	return bsearch(name, manifest->tensors, manifest->tensor_count, sizeof(*manifest->tensors),
		       by_name);
}

bool wti_manifest_is_like(const struct wti_manifest_tensor *expected,
			  const struct wti_model_tensor *tensor)
{
	return !strcmp(expected->dtype, wti_model_dtype_word(tensor)) &&
	       expected->rank == tensor->rank && expected->bytes == tensor->bytes &&
	       (!tensor->rank ||
		!memcmp(expected->shape, tensor->shape, tensor->rank * sizeof(*tensor->shape)));
}
