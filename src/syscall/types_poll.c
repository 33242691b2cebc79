/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for descriptors: poll, select, epoll; and what they say with their results. */
#include "show.h"

#include <linux/eventpoll.h>

/* ---- poll ------------------------------------------------------------------------------------ */

bool wti_type_pollfds(struct wti_show *show, unsigned i)
{
	uint32_t count = wti_arg32(show, show->what->args[i].other);
	struct wti_array array;
	const uint8_t *at;

	wti_array_begin(show, wti_arg64(show, i), count, WTI_AT_ENTRY, 8, &array);
	while ((at = wti_array_next(show, &array))) {
		WTI_SHOW(show, "{fd=");
		wti_say_fd(show, (int32_t)wti_get32(at));
		if ((int32_t)wti_get32(at) >= 0) {
			WTI_SHOW(show, ", events=");
			wti_say_flags(show, &wti_flags_poll, wti_get16(at + 4));
		}
		WTI_SHOW(show, "}");
	}
	return true;
}

/* [{fd=3, revents=POLLIN}] */
static void show_revents(struct wti_show *show)
{
	uint32_t count = wti_arg32(show, 1);
	size_t there = 0, shown = 0;
	const uint8_t *at = wti_memory_from(show, wti_arg64(show, 0), WTI_AT_EXIT, &there);

	WTI_SHOW(show, "[");
	for (uint32_t k = 0; k < count && there >= 8; k++, at += 8, there -= 8) {
		if (!wti_get16(at + 6))
			continue;
		WTI_SHOW(show, "%s", shown ? ", " : "");
		if (shown++ == show->string_max) {
			WTI_SHOW(show, "...");
			break;
		}
		WTI_SHOW(show, "{fd=");
		wti_say_fd(show, (int32_t)wti_get32(at));
		WTI_SHOW(show, ", revents=");
		wti_say_flags(show, &wti_flags_poll, wti_get16(at + 6));
		WTI_SHOW(show, "}");
	}
	WTI_SHOW(show, "]");
}

/* What is left of a time span that the call counts down; `between` stands before it. */
static void show_left(struct wti_show *show, unsigned i, const char *between)
{
	bool in_us = show->what->args[i].type == WTI_TYPE_TIMEVAL_IO;
	const uint8_t *at = wti_memory(show, wti_arg64(show, i), 16, WTI_AT_EXIT);

	if (!wti_arg64(show, i) || !at)
		return;
	WTI_SHOW(show, "%sleft ", between);
	if (in_us)
		wti_say_timeval(show, at);
	else
		wti_say_timespec(show, at);
}

void wti_result_poll(struct wti_show *show)
{
	bool timed = show->what->arg_count > 2 && show->what->args[2].type == WTI_TYPE_TIMESPEC_IO;

	WTI_SHOW(show, "%lld", (long long)show->call->result);
	if (!show->call->result) {
		WTI_SHOW(show, " (Timeout)");
		return;
	}
	if (!wti_memory(show, wti_arg64(show, 0), 8, WTI_AT_EXIT))
		return;
	WTI_SHOW(show, " (");
	show_revents(show);
	if (timed)
		show_left(show, 2, ", ");
	WTI_SHOW(show, ")");
}

/* ---- select ---------------------------------------------------------------------------------- */

/* [3 5] of the first `count` bits. */
static void show_fdset(struct wti_show *show, const uint8_t *at, size_t there, uint32_t count)
{
	const char *between = "";

	WTI_SHOW(show, "[");
	for (uint32_t fd = 0; fd < count && fd / 8 < there; fd++) {
		if (!(at[fd / 8] >> (fd % 8) & 1))
			continue;
		WTI_SHOW(show, "%s", between);
		wti_say_fd(show, (int32_t)fd);
		between = " ";
	}
	WTI_SHOW(show, "]");
}

bool wti_type_fdset(struct wti_show *show, unsigned i)
{
	uint64_t address = wti_arg64(show, i);
	uint32_t count = wti_arg32(show, show->what->args[i].other);
	size_t there = 0;
	const uint8_t *at = address ? wti_memory_from(show, address, WTI_AT_ENTRY, &there) : NULL;

	if (!address || (count && !at))
		wti_say_address(show, address);
	else
		show_fdset(show, at, there, count);
	return true;
}

static bool any_bit(const uint8_t *at, size_t there, uint32_t count)
{
	for (uint32_t fd = 0; fd < count && fd / 8 < there; fd++) {
		if (at[fd / 8] >> (fd % 8) & 1)
			return true;
	}
	return false;
}

/* 1 (in [3], left {tv_sec=0, tv_usec=5}) */
void wti_result_select(struct wti_show *show)
{
	static const char *const names[] = {"in", "out", "except"};
	uint32_t count = wti_arg32(show, 0);
	const char *between = " (";

	WTI_SHOW(show, "%lld", (long long)show->call->result);
	if (!show->call->result) {
		WTI_SHOW(show, " (Timeout)");
		return;
	}
	for (unsigned k = 0; k < 3; k++) {
		size_t there = 0;
		const uint8_t *at =
			wti_memory_from(show, wti_arg64(show, k + 1), WTI_AT_EXIT, &there);

		if (!at || !any_bit(at, there, count))
			continue;
		WTI_SHOW(show, "%s%s ", between, names[k]);
		show_fdset(show, at, there, count);
		between = ", ";
	}
	show_left(show, 4, between);
	if (*between == ',' || wti_memory(show, wti_arg64(show, 4), 16, WTI_AT_EXIT))
		WTI_SHOW(show, ")");
}

/* A pointer and a size; where the pointer leads to was not kept. */
bool wti_type_pselect_mask(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 16, WTI_AT_ENTRY);

	if (!at)
		return true;
	WTI_SHOW(show, "{sigmask=");
	wti_say_address(show, wti_get64(at));
	WTI_SHOW(show, ", sigsetsize=%llu}", (unsigned long long)wti_get64(at + 8));
	return true;
}

/* ---- epoll ----------------------------------------------------------------------------------- */

static void show_event(struct wti_show *show, const uint8_t *at)
{
	const uint8_t *data = at + wti_layout(show->call->arch)->epoll_data;

	WTI_SHOW(show, "{events=");
	wti_say_flags(show, &wti_flags_epoll, wti_get32(at));
	WTI_SHOW(show, ", data={u32=%u, u64=%llu}}", wti_get32(data),
		 (unsigned long long)wti_get64(data));
}

bool wti_type_epoll_event(struct wti_show *show, unsigned i)
{
	const uint8_t *at;

	if (wti_arg32(show, 1) == EPOLL_CTL_DEL)
		return wti_type_addr(show, i);
	at = wti_pointed(show, i, wti_layout(show->call->arch)->epoll_bytes, WTI_AT_ENTRY);
	if (at)
		show_event(show, at);
	return true;
}

bool wti_type_epoll_events_out(struct wti_show *show, unsigned i)
{
	struct wti_array array;
	const uint8_t *at;

	if (!wti_filled(show, i))
		return true;
	wti_array_begin(show, wti_arg64(show, i), (uint64_t)show->call->result, WTI_AT_EXIT,
			wti_layout(show->call->arch)->epoll_bytes, &array);
	while ((at = wti_array_next(show, &array)))
		show_event(show, at);
	return true;
}
