/* SPDX-License-Identifier: Apache-2.0 */
/* Names for files that have none, and what a format keeps between the tensors. */
#include "model/like.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/format.h"

static bool has_names_of(const struct wti_model *model, const struct wti_model *like)
{
	for (size_t i = 0; i < like->tensor_count; i++) {
		if (!wti_model_find(model, like->tensors[i].name))
			return false;
	}
	return true;
}

static int check_same(const struct wti_model_tensor *a, const struct wti_model_tensor *b,
		      struct wt_err *err)
{
	if (a->dtype == b->dtype && a->rank == b->rank &&
	    !memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)))
		return 0;
	return wti_err(err, WT_E_ARG,
		       "'%.200s' has not the type and shape of '%.200s': the models are not alike",
		       a->name, b->name);
}

static int place(struct wti_model *model, const struct wti_model *like, bool by_name, size_t index,
		 struct wti_model_tensor *ret, struct wt_err *err)
{
	const struct wti_model_tensor *wanted = &like->tensors[index];
	int r;

	*ret = by_name ? *wti_model_find(model, wanted->name) : model->tensors[index];
	r = check_same(ret, wanted, err);
	if (r)
		return r;
	ret->name = wti_arena_text(&model->arena, wanted->name, strlen(wanted->name));
	return ret->name ? 0 : wti_err(err, WT_E_NOMEM, "out of memory for a model");
}

static int number_names(struct wti_model *model, struct wt_err *err)
{
	wti_map_release(&model->names);
	wti_map_init(&model->names, WTI_MODEL_TENSORS_MAX);
	for (size_t i = 0; i < model->tensor_count; i++) {
		const char *name = model->tensors[i].name;
		uint64_t *slot = wti_map_text(&model->names, name, strlen(name));

		if (!slot)
			return wti_err(err, WT_E_NOMEM, "out of memory for a model");
		*slot = i;
	}
	return 0;
}

static int take_entries(struct wti_model *model, const struct wti_model *like, struct wt_err *err)
{
	int r = 0;

	model->entry_count = 0;
	for (size_t i = 0; !r && i < like->entry_count; i++)
		r = wti_model_add_entry(model, like->entries[i].key, like->entries[i].value, err);
	return r;
}

int wti_model_make_like(struct wti_model *model, const struct wti_model *like, struct wt_err *err)
{
	struct wti_model_tensor *tensors;
	bool by_name = has_names_of(model, like);
	int r = 0;

	if (model->tensor_count != like->tensor_count)
		return wti_err(err, WT_E_ARG,
			       "'%s' has %zu tensors, '%s' has %zu: they are not alike",
			       model->path, model->tensor_count, like->path, like->tensor_count);
	tensors = calloc(model->tensor_count + 1, sizeof(*tensors));
	if (!tensors)
		return wti_err(err, WT_E_NOMEM, "out of memory for a model");
	for (size_t i = 0; !r && i < model->tensor_count; i++)
		r = place(model, like, by_name, i, &tensors[i], err);
	if (!r)
		memcpy(model->tensors, tensors, model->tensor_count * sizeof(*tensors));
	free(tensors);
	if (!r)
		r = number_names(model, err);
	return r ? r : take_entries(model, like, err);
}
