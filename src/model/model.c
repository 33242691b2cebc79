/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a model: which format it is, and where its tensors end up. add.c checks them. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "model/own.h"

#define HEAD_BYTES 4096u                    /* what a format is told by */
#define TEXTS_BYTES_MAX ((size_t)512 << 20) /* names, shapes and metadata together */

int wti_model_new(const char *path, bool is_folder, struct wti_model **ret, struct wt_err *err)
{
	struct wti_model *model = calloc(1, sizeof(*model));

	if (!model)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_arena_init(&model->arena, TEXTS_BYTES_MAX);
	wti_map_init(&model->names, WTI_MODEL_TENSORS_MAX);
	model->is_folder = is_folder;
	model->path = wti_arena_text(&model->arena, path, strlen(path));
	if (!model->path) {
		wti_model_free(model);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	*ret = model;
	return 0;
}

void wti_model_free(struct wti_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->source_count; i++)
		wti_model_source_free(model->sources[i]);
	free(model->sources);
	free(model->tensors);
	free(model->entries);
	wti_map_release(&model->names);
	wti_arena_release(&model->arena);
	free(model);
}

static int unknown(const struct wti_model_probe *probe, struct wt_err *err)
{
	if (probe->is_folder)
		return wti_err(err, WT_E_FORMAT,
			       "'%s' is a folder without a model in it that is known: name the "
			       "model's file, or its index (*.safetensors.index.json)",
			       probe->path);
	if (!probe->bytes)
		return wti_err(err, WT_E_FORMAT, "'%s' is empty: copy or download it again",
			       probe->path);
	return wti_err(err, WT_E_FORMAT,
		       "'%s' is not a model file of a known format, or its beginning is damaged: "
		       "'wheeltap model --help' lists the formats",
		       probe->path);
}

static int read_as_what_it_is(struct wti_model *model, struct wt_err *err)
{
	uint8_t head[HEAD_BYTES];
	struct wti_model_probe probe = {.path = model->path, .is_folder = model->is_folder};

	if (!model->is_folder) {
		int r = wti_model_add_first(model, err);

		if (r)
			return r;
		probe.bytes = wti_model_source_bytes(model, 0);
		probe.head = head;
		probe.head_bytes = probe.bytes < sizeof(head) ? (size_t)probe.bytes : sizeof(head);
		r = wti_model_read(model, 0, 0, head, probe.head_bytes, err);
		if (r)
			return r;
	}
	for (size_t i = 0; wti_model_formats[i]; i++) {
		if (wti_model_formats[i]->is_one(&probe)) {
			model->format = wti_model_formats[i];
			return model->format->read(model, err);
		}
	}
	return unknown(&probe, err);
}

int wti_model_open(const char *path, struct wti_model **ret, struct wt_err *err)
{
	struct wti_model *model = NULL;
	struct stat info;
	int r;

	if (stat(path, &info))
		return wti_err_errno(err, "cannot open", path);
	r = wti_model_new(path, S_ISDIR(info.st_mode), &model, err);
	if (r)
		return r;
	r = read_as_what_it_is(model, err);
	if (r) {
		wti_model_free(model);
		return r;
	}
	*ret = model;
	return 0;
}

const struct wti_model_tensor *wti_model_find(const struct wti_model *model, const char *name)
{
	const uint64_t *number = wti_map_find_text(&model->names, name, strlen(name));

	return number ? &model->tensors[*number] : NULL;
}

const char *wti_model_entry_value(const struct wti_model *model, const char *key)
{
	for (size_t i = 0; i < model->entry_count; i++) {
		if (!strcmp(model->entries[i].key, key))
			return model->entries[i].value;
	}
	return NULL;
}
