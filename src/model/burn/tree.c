/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record looks like is kept as JSON when it is read. A model from elsewhere has names only:
 * "linear1.weight" is the field of a module, and what is numbered from 0 on is a list. A weight
 * comes before what else its module has, as in all of Burn's layers.
 */
#include "model/burn/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/map.h"

#define NONE SIZE_MAX

bool wti_burn_tree_is_tensor(const struct wti_doc *node)
{
	return node->type == WTI_DOC_STRING && node->string.bytes == 1 &&
	       (node->string.data[0] == '@' || node->string.data[0] == '#');
}

/* ---- The walk ------------------------------------------------------------------------------ */

void wti_burn_walk_init(struct wti_burn_walk *walk, const struct wti_doc *root)
{
	*walk = (struct wti_burn_walk){.next = root};
}

const struct wti_doc *wti_burn_walk_next(struct wti_burn_walk *walk, bool *ret_is_end)
{
	const struct wti_doc *node = walk->next;

	*ret_is_end = !node;
	if (!node) {
		if (!walk->depth)
			return NULL;
		node = walk->open[--walk->depth];
		walk->next = walk->depth ? node->next : NULL;
		return node;
	}
	if (node->type == WTI_DOC_TABLE || node->type == WTI_DOC_ARRAY) {
		walk->open[walk->depth++] = node;
		walk->next = node->first;
	} else {
		walk->next = walk->depth ? node->next : NULL;
	}
	return node;
}

/* ---- The tree that was kept ------------------------------------------------------------------ */

/* Moves the path along with the walk. `before`: its length before each open node. */
struct path {
	struct wti_buf text;
	size_t before[WTI_DOC_DEPTH_MAX + 2];
	uint64_t index[WTI_DOC_DEPTH_MAX + 2];
};

static void enter(struct path *path, const struct wti_doc *node, unsigned depth)
{
	char number[24];

	if (!depth)
		return;
	path->text.bytes = path->before[depth];
	if (path->text.bytes)
		wti_buf_byte(&path->text, '.');
	snprintf(number, sizeof(number), "%llu", (unsigned long long)path->index[depth]++);
	wti_buf_text(&path->text, node->key ? node->key : number);
}

/* The i-th tensor of the tree has to be the i-th of the model. */
static bool fits(const struct wti_doc *root, const struct wti_model *model)
{
	struct wti_burn_walk walk;
	struct path path = {0};
	const struct wti_doc *node;
	size_t count = 0;
	bool is_end, same = true;

	wti_buf_init(&path.text, WTI_MODEL_NAME_MAX + 32);
	wti_burn_walk_init(&walk, root);
	while (same && (node = wti_burn_walk_next(&walk, &is_end))) {
		bool opens = node->type == WTI_DOC_TABLE || node->type == WTI_DOC_ARRAY;
		unsigned depth = walk.depth - (opens && !is_end ? 1 : 0);

		if (is_end)
			continue;
		enter(&path, node, depth);
		path.before[depth + 1] = path.text.bytes;
		path.index[depth + 1] = 0;
		if (wti_burn_tree_is_tensor(node)) {
			const char *name = depth ? wti_buf_cstr(&path.text) : "item";

			same = count < model->tensor_count &&
			       !strcmp(name, model->tensors[count].name);
			count++;
		}
	}
	wti_buf_release(&path.text);
	return same && count == model->tensor_count;
}

static int order_as_it_is(struct wti_burn_tree *tree, const struct wti_model *model,
			  struct wt_err *err)
{
	tree->order = calloc(model->tensor_count + 1, sizeof(*tree->order));
	if (!tree->order)
		return wti_err(err, WT_E_NOMEM, "out of memory for a model");
	tree->count = model->tensor_count;
	for (size_t i = 0; i < tree->count; i++)
		tree->order[i] = i;
	return 0;
}

static struct wti_doc *kept_tree(const struct wti_model *model)
{
	const char *text = wti_burn_entry(model, "burn.", "record");
	struct wti_doc *root;

	if (!text || wti_json_parse("burn.record", text, strlen(text), &root, NULL))
		return NULL;
	if (fits(root, model))
		return root;
	wti_doc_free(root);
	return NULL;
}

/* ---- A tree of names ------------------------------------------------------------------------- */

struct part {
	const char *key;
	size_t key_bytes;
	size_t parent, first, last, next;
	size_t tensor; /* NONE: a module */
};

struct names {
	struct part *parts; /* the first is the root */
	size_t count, capacity;
	struct wti_map by_path; /* index + 1 */
};

static size_t add_part(struct names *names, size_t parent, const char *key, size_t key_bytes,
		       size_t tensor)
{
	bool first = key_bytes == 6 && !memcmp(key, "weight", 6);
	struct part *parts, *above;
	size_t index = names->count;

	if (wti_grow(&names->parts, index + 1, &names->capacity, 4 * WTI_MODEL_TENSORS_MAX))
		return NONE;
	parts = names->parts;
	parts[names->count++] = (struct part){key, key_bytes, parent, NONE, NONE, NONE, tensor};
	if (parent == NONE)
		return index;
	above = &parts[parent];
	if (first) {
		parts[index].next = above->first;
		above->first = index;
	} else if (above->last != NONE) {
		parts[above->last].next = index;
	}
	if (above->first == NONE)
		above->first = index;
	if (parts[index].next == NONE)
		above->last = index;
	return index;
}

static int add_name(struct names *names, const char *name, size_t tensor, struct wt_err *err)
{
	size_t parent = 0;
	const char *at = name;

	for (;;) {
		size_t bytes = strcspn(at, ".");
		bool leaf = !at[bytes];
		uint64_t *known = wti_map_text(&names->by_path, name, (size_t)(at - name) + bytes);

		if (!known)
			return wti_err(err, WT_E_NOMEM, "out of memory for a model");
		if (*known && (leaf || names->parts[*known - 1].tensor != NONE))
			return wti_err(err, WT_E_FORMAT,
				       "'%.*s' is both a tensor and a module: a Burn record cannot "
				       "have that",
				       (int)((size_t)(at - name) + bytes), name);
		if (!*known) {
			size_t added = add_part(names, parent, at, bytes, leaf ? tensor : NONE);

			if (added == NONE)
				return wti_err(err, WT_E_NOMEM, "out of memory for a model");
			*known = added + 1;
		}
		parent = (size_t)*known - 1;
		if (leaf)
			return 0;
		at += bytes + 1;
	}
}

static bool is_list(const struct names *names, size_t part)
{
	uint64_t index = 0;

	for (size_t i = names->parts[part].first; i != NONE; i = names->parts[i].next, index++) {
		char number[24];
		int bytes = snprintf(number, sizeof(number), "%llu", (unsigned long long)index);

		if (names->parts[i].key_bytes != (size_t)bytes ||
		    memcmp(names->parts[i].key, number, (size_t)bytes))
			return false;
	}
	return index;
}

static void open_part(const struct names *names, struct wti_json *json, size_t part)
{
	const struct part *here = &names->parts[part];

	if (here->parent != NONE && !is_list(names, here->parent))
		wti_json_key_n(json, here->key, here->key_bytes);
	if (here->tensor != NONE)
		wti_json_text(json, "@");
	else if (is_list(names, part))
		wti_json_array(json);
	else
		wti_json_object(json);
}

static void close_part(const struct names *names, struct wti_json *json, size_t part)
{
	if (names->parts[part].tensor != NONE)
		return;
	if (is_list(names, part))
		wti_json_array_end(json);
	else
		wti_json_object_end(json);
}

static void put_parts(const struct names *names, struct wti_json *json, struct wti_burn_tree *tree)
{
	size_t part = 0;

	for (;;) {
		open_part(names, json, part);
		if (names->parts[part].tensor != NONE)
			tree->order[tree->count++] = names->parts[part].tensor;
		if (names->parts[part].first != NONE) {
			part = names->parts[part].first;
			continue;
		}
		for (;;) {
			close_part(names, json, part);
			if (names->parts[part].next != NONE) {
				part = names->parts[part].next;
				break;
			}
			part = names->parts[part].parent;
			if (part == NONE)
				return;
		}
	}
}

/* How deep the tree of the names is: JSON has a bound. */
static size_t depth_of(const struct wti_model *model)
{
	size_t deepest = 0;

	for (size_t i = 0; i < model->tensor_count; i++) {
		size_t depth = 1;

		for (const char *at = model->tensors[i].name; (at = strchr(at, '.')); at++)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

static int make_text(const struct wti_model *model, struct names *names, struct wti_buf *text,
		     struct wti_burn_tree *tree, struct wt_err *err)
{
	struct wti_json json;
	int r = 0;

	if (add_part(names, NONE, "", 0, NONE) == NONE)
		r = wti_err(err, WT_E_NOMEM, "out of memory for a model");
	for (size_t i = 0; !r && i < model->tensor_count; i++)
		r = add_name(names, model->tensors[i].name, i, err);
	if (r)
		return r;
	wti_json_init(&json, text, false);
	put_parts(names, &json, tree);
	return wti_buf_status(text) ? wti_err(err, wti_buf_status(text), "the names are too long")
				    : 0;
}

static int tree_of_names(struct wti_burn_tree *tree, const struct wti_model *model,
			 struct wt_err *err)
{
	struct names names = {0};
	struct wti_buf text;
	int r;

	if (depth_of(model) > WTI_BURN_DEPTH_MAX)
		return wti_err(err, WT_E_LIMIT,
			       "a name has more than %u parts: a Burn record "
			       "cannot nest so deeply",
			       WTI_BURN_DEPTH_MAX);
	tree->count = 0;
	wti_map_init(&names.by_path, 4 * WTI_MODEL_TENSORS_MAX);
	wti_buf_init(&text, WTI_DOC_TEXT_MAX);
	r = make_text(model, &names, &text, tree, err);
	if (!r)
		r = wti_json_parse("the names of the tensors", (const char *)text.data, text.bytes,
				   &tree->root, err);
	wti_buf_release(&text);
	wti_map_release(&names.by_path);
	free(names.parts);
	return r;
}

int wti_burn_tree_init(struct wti_burn_tree *tree, const struct wti_model *model,
		       struct wt_err *err)
{
	int r;

	*tree = (struct wti_burn_tree){0};
	r = order_as_it_is(tree, model, err);
	if (r)
		return r;
	tree->root = kept_tree(model);
	if (!tree->root)
		r = tree_of_names(tree, model, err);
	if (r)
		wti_burn_tree_release(tree);
	return r;
}

void wti_burn_tree_release(struct wti_burn_tree *tree)
{
	wti_doc_free(tree->root);
	free(tree->order);
	*tree = (struct wti_burn_tree){0};
}
