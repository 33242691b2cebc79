/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which of stack and agent is believed: the agent, as what is native below a call that it
 * emitted is the interpreter and libraries.
 */
#include "source.h"

#include <string.h>

#include "base/text.h"
#include "call.h"

void wti_sources_init(struct wti_sources *sources, struct wti_native *native)
{
	sources->native = native;
	wti_inside_init(&sources->inside);
}

void wti_sources_release(struct wti_sources *sources)
{
	wti_inside_release(&sources->inside);
}

void wti_sources_again(struct wti_sources *sources)
{
	wti_inside_release(&sources->inside);
	wti_inside_init(&sources->inside);
}

void wti_sources_event(struct wti_sources *sources, const struct wt_event *event)
{
	wti_inside_event(&sources->inside, event);
}

static struct wt_text text_of(const char *text)
{
	return (struct wt_text){text ? text : "", text ? strlen(text) : 0};
}

static bool agent_knows(const struct wti_sources *sources, const struct wt_event *event,
			struct wti_source_place *ret)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);
	struct wti_inside_site inside = wti_inside_of(&sources->inside, track ? track->tid : 0);
	const struct wt_reader *reader =
		inside.site ? wt_trace_stream(event->trace, inside.stream) : NULL;
	const struct wt_site *site = reader ? wt_reader_site(reader, inside.site) : NULL;

	if (!site)
		return false;
	ret->file = wt_reader_string(reader, site->file);
	ret->function = wt_reader_string(reader, site->function);
	ret->line = site->line;
	return true;
}

bool wti_sources_of(struct wti_sources *sources, const struct wt_event *event,
		    struct wti_source_place *ret)
{
	const struct wti_frame *frame;

	if (!wti_is_call(event))
		return false;
	if (agent_knows(sources, event, ret))
		return true;
	frame = sources->native
			? wti_native_place(sources->native, event->reader,
					   (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_STACK))
			: NULL;
	if (!frame)
		return false;
	ret->file = text_of(frame->file);
	ret->function = text_of(frame->function);
	ret->line = frame->line;
	return true;
}

size_t wti_sources_frames(struct wti_sources *sources, const struct wt_event *event,
			  const struct wti_frame **ret_frames)
{
	int field = wti_is_call(event)                     ? WT_SYSCALL_FIELD_STACK
		    : event->kind->number == WT_KIND_STACK ? WT_STACK_FIELD_STACK
							   : -1;

	if (!sources->native || field < 0)
		return 0;
	return wti_native_stack(sources->native, event->reader,
				(uint32_t)wt_event_u64(event, field), ret_frames);
}

void wti_put_source(struct wti_buf *out, const struct wti_source_place *source)
{
	wti_buf_append(out, source->file.data, source->file.bytes);
	wti_buf_printf(out, ":%u", source->line);
	if (source->function.bytes)
		wti_buf_printf(out, " (%.*s)", (int)source->function.bytes, source->function.data);
}

void wti_put_frame(struct wti_buf *out, const struct wti_frame *frame)
{
	wti_textf(out, "%s(", frame->path);
	if (frame->function && frame->inlined_in)
		wti_textf(out, "%s in %s", frame->function, frame->inlined_in);
	else if (frame->function)
		wti_textf(out, "%s+0x%llx", frame->function,
			  (unsigned long long)frame->function_offset);
	wti_buf_printf(out, ") [0x%llx]", (unsigned long long)frame->address);
	if (frame->line)
		wti_textf(out, " %s:%u", frame->file, frame->line);
}
