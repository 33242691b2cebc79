/* SPDX-License-Identifier: Apache-2.0 */
/* Knows gzip by its first two bytes, and that a file may have several members. */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/err.h"
#include "base/file.h"

#define PIECE_BYTES ((size_t)1 << 20)
#define PIECE_BYTES_MIN ((size_t)4 << 10)
#define GZIP_ONLY (16 + MAX_WBITS) /* as zlib spells it */

static int grow_window(struct wti_sliding *input, size_t wanted)
{
	size_t capacity = input->capacity ? input->capacity : input->piece_bytes;
	uint8_t *data;

	while (capacity < wanted)
		capacity *= 2;
	data = realloc(input->data, capacity + WTI_INPUT_BEHIND);
	if (!data)
		return WT_E_NOMEM;
	input->data = data;
	input->capacity = capacity;
	return 0;
}

/* Of a small file no more than that is read, so that the window need not be larger. */
static size_t piece_bytes(int fd)
{
	struct stat info;

	if (fstat(fd, &info) || !S_ISREG(info.st_mode) || (uint64_t)info.st_size >= PIECE_BYTES)
		return PIECE_BYTES;
	return (size_t)info.st_size < PIECE_BYTES_MIN ? PIECE_BYTES_MIN : (size_t)info.st_size + 1;
}

/* Up to `bytes` of the file itself; fewer: its end, or damage. */
static size_t read_piece(struct wti_sliding *input, uint8_t *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes && input->fd >= 0) {
		ssize_t got = read(input->fd, to + done, bytes - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			wti_err_errno(&input->damage, "cannot read", input->path);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static int begin_unpacking(struct wti_sliding *input, const uint8_t *head, size_t bytes)
{
	z_stream *stream = calloc(1, sizeof(*stream));

	input->packed = malloc(input->piece_bytes);
	if (!stream || !input->packed || inflateInit2(stream, GZIP_ONLY) != Z_OK) {
		free(stream);
		return WT_E_NOMEM;
	}
	memcpy(input->packed, head, bytes);
	stream->next_in = input->packed;
	stream->avail_in = (uInt)bytes;
	input->unpacking = stream;
	return 0;
}

static void packed_damage(struct wti_sliding *input, const char *what, size_t done)
{
	wti_err_at(&input->damage, WT_E_FORMAT, (int64_t)(input->offset + input->end + done),
		   "'%.200s' is damaged: %s, behind byte %llu of what it unpacks to", input->path,
		   what, (unsigned long long)(input->offset + input->end + done));
}

static size_t unpack_piece(struct wti_sliding *input, uint8_t *to, size_t bytes)
{
	z_stream *stream = input->unpacking;
	bool whole = false; /* the last member has ended */

	stream->next_out = to;
	stream->avail_out = (uInt)bytes;
	while (stream->avail_out && !input->damage.code) {
		int status;

		if (!stream->avail_in) {
			stream->next_in = input->packed;
			stream->avail_in =
				(uInt)read_piece(input, input->packed, input->piece_bytes);
		}
		if (!stream->avail_in) {
			if (!whole && stream->total_in)
				packed_damage(input, "the compressed data end too early",
					      bytes - stream->avail_out);
			break;
		}
		status = inflate(stream, Z_NO_FLUSH);
		whole = status == Z_STREAM_END;
		if (whole)
			status = inflateReset(stream);
		if (status != Z_OK && status != Z_BUF_ERROR)
			packed_damage(input, "it cannot be decompressed",
				      bytes - stream->avail_out);
	}
	return bytes - stream->avail_out;
}

static void first_piece(struct wti_sliding *input)
{
	size_t got = read_piece(input, input->data, input->piece_bytes);

	if (got >= 2 && input->data[0] == 0x1f && input->data[1] == 0x8b) {
		if (begin_unpacking(input, input->data, got))
			wti_err(&input->damage, WT_E_NOMEM, "out of memory");
		else
			got = unpack_piece(input, input->data, input->piece_bytes);
	}
	input->end = input->damage.code == WT_E_NOMEM ? 0 : got;
	input->at_end = got < input->piece_bytes;
	memset(input->data + input->end, 0, WTI_INPUT_BEHIND);
}

int wti_input_open(struct wti_sliding *input, const char *path, size_t ceiling, struct wt_err *err)
{
	*input = (struct wti_sliding){.path = path, .fd = -1, .ceiling = ceiling};
	input->fd = wti_open_input(path, err);
	if (input->fd < 0)
		return input->fd;
	input->piece_bytes = piece_bytes(input->fd);
	if (grow_window(input, input->piece_bytes)) {
		wti_input_release(input);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	first_piece(input);
	if (!input->damage.code || input->end)
		return 0;
	if (err)
		*err = input->damage;
	wti_input_release(input);
	return err ? err->code : WT_E_IO;
}

int wti_input_open_memory(struct wti_sliding *input, const void *data, size_t bytes,
			  struct wt_err *err)
{
	*input = (struct wti_sliding){.path = "memory",
				      .fd = -1,
				      .ceiling = bytes,
				      .piece_bytes = PIECE_BYTES_MIN,
				      .at_end = true};
	if (grow_window(input, bytes + 1))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (bytes)
		memcpy(input->data, data, bytes);
	memset(input->data + bytes, 0, WTI_INPUT_BEHIND);
	input->end = bytes;
	return 0;
}

void wti_input_release(struct wti_sliding *input)
{
	if (input->fd >= 0)
		close(input->fd);
	input->fd = -1;
	if (input->unpacking)
		inflateEnd(input->unpacking);
	free(input->unpacking);
	free(input->packed);
	free(input->data);
	input->unpacking = NULL;
	input->packed = input->data = NULL;
}

int wti_input_more(struct wti_sliding *input, struct wt_err *err)
{
	size_t kept = input->end - input->begin, got;

	if (input->at_end || input->damage.code)
		return 0;
	if (kept >= input->ceiling)
		return wti_err_at(err, WT_E_LIMIT, (int64_t)(input->offset + input->begin),
				  "'%.200s': what begins at byte %llu is larger than %zu bytes",
				  input->path, (unsigned long long)(input->offset + input->begin),
				  input->ceiling);
	if (input->begin) {
		memmove(input->data, input->data + input->begin, kept);
		input->offset += input->begin;
		input->begin = 0;
		input->end = kept;
	}
	if (kept + input->piece_bytes > input->capacity &&
	    grow_window(input, kept + input->piece_bytes))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	got = input->unpacking ? unpack_piece(input, input->data + kept, input->piece_bytes)
			       : read_piece(input, input->data + kept, input->piece_bytes);
	input->end = kept + got;
	input->at_end = got < input->piece_bytes;
	memset(input->data + input->end, 0, WTI_INPUT_BEHIND);
	return got > 0;
}
