/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, flags, and numbers that are pointed to. */
#include "show.h"

#include <limits.h>
#include <sys/ipc.h>

bool wti_type_raw(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%#llx", (unsigned long long)wti_arg64(show, i));
	return true;
}

bool wti_type_hex(struct wti_show *show, unsigned i)
{
	return wti_type_raw(show, i);
}

bool wti_type_hexint(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%#x", wti_arg32(show, i));
	return true;
}

bool wti_type_int(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%d", (int32_t)wti_arg32(show, i));
	return true;
}

bool wti_type_uint(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%u", wti_arg32(show, i));
	return true;
}

bool wti_type_long(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%lld", (long long)wti_arg64(show, i));
	return true;
}

bool wti_type_ulong(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%llu", (unsigned long long)wti_arg64(show, i));
	return true;
}

bool wti_type_addr(struct wti_show *show, unsigned i)
{
	wti_say_address(show, wti_arg64(show, i));
	return true;
}

bool wti_type_fd(struct wti_show *show, unsigned i)
{
	int32_t fd = (int32_t)wti_arg32(show, i);

	/* Only where a folder is meant has -100 a name. */
	if (fd < 0)
		WTI_SHOW(show, "%d", fd);
	else
		wti_say_fd(show, fd);
	return true;
}

bool wti_type_dirfd(struct wti_show *show, unsigned i)
{
	wti_say_fd(show, (int32_t)wti_arg32(show, i));
	return true;
}

bool wti_type_pid(struct wti_show *show, unsigned i)
{
	return wti_type_int(show, i);
}

bool wti_type_id(struct wti_show *show, unsigned i)
{
	wti_say_id(show, wti_arg32(show, i));
	return true;
}

bool wti_type_mode(struct wti_show *show, unsigned i)
{
	WTI_SHOW(show, "%#03o", wti_arg32(show, i) & 0xffff);
	return true;
}

bool wti_type_dev(struct wti_show *show, unsigned i)
{
	wti_say_device(show, wti_arg32(show, i));
	return true;
}

bool wti_type_signal(struct wti_show *show, unsigned i)
{
	wti_say_signal(show, wti_arg32(show, i));
	return true;
}

/* ---- Flags ----------------------------------------------------------------------------------- */

static const struct wti_flags *set_of(const struct wti_show *show, unsigned i)
{
	return wti_flag_sets[show->what->args[i].set];
}

bool wti_type_flags(struct wti_show *show, unsigned i)
{
	wti_say_flags(show, set_of(show, i), wti_arg32(show, i));
	return true;
}

bool wti_type_flags64(struct wti_show *show, unsigned i)
{
	wti_say_flags(show, set_of(show, i), wti_arg64(show, i));
	return true;
}

bool wti_type_enum(struct wti_show *show, unsigned i)
{
	wti_say_enum(show, set_of(show, i), wti_arg32(show, i));
	return true;
}

bool wti_type_enum64(struct wti_show *show, unsigned i)
{
	wti_say_enum(show, set_of(show, i), wti_arg64(show, i));
	return true;
}

/* The argument behind this one: between them is the upper half of an offset, not shown. */
bool wti_type_after_high(struct wti_show *show, unsigned i)
{
	wti_say_flags(show, set_of(show, i), wti_arg32(show, i + 1));
	return true;
}

bool wti_type_ipc_key(struct wti_show *show, unsigned i)
{
	if (wti_arg32(show, i) == IPC_PRIVATE)
		WTI_SHOW(show, "IPC_PRIVATE");
	else
		WTI_SHOW(show, "%#x", wti_arg32(show, i));
	return true;
}

/* IPC_CREAT|0600: flags above, permissions below. */
bool wti_type_ipc_flags(struct wti_show *show, unsigned i)
{
	uint32_t value = wti_arg32(show, i);

	if (value & ~0777u) {
		wti_say_flags(show, set_of(show, i), value & ~0777u);
		WTI_SHOW(show, "|");
	}
	WTI_SHOW(show, "%#03o", value & 0777);
	return true;
}

/* ---- Numbers that are pointed to ------------------------------------------------------------- */

bool wti_type_int_in(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 4, WTI_AT_ENTRY);

	if (at)
		WTI_SHOW(show, "[%d]", (int32_t)wti_get32(at));
	return true;
}

bool wti_type_int_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 4, WTI_AT_EXIT);

	if (at)
		WTI_SHOW(show, "[%d]", (int32_t)wti_get32(at));
	return true;
}

bool wti_type_timer_out(struct wti_show *show, unsigned i)
{
	return wti_type_int_out(show, i);
}

bool wti_type_uint_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 4, WTI_AT_EXIT);

	if (at)
		WTI_SHOW(show, "[%u]", wti_get32(at));
	return true;
}

bool wti_type_id_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 4, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "[");
	wti_say_id(show, wti_get32(at));
	WTI_SHOW(show, "]");
	return true;
}

bool wti_type_ulong_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 8, WTI_AT_EXIT);

	if (at)
		WTI_SHOW(show, "[%llu]", (unsigned long long)wti_get64(at));
	return true;
}

bool wti_type_pointer_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 8, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "[");
	wti_say_address(show, wti_get64(at));
	WTI_SHOW(show, "]");
	return true;
}

bool wti_type_offset_in(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 8, WTI_AT_ENTRY);

	if (at)
		WTI_SHOW(show, "[%lld]", (long long)wti_get64(at));
	return true;
}

/* [0] => [100]; an offset that did not move is shown once. */
bool wti_type_offset_io(struct wti_show *show, unsigned i)
{
	const uint8_t *before = wti_pointed(show, i, 8, WTI_AT_ENTRY);
	const uint8_t *after;

	if (!before)
		return true;
	WTI_SHOW(show, "[%lld]", (long long)wti_get64(before));
	after = wti_memory(show, wti_arg64(show, i), 8, WTI_AT_EXIT);
	if (after && show->returned && show->call->result > 0)
		WTI_SHOW(show, " => [%lld]", (long long)wti_get64(after));
	return true;
}

static void show_ids(struct wti_show *show, uint64_t address, uint64_t count, uint8_t when)
{
	struct wti_array array;
	const uint8_t *at;

	wti_array_begin(show, address, count, when, 4, &array);
	while ((at = wti_array_next(show, &array)))
		wti_say_id(show, wti_get32(at));
}

bool wti_type_ids(struct wti_show *show, unsigned i)
{
	/* The kernel takes no more, and looks at none of them. */
	if (wti_arg32(show, show->what->args[i].other) > NGROUPS_MAX)
		return wti_type_addr(show, i);
	show_ids(show, wti_arg64(show, i), wti_arg32(show, show->what->args[i].other),
		 WTI_AT_ENTRY);
	return true;
}

/* getgroups(0, ...) only asks how many there are. */
bool wti_type_ids_out(struct wti_show *show, unsigned i)
{
	if (!wti_filled(show, i))
		return true;
	if (wti_arg32(show, 0))
		show_ids(show, wti_arg64(show, i), (uint64_t)show->call->result, WTI_AT_EXIT);
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}

bool wti_type_fds_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 8, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "[");
	wti_say_fd(show, (int32_t)wti_get32(at));
	WTI_SHOW(show, ", ");
	wti_say_fd(show, (int32_t)wti_get32(at + 4));
	WTI_SHOW(show, "]");
	return true;
}

/* [0 1 3] */
static void show_cpus(struct wti_show *show, const uint8_t *at, size_t bytes)
{
	const char *between = "";

	WTI_SHOW(show, "[");
	for (size_t cpu = 0; cpu < 8 * bytes; cpu++) {
		if (!(at[cpu / 8] >> (cpu % 8) & 1))
			continue;
		WTI_SHOW(show, "%s%zu", between, cpu);
		between = " ";
	}
	WTI_SHOW(show, "]");
}

bool wti_type_cpuset(struct wti_show *show, unsigned i)
{
	size_t bytes = wti_arg32(show, show->what->args[i].other), there = 0;
	const uint8_t *at = wti_memory_from(show, wti_arg64(show, i), WTI_AT_ENTRY, &there);

	if (at && bytes)
		show_cpus(show, at, bytes < there ? bytes : there);
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}

bool wti_type_cpuset_out(struct wti_show *show, unsigned i)
{
	size_t there = 0;
	const uint8_t *at = wti_memory_from(show, wti_arg64(show, i), WTI_AT_EXIT, &there);

	if (!wti_filled(show, i))
		return true;
	if (at)
		show_cpus(show, at,
			  (size_t)show->call->result < there ? (size_t)show->call->result : there);
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}
