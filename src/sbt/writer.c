/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is written piece by piece, and whose header comes last. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "encode.h"

#define PIECE_BYTES ((size_t)1 << 20)
#define BUFFER_CEILING ((size_t)1 << 28) /* a piece, and one event with the longest name */

struct wt_sbt_writer {
	char *path;
	int fd;
	struct wti_sbt_encoder encoder;
	struct wti_buf out;
	uint64_t bytes; /* of the file so far */
	struct wt_err failure;
	bool finished;
};

int wt_sbt_writer_create(const char *path, struct wt_sbt_writer **ret_writer, struct wt_err *err)
{
	static const uint8_t room[WTI_SBT_HEADER_BYTES];
	struct wt_sbt_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_sbt_encoder_init(&writer->encoder);
	wti_buf_init(&writer->out, BUFFER_CEILING);
	writer->path = strdup(path);
	writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (!writer->path || writer->fd < 0) {
		int r = !writer->path ? wti_err(err, WT_E_NOMEM, "out of memory")
			: errno == EEXIST
				? wti_err(err, WT_E_EXISTS,
					  "'%.200s' exists: choose another name, or remove it",
					  path)
				: wti_err_errno(err, "cannot create", path);

		writer->finished = writer->fd < 0; /* nothing to remove */
		wt_sbt_writer_free(writer);
		return r;
	}
	wti_buf_append(&writer->out, room, sizeof(room));
	*ret_writer = writer;
	return 0;
}

static int spill(struct wt_sbt_writer *writer)
{
	struct wti_buf *out = &writer->out;

	if (writer->failure.code)
		return writer->failure.code;
	if (wti_buf_status(out))
		return wti_err(&writer->failure, wti_buf_status(out), "out of memory for '%.200s'",
			       writer->path);
	if (wti_write_all(writer->fd, out->data, out->bytes))
		return wti_err_errno(&writer->failure, "cannot write", writer->path);
	writer->bytes += out->bytes;
	wti_buf_clear(out);
	return 0;
}

void wt_sbt_write(struct wt_sbt_writer *writer, const struct wt_sbt_event *event)
{
	wti_sbt_encode(&writer->encoder, &writer->out, event);
	if (writer->out.bytes >= PIECE_BYTES || writer->out.status)
		spill(writer);
}

static int write_texts(struct wt_sbt_writer *writer)
{
	const struct wti_sbt_encoder *encoder = &writer->encoder;
	int r = 0;

	if (encoder->texts.failed)
		return wti_err(&writer->failure, WT_E_NOMEM, "out of memory for the names");
	wti_sbt_encode_texts(encoder, &writer->out);
	for (size_t i = 0; !r && i < encoder->texts.count; i++) {
		wti_sbt_encode_text(encoder, &writer->out, i);
		r = writer->out.bytes >= PIECE_BYTES ? spill(writer) : 0;
	}
	wti_sbt_encode_end(&writer->out);
	return r ? r : spill(writer);
}

int wt_sbt_writer_finish(struct wt_sbt_writer *writer, struct wt_err *err)
{
	uint8_t header[WTI_SBT_HEADER_BYTES];
	uint64_t texts_at;
	int r = spill(writer);

	texts_at = writer->bytes;
	r = r ? r : write_texts(writer);
	wti_sbt_encode_header(&writer->encoder, texts_at, header);
	if (!r && pwrite(writer->fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		r = wti_err_errno(&writer->failure, "cannot write", writer->path);
	writer->finished = !r;
	if (r && err)
		*err = writer->failure;
	return r;
}

void wt_sbt_writer_free(struct wt_sbt_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	if (!writer->finished && writer->path)
		unlink(writer->path);
	wti_sbt_encoder_release(&writer->encoder);
	wti_buf_release(&writer->out);
	free(writer->path);
	free(writer);
}
