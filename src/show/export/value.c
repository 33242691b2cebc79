/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks, call sites, durations, system calls. */
#include "value.h"

#include <string.h>

#include "inspect/core/label.h"
#include "show/call.h"

static struct wt_text scratch_text(struct wti_buf *scratch)
{
	if (wti_buf_status(scratch))
		return (struct wt_text){"", 0};
	return (struct wt_text){(const char *)scratch->data, scratch->bytes};
}

struct wt_text wti_site_text(const struct wt_reader *reader, uint32_t id, struct wti_buf *scratch)
{
	const struct wt_site *site = id ? wt_reader_site(reader, id) : NULL;
	struct wt_text file;

	if (!site)
		return (struct wt_text){"", 0};
	file = wt_reader_string(reader, site->file);
	wti_buf_clear(scratch);
	wti_buf_append(scratch, file.data, file.bytes);
	wti_buf_printf(scratch, ":%u", site->line);
	return scratch_text(scratch);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "libc.so.6!write+0x10", "train!step+0x2@train.c:41", "train+0x1139", "0x7f01" */
static void put_frame(struct wti_buf *out, const struct wti_frame *frame)
{
	const char *path = base_name(frame->path);

	if (!frame->function)
		wti_buf_printf(out, "%s%s0x%llx", path, *path ? "+" : "",
			       (unsigned long long)frame->address);
	else if (frame->inlined_in)
		wti_buf_printf(out, "%s!%s", path, frame->function);
	else
		wti_buf_printf(out, "%s!%s+0x%llx", path, frame->function,
			       (unsigned long long)frame->function_offset);
	if (frame->line)
		wti_buf_printf(out, "@%s:%u", frame->file, frame->line);
}

/* Innermost first. Where there is none, the place that an agent emitted. */
static struct wt_text stack_text(const struct wt_event *event, struct wti_buf *scratch,
				 struct wti_sources *sources)
{
	const struct wti_frame *frames = NULL;
	size_t count = wti_sources_frames(sources, event, &frames);
	struct wti_source_place source;

	wti_buf_clear(scratch);
	for (size_t i = 0; i < count; i++) {
		if (i)
			wti_buf_byte(scratch, ' ');
		put_frame(scratch, &frames[i]);
	}
	if (!count && wti_sources_of(sources, event, &source))
		wti_put_source(scratch, &source);
	return scratch_text(scratch);
}

static bool is_stack(const struct wt_event *event, int field)
{
	return (event->kind->number == WT_KIND_STACK && field == WT_STACK_FIELD_STACK) ||
	       (event->kind->number == WT_KIND_SYSCALL && field == WT_SYSCALL_FIELD_STACK);
}

void wti_value_of(struct wti_shown *ret, const struct wt_event *event, int field,
		  struct wti_buf *scratch, struct wti_sources *sources)
{
	if (wti_is_call(event) && field == WT_SYSCALL_FIELD_TEXT) {
		wti_buf_clear(scratch);
		wti_put_call(scratch, event);
		ret->text = scratch_text(scratch);
		ret->type = WTI_SHOWN_TEXT;
		return;
	}
	if (!is_stack(event, field)) {
		wti_event_field(ret, event, field);
		return;
	}
	ret->text = stack_text(event, scratch, sources);
	ret->type = ret->text.bytes ? WTI_SHOWN_TEXT : WTI_SHOWN_ABSENT;
}

/* From `begin` to `end`, whatever a damaged trace makes of them. */
static int64_t between(int64_t begin, int64_t end)
{
	int64_t length;

	if (end <= begin)
		return 0;
	return __builtin_sub_overflow(end, begin, &length) ? INT64_MAX : length;
}

bool wti_event_duration(const struct wt_event *event, int64_t *ret_begin_ns, int64_t *ret_ns)
{
	struct wti_device_op op;
	struct wti_shown duration;

	switch (event->kind->number) {
	case WT_KIND_DEVICE_OP:
		wti_device_op_read(&op, event);
		if (!op.has_times)
			return false;
		*ret_begin_ns = op.started_ns;
		*ret_ns = between(op.started_ns, op.ended_ns);
		return true;
	case WT_KIND_SYSCALL:
		if (event->kind->field_count <= WT_SYSCALL_FIELD_DURATION)
			return false;
		wti_event_field(&duration, event, WT_SYSCALL_FIELD_DURATION);
		/* It is emitted when it is over. */
		if (__builtin_sub_overflow(event->time_ns, duration.i, ret_begin_ns))
			*ret_begin_ns = INT64_MIN;
		*ret_ns = duration.i;
		return true;
	default:
		return false;
	}
}
