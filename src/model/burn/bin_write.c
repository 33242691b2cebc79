/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing Burn's .bin. What was read from a .bin has the numbers between its parameters and becomes
 * the same bytes again. From a tree they are derived as Burn's own layers have them: a bias may be
 * absent, a list of modules begins with its length, everything else that is not a tensor is a
 * constant. Where a module has it otherwise, `convert --like` takes them from a .bin of that
 * module.
 */
#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/json_read.h"
#include "model/burn/tree.h"

struct bin_out {
	struct wti_burn_out out;
	struct wti_burn_meta meta;
};

static void put_number(struct wti_burn_out *out, uint64_t number)
{
	uint8_t bytes[9] = {(uint8_t)number};
	size_t count = 1;

	if (number > UINT32_MAX) {
		bytes[0] = 0xfd;
		wti_put64(bytes + 1, number);
		count = 9;
	} else if (number > UINT16_MAX) {
		bytes[0] = 0xfc;
		wti_put32(bytes + 1, (uint32_t)number);
		count = 5;
	} else if (number >= 0xfb) {
		bytes[0] = 0xfb;
		wti_put16(bytes + 1, (uint16_t)number);
		count = 3;
	}
	wti_burn_put(out, bytes, count);
}

static void put_text(struct wti_burn_out *out, const char *text)
{
	put_number(out, strlen(text));
	wti_burn_put(out, text, strlen(text));
}

static void fail(struct bin_out *bin, const char *name, const char *why)
{
	if (!bin->out.status)
		bin->out.status = wti_err(bin->out.err, WT_E_ARG, "cannot write '%s' to a .bin: %s",
					  name, why);
}

/* ---- Parameters ---------------------------------------------------------------------------- */

/* A Boolean may be wider than it is in other files. */
static const struct wti_burn_dtype *
type_of(struct bin_out *bin, const struct wti_model_tensor *tensor, uint64_t *ret_store)
{
	const char *json = wti_burn_entry(bin->out.model, "burn.dtype.", tensor->name);

	*ret_store = 0;
	if (!json || strncmp(json, "{\"Bool\":", 8))
		return wti_burn_dtype_of(tensor);
	for (uint64_t i = 0; i < WTI_BURN_BOOL_STORES; i++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "{\"Bool\":\"%s\"}", wti_burn_bool_stores[i]);
		if (!strcmp(json, expected))
			*ret_store = i;
	}
	return wti_burn_dtype_named("Bool", 4);
}

static void put_shape(struct wti_burn_out *out, const struct wti_model_tensor *tensor)
{
	put_number(out, tensor->rank);
	for (uint32_t i = 0; i < tensor->rank; i++)
		put_number(out, tensor->shape[i]);
}

static void put_param(struct bin_out *bin, const struct wti_model_tensor *tensor)
{
	struct wti_burn_out *out = &bin->out;
	char id[WTI_BURN_ID_MAX + 1];
	uint64_t store;
	const struct wti_burn_dtype *type = type_of(bin, tensor, &store);
	bool untyped = bin->meta.minor <= WTI_BURN_LAST_UNTYPED;
	int number = type ? wti_burn_dtype_number(bin->meta.minor, type) : -1;

	if (untyped ? type != wti_burn_dtype_untyped(&bin->meta) : number < 0) {
		fail(bin, tensor->name, "that version of Burn has no such type");
		return;
	}
	wti_burn_id_of(out->model, bin->meta.minor, tensor->name, id);
	put_text(out, id);
	put_number(out, untyped ? tensor->count : tensor->bytes);
	wti_burn_put_elements(out, tensor);
	put_shape(out, tensor);
	if (untyped)
		return;
	put_number(out, (uint64_t)number);
	if (type->dtype == WT_DTYPE_BOOL && bin->meta.minor >= WTI_BURN_FIRST_BOOL_STORE)
		put_number(out, store);
}

/* ---- The item ------------------------------------------------------------------------------ */

/* The fields of a .bin that the model was read from; NULL: there are none that fit. */
static struct wti_doc *kept_fields(const struct wti_model *model)
{
	const char *text = wti_burn_entry(model, "burn.", "fields");
	struct wti_doc *fields;
	size_t count = 0;

	if (!text || wti_json_parse("burn.fields", text, strlen(text), &fields, NULL))
		return NULL;
	for (const struct wti_doc *field = fields->first; field; field = field->next)
		count += wti_burn_tree_is_tensor(field);
	if (count == model->tensor_count)
		return fields;
	wti_doc_free(fields);
	return NULL;
}

static void put_fields(struct bin_out *bin, const struct wti_doc *fields)
{
	size_t next = 0;

	for (const struct wti_doc *field = fields->first; field; field = field->next) {
		if (wti_burn_tree_is_tensor(field))
			put_param(bin, &bin->out.model->tensors[next++]);
		else if (field->type == WTI_DOC_INT && field->integer >= 0)
			put_number(&bin->out, (uint64_t)field->integer);
		else
			fail(bin, "burn.fields", "it is not a list of numbers");
	}
}

/* Extents and such: as many as the type has, so the file does not count them. */
static bool is_constants(const struct wti_doc *list)
{
	for (const struct wti_doc *item = list->first; item; item = item->next) {
		if (item->type != WTI_DOC_NULL)
			return false;
	}
	return list->first;
}

static void put_node(struct bin_out *bin, const struct wti_burn_tree *tree,
		     const struct wti_doc *node, size_t *next)
{
	uint64_t count = 0;

	if (wti_burn_tree_is_tensor(node)) {
		if (node->string.data[0] == '#')
			fail(bin, node->key ? node->key : "item", "it is not a parameter");
		if (node->key && !strcmp(node->key, "bias"))
			put_number(&bin->out, 1);
		put_param(bin, &bin->out.model->tensors[tree->order[(*next)++]]);
	} else if (node->type == WTI_DOC_NULL) {
		put_number(&bin->out, 0);
	} else if (node->type == WTI_DOC_ARRAY) {
		for (const struct wti_doc *item = node->first; item; item = item->next)
			count++;
		if (!is_constants(node))
			put_number(&bin->out, count);
	} else if (node->type != WTI_DOC_TABLE) {
		fail(bin, node->key ? node->key : "item", "its type is not known");
	}
}

static int put_tree(struct bin_out *bin)
{
	struct wti_burn_tree tree;
	struct wti_burn_walk walk;
	const struct wti_doc *node;
	size_t next = 0;
	bool is_end;
	int r = wti_burn_tree_init(&tree, bin->out.model, bin->out.err);

	if (r)
		return r;
	wti_burn_walk_init(&walk, tree.root);
	while ((node = wti_burn_walk_next(&walk, &is_end))) {
		if (!is_end)
			put_node(bin, &tree, node, &next);
	}
	wti_burn_tree_release(&tree);
	return 0;
}

int wti_burn_write_bin(struct wti_model *model, int fd, struct wt_err *err)
{
	struct bin_out bin;
	struct wti_doc *fields;
	int r = wti_burn_meta_of(model, "BinFileRecorder", &bin.meta, err), end;

	if (r)
		return r;
	wti_burn_out_init(&bin.out, model, fd, err);
	for (size_t i = 0; i < WTI_BURN_FIELDS; i++)
		put_text(&bin.out, bin.meta.fields[i]);
	fields = kept_fields(model);
	if (fields)
		put_fields(&bin, fields);
	else
		r = put_tree(&bin);
	wti_doc_free(fields);
	end = wti_burn_out_end(&bin.out);
	return r ? r : end;
}
