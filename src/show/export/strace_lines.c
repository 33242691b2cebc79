/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where strace cuts a line, and what it writes there. */
#include "strace_lines.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#include "syscall/decode.h"

enum line_type {
	LINE_OTHER,
	LINE_BEGIN, /* of a call */
	LINE_END,
};

struct text { /* of a call, or of another line; freed with the last line that has it */
	uint32_t line_count;
	uint32_t bytes, entry_bytes, all_bytes;
	bool goes_on;
	char data[]; /* the call or the line, then the result */
};

struct wti_strace_line {
	int64_t time_ns;
	struct text *text;
	uint32_t tid;
	uint8_t type;
	uint32_t result_bytes;
};

int wti_lines_init(struct wti_lines *lines)
{
	/* Twice as many as are held: they are moved to the front when the end is reached. */
	lines->all = calloc(2 * WTI_LINES_MAX, sizeof(*lines->all));
	lines->written_ns = INT64_MIN;
	return lines->all ? 0 : WT_E_NOMEM;
}

static void drop(struct wti_lines *lines, struct text *text)
{
	if (--text->line_count)
		return;
	lines->bytes -= text->all_bytes;
	free(text);
}

void wti_lines_release(struct wti_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		drop(lines, lines->all[lines->first + i].text);
	free(lines->all);
	lines->all = NULL;
	lines->count = 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_result(struct wti_buf *out, size_t begin, const struct wti_strace_line *line)
{
	wti_decode_pad(out, begin);
	wti_buf_append(out, line->text->data + line->text->bytes, line->result_bytes);
}

/* `is_last`: nothing follows, so that nothing has cut it. */
static void write_begin(struct wti_buf *out, const struct wti_strace_line *line, bool is_last)
{
	wti_buf_append(out, line->text->data, line->text->entry_bytes);
	wti_buf_text(out, is_last && line->text->goes_on ? " <detached ...>" : " <unfinished ...>");
	if (line->text->goes_on) /* there is no end to put its stack below */
		wti_buf_append(out, line->text->data + line->text->bytes, line->result_bytes);
}

static void write_end(struct wti_buf *out, size_t begin, const struct wti_strace_line *line)
{
	const struct text *text = line->text;
	const char *paren = memchr(text->data, '(', text->bytes);

	wti_buf_text(out, "<... ");
	wti_buf_append(out, text->data, paren ? (size_t)(paren - text->data) : text->bytes);
	wti_buf_text(out, " resumed>");
	wti_buf_append(out, text->data + text->entry_bytes, text->bytes - text->entry_bytes);
	write_result(out, begin, line);
}

/* The oldest line; and the next, if that is the other half of the same call. */
static void write_oldest(struct wti_lines *lines)
{
	const struct wti_strace_line *line = &lines->all[lines->first], *next = line + 1;
	bool is_whole = line->type == LINE_BEGIN && lines->count > 1 && next->text == line->text;
	struct wti_buf *out = lines->out;
	size_t begin = out->bytes;

	lines->lead(lines->context, out, line->tid, line->time_ns);
	if (line->type == LINE_OTHER || is_whole)
		wti_buf_append(out, line->text->data, line->text->bytes);
	if (is_whole)
		write_result(out, begin, next);
	else if (line->type == LINE_BEGIN)
		write_begin(out, line, lines->count == 1);
	else if (line->type == LINE_END)
		write_end(out, begin, line);
	wti_buf_byte(out, '\n');
	for (int i = 0; i <= is_whole; i++) {
		lines->written_ns = line[i].time_ns;
		drop(lines, line[i].text);
		lines->first++;
		lines->count--;
	}
}

/* ---- Keeping order --------------------------------------------------------------------------- */

/* Behind all that are not later. */
static void insert(struct wti_lines *lines, const struct wti_strace_line *line)
{
	struct wti_strace_line *at;

	while (lines->count >= WTI_LINES_MAX ||
	       (lines->count && lines->bytes > WTI_LINES_BYTES_MAX))
		write_oldest(lines);
	if (lines->first + lines->count == 2 * WTI_LINES_MAX) {
		memmove(lines->all, lines->all + lines->first, lines->count * sizeof(*lines->all));
		lines->first = 0;
	}
	at = lines->all + lines->first + lines->count;
	while (at > lines->all + lines->first && at[-1].time_ns > line->time_ns) {
		*at = at[-1];
		at--;
	}
	*at = *line;
	lines->count++;
}

static struct text *keep(struct wti_lines *lines, const uint8_t *first, size_t first_bytes,
			 const uint8_t *second, size_t second_bytes)
{
	struct text *text = malloc(sizeof(*text) + first_bytes + second_bytes);

	if (!text) {
		lines->failed = true;
		return NULL;
	}
	*text = (struct text){.bytes = (uint32_t)first_bytes,
			      .all_bytes = (uint32_t)(first_bytes + second_bytes)};
	lines->bytes += text->all_bytes;
	memcpy(text->data, first, first_bytes);
	if (second_bytes)
		memcpy(text->data + first_bytes, second, second_bytes);
	return text;
}

void wti_lines_call(struct wti_lines *lines, const struct wti_line_call *call)
{
	struct text *text =
		keep(lines, call->text, call->text_bytes, call->result, call->result_bytes);
	struct wti_strace_line line = {.time_ns = call->start_ns,
				       .text = text,
				       .tid = call->tid,
				       .type = LINE_BEGIN,
				       .result_bytes = (uint32_t)call->result_bytes};

	if (!text)
		return;
	text->entry_bytes = (uint32_t)call->entry_bytes;
	text->goes_on = call->goes_on;
	text->line_count = call->goes_on ? 1 : 2;
	/* Too late for where it began: then both halves stand where it ended. */
	if (line.time_ns < lines->written_ns)
		line.time_ns = call->goes_on ? lines->written_ns : call->end_ns;
	insert(lines, &line);
	if (call->goes_on)
		return;
	line.type = LINE_END;
	line.time_ns = call->end_ns;
	insert(lines, &line);
}

void wti_lines_put(struct wti_lines *lines, uint32_t tid, int64_t time_ns, const uint8_t *data,
		   size_t bytes)
{
	struct text *text = keep(lines, data, bytes, NULL, 0);
	struct wti_strace_line line = {.time_ns = time_ns, .text = text, .tid = tid};

	if (!text)
		return;
	text->line_count = 1;
	insert(lines, &line);
}

int wti_lines_finish(struct wti_lines *lines)
{
	while (lines->count)
		write_oldest(lines);
	return lines->failed ? WT_E_NOMEM : 0;
}
