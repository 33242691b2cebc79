/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burn's .bin.gz, .mpk.gz and .json.gz: any of its records in one member of gzip. It is unpacked
 * into memory, up to a ceiling; gzip's own checksum covers all of it.
 */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/err.h"
#include "model/burn/burn.h"

#define GZIP_ONLY (16 + MAX_WBITS) /* as zlib spells it */
#define BLOCK ((size_t)1 << 16)

static bool is_record(const uint8_t *head, size_t bytes)
{
	return wti_burn_is_bin(head, bytes) || wti_burn_is_mpk(head, bytes) ||
	       wti_burn_is_json(head, bytes);
}

static bool is_one(const struct wti_model_probe *probe)
{
	uint8_t head[1024];
	z_stream stream = {.next_in = (uint8_t *)probe->head,
			   .avail_in = (uInt)probe->head_bytes,
			   .next_out = head,
			   .avail_out = sizeof(head)};
	bool is;

	if (probe->is_folder || probe->head_bytes < 2 || memcmp(probe->head, "\x1f\x8b", 2) ||
	    inflateInit2(&stream, GZIP_ONLY) != Z_OK)
		return false;
	inflate(&stream, Z_SYNC_FLUSH);
	is = is_record(head, sizeof(head) - stream.avail_out);
	inflateEnd(&stream);
	return is;
}

static int refuse(const struct wti_model *model, const char *what, struct wt_err *err)
{
	return wti_err(err, WT_E_FORMAT, "'%s' is damaged: %s", model->path, what);
}

/* All of one block into `out`. `ret_done`: the member has ended. */
static int unpack_block(struct wti_model *model, z_stream *stream, struct wti_buf *out,
			bool *ret_done, struct wt_err *err)
{
	while (stream->avail_in && !*ret_done) {
		uint8_t *room = wti_buf_reserve(out, BLOCK);
		int status;

		if (!room)
			return wti_err(err, wti_buf_status(out), "'%s' is too large to be unpacked",
				       model->path);
		stream->next_out = room;
		stream->avail_out = (uInt)BLOCK;
		status = inflate(stream, Z_NO_FLUSH);
		wti_buf_added(out, BLOCK - stream->avail_out);
		if (status != Z_OK && status != Z_STREAM_END)
			return refuse(model, "it cannot be decompressed", err);
		*ret_done = status == Z_STREAM_END;
	}
	return stream->avail_in
		       ? refuse(model, "there is something behind the compressed data", err)
		       : 0;
}

static int unpack(struct wti_model *model, z_stream *stream, struct wti_buf *out,
		  struct wt_err *err)
{
	uint64_t bytes = wti_model_source_bytes(model, 0);
	uint8_t block[4096];
	bool done = false;

	for (uint64_t at = 0; at < bytes; at += sizeof(block)) {
		size_t part = bytes - at < sizeof(block) ? (size_t)(bytes - at) : sizeof(block);
		int r = wti_model_read(model, 0, at, block, part, err);

		if (r)
			return r;
		stream->next_in = block;
		stream->avail_in = (uInt)part;
		r = unpack_block(model, stream, out, &done, err);
		if (r)
			return r;
	}
	return done ? 0 : refuse(model, "the compressed data end too early: it is truncated", err);
}

static int read_unpacked(struct wti_model *model, struct wti_buf *out, struct wt_err *err)
{
	bool bin = wti_burn_is_bin(out->data, out->bytes);
	bool mpk = wti_burn_is_mpk(out->data, out->bytes);
	uint32_t source;
	int r;

	if (!out->data || !is_record(out->data, out->bytes))
		return refuse(model, "what it contains is not a Burn record", err);
	r = wti_model_add_memory(model, out, &source, err);
	if (r)
		return r;
	return bin   ? wti_burn_read_bin(model, source, err)
	       : mpk ? wti_burn_read_mpk(model, source, err)
		     : wti_burn_read_json(model, source, err);
}

static int read_gz(struct wti_model *model, struct wt_err *err)
{
	z_stream stream = {0};
	struct wti_buf out;
	int r;

	if (inflateInit2(&stream, GZIP_ONLY) != Z_OK)
		return wti_err(err, WT_E_NOMEM, "out of memory for a model");
	wti_buf_init(&out, WTI_MODEL_UNPACKED_MAX);
	r = unpack(model, &stream, &out, err);
	inflateEnd(&stream);
	if (!r)
		r = read_unpacked(model, &out, err);
	wti_buf_release(&out);
	return r;
}

const struct wti_model_format wti_model_burn_gz = {
	.name = "burn-gz",
	.title = "Burn record (gzip)",
	.suffixes = "",
	.is_one = is_one,
	.read = read_gz,
};
