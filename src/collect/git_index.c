/* SPDX-License-Identifier: Apache-2.0 */
/* Knows gitformat-index, versions 2 to 4, and trusts no size in the file. */
#include "git_index.h"

#include <string.h>

#define HEADER_BYTES 12
#define STAT_BYTES 40
#define PATH_BYTES_MAX 65536

#define FLAG_VALID 0x8000u
#define FLAG_MORE 0x4000u
#define MORE_LEFT_OUT 0x4000u
#define MORE_INTENDED 0x2000u

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

bool wti_git_index_open(struct wti_git_index *index, const void *data, size_t bytes,
			size_t id_bytes)
{
	*index = (struct wti_git_index){.data = data, .at = HEADER_BYTES, .id_bytes = id_bytes};
	wti_buf_init(&index->path, PATH_BYTES_MAX);
	if (bytes < HEADER_BYTES + id_bytes || memcmp(data, "DIRC", 4))
		return false;
	index->bytes = bytes - id_bytes; /* a checksum stands at the end */
	index->version = get32(index->data + 4);
	index->left = get32(index->data + 8);
	return index->version >= 2 && index->version <= 4;
}

void wti_git_index_release(struct wti_git_index *index)
{
	wti_buf_release(&index->path);
}

/* How many bytes of the path before are not those of this one; version 4. */
static bool read_dropped(struct wti_git_index *index, size_t *ret_dropped)
{
	size_t value = 0;

	for (int i = 0; i < 4 && index->at < index->bytes; i++) {
		uint8_t byte = index->data[index->at++];

		value = (value << 7) + (byte & 127);
		if (!(byte & 128)) {
			*ret_dropped = value;
			return true;
		}
		value++;
	}
	return false;
}

static bool read_path(struct wti_git_index *index, size_t begin)
{
	const uint8_t *text, *end;
	size_t kept = 0, dropped;

	if (index->version == 4) {
		if (!read_dropped(index, &dropped) || dropped > index->path.bytes)
			return false;
		kept = index->path.bytes - dropped;
	}
	text = index->data + index->at;
	end = index->at < index->bytes ? memchr(text, 0, index->bytes - index->at) : NULL;
	if (!end)
		return false;
	index->path.bytes = kept;
	wti_buf_append(&index->path, text, (size_t)(end - text));
	index->at += (size_t)(end - text) + 1;
	if (index->version < 4) /* up to the next multiple of eight, with one zero at least */
		index->at = begin + ((index->at - begin + 7) & ~(size_t)7);
	return !wti_buf_status(&index->path) && index->at <= index->bytes;
}

/* What comes behind the entries may say that they are not all. */
static int read_extensions(const struct wti_git_index *index)
{
	size_t at = index->at;

	while (index->bytes - at >= 8) {
		uint32_t bytes = get32(index->data + at + 4);

		if (!memcmp(index->data + at, "link", 4) || bytes > index->bytes - at - 8)
			return -1;
		at += 8 + bytes;
	}
	return 0;
}

int wti_git_index_next(struct wti_git_index *index, struct wti_git_entry *ret_entry)
{
	const uint8_t *at = index->data + index->at;
	size_t begin = index->at, fixed = STAT_BYTES + index->id_bytes + 2;
	uint32_t flags, more = 0;

	if (!index->left)
		return read_extensions(index);
	if (index->bytes - begin < fixed + 2)
		return -1;
	flags = get16(at + fixed - 2);
	index->at += fixed;
	if (flags & FLAG_MORE) {
		more = get16(at + fixed);
		index->at += 2;
	}
	if (!read_path(index, begin))
		return -1;
	index->left--;
	*ret_entry = (struct wti_git_entry){
		.path = wti_buf_cstr(&index->path),
		.path_bytes = index->path.bytes,
		.ctime = get32(at),
		.ctime_ns = get32(at + 4),
		.mtime = get32(at + 8),
		.mtime_ns = get32(at + 12),
		.mode = get32(at + 24),
		.size = get32(at + 36),
		.id = at + STAT_BYTES,
		.stage = flags >> 12 & 3,
		.is_untouched = flags & FLAG_VALID || more & MORE_LEFT_OUT,
		.is_intended = more & MORE_INTENDED,
	};
	return 1;
}
