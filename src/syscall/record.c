/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a call is packed into an event, and trusts nothing that stands there. */
#include <string.h>

#include "base/bytes.h"
#include "compat.h"
#include "record.h"

static void add_place(struct wti_syscall *call, uint8_t arg, uint64_t fd, const char *path,
		      size_t bytes)
{
	bool is_arg = arg < WTI_CALL_ARGS;

	if (call->place_count < WTI_SYSCALL_PLACES_MAX)
		call->places[call->place_count++] = (struct wti_real){
			is_arg ? arg : -1, is_arg ? 0 : (int32_t)fd, {path, bytes}};
}

bool wti_syscall_place(const struct wti_syscall *call, int32_t arg, int32_t fd,
		       struct wt_text *ret_path)
{
	for (size_t i = 0; i < call->place_count; i++) {
		const struct wti_real *place = &call->places[i];

		if (place->arg != arg || (arg < 0 && place->fd != fd))
			continue;
		*ret_path = place->path;
		return true;
	}
	return false;
}

/* The piece at `at`; false if there is none, or none that is whole. */
static bool take_piece(struct wti_syscall *call, struct wt_text memory, size_t *at)
{
	const uint8_t *data = (const uint8_t *)memory.data + *at;
	size_t left = memory.bytes - *at, head = WTI_PIECE_HEAD_BYTES;
	struct wti_piece *piece = &call->pieces[call->piece_count];
	uint16_t bytes;

	if (left < head || call->piece_count == WTI_SYSCALL_PIECES_MAX)
		return false;
	memcpy(&bytes, data, sizeof(bytes));
	if (data[2] < WTI_CALL_ARGS) {
		piece->address = call->args[data[2]];
	} else {
		head += sizeof(piece->address);
		if (left < head)
			return false;
		memcpy(&piece->address, data + WTI_PIECE_HEAD_BYTES, sizeof(piece->address));
	}
	if (bytes > left - head)
		return false;
	if (data[3] & WTI_PIECE_PLACE) {
		add_place(call, data[2], piece->address, (const char *)data + head, bytes);
		*at += head + bytes;
		return true;
	}
	piece->data = data + head;
	piece->bytes = bytes;
	piece->when = data[3] & WTI_PIECE_EXIT ? WTI_AT_EXIT : WTI_AT_ENTRY;
	call->piece_count++;
	*at += head + bytes;
	return true;
}

void wti_syscall_split(struct wti_syscall *call, struct wt_text memory)
{
	size_t at = 0;

	call->piece_count = call->place_count = 0;
	while (take_piece(call, memory, &at))
		;
}

void wti_syscall_read(const struct wt_event *event, struct wti_syscall *ret_call)
{
	struct wt_text memory = wt_event_text(event, WT_SYSCALL_FIELD_TEXT);
	uint64_t ticks = wt_event_u64(event, WT_SYSCALL_FIELD_DURATION);
	struct wti_syscall *call = ret_call;

	call->arch = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_ARCH);
	call->nr = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_NR);
	for (int i = 0; i < WTI_CALL_ARGS; i++)
		call->args[i] = wt_event_u64(event, WT_SYSCALL_FIELD_A0 + i);
	call->result = wt_event_i64(event, WT_SYSCALL_FIELD_RESULT);
	call->flags = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_FLAGS);
	call->stack = (uint32_t)wt_event_u64(event, WT_SYSCALL_FIELD_STACK);
	call->stream = event->stream;
	call->track = event->track;
	call->seq = event->seq;
	if (ticks > event->ticks)
		ticks = event->ticks;
	call->start_ns = wt_trace_ns(event->trace, event->stream, event->ticks - ticks);
	call->duration_ns =
		event->time_ns > call->start_ns ? (uint64_t)(event->time_ns - call->start_ns) : 0;
	wti_syscall_split(call, memory);
	wti_compat_translate(call); /* when pieces have found the addresses of their arguments */
}
