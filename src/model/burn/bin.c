/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burn's .bin: bincode, little-endian, numbers of variable length. The file has no names, no schema
 * and no checksum: fields follow one another as the Rust structs have them. A parameter is known by
 * its structure,
 *
 *	text id, number of bytes, elements, number of dimensions, extents, number of the type
 *
 * where the id has its alphabet, numbers their shortest form, and the bytes are what extents and
 * type ask for. Between parameters only small numbers are allowed: 0 (a constant, or an absent
 * parameter), 1 (a present one), how many items a list has, which variant an enum is. At every
 *place a parameter is tried first, so that a file is always read the same way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "model/burn/burn.h"

#define PARAM_HEAD_MAX (1u + WTI_BURN_ID_MAX + 9u)
#define PARAM_TAIL_MAX (2u + 9u * (WTI_MODEL_RANK_MAX + 1u))
#define BETWEEN_MAX 4u /* such as a list in a list of present enums */
#define VARIANTS_MAX 16u
#define RECORD_MAX ((size_t)64 << 20)

struct param {
	char id[WTI_BURN_ID_MAX + 1];
	const struct wti_burn_dtype *type;
	uint64_t shape[WTI_MODEL_RANK_MAX];
	uint32_t rank;
	uint64_t data_at;
	uint64_t data_bytes;
	uint64_t store; /* of a Boolean, from 0.21 on */
	uint64_t end;
};

/* A number that stands between parameters, and how many items there were before. */
struct between {
	uint64_t value;
	uint64_t at;
	uint64_t items_before;
};

struct bin {
	struct wti_burn_in in;
	struct wti_burn_meta meta;
	struct wti_json json;
	struct wti_buf record;
	struct between *between; /* those that have to be counts */
	size_t between_count;
	size_t between_capacity;
	uint64_t items;      /* parameters and zeros */
	unsigned run;        /* numbers other than 0 in a row */
	uint64_t run_at;     /* the first of them */
	bool is_present;     /* exactly one 1 since the last parameter */
	bool after_weight;   /* the last parameter began a group */
	uint64_t next_group; /* for names */
};

/* ---- Numbers and texts --------------------------------------------------------------------- */

/* In its shortest form, as everything that Burn wrote. */
static bool get_number(struct wti_bytes *in, uint64_t *ret)
{
	uint8_t first = wti_bytes_u8(in);

	if (first < 0xfb) {
		*ret = first;
	} else if (first == 0xfb) {
		*ret = wti_bytes_u16(in);
		return !in->bad && *ret >= 0xfb;
	} else if (first == 0xfc) {
		*ret = wti_bytes_u32(in);
		return !in->bad && *ret > UINT16_MAX;
	} else if (first == 0xfd) {
		*ret = wti_bytes_u64(in);
		return !in->bad && *ret > UINT32_MAX;
	} else {
		return false;
	}
	return !in->bad;
}

static bool get_text(struct wti_bytes *in, char *out, size_t bytes_max)
{
	uint64_t bytes;
	const uint8_t *text;

	if (!get_number(in, &bytes) || bytes > bytes_max)
		return false;
	text = wti_bytes_take(in, (size_t)bytes);
	if (!text || memchr(text, 0, (size_t)bytes))
		return false;
	memcpy(out, text, (size_t)bytes);
	out[bytes] = '\0';
	return true;
}

static bool get_meta(struct wti_bytes *in, struct wti_burn_meta *meta)
{
	for (size_t i = 0; i < WTI_BURN_FIELDS; i++) {
		if (!get_text(in, meta->fields[i], WTI_BURN_TEXT_MAX))
			return false;
	}
	return strstr(meta->fields[WTI_BURN_FORMAT], "Recorder") &&
	       !wti_burn_meta_check(meta, NULL);
}

bool wti_burn_is_bin(const uint8_t *head, size_t bytes)
{
	struct wti_bytes in = {head, head + bytes, false};
	struct wti_burn_meta meta;

	return get_meta(&in, &meta);
}

/* ---- One parameter ------------------------------------------------------------------------- */

static bool get_shape(struct wti_bytes *in, struct param *p, uint64_t *ret_count)
{
	uint64_t rank;

	*ret_count = 1;
	if (!get_number(in, &rank) || rank > WTI_MODEL_RANK_MAX)
		return false;
	p->rank = (uint32_t)rank;
	for (uint32_t i = 0; i < p->rank; i++) {
		if (!get_number(in, &p->shape[i]) ||
		    __builtin_mul_overflow(*ret_count, p->shape[i], ret_count))
			return false;
	}
	return true;
}

static bool get_type(struct wti_bytes *in, unsigned minor, struct param *p)
{
	uint64_t number;

	if (!get_number(in, &number))
		return false;
	p->type = wti_burn_dtype_numbered(minor, number);
	p->store = 0;
	if (p->type && p->type->dtype == WT_DTYPE_BOOL && minor >= WTI_BURN_FIRST_BOOL_STORE)
		return get_number(in, &p->store) && p->store < WTI_BURN_BOOL_STORES;
	return p->type;
}

static unsigned element_bytes(const struct param *p)
{
	return p->type->dtype == WT_DTYPE_BOOL && p->store == 2 ? 4 : p->type->bytes;
}

/* Extents and type, which follow the elements: they have to fit them. */
static bool get_tail(struct bin *bin, struct wti_bytes *in, struct param *p)
{
	bool untyped = bin->meta.minor <= WTI_BURN_LAST_UNTYPED;
	uint64_t count, bytes;

	if (!get_shape(in, p, &count) || (!untyped && !get_type(in, bin->meta.minor, p)))
		return false;
	return !__builtin_mul_overflow(count, element_bytes(p), &bytes) && bytes == p->data_bytes;
}

/* Id and number of bytes, or of elements. */
static bool get_head(struct bin *bin, struct wti_bytes *in, struct param *p)
{
	uint64_t length;

	if (!get_text(in, p->id, WTI_BURN_ID_MAX) ||
	    !wti_burn_id_valid(bin->meta.minor, p->id, strlen(p->id)) || !get_number(in, &length))
		return false;
	p->data_bytes = length;
	if (bin->meta.minor > WTI_BURN_LAST_UNTYPED)
		return true;
	p->type = wti_burn_dtype_untyped(&bin->meta);
	return p->type && !__builtin_mul_overflow(length, p->type->bytes, &p->data_bytes);
}

/* 1: there is one here; 0: there is none; negative: the file could not be read. */
static int try_param(struct bin *bin, struct param *p, struct wt_err *err)
{
	uint64_t at = bin->in.at;
	struct wti_bytes in = {0};
	const uint8_t *data;
	size_t bytes;
	int r = wti_burn_peek(&bin->in, at, PARAM_HEAD_MAX, &data, &bytes, err);

	if (r)
		return r;
	in = (struct wti_bytes){data, data + bytes, false};
	if (!get_head(bin, &in, p))
		return 0;
	p->data_at = at + (uint64_t)(in.at - data);
	if (p->data_bytes > bin->in.end - p->data_at)
		return 0;
	r = wti_burn_peek(&bin->in, p->data_at + p->data_bytes, PARAM_TAIL_MAX, &data, &bytes, err);
	if (r)
		return r;
	in = (struct wti_bytes){data, data + bytes, false};
	if (!get_tail(bin, &in, p))
		return 0;
	p->end = p->data_at + p->data_bytes + (uint64_t)(in.at - data);
	return 1;
}

/* ---- The record ---------------------------------------------------------------------------- */

/*
 * "0.weight", "0.bias", "1.weight" ...: a parameter begins a group, unless it is a vector that may
 * be absent and follows the first of its group: that is how all layers with a bias look.
 */
static void name_param(struct bin *bin, const struct param *p, char *name, size_t name_bytes)
{
	bool is_bias = bin->after_weight && bin->is_present && p->rank == 1;

	if (!is_bias)
		bin->next_group++;
	bin->after_weight = !is_bias;
	snprintf(name, name_bytes, "%llu.%s", (unsigned long long)(bin->next_group - 1),
		 is_bias ? "bias" : "weight");
}

static int keep_store(struct bin *bin, const char *name, const struct param *p, struct wt_err *err)
{
	char key[64], value[32];

	if (p->type->dtype != WT_DTYPE_BOOL || bin->meta.minor < WTI_BURN_FIRST_BOOL_STORE)
		return 0;
	snprintf(key, sizeof(key), "burn.dtype.%s", name);
	snprintf(value, sizeof(value), "{\"Bool\":\"%s\"}", wti_burn_bool_stores[p->store]);
	return wti_model_add_entry(bin->in.model, key, value, err);
}

static int add_param(struct bin *bin, const struct param *p, struct wt_err *err)
{
	char name[48];
	bool wide = element_bytes(p) != p->type->bytes;
	struct wti_model_tensor tensor = {.dtype = wide ? WT_DTYPE_U32 : p->type->dtype,
					  .type = p->type->name,
					  .rank = p->rank,
					  .shape = p->shape,
					  .source = bin->in.source,
					  .offset = p->data_at,
					  .bytes = p->data_bytes};
	int r;

	name_param(bin, p, name, sizeof(name));
	tensor.name = name;
	wti_json_text(&bin->json, "@");
	bin->items++;
	bin->run = 0;
	bin->is_present = false;
	bin->in.at = p->end;
	r = wti_model_add(bin->in.model, &tensor, err);
	if (!r)
		r = wti_burn_id_keep(bin->in.model, name, p->id, err);
	return r ? r : keep_store(bin, name, p, err);
}

static int not_a_record(const struct bin *bin, uint64_t at, struct wt_err *err)
{
	return wti_err_at(err, WT_E_FORMAT, (int64_t)at,
			  "'%s' is damaged or not the record of a module: no parameter begins at "
			  "byte %llu",
			  bin->in.model->path, (unsigned long long)at);
}

/* It may be a count: that many items have to follow, which is only known at the end. */
static int keep_between(struct bin *bin, uint64_t value, uint64_t at, struct wt_err *err)
{
	if (!bin->run++)
		bin->run_at = at;
	if (bin->run > BETWEEN_MAX)
		return not_a_record(bin, bin->run_at, err);
	if (value < VARIANTS_MAX)
		return 0;
	if (wti_grow(&bin->between, bin->between_count + 1, &bin->between_capacity,
		     WTI_MODEL_TENSORS_MAX))
		return wti_err(err, WT_E_NOMEM, "out of memory for a model");
	bin->between[bin->between_count++] = (struct between){value, at, bin->items};
	return 0;
}

static int take_between(struct bin *bin, struct wt_err *err)
{
	const uint8_t *data;
	size_t bytes;
	uint64_t value, at = bin->in.at;
	int r = wti_burn_peek(&bin->in, at, 9, &data, &bytes, err);
	struct wti_bytes in = {data, data + bytes, false};

	if (r)
		return r;
	if (!get_number(&in, &value))
		return not_a_record(bin, at, err);
	bin->in.at += (uint64_t)(in.at - data);
	bin->is_present = value == 1 && !bin->run;
	wti_json_u64(&bin->json, value);
	if (bin->items > WTI_MODEL_TENSORS_MAX)
		return wti_err_at(err, WT_E_LIMIT, (int64_t)at, "'%s' has too many fields",
				  bin->in.model->path);
	if (value)
		return keep_between(bin, value, at, err);
	bin->items++;
	bin->run = 0;
	bin->after_weight = false;
	return 0;
}

static int take_items(struct bin *bin, struct wt_err *err)
{
	while (bin->in.at < bin->in.end) {
		struct param param;
		int r = try_param(bin, &param, err);

		if (r >= 0)
			r = r ? add_param(bin, &param, err) : take_between(bin, err);
		if (r)
			return r;
	}
	return 0;
}

static int check_items(const struct bin *bin, struct wt_err *err)
{
	if (!bin->in.model->tensor_count || bin->run)
		return not_a_record(bin, bin->in.end, err);
	for (size_t i = 0; i < bin->between_count; i++) {
		if (bin->between[i].value > bin->items - bin->between[i].items_before)
			return not_a_record(bin, bin->between[i].at, err);
	}
	return 0;
}

static int take_meta(struct bin *bin, struct wt_err *err)
{
	const uint8_t *data;
	size_t bytes;
	int r = wti_burn_peek(&bin->in, 0, WTI_BURN_WINDOW, &data, &bytes, err);
	struct wti_bytes in = {data, data + bytes, false};

	if (r)
		return r;
	if (!get_meta(&in, &bin->meta))
		return wti_err_at(err, WT_E_FORMAT, in.at - data,
				  "'%s' does not begin with the metadata of a Burn record",
				  bin->in.model->path);
	bin->in.at = (uint64_t)(in.at - data);
	if (bin->meta.minor <= WTI_BURN_LAST_UNTYPED && !wti_burn_dtype_untyped(&bin->meta))
		return wti_err(
			err, WT_E_FORMAT,
			"'%s' has elements of type '%s' from before Burn 0.14, which are not "
			"supported: save it with full precision",
			bin->in.model->path, bin->meta.fields[0]);
	return wti_burn_meta_keep(bin->in.model, &bin->meta, err);
}

static int take_all(struct bin *bin, struct wt_err *err)
{
	int r = take_meta(bin, err);

	wti_json_array(&bin->json);
	if (!r)
		r = take_items(bin, err);
	wti_json_array_end(&bin->json);
	if (!r)
		r = check_items(bin, err);
	if (!r && wti_buf_status(&bin->record))
		r = wti_err(err, wti_buf_status(&bin->record), "'%s' has too many fields",
			    bin->in.model->path);
	return r ? r
		 : wti_model_add_entry(bin->in.model, "burn.fields", wti_buf_cstr(&bin->record),
				       err);
}

int wti_burn_read_bin(struct wti_model *model, uint32_t source, struct wt_err *err)
{
	struct bin *bin = calloc(1, sizeof(*bin));
	int r;

	if (!bin)
		return wti_err(err, WT_E_NOMEM, "out of memory for a model");
	wti_burn_in_init(&bin->in, model, source);
	wti_buf_init(&bin->record, RECORD_MAX);
	wti_json_init(&bin->json, &bin->record, false);
	r = take_all(bin, err);
	wti_buf_release(&bin->record);
	free(bin->between);
	free(bin);
	return r;
}

static bool is_one(const struct wti_model_probe *probe)
{
	return !probe->is_folder && wti_burn_is_bin(probe->head, probe->head_bytes);
}

static int read_first(struct wti_model *model, struct wt_err *err)
{
	return wti_burn_read_bin(model, 0, err);
}

const struct wti_model_format wti_model_burn_bin = {
	.name = "burn-bin",
	.title = "Burn record (bincode)",
	.suffixes = "bin",
	.is_one = is_one,
	.read = read_first,
	.write = wti_burn_write_bin,
};
