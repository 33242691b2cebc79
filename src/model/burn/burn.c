/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata, types and ids of Burn's records, by version; reading and writing in windows. */
#include "model/burn/burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"

const char *const wti_burn_fields[WTI_BURN_FIELDS] = {"float", "int", "format", "version",
						      "settings"};
const char *const wti_burn_bool_stores[WTI_BURN_BOOL_STORES] = {"Native", "U8", "U32"};

static const struct wti_burn_dtype dtypes[] = {
	{"F64", WT_DTYPE_F64, 8, {0, 0, 0}},
	{"F32", WT_DTYPE_F32, 4, {1, 1, 1}},
	{"Flex32", WT_DTYPE_F32, 4, {-1, -1, 2}},
	{"F16", WT_DTYPE_F16, 2, {2, 2, 3}},
	{"BF16", WT_DTYPE_BF16, 2, {3, 3, 4}},
	{"I64", WT_DTYPE_I64, 8, {4, 4, 5}},
	{"I32", WT_DTYPE_I32, 4, {5, 5, 6}},
	{"I16", WT_DTYPE_I16, 2, {6, 6, 7}},
	{"I8", WT_DTYPE_I8, 1, {7, 7, 8}},
	{"U64", WT_DTYPE_U64, 8, {8, 8, 9}},
	{"U32", WT_DTYPE_U32, 4, {9, 9, 10}},
	{"U16", WT_DTYPE_U16, 2, {-1, 10, 11}},
	{"U8", WT_DTYPE_U8, 1, {10, 11, 12}},
	{"Bool", WT_DTYPE_BOOL, 1, {11, 12, 13}},
	/* Quantised: what its bytes mean depends on the scheme. A .bin does not tell where it ends.
	 */
	{"QFloat", WT_DTYPE_OTHER, 0, {-1, -1, -1}},
};

static unsigned table_of(unsigned minor)
{
	return minor <= 15 ? 0 : minor == 16 ? 1 : 2;
}

const struct wti_burn_dtype *wti_burn_dtype_named(const char *name, size_t bytes)
{
	for (size_t i = 0; i < WTI_COUNT(dtypes); i++) {
		if (strlen(dtypes[i].name) == bytes && !memcmp(dtypes[i].name, name, bytes))
			return &dtypes[i];
	}
	return NULL;
}

const struct wti_burn_dtype *wti_burn_dtype_numbered(unsigned minor, uint64_t number)
{
	for (size_t i = 0; i < WTI_COUNT(dtypes); i++) {
		int known = dtypes[i].numbers[table_of(minor)];

		if (known >= 0 && (uint64_t)known == number)
			return &dtypes[i];
	}
	return NULL;
}

/* By the word where the tensor comes from Burn: Flex32 is F32 in memory. */
const struct wti_burn_dtype *wti_burn_dtype_of(const struct wti_model_tensor *tensor)
{
	const struct wti_burn_dtype *named =
		tensor->type ? wti_burn_dtype_named(tensor->type, strlen(tensor->type)) : NULL;

	if (named && named->dtype == tensor->dtype)
		return named;
	for (size_t i = 0; i < WTI_COUNT(dtypes); i++) {
		if (dtypes[i].dtype == tensor->dtype && tensor->dtype != WT_DTYPE_OTHER)
			return &dtypes[i];
	}
	return NULL;
}

int wti_burn_dtype_number(unsigned minor, const struct wti_burn_dtype *type)
{
	return type->numbers[table_of(minor)];
}

/* A half is a number of variable length there: those files are not read. */
const struct wti_burn_dtype *wti_burn_dtype_untyped(const struct wti_burn_meta *meta)
{
	if (!strcmp(meta->fields[0], "f32"))
		return wti_burn_dtype_named("F32", 3);
	return strcmp(meta->fields[0], "f64") ? NULL : wti_burn_dtype_named("F64", 3);
}

/* ---- Metadata ------------------------------------------------------------------------------ */

int wti_burn_meta_check(struct wti_burn_meta *meta, struct wt_err *err)
{
	unsigned major, minor;
	int used = 0;
	const char *version = meta->fields[WTI_BURN_VERSION];

	if (sscanf(version, "%3u.%3u%n", &major, &minor, &used) != 2 ||
	    (version[used] != '.' && version[used]))
		return wti_err(err, WT_E_FORMAT,
			       "bad version '%s' of Burn: is it a record of Burn?", version);
	meta->minor = major ? 999 : minor;
	return 0;
}

int wti_burn_meta_keep(struct wti_model *model, const struct wti_burn_meta *meta,
		       struct wt_err *err)
{
	char key[32];
	int r = 0;

	for (size_t i = 0; !r && i < WTI_BURN_FIELDS; i++) {
		snprintf(key, sizeof(key), "burn.%s", wti_burn_fields[i]);
		r = wti_model_add_entry(model, key, meta->fields[i], err);
	}
	return r;
}

const char *wti_burn_entry(const struct wti_model *model, const char *prefix, const char *name)
{
	size_t prefix_bytes = strlen(prefix);

	for (size_t i = 0; i < model->entry_count; i++) {
		const char *key = model->entries[i].key;

		if (!strncmp(key, prefix, prefix_bytes) && !strcmp(key + prefix_bytes, name))
			return model->entries[i].value;
	}
	return NULL;
}

/* What Burn 0.18 writes for a network of floats; newer ones read it, too. */
static const char *const usual[WTI_BURN_FIELDS] = {
	"f32", "i32",
	"burn_core::record::file::BinFileRecorder<burn_core::record::settings::"
	"FullPrecisionSettings>",
	"0.18.0", "FullPrecisionSettings"};

/* "a::b::Old<c::d>" becomes "a::b::New<c::d>". */
static void name_recorder(char *format, const char *recorder)
{
	char rest[WTI_BURN_TEXT_MAX + 1];
	char *end = strchr(format, '<');
	char *begin = end;

	if (!end)
		return;
	while (begin > format && begin[-1] != ':')
		begin--;
	snprintf(rest, sizeof(rest), "%s", end);
	snprintf(begin, WTI_BURN_TEXT_MAX + 1 - (size_t)(begin - format), "%s%s", recorder, rest);
}

int wti_burn_meta_of(const struct wti_model *model, const char *recorder,
		     struct wti_burn_meta *meta, struct wt_err *err)
{
	for (size_t i = 0; i < WTI_BURN_FIELDS; i++) {
		const char *kept = wti_burn_entry(model, "burn.", wti_burn_fields[i]);

		if (kept && strlen(kept) > WTI_BURN_TEXT_MAX)
			return wti_err(err, WT_E_LIMIT, "'burn.%s' is longer than %u bytes",
				       wti_burn_fields[i], WTI_BURN_TEXT_MAX);
		snprintf(meta->fields[i], sizeof(meta->fields[i]), "%s", kept ? kept : usual[i]);
	}
	name_recorder(meta->fields[WTI_BURN_FORMAT], recorder);
	return wti_burn_meta_check(meta, err);
}

/* ---- Ids ----------------------------------------------------------------------------------- */

static const char base32[] = "0123456789abcdefghijklmnopqrstuv";

#define ID_SYMBOLS 13u       /* 64 bits, 5 a symbol: the last bit of the last one is 0 */
#define ID_SYMBOLS_OF_14 10u /* 6 bytes */
#define UUID_BYTES 36u

static bool is_base32(const char *id, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (!id[i] || !strchr(base32, id[i]))
			return false;
	}
	return true;
}

static bool is_uuid(const char *id, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		bool hex = (id[i] >= '0' && id[i] <= '9') || (id[i] >= 'a' && id[i] <= 'f');

		if (dash ? id[i] != '-' : !hex)
			return false;
	}
	return bytes == UUID_BYTES;
}

bool wti_burn_id_valid(unsigned minor, const char *id, size_t bytes)
{
	if (minor <= 14 && is_uuid(id, bytes))
		return true;
	if (minor == 14)
		return bytes == ID_SYMBOLS_OF_14 && is_base32(id, bytes);
	return minor > 14 && bytes == ID_SYMBOLS && is_base32(id, bytes) &&
	       (strchr(base32, id[bytes - 1]) - base32) % 2 == 0;
}

int wti_burn_id_keep(struct wti_model *model, const char *name, const char *id, struct wt_err *err)
{
	struct wti_buf key;
	int r;

	wti_buf_init(&key, WTI_MODEL_NAME_MAX + 16);
	wti_buf_text(&key, "burn.id.");
	wti_buf_text(&key, name);
	r = wti_buf_status(&key);
	r = r ? wti_err(err, r, "cannot keep the id of '%s'", name)
	      : wti_model_add_entry(model, wti_buf_cstr(&key), id, err);
	wti_buf_release(&key);
	return r;
}

static void make_id(unsigned minor, uint64_t hash, char ret_id[WTI_BURN_ID_MAX + 1])
{
	if (minor < 14) {
		unsigned long long low = hash * 0x9e3779b97f4a7c15u;

		snprintf(ret_id, WTI_BURN_ID_MAX + 1, "%08llx-%04llx-4%03llx-a%03llx-%012llx",
			 (unsigned long long)hash >> 32, (unsigned long long)hash >> 16 & 0xffff,
			 (unsigned long long)hash & 0xfff, low >> 48 & 0xfff,
			 low & 0xffffffffffffu);
		return;
	}
	for (unsigned i = 0; i < ID_SYMBOLS - 1; i++)
		ret_id[i] = base32[hash >> (59 - 5 * i) & 31];
	ret_id[ID_SYMBOLS - 1] = base32[hash << 1 & 31];
	ret_id[minor == 14 ? ID_SYMBOLS_OF_14 : ID_SYMBOLS] = '\0';
}

void wti_burn_id_of(const struct wti_model *model, unsigned minor, const char *name,
		    char ret_id[WTI_BURN_ID_MAX + 1])
{
	const char *kept = wti_burn_entry(model, "burn.id.", name);
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	if (kept && strlen(kept) <= WTI_BURN_ID_MAX &&
	    wti_burn_id_valid(minor, kept, strlen(kept))) {
		snprintf(ret_id, WTI_BURN_ID_MAX + 1, "%s", kept);
		return;
	}
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	make_id(minor, hash, ret_id);
}

/* ---- The file ------------------------------------------------------------------------------ */

void wti_burn_in_init(struct wti_burn_in *in, struct wti_model *model, uint32_t source)
{
	memset(in, 0, sizeof(*in));
	in->model = model;
	in->source = source;
	in->end = wti_model_source_bytes(model, source);
}

int wti_burn_peek(struct wti_burn_in *in, uint64_t at, size_t wanted, const uint8_t **ret_data,
		  size_t *ret_bytes, struct wt_err *err)
{
	uint64_t left = at < in->end ? in->end - at : 0;
	size_t bytes = left < wanted ? (size_t)left : wanted;

	if (at < in->window_at || at + bytes > in->window_at + in->window_bytes) {
		size_t all = left < WTI_BURN_WINDOW ? (size_t)left : WTI_BURN_WINDOW;
		int r = all ? wti_model_read(in->model, in->source, at, in->window, all, err) : 0;

		if (r)
			return r;
		in->window_at = at;
		in->window_bytes = all;
	}
	*ret_data = in->window + (at - in->window_at);
	*ret_bytes = bytes;
	return 0;
}

int wti_burn_take(struct wti_burn_in *in, size_t bytes, const char *what, const uint8_t **ret_data,
		  struct wt_err *err)
{
	size_t there;
	int r = wti_burn_peek(in, in->at, bytes, ret_data, &there, err);

	if (!r && there < bytes)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)in->at,
				  "'%s' ends in %s, at byte %llu: the file is truncated",
				  in->model->path, what, (unsigned long long)in->end);
	if (!r)
		in->at += bytes;
	return r;
}

#define OUT_BYTES ((size_t)1 << 16)

void wti_burn_out_init(struct wti_burn_out *out, struct wti_model *model, int fd,
		       struct wt_err *err)
{
	*out = (struct wti_burn_out){.model = model, .fd = fd, .err = err};
	wti_buf_init(&out->buf, OUT_BYTES + WTI_BURN_WINDOW);
}

static void flush(struct wti_burn_out *out)
{
	int r = wti_write_all(out->fd, out->buf.data, out->buf.bytes);

	if (r)
		out->status =
			wti_err(out->err, WT_E_IO, "cannot write the model: %s", strerror(-r));
	wti_buf_clear(&out->buf);
}

void wti_burn_put(struct wti_burn_out *out, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (!out->status && bytes) {
		size_t part = bytes < WTI_BURN_WINDOW ? bytes : WTI_BURN_WINDOW;

		if (wti_buf_append(&out->buf, at, part))
			out->status = wti_err(out->err, wti_buf_status(&out->buf),
					      "out of memory for writing a model");
		else if (out->buf.bytes >= OUT_BYTES)
			flush(out);
		at += part;
		bytes -= part;
	}
}

static int put_block(void *cookie, const void *data, size_t bytes)
{
	struct wti_burn_out *out = cookie;

	wti_burn_put(out, data, bytes);
	return out->status;
}

void wti_burn_put_elements(struct wti_burn_out *out, const struct wti_model_tensor *tensor)
{
	int r = out->status ? out->status
			    : wti_model_walk(out->model, tensor, put_block, out, out->err);

	if (r && !out->status)
		out->status = r;
}

int wti_burn_out_end(struct wti_burn_out *out)
{
	if (!out->status)
		flush(out);
	wti_buf_release(&out->buf);
	return out->status;
}
