/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model in several files of safetensors (shards), and the index that lists which tensor is in
 * which. The index and the shards have to say the same: a tensor that only one of them has, or that
 * is in another shard, is an error that names it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_read.h"
#include "base/text.h"
#include "model/safetensors.h"

#define INDEX_END ".safetensors.index.json"
#define FILE_END ".safetensors"
#define INDEX_NAME_MAX 256u

/* ---- Folders -------------------------------------------------------------------------------- */

/* The files of a folder whose names end so: how many, and the first of them by name. */
static size_t find_ending(const char *folder, const char *end, char ret_name[INDEX_NAME_MAX])
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	if (!dir)
		return 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!wti_ends_with(entry->d_name, end) || entry->d_name[0] == '.')
			continue;
		if (!count++ || strcmp(entry->d_name, ret_name) < 0)
			snprintf(ret_name, INDEX_NAME_MAX, "%s", entry->d_name);
	}
	closedir(dir);
	return count;
}

/* ---- The index ------------------------------------------------------------------------------ */

/* Opens the shard that the index names. */
static int add_shard(struct wti_model *model, const char *index, const struct wti_doc *entry,
		     uint32_t *ret_source, struct wt_err *err)
{
	int r;

	if (!wti_doc_is_text(entry, WTI_MODEL_NAME_MAX))
		return wti_doc_fail(entry, index, err, WT_E_FORMAT,
				    "the shard of '%.100s' is not a file name", entry->key);
	r = wti_model_add_file(model, entry->string.data, ret_source, err);
	if (r == WT_E_MISSING)
		return wti_err(err, r,
			       "shard '%.120s' is missing: the index '%s' says that it has tensor "
			       "'%.120s'; download it",
			       entry->string.data, index, entry->key);
	return r;
}

/* Which tensor has to be in which source. */
static int read_map(struct wti_model *model, const char *index, const struct wti_doc *map,
		    struct wti_map *wanted, struct wt_err *err)
{
	for (const struct wti_doc *entry = map->first; entry; entry = entry->next) {
		uint64_t *slot = wti_map_text(wanted, entry->key, strlen(entry->key));
		uint32_t source = 0;
		int r;

		if (!slot)
			return wti_map_failed(wanted, err, "tensors in an index");
		r = add_shard(model, index, entry, &source, err);
		if (r)
			return r;
		*slot = source;
	}
	return 0;
}

/* Every tensor of the shards is in the index, and every one of the index in its shard. */
static int compare(const struct wti_model *model, const struct wti_map *wanted, struct wt_err *err)
{
	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];
		const uint64_t *source =
			wti_map_find_text(wanted, tensor->name, strlen(tensor->name));
		const char *path = wti_model_source_path(model, tensor->source);

		if (!source)
			return wti_err(err, WT_E_FORMAT,
				       "shard '%s' has tensor '%.160s', which the index does not "
				       "list: shards of different models are mixed; download all",
				       path, tensor->name);
		if (*source != tensor->source)
			return wti_err(err, WT_E_FORMAT,
				       "tensor '%.160s' is in shard '%s'; the index says that it "
				       "is in '%s': download all",
				       tensor->name, path,
				       wti_model_source_path(model, (uint32_t)*source));
	}
	for (size_t i = 0; i < wanted->count; i++) {
		const struct wti_map_entry *entry = &wanted->entries[i];

		if (!wti_model_find(model, entry->text))
			return wti_err(err, WT_E_FORMAT,
				       "tensor '%.160s' is not in shard '%s', where the index says "
				       "it is: download all",
				       entry->text,
				       wti_model_source_path(model, (uint32_t)entry->value));
	}
	return 0;
}

static int add_metadata(struct wti_model *model, const struct wti_doc *table, struct wt_err *err)
{
	for (const struct wti_doc *entry = table ? table->first : NULL; entry;
	     entry = entry->next) {
		char number[32];
		int r = 0;

		if (wti_doc_is_text(entry, WTI_DOC_TEXT_MAX)) {
			r = wti_model_add_entry(model, entry->key, entry->string.data, err);
		} else if (entry->type == WTI_DOC_INT) {
			snprintf(number, sizeof(number), "%lld", (long long)entry->integer);
			r = wti_model_add_entry(model, entry->key, number, err);
		}
		if (r)
			return r;
	}
	return 0;
}

static int read_shards(struct wti_model *model, uint32_t first, const char *index,
		       const struct wti_doc *root, struct wt_err *err)
{
	const struct wti_doc *map = wti_doc_get(root, "weight_map");
	struct wti_map wanted;
	int r;

	if (!map || map->type != WTI_DOC_TABLE)
		return wti_doc_fail(root, index, err, WT_E_FORMAT,
				    "an index needs a 'weight_map' of tensors and shards");
	wti_map_init(&wanted, WTI_MODEL_TENSORS_MAX);
	r = add_metadata(model, wti_doc_get(root, "metadata"), err);
	r = r ? r : read_map(model, index, map, &wanted, err);
	for (size_t i = first; i < model->source_count && !r; i++)
		r = wti_safetensors_read_file(model, (uint32_t)i, err);
	r = r ? r : compare(model, &wanted, err);
	wti_map_release(&wanted);
	return r;
}

static int read_index(struct wti_model *model, uint32_t source, struct wt_err *err)
{
	const char *path = wti_model_source_path(model, source);
	struct wti_doc *root = NULL;
	struct wti_buf text;
	int r;

	wti_buf_init(&text, WTI_DOC_TEXT_MAX);
	r = wti_model_read_buf(model, source, 0, wti_model_source_bytes(model, source), &text, err);
	r = r ? r : wti_json_parse(path, (const char *)text.data, text.bytes, &root, err);
	wti_buf_release(&text);
	r = r ? r : read_shards(model, source + 1, path, root, err);
	wti_doc_free(root);
	return r;
}

static int read_folder(struct wti_model *model, struct wt_err *err)
{
	char name[INDEX_NAME_MAX] = "";
	size_t count = find_ending(model->path, INDEX_END, name);
	uint32_t source;
	int r;

	if (count > 1)
		return wti_err(err, WT_E_ARG,
			       "'%s' has %zu indexes (*" INDEX_END "): name one of them",
			       model->path, count);
	if (!count && find_ending(model->path, FILE_END, name) > 1)
		return wti_err(err, WT_E_FORMAT,
			       "'%s' has several files of safetensors and no index (*" INDEX_END
			       "), which lists what belongs together: download it, or name one "
			       "file",
			       model->path);
	r = wti_model_add_file(model, name, &source, err);
	if (r)
		return r;
	return count ? read_index(model, source, err)
		     : wti_safetensors_read_file(model, source, err);
}

/* ---- The row -------------------------------------------------------------------------------- */

static bool is_one(const struct wti_model_probe *probe)
{
	char name[INDEX_NAME_MAX];
	size_t at = 0;

	if (probe->is_folder)
		return find_ending(probe->path, INDEX_END, name) ||
		       find_ending(probe->path, FILE_END, name);
	while (at < probe->head_bytes && strchr(" \t\r\n", probe->head[at]) && probe->head[at])
		at++;
	return at < probe->head_bytes && probe->head[at] == '{' &&
	       memmem(probe->head, probe->head_bytes, "\"weight_map\"", 12);
}

static int read_one(struct wti_model *model, struct wt_err *err)
{
	return model->is_folder ? read_folder(model, err) : read_index(model, 0, err);
}

const struct wti_model_format wti_model_safetensors_index = {
	.name = "safetensors-index",
	.title = "safetensors in several files",
	.suffixes = "",
	.is_one = is_one,
	.read = read_one,
};
