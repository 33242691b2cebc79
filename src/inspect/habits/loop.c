/* SPDX-License-Identifier: Apache-2.0 */
/* Knows when two calls have the same effect, and which calls get a program further. */
#include <string.h>

#include "loop.h"

/* Below are lengths, flags and descriptors; above addresses, which say nothing. */
#define ADDRESSES_FROM ((uint64_t)1 << 32)

enum progress {
	NONE,   /* the same the next time */
	SOME,   /* something is different now, or may be */
	IGNORE, /* says nothing: clocks, giving way to others, signals that came between */
};

static enum progress progress_of(const struct wti_loop_call *seen)
{
	int64_t result = seen->call->result;

	if (wti_result_is_momentary(result) ||
	    seen->call->flags & (WT_SYSCALL_UNFINISHED | WT_SYSCALL_JOINED))
		return IGNORE;
	if (seen->row &&
	    (seen->row->request == WTI_REQUEST_CLOCK || seen->row->request == WTI_REQUEST_YIELD))
		return IGNORE;
	if (result < 0)
		return NONE;
	switch (seen->row ? seen->row->request : WTI_REQUEST_OTHER) {
	case WTI_REQUEST_ASK:
	case WTI_REQUEST_LOOK:
	case WTI_REQUEST_READ_AT:
		return NONE;
	case WTI_REQUEST_READ:
	case WTI_REQUEST_WAIT: /* nothing came, or nothing was there to be waited for */
		return result ? SOME : NONE;
	default:
		return SOME;
	}
}

static uint64_t mix(uint64_t print, uint64_t value)
{
	print = (print ^ value) * 0x9e3779b97f4a7c15u;
	return print ^ print >> 29;
}

static uint64_t mix_bytes(uint64_t print, const uint8_t *data, size_t bytes)
{
	uint64_t word;

	for (; bytes >= sizeof(word); data += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		print = mix(print, word);
	}
	word = bytes;
	memcpy(&word, data, bytes);
	return mix(print, word);
}

/* Of all that it was given and gave: never 0. */
static uint64_t print_of(const struct wti_loop_call *seen)
{
	const struct wti_syscall *call = seen->call;
	uint64_t print = mix(mix(call->nr, (uint64_t)call->result), seen->thing);

	for (unsigned i = 0; i < WTI_CALL_ARGS; i++)
		if (call->args[i] < ADDRESSES_FROM)
			print = mix(print, call->args[i] + i);
	if (seen->row && seen->row->request == WTI_REQUEST_READ_AT)
		print = mix(print, call->args[3]); /* the place in the file may be large */
	for (size_t i = 0; i < call->piece_count; i++)
		print = mix_bytes(print, call->pieces[i].data, call->pieces[i].bytes);
	return print | 1;
}

static void lengthen(struct wti_loop *loop, uint32_t cycle, const struct wti_loop_call *seen)
{
	uint64_t count = loop->runs[cycle - 1] + cycle;

	if (count <= loop->longest.count)
		return;
	/* Of a cycle the call that began it is shown. */
	if (loop->longest.first_ns != loop->begins[cycle - 1] || loop->longest.cycle != cycle)
		loop->longest = (struct wti_stretch){
			.cycle = cycle,
			.arch = seen->call->arch,
			.nr = seen->call->nr,
			.thing = seen->thing,
			.result = seen->call->result,
			.first_ns = loop->begins[cycle - 1],
			.step = seen->step,
		};
	loop->longest.count = count;
	loop->longest.last_ns = seen->end_ns;
}

static void forget(struct wti_loop *loop)
{
	memset(loop->prints, 0, sizeof(loop->prints));
	memset(loop->runs, 0, sizeof(loop->runs));
}

void wti_loop_see(struct wti_loop *loop, const struct wti_loop_call *seen)
{
	enum progress progress = progress_of(seen);
	uint64_t print;

	if (progress == IGNORE)
		return;
	if (progress == SOME) {
		forget(loop);
		return;
	}
	print = print_of(seen);
	for (uint32_t cycle = 1; cycle <= WTI_LOOP_CYCLE_MAX; cycle++) {
		uint32_t before = (loop->at + WTI_LOOP_CYCLE_MAX - cycle) % WTI_LOOP_CYCLE_MAX;

		if (loop->prints[before] != print) {
			loop->runs[cycle - 1] = 0;
			continue;
		}
		if (!loop->runs[cycle - 1]++)
			loop->begins[cycle - 1] = seen->call->start_ns;
		lengthen(loop, cycle, seen);
	}
	loop->prints[loop->at] = print;
	loop->at = (loop->at + 1) % WTI_LOOP_CYCLE_MAX;
}
