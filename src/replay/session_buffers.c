/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on buffers: linear, and rectangles in them. Regions of the host are checked, those of the
 * device by the driver. */
#include "base/bytes.h"
#include "session_commands.h"

const char *wti_replay_call_read_buffer(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *from =
		wti_replay_call_find(c, WT_ACCESS_MODE_READ, false);
	void *buffer;
	const char *why = wti_replay_call_handle(c, from, &buffer);

	why = why ? why : wti_replay_call_make_host(c, from->bytes);
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueReadBuffer(
						       c->queue, buffer, CL_FALSE, from->offset,
						       from->bytes, c->command->host, EVENTS(c)));
}

const char *wti_replay_call_write_buffer(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *to =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false);
	void *buffer;
	const char *why = wti_replay_call_handle(c, to, &buffer);

	why = why ? why
		  : wti_replay_call_take_host(c,
					      wti_replay_call_find(c, WT_ACCESS_MODE_READ, true));
	if (!why && c->command->host_bytes != to->bytes)
		why = "what it read from the host has another size";
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueWriteBuffer(
						       c->queue, buffer, CL_FALSE, to->offset,
						       to->bytes, c->command->host, EVENTS(c)));
}

/* Source and destination of a copy, which may be the same object. */
static const char *ends(const struct wti_replay_call *c,
			const struct wti_replay_plan_access **ret_from,
			const struct wti_replay_plan_access **ret_to, void **ret_source,
			void **ret_target)
{
	const char *why;

	*ret_from = wti_replay_call_find(c, WT_ACCESS_MODE_READ, false);
	*ret_to = wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false);
	why = wti_replay_call_handle(c, *ret_from, ret_source);
	return why ? why : wti_replay_call_handle(c, *ret_to, ret_target);
}

const char *wti_replay_call_copy_buffer(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *from, *to;
	void *source, *target;
	const char *why = ends(c, &from, &to, &source, &target);

	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueCopyBuffer(
						       c->queue, source, target, from->offset,
						       to->offset, from->bytes, EVENTS(c)));
}

const char *wti_replay_call_fill_buffer(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *to =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false);
	const struct wti_replay_plan_access *pattern =
		wti_replay_call_find(c, WT_ACCESS_MODE_VALUE, true);
	void *buffer;
	const char *why = wti_replay_call_handle(c, to, &buffer);

	if (!why && (!pattern || !pattern->value_bytes))
		why = "its pattern was not recorded";
	return why ? why
		   : wti_replay_call_result(
			     c, c->session->cl.clEnqueueFillBuffer(c->queue, buffer, pattern->value,
								   pattern->value_bytes, to->offset,
								   to->bytes, EVENTS(c)));
}

/* ---- Rectangles ------------------------------------------------------------------------------ */

/* origin, other origin, region, row and slice pitch, other row and slice pitch. */
enum { ORIGIN = 0, OTHER = 3, REGION = 6, ROW = 9, SLICE, OTHER_ROW, OTHER_SLICE, NUMBERS };

/* Whether the box of the host lies within so many bytes. A pitch of 0 is that of the region. */
static bool fits(const size_t *n, uint64_t bytes)
{
	const size_t origin = OTHER;
	uint64_t row = n[OTHER_ROW] ? n[OTHER_ROW] : n[REGION], slice = n[OTHER_SLICE];
	uint64_t offset, y, z, box = wti_replay_session_box_bytes(n + REGION, 1, row, slice);

	return box && (slice || !__builtin_mul_overflow(row, n[REGION + 1], &slice)) &&
	       !__builtin_mul_overflow(n[origin + 1], row, &y) &&
	       !__builtin_mul_overflow(n[origin + 2], slice, &z) &&
	       !__builtin_add_overflow(y, z, &offset) &&
	       !__builtin_add_overflow(offset, n[origin], &offset) && offset <= bytes &&
	       box <= bytes - offset;
}

const char *wti_replay_call_read_rect(const struct wti_replay_call *c)
{
	const struct wti_replay_plan_access *got =
		wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, true);
	size_t n[NUMBERS];
	void *buffer;
	const char *why = wti_replay_call_part(
		c, wti_replay_call_find(c, WT_ACCESS_MODE_READ, false), &buffer);

	why = why ? why : wti_replay_call_numbers(c, NUMBERS, n);
	if (!why && !got)
		why = "how much it wrote to the host was not recorded";
	why = why ? why : wti_replay_call_make_host(c, got->bytes);
	if (!why && !fits(n, got->bytes))
		why = "its region lies outside of its memory";
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueReadBufferRect(
						       c->queue, buffer, CL_FALSE, n + ORIGIN,
						       n + OTHER, n + REGION, n[ROW], n[SLICE],
						       n[OTHER_ROW], n[OTHER_SLICE],
						       c->command->host, EVENTS(c)));
}

const char *wti_replay_call_write_rect(const struct wti_replay_call *c)
{
	size_t n[NUMBERS];
	void *buffer;
	const char *why = wti_replay_call_part(
		c, wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false), &buffer);

	why = why ? why : wti_replay_call_numbers(c, NUMBERS, n);
	why = why ? why
		  : wti_replay_call_take_host(c,
					      wti_replay_call_find(c, WT_ACCESS_MODE_READ, true));
	if (!why && !fits(n, c->command->host_bytes))
		why = "its region lies outside of its memory";
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueWriteBufferRect(
						       c->queue, buffer, CL_FALSE, n + ORIGIN,
						       n + OTHER, n + REGION, n[ROW], n[SLICE],
						       n[OTHER_ROW], n[OTHER_SLICE],
						       c->command->host, EVENTS(c)));
}

const char *wti_replay_call_copy_rect(const struct wti_replay_call *c)
{
	void *source, *target;
	size_t n[NUMBERS];
	const char *why = wti_replay_call_part(
		c, wti_replay_call_find(c, WT_ACCESS_MODE_READ, false), &source);

	why = why ? why
		  : wti_replay_call_part(c, wti_replay_call_find(c, WT_ACCESS_MODE_WRITE, false),
					 &target);
	why = why ? why : wti_replay_call_numbers(c, NUMBERS, n);
	return why ? why
		   : wti_replay_call_result(c, c->session->cl.clEnqueueCopyBufferRect(
						       c->queue, source, target, n + ORIGIN,
						       n + OTHER, n + REGION, n[ROW], n[SLICE],
						       n[OTHER_ROW], n[OTHER_SLICE], EVENTS(c)));
}
