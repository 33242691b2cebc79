/* SPDX-License-Identifier: Apache-2.0 */
/* The content of zip entries: checksums, and what is deflated. */
#include <zlib.h>

#include "base/err.h"
#include "model/format.h"
#include "model/zip.h"

#define BLOCK_BYTES 65536u

static int wrong(const struct wti_zip *zip, const struct wti_zip_entry *entry, struct wt_err *err,
		 const char *reason)
{
	return wti_model_bad(zip->model, zip->source, entry->offset, err,
			     "zip: entry '%.120s' %s: copy or download the file again", entry->name,
			     reason);
}

static int crc_of(struct wti_zip *zip, const struct wti_zip_entry *entry, uint32_t *ret,
		  struct wt_err *err)
{
	uint8_t block[BLOCK_BYTES];
	uLong crc = crc32(0, NULL, 0);

	for (uint64_t at = 0; at < entry->packed;) {
		uint64_t left = entry->packed - at;
		size_t bytes = left < sizeof(block) ? (size_t)left : sizeof(block);
		int r = wti_model_read(zip->model, zip->source, entry->offset + at, block, bytes,
				       err);

		if (r)
			return r;
		crc = crc32(crc, block, (uInt)bytes);
		at += bytes;
	}
	*ret = (uint32_t)crc;
	return 0;
}

int wti_zip_check(struct wti_zip *zip, const struct wti_zip_entry *entry, struct wt_err *err)
{
	uint32_t crc;
	int r;

	if (entry->method != WTI_ZIP_STORED)
		return wti_err(err, WT_E_ARG, "'%s' is not stored", entry->name);
	r = crc_of(zip, entry, &crc, err);
	if (!r && crc != entry->crc)
		r = wrong(zip, entry, err, "does not have the checksum that was written with it");
	return r;
}

/* One block of deflated bytes: what comes out is appended. */
static int inflate_block(z_stream *stream, struct wti_buf *out, uint64_t *left, int *ret_status)
{
	while (stream->avail_in && *ret_status == Z_OK) {
		size_t room_bytes = *left < BLOCK_BYTES ? (size_t)*left + 1 : BLOCK_BYTES;
		uint8_t *room = wti_buf_reserve(out, room_bytes);
		size_t made;

		if (!room)
			return wti_buf_status(out);
		stream->next_out = room;
		stream->avail_out = (uInt)room_bytes;
		*ret_status = inflate(stream, Z_NO_FLUSH);
		made = room_bytes - stream->avail_out;
		if (made > *left)
			return WT_E_FORMAT;
		*left -= made;
		wti_buf_added(out, made);
	}
	return 0;
}

static int inflate_all(struct wti_zip *zip, const struct wti_zip_entry *entry, z_stream *stream,
		       struct wti_buf *out, struct wt_err *err)
{
	uint8_t block[BLOCK_BYTES];
	uint64_t left = entry->bytes;
	int status = Z_OK;

	for (uint64_t at = 0; at < entry->packed && status == Z_OK;) {
		uint64_t rest = entry->packed - at;
		size_t bytes = rest < sizeof(block) ? (size_t)rest : sizeof(block);
		int r = wti_model_read(zip->model, zip->source, entry->offset + at, block, bytes,
				       err);

		if (r)
			return r;
		stream->next_in = block;
		stream->avail_in = (uInt)bytes;
		r = inflate_block(stream, out, &left, &status);
		if (r == WT_E_FORMAT)
			return wrong(zip, entry, err, "unpacks to more than it says");
		if (r)
			return wti_err(err, r, "cannot unpack '%.200s' of '%s': %s", entry->name,
				       zip->model->path,
				       r == WT_E_NOMEM ? "out of memory" : "it is too large");
		at += bytes;
	}
	if (status != Z_STREAM_END || stream->avail_in || left)
		return wrong(zip, entry, err, "is damaged");
	return 0;
}

static int unpack(struct wti_zip *zip, const struct wti_zip_entry *entry, struct wti_buf *out,
		  struct wt_err *err)
{
	z_stream stream = {0};
	int r;

	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = inflate_all(zip, entry, &stream, out, err);
	inflateEnd(&stream);
	return r;
}

int wti_zip_read(struct wti_zip *zip, const struct wti_zip_entry *entry, struct wti_buf *out,
		 struct wt_err *err)
{
	size_t before = out->bytes;
	int r = entry->method == WTI_ZIP_STORED
			? wti_model_read_buf(zip->model, zip->source, entry->offset, entry->packed,
					     out, err)
			: unpack(zip, entry, out, err);

	if (r)
		return r;
	if (crc32_z(crc32_z(0, NULL, 0), out->data + before, out->bytes - before) != entry->crc)
		return wrong(zip, entry, err,
			     "does not have the checksum that was written with it");
	return 0;
}
