/* SPDX-License-Identifier: Apache-2.0 */
/* Reads piece by piece; the beginning of a line stays until its end has come. */
#include "lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "file.h"

#define PIECE_BYTES ((size_t)64 << 10)

struct reading {
	const char *path;
	size_t line_max;
	wti_take_line *take;
	void *self;
	struct wt_err *err;
	struct wti_buf text; /* the line that has begun, and a piece */
	unsigned line;
};

static int hand_over(struct reading *in, const char *text, size_t bytes)
{
	in->line++;
	if (bytes > in->line_max)
		return wti_err(in->err, WT_E_LIMIT,
			       "%.200s:%u: this line is longer than the %zu bytes allowed for it",
			       in->path, in->line, in->line_max);
	return in->take(in->self, in->line, text, bytes, in->err);
}

/* All lines that have an end; there is none before `searched`. */
static int take_lines(struct reading *in, size_t searched)
{
	const char *begin = (const char *)in->text.data;
	const char *end = begin + in->text.bytes;
	const char *stop = memchr(begin + searched, '\n', in->text.bytes - searched);
	int r = 0;

	for (; stop && !r; stop = memchr(begin, '\n', (size_t)(end - begin))) {
		r = hand_over(in, begin, (size_t)(stop - begin));
		begin = stop + 1;
	}
	in->text.bytes = (size_t)(end - begin);
	if (in->text.bytes)
		memmove(in->text.data, begin, in->text.bytes);
	if (!r && in->text.bytes > in->line_max)
		r = hand_over(in, NULL, in->text.bytes);
	return r;
}

static int read_lines(struct reading *in, int fd)
{
	for (;;) {
		size_t before = in->text.bytes;
		uint8_t *room = wti_buf_reserve(&in->text, PIECE_BYTES);
		ssize_t got = room ? read(fd, room, PIECE_BYTES) : 0;
		int r;

		if (!room)
			return wti_err(in->err, WT_E_NOMEM, "out of memory reading '%.200s'",
				       in->path);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return wti_err_errno(in->err, "cannot read", in->path);
		if (!got)
			return before ? hand_over(in, (const char *)in->text.data, before) : 0;
		wti_buf_added(&in->text, (size_t)got);
		r = take_lines(in, before);
		if (r)
			return r;
	}
}

int wti_file_lines(const char *path, size_t line_max, wti_take_line *take, void *self,
		   struct wt_err *err)
{
	struct reading in = {
		.path = path, .line_max = line_max, .take = take, .self = self, .err = err};
	int fd = wti_open_input(path, err);
	int r;

	if (fd < 0)
		return fd;
	wti_buf_init(&in.text, line_max + 2 * PIECE_BYTES);
	r = read_lines(&in, fd);
	wti_buf_release(&in.text);
	close(fd);
	return r;
}
