/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burnpack (.bpk), which Burn has from 0.19 on: "NRUB", u16 version 1, u32 bytes of a CBOR map, the
 * map, the elements. From 0.20 on the elements begin at a multiple of 256 bytes and so does every
 * tensor; 0.19 has neither, under the same version. Which it is, the end of the file shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/burn/record.h"

#define HEAD_BYTES 10u
#define ALIGNMENT 256u
#define TEXT_MAX 65536u /* of metadata */

enum level { DOCUMENT, SECTIONS, TENSORS, TENSOR, SHAPE, OFFSETS, DTYPE, METADATA, SCALARS };

struct pack_tensor {
	char *name;
	const struct wti_burn_dtype *type;
	uint64_t *shape;
	uint32_t rank;
	uint64_t begin;
	uint64_t end;
	uint64_t id;
	bool has_id;
	bool wide; /* a Boolean of four bytes */
};

struct pack {
	struct wti_burn_in in;
	struct wt_err *err;
	enum level levels[WTI_DOC_DEPTH_MAX + 2];
	unsigned depth;
	bool has_key;
	char key[WTI_MODEL_NAME_MAX + 1];
	char text[TEXT_MAX + 1];
	struct pack_tensor now;
	uint64_t shape[WTI_MODEL_RANK_MAX];
	unsigned offset_count;
	struct pack_tensor *tensors;
	size_t count, capacity;
};

static int refuse(const struct pack *pack, const char *what)
{
	return wti_err_at(pack->err, WT_E_FORMAT, (int64_t)pack->in.at,
			  "'%s' is not a valid burnpack: %s at byte %llu", pack->in.model->path,
			  what, (unsigned long long)pack->in.at);
}

/* ---- What the map means -------------------------------------------------------------------- */

static int keep_tensor(struct pack *pack)
{
	struct pack_tensor *now = &pack->now;

	if (!now->type || pack->offset_count != 2 || now->begin > now->end)
		return refuse(pack, "a tensor without type, shape or place");
	if (wti_grow(&pack->tensors, pack->count + 1, &pack->capacity, WTI_MODEL_TENSORS_MAX))
		return wti_err(pack->err, WT_E_LIMIT, "'%s' has too many tensors",
			       pack->in.model->path);
	now->shape = wti_arena_alloc(&pack->in.model->arena, (now->rank + 1) * sizeof(uint64_t));
	if (!now->shape || !now->name)
		return wti_err(pack->err, WT_E_NOMEM, "out of memory for a model");
	memcpy(now->shape, pack->shape, now->rank * sizeof(uint64_t));
	pack->tensors[pack->count++] = *now;
	return 0;
}

static int begin_level(struct pack *pack, enum level level)
{
	pack->levels[pack->depth++] = level;
	pack->has_key = false;
	return 0;
}

static int begin_tensor(struct pack *pack)
{
	memset(&pack->now, 0, sizeof(pack->now));
	pack->offset_count = 0;
	pack->now.name = wti_arena_text(&pack->in.model->arena, pack->key, strlen(pack->key));
	return begin_level(pack, TENSOR);
}

static int take_section(struct pack *pack, const struct wti_burn_event *event)
{
	if (event->type == WTI_BURN_MAP && !strcmp(pack->key, "tensors"))
		return begin_level(pack, TENSORS);
	if (event->type == WTI_BURN_MAP && !strcmp(pack->key, "metadata"))
		return begin_level(pack, METADATA);
	if (event->type == WTI_BURN_MAP && !strcmp(pack->key, "scalars"))
		return begin_level(pack, SCALARS);
	return refuse(pack, "an unknown section");
}

static int take_field(struct pack *pack, const struct wti_burn_event *event)
{
	if (!strcmp(pack->key, "dtype") && event->type == WTI_BURN_TEXT)
		pack->now.type = wti_burn_dtype_named(event->text, event->bytes);
	else if (!strcmp(pack->key, "dtype") && event->type == WTI_BURN_MAP)
		return begin_level(pack, DTYPE);
	else if (!strcmp(pack->key, "shape") && event->type == WTI_BURN_LIST)
		return begin_level(pack, SHAPE);
	else if (!strcmp(pack->key, "data_offsets") && event->type == WTI_BURN_LIST)
		return begin_level(pack, OFFSETS);
	else if (!strcmp(pack->key, "param_id") && event->type == WTI_BURN_COUNT)
		pack->now.id = event->number, pack->now.has_id = true;
	else
		return refuse(pack, "an unknown field of a tensor");
	return pack->now.type || strcmp(pack->key, "dtype") ? 0 : refuse(pack, "an unknown type");
}

static int take_number(struct pack *pack, const struct wti_burn_event *event, enum level level)
{
	if (event->type != WTI_BURN_COUNT)
		return refuse(pack, "something that is not a number");
	if (level == SHAPE) {
		if (pack->now.rank == WTI_MODEL_RANK_MAX)
			return refuse(pack, "too many dimensions");
		pack->shape[pack->now.rank++] = event->number;
		return 0;
	}
	if (pack->offset_count == 2)
		return refuse(pack, "more than two offsets");
	*(pack->offset_count++ ? &pack->now.end : &pack->now.begin) = event->number;
	return 0;
}

static int keep_entry(struct pack *pack, const char *value)
{
	struct wti_buf key;
	int r;

	wti_buf_init(&key, WTI_MODEL_NAME_MAX + 32);
	wti_buf_printf(&key, "burnpack.%s", pack->key);
	r = wti_buf_status(&key)
		    ? wti_err(pack->err, WT_E_NOMEM, "out of memory for a model")
		    : wti_model_add_entry(pack->in.model, wti_buf_cstr(&key), value, pack->err);
	wti_buf_release(&key);
	return r;
}

static int take_entry(struct pack *pack, const struct wti_burn_event *event)
{
	char text[40];

	switch (event->type) {
	case WTI_BURN_TEXT:
		return memchr(event->text, 0, event->bytes) ? refuse(pack, "a text with a NUL")
							    : keep_entry(pack, event->text);
	case WTI_BURN_COUNT:
		snprintf(text, sizeof(text), "%llu", (unsigned long long)event->number);
		return keep_entry(pack, text);
	case WTI_BURN_NEGATIVE:
		snprintf(text, sizeof(text), "%lld", (long long)event->negative);
		return keep_entry(pack, text);
	case WTI_BURN_F64:
		snprintf(text, sizeof(text), "%.17g", event->real);
		return keep_entry(pack, text);
	case WTI_BURN_BOOL:
		return keep_entry(pack, event->number ? "true" : "false");
	case WTI_BURN_MAP: /* of a scalar: {"F64": 0.5} */
		return begin_level(pack, METADATA);
	default:
		return refuse(pack, "metadata that are neither text nor number");
	}
}

/* {"Bool": "Native"}; a quantised one has a scheme. */
static int take_dtype(struct pack *pack, const struct wti_burn_event *event)
{
	pack->now.type = wti_burn_dtype_named(pack->key, strlen(pack->key));
	if (!pack->now.type || !pack->now.type->bytes || event->type != WTI_BURN_TEXT)
		return refuse(pack, "a type that is not supported");
	pack->now.wide = !strcmp(event->text, "U32");
	return 0;
}

static int take_value(struct pack *pack, const struct wti_burn_event *event)
{
	enum level level = pack->depth ? pack->levels[pack->depth - 1] : DOCUMENT;

	switch (level) {
	case DOCUMENT:
		return event->type == WTI_BURN_MAP ? begin_level(pack, SECTIONS)
						   : refuse(pack, "no map");
	case SECTIONS:
		return take_section(pack, event);
	case TENSORS:
		return event->type == WTI_BURN_MAP ? begin_tensor(pack)
						   : refuse(pack, "a tensor that is not a map");
	case TENSOR:
		return take_field(pack, event);
	case SHAPE:
	case OFFSETS:
		return take_number(pack, event, level);
	case DTYPE:
		return take_dtype(pack, event);
	case METADATA:
	case SCALARS:
		return take_entry(pack, event);
	}
	return refuse(pack, "something unknown");
}

static int take_event(void *self, const struct wti_burn_event *event, struct wt_err *err)
{
	struct pack *pack = self;
	enum level level = pack->depth ? pack->levels[pack->depth - 1] : DOCUMENT;
	bool is_map = level != DOCUMENT && level != SHAPE && level != OFFSETS;

	(void)err;
	if (event->type == WTI_BURN_END) {
		pack->depth--;
		pack->has_key = false;
		return level == TENSOR ? keep_tensor(pack) : 0;
	}
	if (is_map && !pack->has_key) {
		if (event->type != WTI_BURN_TEXT || event->bytes > WTI_MODEL_NAME_MAX ||
		    memchr(event->text, 0, event->bytes))
			return refuse(pack, "a key that is not a text");
		memcpy(pack->key, event->text, event->bytes + 1);
		pack->has_key = true;
		return 0;
	}
	pack->has_key = false;
	return take_value(pack, event);
}

/* ---- CBOR ---------------------------------------------------------------------------------- */

/* The number in or behind a first byte, in its shortest form; lengths are always known. */
static int take_head(struct pack *pack, uint8_t *ret_major, uint8_t *ret_minor, uint64_t *ret)
{
	const uint8_t *data;
	unsigned bytes;
	int r = wti_burn_take(&pack->in, 1, "a value", &data, pack->err);

	if (r)
		return r;
	*ret_major = *data >> 5;
	*ret_minor = *data & 31;
	*ret = *ret_minor;
	if (*ret_minor < 24)
		return 0;
	if (*ret_minor > 27)
		return refuse(pack, "a value of unknown length");
	bytes = 1u << (*ret_minor - 24);
	r = wti_burn_take(&pack->in, bytes, "a number", &data, pack->err);
	*ret = 0;
	for (unsigned i = 0; !r && i < bytes; i++)
		*ret = *ret << 8 | data[i];
	return r;
}

static double half_of(uint16_t bits)
{
	double sign = bits & 0x8000 ? -1 : 1;
	int exponent = bits >> 10 & 31;
	double fraction = bits & 1023;

	if (exponent == 31)
		return fraction != 0 ? __builtin_nan("") : sign * __builtin_inf();
	return sign * (exponent ? __builtin_ldexp(1024 + fraction, exponent - 25)
				: __builtin_ldexp(fraction, -24));
}

/* false, true, null and floats. */
static int take_simple(struct pack *pack, uint8_t minor, uint64_t number,
		       struct wti_burn_event *event)
{
	uint32_t bits = (uint32_t)number;
	float single;

	if (minor == 20 || minor == 21) {
		*event = (struct wti_burn_event){.type = WTI_BURN_BOOL, .number = minor == 21};
	} else if (minor == 22) {
		event->type = WTI_BURN_NIL;
	} else if (minor >= 25 && minor <= 27) {
		event->type = WTI_BURN_F64;
		memcpy(&single, &bits, sizeof(single));
		memcpy(&event->real, &number, sizeof(event->real));
		if (minor != 27)
			event->real = minor == 25 ? half_of((uint16_t)number) : (double)single;
	} else {
		return refuse(pack, "a value of an unknown kind");
	}
	return 0;
}

static int take_text(struct pack *pack, uint64_t bytes, struct wti_burn_event *event)
{
	size_t done = 0;

	if (bytes > TEXT_MAX || bytes > pack->in.end - pack->in.at)
		return refuse(pack, "a text that is too long");
	while (done < bytes) {
		size_t part = bytes - done < 4096 ? (size_t)bytes - done : 4096;
		const uint8_t *data;
		int r = wti_burn_take(&pack->in, part, "a text", &data, pack->err);

		if (r)
			return r;
		memcpy(pack->text + done, data, part);
		done += part;
	}
	pack->text[bytes] = '\0';
	if (!wti_is_utf8(pack->text, (size_t)bytes))
		return refuse(pack, "a text that is not UTF-8");
	event->type = WTI_BURN_TEXT;
	event->text = pack->text;
	event->bytes = (size_t)bytes;
	return 0;
}

static int take_item(struct pack *pack, struct wti_burn_event *event)
{
	uint8_t major, minor;
	uint64_t number;
	int r = take_head(pack, &major, &minor, &number);

	*event = (struct wti_burn_event){.at = pack->in.at, .number = number, .text = ""};
	if (r)
		return r;
	switch (major) {
	case 0:
		event->type = WTI_BURN_COUNT;
		return 0;
	case 1:
		event->type = WTI_BURN_NEGATIVE;
		event->negative = number > INT64_MAX ? INT64_MIN : -1 - (int64_t)number;
		return 0;
	case 3:
		return take_text(pack, number, event);
	case 4:
	case 5:
		event->type = major == 4 ? WTI_BURN_LIST : WTI_BURN_MAP;
		return number <= pack->in.end - pack->in.at ? 0 : refuse(pack, "too many entries");
	case 7:
		return take_simple(pack, minor, number, event);
	default:
		return refuse(pack, "a value of an unknown kind");
	}
}

/* ---- The file ------------------------------------------------------------------------------ */

static uint64_t aligned(uint64_t at)
{
	return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int by_place(const void *a, const void *b)
{
	const struct pack_tensor *const *x = a, *const *y = b;
	int order = ((*x)->begin > (*y)->begin) - ((*x)->begin < (*y)->begin);

	return order ? order : ((*x)->end > (*y)->end) - ((*x)->end < (*y)->end);
}

/* One behind the other, with nothing between but what the alignment asks for. */
static int check_places(struct pack *pack, uint64_t alignment)
{
	struct pack_tensor **sorted = calloc(pack->count + 1, sizeof(struct pack_tensor *));
	uint64_t end = 0;
	int r = 0;

	if (!sorted)
		return wti_err(pack->err, WT_E_NOMEM, "out of memory for a model");
	for (size_t i = 0; i < pack->count; i++)
		sorted[i] = &pack->tensors[i];
	qsort(sorted, pack->count, sizeof(struct pack_tensor *), by_place);
	for (size_t i = 0; !r && i < pack->count; i++) {
		if (sorted[i]->begin < end || sorted[i]->begin - end >= alignment ||
		    sorted[i]->begin % alignment)
			r = wti_err(pack->err, WT_E_FORMAT,
				    "'%s' is not a valid burnpack: '%s' overlaps another tensor or "
				    "leaves a gap",
				    pack->in.model->path, sorted[i]->name);
		end = sorted[i]->end;
	}
	free(sorted);
	return r;
}

static int find_data(struct pack *pack, uint64_t header_end, uint64_t *ret_data)
{
	uint64_t file_end = wti_model_source_bytes(pack->in.model, 0), end = 0;

	for (size_t i = 0; i < pack->count; i++)
		end = pack->tensors[i].end > end ? pack->tensors[i].end : end;
	*ret_data = aligned(header_end);
	if (*ret_data <= file_end && file_end - *ret_data == end)
		return check_places(pack, ALIGNMENT);
	*ret_data = header_end;
	if (file_end - header_end == end)
		return check_places(pack, 1);
	return wti_err(pack->err, WT_E_FORMAT,
		       "'%s' is not as long as its tensors ask for: it is truncated or damaged",
		       pack->in.model->path);
}

static const char id_symbols[] = "0123456789abcdefghijklmnopqrstuv";

/* As the records write it: 64 bits, five a symbol, the bytes of the number in their order. */
static void spell_id(uint64_t id, char out[14])
{
	uint64_t bits = __builtin_bswap64(id);

	for (unsigned i = 0; i < 12; i++)
		out[i] = id_symbols[bits >> (59 - 5 * i) & 31];
	out[12] = id_symbols[bits << 1 & 31];
	out[13] = '\0';
}

static int add_tensor(struct pack *pack, const struct pack_tensor *found, uint64_t data)
{
	struct wti_model_tensor tensor = {.name = found->name,
					  .dtype = found->wide ? WT_DTYPE_U32 : found->type->dtype,
					  .type = found->type->name,
					  .rank = found->rank,
					  .shape = found->shape,
					  .bytes = found->end - found->begin};
	uint64_t bytes = found->wide ? 4 : found->type->bytes;
	char id[14];
	int r;

	for (uint32_t i = 0; i < found->rank; i++) {
		if (__builtin_mul_overflow(bytes, found->shape[i], &bytes))
			bytes = UINT64_MAX;
	}
	if (found->type->bytes && bytes != tensor.bytes)
		return wti_err(pack->err, WT_E_FORMAT,
			       "'%s' is not a valid burnpack: the elements of '%s' do not fit its "
			       "shape",
			       pack->in.model->path, found->name);
	tensor.offset = data + found->begin;
	r = wti_model_add(pack->in.model, &tensor, pack->err);
	if (r || !found->has_id)
		return r;
	spell_id(found->id, id);
	return wti_burn_id_keep(pack->in.model, found->name, id, pack->err);
}

static int read_map(struct pack *pack)
{
	struct wti_burn_nest nest = {.take = take_event, .self = pack};
	bool done = false;
	int r = 0;

	while (!r && !done) {
		struct wti_burn_event event;

		r = take_item(pack, &event);
		if (!r)
			r = wti_burn_nest_take(&nest, &event, event.number, &done, pack->err);
	}
	if (!r && pack->in.at != pack->in.end)
		r = refuse(pack, "something behind the map");
	return r;
}

static int read_pack(struct pack *pack)
{
	const uint8_t *head;
	uint64_t map_bytes, data;
	int r = wti_burn_take(&pack->in, HEAD_BYTES, "its header", &head, pack->err);

	if (r)
		return r;
	map_bytes = wti_get32(head + 6);
	if (wti_get16(head + 4) != 1)
		return wti_err(pack->err, WT_E_VERSION,
			       "'%s' is a burnpack of version %u: only 1 "
			       "is known",
			       pack->in.model->path, wti_get16(head + 4));
	if (map_bytes > WTI_MODEL_HEADER_MAX || map_bytes > pack->in.end - HEAD_BYTES)
		return refuse(pack, "a header longer than the file");
	pack->in.end = HEAD_BYTES + map_bytes;
	r = read_map(pack);
	if (!r)
		r = find_data(pack, HEAD_BYTES + map_bytes, &data);
	for (size_t i = 0; !r && i < pack->count; i++)
		r = add_tensor(pack, &pack->tensors[i], data);
	return r;
}

static int read_file(struct wti_model *model, struct wt_err *err)
{
	struct pack *pack = calloc(1, sizeof(*pack));
	int r;

	if (!pack)
		return wti_err(err, WT_E_NOMEM, "out of memory for a model");
	wti_burn_in_init(&pack->in, model, 0);
	pack->err = err;
	r = read_pack(pack);
	free(pack->tensors);
	free(pack);
	return r;
}

static bool is_one(const struct wti_model_probe *probe)
{
	return !probe->is_folder && probe->head_bytes >= HEAD_BYTES &&
	       !memcmp(probe->head, "NRUB", 4);
}

const struct wti_model_format wti_model_burnpack = {
	.name = "burnpack",
	.title = "burnpack",
	.suffixes = "",
	.is_one = is_one,
	.read = read_file,
};
