/* SPDX-License-Identifier: Apache-2.0 */
/* Writing Burn's .mpk: every value in its shortest form, as Burn does it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/json_read.h"
#include "model/burn/tree.h"

struct mpk_out {
	struct wti_burn_out out;
	struct wti_burn_meta meta;
};

/* A first byte and the number behind it, big-endian. */
static void put_head(struct wti_burn_out *out, uint8_t first, uint64_t number, unsigned bytes)
{
	uint8_t head[9] = {first};

	for (unsigned i = 0; i < bytes; i++)
		head[1 + i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
	wti_burn_put(out, head, 1 + bytes);
}

/* The forms of a kind: what fits into the first byte, then 1, 2, 4 and 8 bytes; 0: has no such. */
struct forms {
	uint8_t inside;
	uint64_t inside_max;
	uint8_t first[4];
};

static const struct forms counts = {0x00, 0x7f, {0xcc, 0xcd, 0xce, 0xcf}};
static const struct forms texts = {0xa0, 31, {0xd9, 0xda, 0xdb, 0}};
static const struct forms maps = {0x80, 15, {0, 0xde, 0xdf, 0}};
static const struct forms lists = {0x90, 15, {0, 0xdc, 0xdd, 0}};

static void put(struct wti_burn_out *out, const struct forms *forms, uint64_t number)
{
	static const uint64_t limits[] = {UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX};

	if (number <= forms->inside_max) {
		put_head(out, (uint8_t)(forms->inside | number), 0, 0);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		if (forms->first[i] && number <= limits[i]) {
			put_head(out, forms->first[i], number, 1u << i);
			return;
		}
	}
	out->status = wti_err(out->err, WT_E_LIMIT, "too large for a .mpk: %llu",
			      (unsigned long long)number);
}

static void put_text_n(struct wti_burn_out *out, const char *text, size_t bytes)
{
	put(out, &texts, bytes);
	wti_burn_put(out, text, bytes);
}

static void put_text(struct wti_burn_out *out, const char *text)
{
	put_text_n(out, text, strlen(text));
}

static void put_negative(struct wti_burn_out *out, int64_t number)
{
	unsigned bytes = number >= INT8_MIN    ? 1
			 : number >= INT16_MIN ? 2
			 : number >= INT32_MIN ? 4
					       : 8;

	if (number >= -32)
		put_head(out, (uint8_t)number, 0, 0);
	else
		put_head(out, (uint8_t)(0xd0 + __builtin_ctz(bytes)), (uint64_t)number, bytes);
}

/* Bytes have no form inside the first byte. */
static void put_bytes_head(struct wti_burn_out *out, uint64_t bytes)
{
	if (bytes <= UINT8_MAX)
		put_head(out, 0xc4, bytes, 1);
	else if (bytes <= UINT16_MAX)
		put_head(out, 0xc5, bytes, 2);
	else if (bytes <= UINT32_MAX)
		put_head(out, 0xc6, bytes, 4);
	else
		out->status = wti_err(out->err, WT_E_LIMIT,
				      "a tensor of %llu bytes is too large for a .mpk",
				      (unsigned long long)bytes);
}

static uint64_t children(const struct wti_doc *node)
{
	uint64_t count = 0;

	for (const struct wti_doc *child = node->first; child; child = child->next)
		count++;
	return count;
}

/* ---- Tensors ------------------------------------------------------------------------------- */

static int put_untyped_block(void *cookie, const void *data, size_t bytes)
{
	struct mpk_out *mpk = cookie;
	bool is_double = wti_burn_dtype_untyped(&mpk->meta)->bytes == 8;
	const uint8_t *at = data;

	for (size_t i = 0; i < bytes; i += is_double ? 8 : 4) {
		if (is_double)
			put_head(&mpk->out, 0xcb, wti_get64(at + i), 8);
		else
			put_head(&mpk->out, 0xca, wti_get32(at + i), 4);
	}
	return mpk->out.status;
}

static void put_shape(struct wti_burn_out *out, const struct wti_model_tensor *tensor)
{
	put_text(out, "shape");
	put(out, &lists, tensor->rank);
	for (uint32_t i = 0; i < tensor->rank; i++)
		put(out, &counts, tensor->shape[i]);
}

/* Up to 0.13: a list of numbers. */
static void put_untyped(struct mpk_out *mpk, const struct wti_model_tensor *tensor)
{
	struct wti_burn_out *out = &mpk->out;
	const struct wti_burn_dtype *type = wti_burn_dtype_untyped(&mpk->meta);

	if (!type || type != wti_burn_dtype_of(tensor)) {
		out->status = wti_err(out->err, WT_E_ARG,
				      "cannot write '%s' to a .mpk: Burn %s has no such type",
				      tensor->name, mpk->meta.fields[WTI_BURN_VERSION]);
		return;
	}
	put(out, &maps, 2);
	put_text(out, "value");
	put(out, &lists, tensor->count);
	if (!out->status) {
		int r = wti_model_walk(out->model, tensor, put_untyped_block, mpk, out->err);

		out->status = out->status ? out->status : r;
	}
	put_shape(out, tensor);
}

static void put_plain(struct wti_burn_out *out, const struct wti_doc *node);

/* A type with more than a name, as it was read. */
static void put_document(struct wti_burn_out *out, const struct wti_doc *root)
{
	struct wti_burn_walk walk;
	const struct wti_doc *node;
	bool is_end;

	wti_burn_walk_init(&walk, root);
	while ((node = wti_burn_walk_next(&walk, &is_end))) {
		if (is_end)
			continue;
		if (node->key)
			put_text(out, node->key);
		put_plain(out, node);
	}
}

static void put_dtype(struct wti_burn_out *out, const struct wti_model_tensor *tensor)
{
	const char *json = wti_burn_entry(out->model, "burn.dtype.", tensor->name);
	const struct wti_burn_dtype *type = wti_burn_dtype_of(tensor);
	struct wti_doc *root;

	put_text(out, "dtype");
	if (json && !wti_json_parse("burn.dtype", json, strlen(json), &root, NULL)) {
		put_document(out, root);
		wti_doc_free(root);
	} else if (type) {
		put_text(out, type->name);
	} else {
		out->status = wti_err(out->err, WT_E_ARG,
				      "cannot write '%s' to a .mpk: Burn has no type '%s'",
				      tensor->name, tensor->type ? tensor->type : "");
	}
}

static void put_tensor(struct mpk_out *mpk, const struct wti_model_tensor *tensor)
{
	struct wti_burn_out *out = &mpk->out;

	if (mpk->meta.minor <= WTI_BURN_LAST_UNTYPED) {
		put_untyped(mpk, tensor);
		return;
	}
	put(out, &maps, 3);
	put_text(out, "bytes");
	put_bytes_head(out, tensor->bytes);
	wti_burn_put_elements(out, tensor);
	put_shape(out, tensor);
	put_dtype(out, tensor);
}

static void put_param(struct mpk_out *mpk, const struct wti_model_tensor *tensor)
{
	char id[WTI_BURN_ID_MAX + 1];

	wti_burn_id_of(mpk->out.model, mpk->meta.minor, tensor->name, id);
	put(&mpk->out, &maps, 2);
	put_text(&mpk->out, "id");
	put_text(&mpk->out, id);
	put_text(&mpk->out, "param");
	put_tensor(mpk, tensor);
}

/* ---- The item ------------------------------------------------------------------------------ */

static void put_plain(struct wti_burn_out *out, const struct wti_doc *node)
{
	switch (node->type) {
	case WTI_DOC_TABLE:
		put(out, &maps, children(node));
		break;
	case WTI_DOC_ARRAY:
		put(out, &lists, children(node));
		break;
	case WTI_DOC_STRING:
		put_text_n(out, node->string.data, node->string.bytes);
		break;
	case WTI_DOC_INT:
		if (node->integer < 0)
			put_negative(out, node->integer);
		else
			put(out, &counts, (uint64_t)node->integer);
		break;
	case WTI_DOC_BOOL:
		put_head(out, node->boolean ? 0xc3 : 0xc2, 0, 0);
		break;
	default:
		put_head(out, 0xc0, 0, 0);
	}
}

/* "=text", "f3f800000", "d3ff0000000000000", "u9223372036854775808": see burn.h. */
static void put_marked(struct wti_burn_out *out, const struct wti_doc *node)
{
	const char *text = node->string.data;

	if (text[0] == 'f')
		put_head(out, 0xca, strtoull(text + 1, NULL, 16), 4);
	else if (text[0] == 'd')
		put_head(out, 0xcb, strtoull(text + 1, NULL, 16), 8);
	else if (text[0] == 'u')
		put(out, &counts, strtoull(text + 1, NULL, 10));
	else
		put_text_n(out, text + 1, node->string.bytes - 1);
}

static void put_node(struct mpk_out *mpk, const struct wti_burn_tree *tree,
		     const struct wti_doc *node, size_t *next)
{
	const struct wti_model_tensor *tensors = mpk->out.model->tensors;

	if (node->key)
		put_text(&mpk->out, node->key);
	if (wti_burn_tree_is_tensor(node)) {
		const struct wti_model_tensor *tensor = &tensors[tree->order[(*next)++]];

		if (node->string.data[0] == '@')
			put_param(mpk, tensor);
		else
			put_tensor(mpk, tensor);
	} else if (node->type == WTI_DOC_STRING && node->string.bytes) {
		put_marked(&mpk->out, node);
	} else {
		put_plain(&mpk->out, node);
	}
}

static int put_item(struct mpk_out *mpk, struct wt_err *err)
{
	struct wti_burn_tree tree;
	struct wti_burn_walk walk;
	const struct wti_doc *node;
	size_t next = 0;
	bool is_end;
	int r = wti_burn_tree_init(&tree, mpk->out.model, err);

	if (r)
		return r;
	wti_burn_walk_init(&walk, tree.root);
	while ((node = wti_burn_walk_next(&walk, &is_end))) {
		if (!is_end)
			put_node(mpk, &tree, node, &next);
	}
	wti_burn_tree_release(&tree);
	return 0;
}

int wti_burn_write_mpk(struct wti_model *model, int fd, struct wt_err *err)
{
	struct mpk_out mpk;
	int r = wti_burn_meta_of(model, "NamedMpkFileRecorder", &mpk.meta, err), end;

	if (r)
		return r;
	wti_burn_out_init(&mpk.out, model, fd, err);
	put(&mpk.out, &maps, 3);
	put_text(&mpk.out, "metadata");
	put(&mpk.out, &maps, WTI_BURN_FIELDS);
	for (size_t i = 0; i < WTI_BURN_FIELDS; i++) {
		put_text(&mpk.out, wti_burn_fields[i]);
		put_text(&mpk.out, mpk.meta.fields[i]);
	}
	put_text(&mpk.out, "item");
	r = put_item(&mpk, err);
	put_text(&mpk.out, "_b");
	put(&mpk.out, &lists, 0);
	end = wti_burn_out_end(&mpk.out);
	return r ? r : end;
}
