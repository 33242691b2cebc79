/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch.save() wrote before version 1.6: five pickles (a magic number, the protocol, the
 * machine, the values, the keys of the storages), then each storage: its length and its elements.
 * And plain pickles, which have all in themselves: arrays of numpy, numbers.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "digest/digest.h"
#include "model/torch/torch.h"

/* 0x1950a86a20f9469cfc6c as a pickle of protocol 2. */
static const uint8_t magic[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
				0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

#define PROTOCOL 1001
#define FIRST_BYTES ((uint64_t)1 << 20) /* mostly all pickles are in here */

struct legacy {
	struct wti_model *model;
	struct wti_buf bytes;    /* the beginning of the file */
	uint64_t at;             /* behind the last pickle */
	struct wti_map storages; /* key to place in `places`, and one */
	struct wti_torch_storage *places;
	size_t count;
};

static bool is_one(const struct wti_model_probe *probe)
{
	return !probe->is_folder && probe->head_bytes >= sizeof(magic) &&
	       !memcmp(probe->head, magic, sizeof(magic));
}

/* ---- Pickles one after the other ------------------------------------------------------------ */

/* More of the file, if there is more. */
static int read_more(struct legacy *legacy, struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(legacy->model, 0);
	uint64_t wanted = legacy->bytes.bytes ? 8 * (uint64_t)legacy->bytes.bytes : FIRST_BYTES;

	if (wanted > WTI_PICKLE_BYTES_MAX)
		wanted = WTI_PICKLE_BYTES_MAX;
	if (wanted > all)
		wanted = all;
	return wti_model_read_buf(legacy->model, 0, legacy->bytes.bytes,
				  wanted - legacy->bytes.bytes, &legacy->bytes, err);
}

static bool is_all(const struct legacy *legacy)
{
	return legacy->bytes.bytes >= WTI_PICKLE_BYTES_MAX ||
	       legacy->bytes.bytes >= wti_model_source_bytes(legacy->model, 0);
}

/* The next pickle; what it refers to stays valid until the end. */
static int next_pickle(struct legacy *legacy, struct wti_pickle *ret, struct wt_err *err)
{
	int r;

	for (;;) {
		r = wti_pickle_open(ret, legacy->model->path, legacy->at,
				    legacy->bytes.data + legacy->at,
				    legacy->bytes.bytes - (size_t)legacy->at, err);
		if (!r || is_all(legacy))
			break;
		r = read_more(legacy, err);
		if (r)
			return r;
	}
	if (!r)
		legacy->at += ret->used;
	return r;
}

/* The version of the format and the machine that wrote it. */
static int read_heads(struct legacy *legacy, bool *ret_is_big, struct wt_err *err)
{
	const struct wti_pickle_value *little;
	struct wti_pickle pickle;
	int r;

	legacy->at = sizeof(magic);
	r = next_pickle(legacy, &pickle, err);
	if (r)
		return r;
	if (pickle.root->type != WTI_PICKLE_INT || pickle.root->integer != PROTOCOL)
		r = wti_err(err, WT_E_VERSION, "'%s' has an unknown protocol of torch.save()",
			    legacy->model->path);
	wti_pickle_release(&pickle);
	r = r ? r : next_pickle(legacy, &pickle, err);
	if (r)
		return r;
	little = wti_pickle_get(pickle.root, "little_endian");
	*ret_is_big = little && little->type == WTI_PICKLE_BOOL && !little->integer;
	wti_pickle_release(&pickle);
	return 0;
}

/* ---- Storages ------------------------------------------------------------------------------- */

static int find_storage(void *cookie, const struct wti_torch_id *id, struct wti_torch_storage *ret,
			struct wt_err *err)
{
	const struct legacy *legacy = cookie;
	const uint64_t *place = wti_map_find_text(&legacy->storages, id->key, strlen(id->key));

	if (!place || !*place)
		return wti_err(err, WT_E_FORMAT, "'%s': the storage '%.60s' is missing",
			       legacy->model->path, id->key);
	*ret = legacy->places[*place - 1];
	return 0;
}

/* The length of an element of each storage: only the values know their types. */
static int note_types(struct legacy *legacy, const struct wti_torch *torch,
		      const struct wti_pickle *values, struct wti_map *types, struct wt_err *err)
{
	for (const struct wti_pickle_value *at = values->persistent; at; at = at->state) {
		struct wti_torch_id id;
		uint64_t *type;
		int r = wti_torch_read_id(torch, at, &id, err);

		if (r)
			return r;
		type = wti_map_text(types, id.key, strlen(id.key));
		if (!type)
			return wti_map_failed(types, err, "storages");
		*type = wti_dtype_bytes(id.dtype);
	}
	return 0;
}

static int place_storage(struct legacy *legacy, const struct wti_pickle_value *key,
			 const struct wti_map *types, struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(legacy->model, 0), count = 0, *place;
	const uint64_t *item = wti_map_find_text(types, key->text, key->bytes);
	uint8_t length[8];
	int r = wti_model_read(legacy->model, 0, legacy->at, length, sizeof(length), err);

	if (r)
		return r;
	if (!item)
		return wti_err(err, WT_E_FORMAT, "'%s': no tensor has the storage '%.60s'",
			       legacy->model->path, key->text);
	count = wti_get64(length);
	legacy->at += sizeof(length);
	if (count > (all - legacy->at) / *item)
		return wti_model_bad(legacy->model, 0, legacy->at, err,
				     "the storage '%.60s' has %" PRIu64
				     " elements, which is more than the file: it was cut; copy or "
				     "download it again",
				     key->text, count);
	place = wti_map_text(&legacy->storages, key->text, key->bytes);
	if (!place)
		return wti_map_failed(&legacy->storages, err, "storages");
	if (*place)
		return wti_err(err, WT_E_FORMAT, "'%s': the storage '%.60s' is there twice",
			       legacy->model->path, key->text);
	legacy->places[legacy->count] = (struct wti_torch_storage){0, legacy->at, count * *item};
	*place = ++legacy->count;
	legacy->at += count * *item;
	return 0;
}

static int place_storages(struct legacy *legacy, const struct wti_pickle_value *keys,
			  const struct wti_map *types, struct wt_err *err)
{
	int r = 0;

	if (keys->type != WTI_PICKLE_LIST)
		return wti_err(err, WT_E_FORMAT, "'%s' has no list of storages",
			       legacy->model->path);
	legacy->places =
		wti_arena_alloc(&legacy->model->arena, (keys->count + 1) * sizeof(*legacy->places));
	if (!legacy->places)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; !r && i < keys->count; i++) {
		const struct wti_pickle_value *key = wti_pickle_item(keys, i, WTI_PICKLE_TEXT);

		r = key ? place_storage(legacy, key, types, err)
			: wti_err(err, WT_E_FORMAT, "'%s' has a storage without a name",
				  legacy->model->path);
	}
	if (!r && legacy->at != wti_model_source_bytes(legacy->model, 0))
		r = wti_model_bad(legacy->model, 0, legacy->at, err,
				  "bytes follow that belong to no storage");
	return r;
}

static int read_values(struct legacy *legacy, struct wti_torch *torch,
		       const struct wti_pickle *values, struct wt_err *err)
{
	struct wti_pickle keys;
	struct wti_map types;
	int r;

	wti_map_init(&types, WTI_MODEL_TENSORS_MAX);
	r = note_types(legacy, torch, values, &types, err);
	if (!r) {
		r = next_pickle(legacy, &keys, err);
		if (!r) {
			r = place_storages(legacy, keys.root, &types, err);
			wti_pickle_release(&keys);
		}
	}
	wti_map_release(&types);
	return r ? r : wti_torch_add(torch, "", values->root, err);
}

static int read_model(struct wti_model *model, struct wt_err *err)
{
	struct legacy legacy = {.model = model};
	struct wti_torch torch = {.model = model, .find = find_storage, .cookie = &legacy};
	struct wti_pickle values;
	int r;

	wti_buf_init(&legacy.bytes, WTI_PICKLE_BYTES_MAX);
	wti_map_init(&legacy.storages, WTI_MODEL_TENSORS_MAX);
	r = read_more(&legacy, err);
	r = r ? r : read_heads(&legacy, &torch.is_big_endian, err);
	r = r ? r : next_pickle(&legacy, &values, err);
	if (!r) {
		r = read_values(&legacy, &torch, &values, err);
		wti_pickle_release(&values);
	}
	wti_map_release(&legacy.storages);
	wti_buf_release(&legacy.bytes);
	return r;
}

const struct wti_model_format wti_model_torch_legacy = {
	.name = "pt-legacy",
	.title = "PyTorch checkpoint (before 1.6)",
	.suffixes = "",
	.is_one = is_one,
	.read = read_model,
};

/* ---- Plain pickles -------------------------------------------------------------------------- */

/* "cmodule\nname\n" or "(d", "(l", "(i": how pickles of protocol 0 begin that are of interest. */
static bool is_of_lines(const struct wti_model_probe *probe)
{
	size_t at = 1;

	if (probe->head_bytes < 2 || (probe->head[0] != 'c' && probe->head[0] != '('))
		return false;
	if (probe->head[0] == '(')
		return strchr("cdilp", probe->head[1]) && probe->head[1] &&
		       (probe->head[1] == 'c' || probe->head[1] == 'i' || probe->head_bytes > 3);
	while (at < probe->head_bytes &&
	       (isalnum(probe->head[at]) || strchr("._", probe->head[at])))
		at++;
	return at > 1 && at < probe->head_bytes && probe->head[at] == '\n';
}

static bool is_pickle(const struct wti_model_probe *probe)
{
	if (probe->is_folder || !probe->head_bytes)
		return false;
	return (probe->head_bytes > 2 && probe->head[0] == 0x80 && probe->head[1] >= 2 &&
		probe->head[1] <= 5) ||
	       is_of_lines(probe);
}

static int read_pickle(struct wti_model *model, struct wt_err *err)
{
	struct wti_torch torch = {.model = model};
	uint64_t all = wti_model_source_bytes(model, 0);
	struct wti_pickle pickle;
	struct wti_buf bytes;
	int r;

	wti_buf_init(&bytes, WTI_PICKLE_BYTES_MAX);
	r = wti_model_read_buf(model, 0, 0, all, &bytes, err);
	r = r ? r : wti_pickle_open(&pickle, model->path, 0, bytes.data, bytes.bytes, err);
	if (!r) {
		if (pickle.used != all)
			r = wti_model_bad(model, 0, pickle.used, err,
					  "bytes follow the end of the pickle");
		r = r ? r : wti_torch_add(&torch, "", pickle.root, err);
		wti_pickle_release(&pickle);
	}
	wti_buf_release(&bytes);
	return r;
}

const struct wti_model_format wti_model_pickle = {
	.name = "pickle",
	.title = "pickle",
	.suffixes = "",
	.is_one = is_pickle,
	.read = read_pickle,
};
