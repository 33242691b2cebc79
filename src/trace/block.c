/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of headers, footers and chunks, and the checks that make them trustworthy. */
#include "block.h"

#include <string.h>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "base/err.h"

static const uint8_t file_magic[8] = {0x89, 'W', 'T', 'A', 'P', '\r', '\n', 0x1a};
static const uint8_t footer_magic[8] = {'W', 'T', 'A', 'P', 'E', 'N', 'D', '\n'};
static const uint8_t block_magic[4] = {'W', 'T', 'B', 'K'};

#define WRITER_AT 72
#define CHUNK_WORTH_COMPRESSING 64u

uint64_t wti_hash(const void *data, size_t bytes)
{
	return XXH3_64bits(data, bytes);
}

void wti_file_header_write(const struct wt_identity *identity, uint8_t out[WTI_FILE_HEADER_BYTES])
{
	memset(out, 0, WTI_FILE_HEADER_BYTES);
	memcpy(out, file_magic, sizeof(file_magic));
	wti_put16(out + 8, WTI_FORMAT_MAJOR);
	wti_put16(out + 10, WTI_FORMAT_MINOR);
	wti_put32(out + 12, WTI_FILE_HEADER_BYTES);
	memcpy(out + 16, identity->boot, sizeof(identity->boot));
	wti_put32(out + 32, identity->pid);
	wti_put32(out + 36, identity->exec);
	wti_put64(out + 40, identity->start_time);
	wti_put32(out + 48, identity->segment);
	wti_put32(out + 52, identity->clock);
	memcpy(out + 56, identity->command, sizeof(identity->command));
	memcpy(out + WRITER_AT, WTI_VERSION, strnlen(WTI_VERSION, WTI_WRITER_BYTES - 1));
	wti_put64(out + 120, wti_hash(out, 120));
}

/*
 * Magic, version of the format and version of the writer keep their places in every format, so that
 * a reader that is too old can name one that is not.
 */
static int is_newer(const uint8_t *in, struct wt_err *err)
{
	char writer[WTI_WRITER_BYTES + 1] = "";
	size_t bytes;

	memcpy(writer, in + WRITER_AT, WTI_WRITER_BYTES);
	bytes = strspn(writer, "0123456789.abcdefghijklmnopqrstuvwxyz+-");
	if (!bytes || writer[bytes])
		return wti_err_at(err, WT_E_VERSION, 8,
				  "made by a newer wheeltap (format %u, this one reads %u): "
				  "use a newer wheeltap",
				  wti_get16(in + 8), WTI_FORMAT_MAJOR);
	return wti_err_at(err, WT_E_VERSION, 8,
			  "made by wheeltap %s (format %u; this is " WTI_VERSION
			  ", which reads %u): read it with wheeltap %s or later",
			  writer, wti_get16(in + 8), WTI_FORMAT_MAJOR, writer);
}

int wti_file_header_read(const uint8_t *in, size_t bytes, struct wt_identity *ret_identity,
			 struct wt_err *err)
{
	if (bytes == 0)
		return wti_err_at(err, WT_E_FORMAT, 0, "empty file, not a wheeltap trace");
	if (bytes < 8 || memcmp(in, file_magic, sizeof(file_magic)))
		return wti_err_at(
			err, WT_E_FORMAT, 0,
			"not a wheeltap trace: it does not begin as one (byte 0); give the folder "
			"of a run, or one of its .wt files");
	if (bytes < WTI_FILE_HEADER_BYTES)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)bytes,
				  "cut inside its header at byte %zu, nothing to read", bytes);
	/* The version first: a newer format may have another header. */
	if (wti_get16(in + 8) > WTI_FORMAT_MAJOR)
		return is_newer(in, err);
	if (wti_get64(in + 120) != wti_hash(in, 120) ||
	    wti_get32(in + 12) != WTI_FILE_HEADER_BYTES || wti_get16(in + 8) != WTI_FORMAT_MAJOR)
		return wti_err_at(err, WT_E_FORMAT, 0, "damaged header (bytes 0 to 127)");
	memcpy(ret_identity->boot, in + 16, sizeof(ret_identity->boot));
	ret_identity->pid = wti_get32(in + 32);
	ret_identity->exec = wti_get32(in + 36);
	ret_identity->start_time = wti_get64(in + 40);
	ret_identity->segment = wti_get32(in + 48);
	ret_identity->clock = wti_get32(in + 52);
	memcpy(ret_identity->command, in + 56, sizeof(ret_identity->command));
	ret_identity->command[sizeof(ret_identity->command) - 1] = 0;
	return 0;
}

void wti_block_header_write(const struct wti_block_header *header,
			    uint8_t out[WTI_BLOCK_HEADER_BYTES])
{
	memcpy(out, block_magic, sizeof(block_magic));
	wti_put16(out + 4, header->type);
	wti_put16(out + 6, header->kind);
	wti_put32(out + 8, header->rows);
	wti_put32(out + 12, header->payload_bytes);
	wti_put64(out + 16, header->time_min);
	wti_put64(out + 24, header->time_max);
	wti_put64(out + 32, header->track_filter);
	wti_put64(out + 40, header->name_filter);
	wti_put64(out + 48, header->payload_hash);
	wti_put64(out + 56, wti_hash(out, 56));
}

int wti_block_header_read(const uint8_t in[WTI_BLOCK_HEADER_BYTES], uint64_t offset,
			  struct wti_block_header *ret_header, struct wt_err *err)
{
	if (memcmp(in, block_magic, sizeof(block_magic)) || wti_get64(in + 56) != wti_hash(in, 56))
		return wti_err_at(err, WT_E_FORMAT, (int64_t)offset,
				  "damaged block header at byte %llu", (unsigned long long)offset);
	ret_header->type = wti_get16(in + 4);
	ret_header->kind = wti_get16(in + 6);
	ret_header->rows = wti_get32(in + 8);
	ret_header->payload_bytes = wti_get32(in + 12);
	ret_header->time_min = wti_get64(in + 16);
	ret_header->time_max = wti_get64(in + 24);
	ret_header->track_filter = wti_get64(in + 32);
	ret_header->name_filter = wti_get64(in + 40);
	ret_header->payload_hash = wti_get64(in + 48);
	if (ret_header->payload_bytes > WTI_PAYLOAD_MAX)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)offset,
				  "block at byte %llu is larger than the format allows",
				  (unsigned long long)offset);
	return 0;
}

void wti_footer_write(uint64_t index_offset, uint8_t out[WTI_FOOTER_BYTES])
{
	wti_put64(out, index_offset);
	wti_put64(out + 8, wti_hash(out, 8));
	memcpy(out + 16, footer_magic, sizeof(footer_magic));
}

bool wti_footer_read(const uint8_t in[WTI_FOOTER_BYTES], uint64_t *ret_index_offset)
{
	if (memcmp(in + 16, footer_magic, sizeof(footer_magic)) ||
	    wti_get64(in + 8) != wti_hash(in, 8))
		return false;
	*ret_index_offset = wti_get64(in);
	return true;
}

int wti_chunk_write(struct wti_buf *out, ZSTD_CCtx *zstd, int level, const void *data, size_t bytes)
{
	size_t bound = ZSTD_compressBound(bytes);
	uint8_t *head = wti_buf_reserve(out, 9 + (bound > bytes ? bound : bytes));
	size_t packed = 0;

	if (!head)
		return wti_buf_status(out);
	wti_put32(head + 1, (uint32_t)bytes);
	if (zstd && level && bytes >= CHUNK_WORTH_COMPRESSING)
		packed = ZSTD_compressCCtx(zstd, head + 9, bound, data, bytes, level);
	if (packed && !ZSTD_isError(packed) && packed + 4 < bytes) {
		head[0] = 1;
		wti_put32(head + 5, (uint32_t)packed);
		wti_buf_added(out, 9 + packed);
		return 0;
	}
	head[0] = 0;
	if (bytes)
		memcpy(head + 5, data, bytes);
	wti_buf_added(out, 5 + bytes);
	return 0;
}

int wti_chunk_read(struct wti_bytes *in, ZSTD_DCtx *zstd, size_t ceiling, struct wti_buf *out)
{
	uint8_t mode = wti_bytes_u8(in);
	uint32_t bytes = wti_bytes_u32(in);
	uint32_t stored = mode == 1 ? wti_bytes_u32(in) : bytes;
	const uint8_t *at = wti_bytes_take(in, stored);
	uint8_t *to;

	if (!at || mode > 1 || bytes > ceiling)
		return WT_E_FORMAT;
	/* A frame that claims another size is refused before memory is spent on it. */
	if (mode == 1 && ZSTD_getFrameContentSize(at, stored) != bytes)
		return WT_E_FORMAT;
	to = wti_buf_reserve(out, bytes ? bytes : 1);
	if (!to)
		return wti_buf_status(out);
	if (mode == 1 && ZSTD_decompressDCtx(zstd, to, bytes, at, stored) != bytes)
		return WT_E_FORMAT;
	if (mode == 0 && bytes)
		memcpy(to, at, bytes);
	wti_buf_added(out, bytes);
	return 0;
}
