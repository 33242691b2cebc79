/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of torch.distributed.checkpoint: `.metadata` is a pickle with the shape of every tensor,
 * its chunks and where each lies; the files beside it (__0_0.distcp) have the chunks one after the
 * other, each as torch.save() writes it. Chunks of a tensor are joined.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/joined.h"
#include "model/torch/torch.h"

static const char metadata_name[] = ".metadata";

struct dcp {
	struct wti_model *model;
	const struct wti_pickle_value *storage; /* key to place */
	struct wti_map places;                  /* name and offsets to the item of `storage` */
	struct wt_err *err;
};

static int bad(const struct dcp *dcp, const char *name, const char *reason)
{
	return wti_err(dcp->err, WT_E_FORMAT, "'%s': '%.200s' %s", dcp->model->path, name, reason);
}

static bool is_one(const struct wti_model_probe *probe)
{
	char path[4096];
	int bytes = snprintf(path, sizeof(path), "%s/%s", probe->path, metadata_name);

	return probe->is_folder && bytes > 0 && (size_t)bytes < sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* ---- Where everything lies ------------------------------------------------------------------ */

/* A name and the offsets of a chunk as one key. Of what is not a tensor there are no offsets. */
static bool make_key(const char *name, const struct wti_pickle_value *offsets, struct wti_buf *out)
{
	wti_buf_clear(out);
	wti_buf_append(out, name, strlen(name) + 1);
	for (size_t i = 0; offsets && i < offsets->count; i++) {
		uint64_t number;

		if (!wti_pickle_u64(offsets->items[i], &number))
			return false;
		wti_buf_append(out, &number, sizeof(number));
	}
	return !wti_buf_status(out);
}

static int note_places(struct dcp *dcp, struct wti_buf *key)
{
	for (size_t i = 0; i + 1 < dcp->storage->count; i += 2) {
		const struct wti_pickle_value *index = dcp->storage->items[i];
		const struct wti_pickle_value *name = wti_pickle_get(index, "fqn");
		const struct wti_pickle_value *offsets = wti_pickle_get(index, "offset");
		uint64_t *place;

		if (!name || name->type != WTI_PICKLE_TEXT || !make_key(name->text, offsets, key))
			return bad(dcp, metadata_name, "has a chunk without a name");
		place = wti_map_text(&dcp->places, (const char *)key->data, key->bytes);
		if (!place)
			return wti_map_failed(&dcp->places, dcp->err, "chunks");
		*place = i + 1;
	}
	return 0;
}

/* The part of a file that has a chunk, as a source of its own. */
static int open_place(struct dcp *dcp, const char *name, const struct wti_pickle_value *offsets,
		      uint32_t *ret_part, uint32_t *ret_file, uint64_t *ret_offset)
{
	const struct wti_pickle_value *place, *path, *transforms;
	const uint64_t *number;
	struct wti_buf key;
	uint64_t bytes;
	int r;

	wti_buf_init(&key, WTI_MODEL_NAME_MAX + 16 * WTI_MODEL_RANK_MAX);
	number = make_key(name, offsets, &key)
			 ? wti_map_find_text(&dcp->places, (const char *)key.data, key.bytes)
			 : NULL;
	wti_buf_release(&key);
	if (!number)
		return bad(dcp, name, "has a chunk of which no file is known");
	place = dcp->storage->items[*number];
	path = wti_pickle_get(place, "relative_path");
	transforms = wti_pickle_get(place, "transform_descriptors");
	if (!path || path->type != WTI_PICKLE_TEXT ||
	    !wti_pickle_u64(wti_pickle_get(place, "offset"), ret_offset) ||
	    !wti_pickle_u64(wti_pickle_get(place, "length"), &bytes))
		return bad(dcp, name, "has a chunk of which no file is known");
	if (transforms && transforms->type != WTI_PICKLE_NONE && transforms->count)
		return bad(dcp, name, "is compressed or encrypted: save it without extensions");
	r = wti_model_add_file(dcp->model, path->text, ret_file, dcp->err);
	return r ? r
		 : wti_model_add_part(dcp->model, *ret_file, *ret_offset, bytes, ret_part,
				      dcp->err);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

struct chunk {
	struct wti_torch_tensor content;
	uint64_t begin[WTI_MODEL_RANK_MAX];
};

static bool read_extents(const struct wti_pickle_value *value, uint64_t *extents,
			 uint32_t *ret_rank)
{
	if (!value || value->type != WTI_PICKLE_TUPLE || value->count > WTI_MODEL_RANK_MAX)
		return false;
	for (size_t i = 0; i < value->count; i++)
		if (!wti_pickle_u64(value->items[i], &extents[i]))
			return false;
	*ret_rank = (uint32_t)value->count;
	return true;
}

static int read_chunk(struct dcp *dcp, const char *name, const struct wti_pickle_value *from,
		      struct chunk *chunk)
{
	const struct wti_pickle_value *offsets = wti_pickle_get(from, "offsets");
	struct wti_model_tensor *tensor = &chunk->content.tensor;
	uint64_t sizes[WTI_MODEL_RANK_MAX], offset = 0;
	uint32_t rank = 0, size_rank = 0, part = 0, file = 0;
	int r;

	if (!read_extents(offsets, chunk->begin, &rank) ||
	    !read_extents(wti_pickle_get(from, "sizes"), sizes, &size_rank) || rank != size_rank)
		return bad(dcp, name, "has a chunk without offsets and sizes");
	r = open_place(dcp, name, offsets, &part, &file, &offset);
	if (r)
		return r;
	r = wti_torch_read_zip_tensor(dcp->model, part, name, &chunk->content, dcp->err);
	wti_model_drop_last_source(dcp->model);
	if (r)
		return r;
	if (tensor->rank != rank || memcmp(chunk->content.shape, sizes, rank * sizeof(*sizes)) != 0)
		return bad(dcp, name,
			   "has a chunk of another shape than .metadata has: it is of "
			   "another save");
	tensor->source = file;
	tensor->offset += offset;
	return 0;
}

static int join(struct dcp *dcp, const char *name, struct chunk *chunks, size_t count,
		struct wti_model_tensor *tensor)
{
	struct wti_model_piece *pieces = calloc(count, sizeof(*pieces));
	int r;

	if (!pieces)
		return wti_err(dcp->err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct wti_model_piece){
			chunks[i].begin, chunks[i].content.shape, chunks[i].content.strides,
			chunks[i].content.tensor.source, chunks[i].content.tensor.offset};
	tensor->strides = NULL;
	tensor->offset = 0;
	r = wti_model_add_joined(dcp->model, name, tensor, pieces, count, &tensor->source,
				 dcp->err);
	free(pieces);
	return r ? r : wti_model_add(dcp->model, tensor, dcp->err);
}

static int add_chunks(struct dcp *dcp, const char *name, const struct wti_pickle_value *value,
		      struct chunk *chunks, size_t count)
{
	const struct wti_pickle_value *list = wti_pickle_get(value, "chunks");
	struct wti_model_tensor whole;
	uint64_t shape[WTI_MODEL_RANK_MAX];
	uint32_t rank = 0;

	if (!read_extents(wti_pickle_get(value, "size"), shape, &rank))
		return bad(dcp, name, "has no size");
	for (size_t i = 0; i < count; i++) {
		int r = read_chunk(dcp, name, list->items[i], &chunks[i]);

		if (r)
			return r;
		if (chunks[i].content.tensor.rank != rank ||
		    chunks[i].content.tensor.dtype != chunks[0].content.tensor.dtype)
			return bad(dcp, name, "has chunks of different types or ranks");
	}
	whole = chunks[0].content.tensor;
	whole.name = name;
	if (count == 1 && !memcmp(chunks[0].content.shape, shape, rank * sizeof(*shape))) {
		whole.shape = chunks[0].content.shape;
		whole.strides = chunks[0].content.strides;
		return wti_model_add(dcp->model, &whole, dcp->err);
	}
	whole.shape = shape;
	return join(dcp, name, chunks, count, &whole);
}

static int add_tensor(struct dcp *dcp, const char *name, const struct wti_pickle_value *value)
{
	const struct wti_pickle_value *list = wti_pickle_get(value, "chunks");
	struct chunk *chunks;
	int r;

	if (!list || list->type != WTI_PICKLE_LIST || !list->count)
		return bad(dcp, name, "has no chunks");
	chunks = calloc(list->count, sizeof(*chunks));
	if (!chunks)
		return wti_err(dcp->err, WT_E_NOMEM, "out of memory");
	r = add_chunks(dcp, name, value, chunks, list->count);
	free(chunks);
	return r;
}

/* ---- All that is not a tensor --------------------------------------------------------------- */

static int add_bytes(struct dcp *dcp, const char *name)
{
	size_t tensors = dcp->model->tensor_count;
	uint32_t part = 0, file = 0;
	uint64_t offset = 0;
	int r = open_place(dcp, name, NULL, &part, &file, &offset);

	r = r ? r : wti_torch_read_zip(dcp->model, part, name, dcp->err);
	if (!r && dcp->model->tensor_count == tensors && part + 1 == dcp->model->source_count)
		wti_model_drop_last_source(dcp->model);
	return r;
}

/* ---- The folder ----------------------------------------------------------------------------- */

static int add_all(struct dcp *dcp, const struct wti_pickle_value *contents)
{
	int r = 0;

	for (size_t i = 0; !r && i + 1 < contents->count; i += 2) {
		const struct wti_pickle_value *name = wti_pickle_item(contents, i, WTI_PICKLE_TEXT);

		if (!name || strlen(name->text) != name->bytes)
			return bad(dcp, metadata_name, "has an invalid name");
		if (wti_pickle_get(contents->items[i + 1], "chunks"))
			r = add_tensor(dcp, name->text, contents->items[i + 1]);
		else
			r = add_bytes(dcp, name->text);
	}
	return r;
}

static int read_metadata(struct dcp *dcp, const struct wti_pickle_value *root)
{
	const struct wti_pickle_value *contents = wti_pickle_get(root, "state_dict_metadata");
	struct wti_buf key;
	int r;

	dcp->storage = wti_pickle_get(root, "storage_data");
	if (!contents || contents->type != WTI_PICKLE_DICT || !dcp->storage ||
	    dcp->storage->type != WTI_PICKLE_DICT)
		return bad(dcp, metadata_name, "does not describe a checkpoint");
	wti_buf_init(&key, WTI_MODEL_NAME_MAX + 16 * WTI_MODEL_RANK_MAX);
	wti_map_init(&dcp->places, WTI_MODEL_TENSORS_MAX);
	r = note_places(dcp, &key);
	r = r ? r : add_all(dcp, contents);
	wti_map_release(&dcp->places);
	wti_buf_release(&key);
	return r;
}

static int read_model(struct wti_model *model, struct wt_err *err)
{
	struct dcp dcp = {.model = model, .err = err};
	struct wti_pickle pickle;
	struct wti_buf bytes;
	uint32_t source = 0;
	int r = wti_model_add_file(model, metadata_name, &source, err);

	if (r)
		return r;
	wti_buf_init(&bytes, WTI_PICKLE_BYTES_MAX);
	r = wti_model_read_buf(model, source, 0, wti_model_source_bytes(model, source), &bytes,
			       err);
	r = r ? r
	      : wti_pickle_open(&pickle, wti_model_source_path(model, source), 0, bytes.data,
				bytes.bytes, err);
	if (!r) {
		r = read_metadata(&dcp, pickle.root);
		wti_pickle_release(&pickle);
	}
	wti_buf_release(&bytes);
	return r;
}

const struct wti_model_format wti_model_dcp = {
	.name = "dcp",
	.title = "torch.distributed.checkpoint folder",
	.suffixes = "",
	.is_one = is_one,
	.read = read_model,
};
