/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and contents in quotes. */
#include "show.h"

#include <limits.h>

/* One byte as strace writes it: the shortest octal that the next byte does not make longer. */
static void show_byte(struct wti_buf *out, uint8_t c, bool digit_follows)
{
	static const char letters[] = "\t\n\v\f\r";
	static const char names[] = "tnvfr";
	const char *found = c ? strchr(letters, c) : NULL;

	if (found)
		wti_buf_printf(out, "\\%c", names[found - letters]);
	else if (c == '"' || c == '\\')
		wti_buf_printf(out, "\\%c", c);
	else if (c >= ' ' && c <= '~')
		wti_buf_byte(out, c);
	else
		wti_buf_printf(out, digit_follows ? "\\%03o" : "\\%o", c);
}

void wti_say_quoted(struct wti_show *show, const uint8_t *data, size_t bytes)
{
	WTI_SHOW(show, "\"");
	for (size_t i = 0; i < bytes; i++)
		show_byte(show->out, data[i],
			  i + 1 < bytes && data[i + 1] >= '0' && data[i + 1] <= '9');
	WTI_SHOW(show, "\"");
}

void wti_say_content(struct wti_show *show, uint64_t address, uint64_t bytes, uint8_t when)
{
	size_t wanted = bytes < show->string_max ? (size_t)bytes : show->string_max;
	size_t there = 0;
	const uint8_t *data;

	if (!address) {
		WTI_SHOW(show, "NULL");
		return;
	}
	if (!bytes) {
		WTI_SHOW(show, "\"\"");
		return;
	}
	data = wti_memory_from(show, address, when, &there);
	if (!data || there < wanted) {
		wti_say_address(show, address);
		return;
	}
	wti_say_quoted(show, data, wanted);
	if (bytes > wanted)
		WTI_SHOW(show, "...");
}

void wti_say_text(struct wti_show *show, uint64_t address, size_t bytes_max, uint8_t when)
{
	size_t there = 0, bytes;
	const uint8_t *data = address ? wti_memory_from(show, address, when, &there) : NULL;
	const uint8_t *end;

	if (!data) {
		wti_say_address(show, address);
		return;
	}
	end = memchr(data, 0, there);
	bytes = end ? (size_t)(end - data) : there;
	wti_say_quoted(show, data, bytes < bytes_max ? bytes : bytes_max);
	if (!end || bytes > bytes_max)
		WTI_SHOW(show, "...");
}

/* ---- Types ----------------------------------------------------------------------------------- */

bool wti_type_path(struct wti_show *show, unsigned i)
{
	wti_say_text(show, wti_arg64(show, i), PATH_MAX - 1, WTI_AT_ENTRY);
	return true;
}

bool wti_type_string(struct wti_show *show, unsigned i)
{
	wti_say_text(show, wti_arg64(show, i), show->string_max, WTI_AT_ENTRY);
	return true;
}

bool wti_type_path_out(struct wti_show *show, unsigned i)
{
	if (wti_filled(show, i))
		wti_say_text(show, wti_arg64(show, i), PATH_MAX - 1, WTI_AT_EXIT);
	return true;
}

bool wti_type_link_out(struct wti_show *show, unsigned i)
{
	if (wti_filled(show, i))
		wti_say_content(show, wti_arg64(show, i), (uint64_t)show->call->result,
				WTI_AT_EXIT);
	return true;
}

bool wti_type_buffer(struct wti_show *show, unsigned i)
{
	wti_say_content(show, wti_arg64(show, i), wti_arg64(show, show->what->args[i].other),
			WTI_AT_ENTRY);
	return true;
}

/* One that is too long is never looked at by the kernel. */
bool wti_type_host_name(struct wti_show *show, unsigned i)
{
	uint32_t bytes = wti_arg32(show, show->what->args[i].other);

	if (bytes > HOST_NAME_MAX)
		return wti_type_addr(show, i);
	wti_say_content(show, wti_arg64(show, i), bytes, WTI_AT_ENTRY);
	return true;
}

bool wti_type_buffer_out(struct wti_show *show, unsigned i)
{
	if (wti_filled(show, i))
		wti_say_content(show, wti_arg64(show, i), (uint64_t)show->call->result,
				WTI_AT_EXIT);
	return true;
}

/* Random bytes are shown as numbers. */
bool wti_type_random_out(struct wti_show *show, unsigned i)
{
	uint64_t bytes = (uint64_t)show->call->result;
	size_t wanted = bytes < show->string_max ? (size_t)bytes : show->string_max;
	const uint8_t *data;

	if (!wti_filled(show, i))
		return true;
	data = wti_memory(show, wti_arg64(show, i), wanted, WTI_AT_EXIT);
	if (!wti_arg64(show, i) || (wanted && !data)) {
		wti_say_address(show, wti_arg64(show, i));
		return true;
	}
	WTI_SHOW(show, "\"");
	for (size_t k = 0; k < wanted; k++)
		WTI_SHOW(show, "\\x%02x", data[k]);
	WTI_SHOW(show, "\"%s", bytes > wanted ? "..." : "");
	return true;
}

/* ["sh", "-c", "true"] */
bool wti_type_strings(struct wti_show *show, unsigned i)
{
	uint64_t address = wti_arg64(show, i);
	size_t there = 0, shown = 0;
	const uint8_t *pointers =
		address ? wti_memory_from(show, address, WTI_AT_ENTRY, &there) : NULL;

	if (!pointers) {
		wti_say_address(show, address);
		return true;
	}
	WTI_SHOW(show, "[");
	for (; there >= 8 && wti_get64(pointers); pointers += 8, there -= 8, shown++) {
		WTI_SHOW(show, "%s", shown ? ", " : "");
		if (shown == show->string_max)
			break;
		wti_say_text(show, wti_get64(pointers), show->string_max, WTI_AT_ENTRY);
	}
	if (there < 8 || wti_get64(pointers))
		WTI_SHOW(show, "%s...", there < 8 && shown ? ", " : "");
	WTI_SHOW(show, "]");
	return true;
}

/* 0x7ffd10 / * 12 vars * / */
bool wti_type_environment(struct wti_show *show, unsigned i)
{
	uint64_t address = wti_arg64(show, i);
	size_t there = 0, count = 0;
	const uint8_t *pointers =
		address ? wti_memory_from(show, address, WTI_AT_ENTRY, &there) : NULL;

	wti_say_address(show, address);
	if (!pointers)
		return true;
	while (there >= 8 && wti_get64(pointers + 8 * count)) {
		count++;
		there -= 8;
	}
	WTI_SHOW(show, " /* %zu var%s%s */", count, count == 1 ? "" : "s",
		 there < 8 ? ", unterminated" : "");
	return true;
}

/* ---- Several buffers at once ----------------------------------------------------------------- */

void wti_say_iovec(struct wti_show *show, uint64_t address, uint64_t count, uint8_t when,
		   uint64_t content_bytes)
{
	struct wti_array array;
	const uint8_t *entry;

	wti_array_begin(show, address, count, when, 16, &array);
	while ((entry = wti_array_next(show, &array))) {
		uint64_t bytes = wti_get64(entry + 8);
		uint64_t wanted = bytes < content_bytes ? bytes : content_bytes;

		WTI_SHOW(show, "{iov_base=");
		wti_say_content(show, wti_get64(entry), wanted, when);
		WTI_SHOW(show, ", iov_len=%llu}", (unsigned long long)bytes);
		content_bytes -= wanted;
	}
}

bool wti_type_iovec(struct wti_show *show, unsigned i)
{
	wti_say_iovec(show, wti_arg64(show, i), wti_arg64(show, show->what->args[i].other),
		      WTI_AT_ENTRY, UINT64_MAX);
	return true;
}

bool wti_type_iovec_out(struct wti_show *show, unsigned i)
{
	if (wti_filled(show, i))
		wti_say_iovec(show, wti_arg64(show, i), wti_arg64(show, show->what->args[i].other),
			      WTI_AT_EXIT, (uint64_t)show->call->result);
	return true;
}

bool wti_type_iovec_result(struct wti_show *show, unsigned i)
{
	return wti_type_iovec_out(show, i);
}

/* Places in another process: what is there was never ours to read. */
bool wti_type_iovec_places(struct wti_show *show, unsigned i)
{
	uint64_t count = wti_arg64(show, show->what->args[i].other);
	struct wti_array array;
	const uint8_t *entry;

	wti_array_begin(show, wti_arg64(show, i), count, WTI_AT_ENTRY, 16, &array);
	while ((entry = wti_array_next(show, &array))) {
		WTI_SHOW(show, "{iov_base=");
		wti_say_address(show, wti_get64(entry));
		WTI_SHOW(show, ", iov_len=%llu}", (unsigned long long)wti_get64(entry + 8));
	}
	return true;
}
