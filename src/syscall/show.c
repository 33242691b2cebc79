/* SPDX-License-Identifier: Apache-2.0 */
/* Captured memory by address; flags and devices as text. */
#include "show.h"

#include <stdio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

const uint8_t *wti_memory_from(const struct wti_show *show, uint64_t address, uint8_t when,
			       size_t *ret_bytes)
{
	for (size_t i = 0; i < show->call->piece_count; i++) {
		const struct wti_piece *piece = &show->call->pieces[i];

		if (piece->when != when || address < piece->address ||
		    address - piece->address >= piece->bytes)
			continue;
		*ret_bytes = piece->bytes - (size_t)(address - piece->address);
		return piece->data + (address - piece->address);
	}
	return NULL;
}

const uint8_t *wti_memory(const struct wti_show *show, uint64_t address, size_t bytes, uint8_t when)
{
	for (size_t i = 0; i < show->call->piece_count; i++) {
		const struct wti_piece *piece = &show->call->pieces[i];
		uint64_t into = address - piece->address;

		if (piece->when == when && address >= piece->address && into < piece->bytes &&
		    piece->bytes - into >= bytes)
			return piece->data + into;
	}
	return NULL;
}

bool wti_filled(struct wti_show *show, unsigned i)
{
	if (!show->returned)
		show->cut = true;
	else if (show->failed)
		wti_say_address(show, wti_arg64(show, i));
	return show->returned && !show->failed;
}

void wti_array_begin(struct wti_show *show, uint64_t address, uint64_t count, uint8_t when,
		     size_t entry_bytes, struct wti_array *ret_array)
{
	*ret_array = (struct wti_array){.entry_bytes = entry_bytes, .count = count};
	if (address)
		ret_array->at = wti_memory_from(show, address, when, &ret_array->bytes);
	ret_array->is_open = address && (!count || ret_array->at);
	if (ret_array->is_open)
		WTI_SHOW(show, "[");
	else
		wti_say_address(show, address);
}

const uint8_t *wti_array_next(struct wti_show *show, struct wti_array *array)
{
	const uint8_t *at = array->at;
	bool is_more = array->shown < array->count;

	if (!array->is_open)
		return NULL;
	if (is_more && array->shown)
		WTI_SHOW(show, ", ");
	if (!is_more || array->bytes < array->entry_bytes || array->shown == show->string_max) {
		WTI_SHOW(show, "%s", is_more ? "...]" : "]");
		array->is_open = false;
		return NULL;
	}
	array->at += array->entry_bytes;
	array->bytes -= array->entry_bytes;
	array->shown++;
	return at;
}

const uint8_t *wti_pointed(struct wti_show *show, unsigned i, size_t bytes, uint8_t when)
{
	uint64_t address = wti_arg64(show, i);
	const uint8_t *at = address ? wti_memory(show, address, bytes, when) : NULL;

	if (when == WTI_AT_EXIT && !wti_filled(show, i))
		return NULL;
	if (!at)
		wti_say_address(show, address);
	return at;
}

/* ---- Values ---------------------------------------------------------------------------------- */

void wti_say_address(struct wti_show *show, uint64_t address)
{
	if (address)
		WTI_SHOW(show, "%#llx", (unsigned long long)address);
	else
		WTI_SHOW(show, "NULL");
}

/* As strace -y quotes names: so that a > in a name does not end it. */
static void show_file_name(struct wti_show *show, struct wt_text name)
{
	WTI_SHOW(show, "<");
	for (size_t i = 0; i < name.bytes; i++) {
		uint8_t c = (uint8_t)name.data[i];

		if (c < ' ' || c > '~' || c == '<' || c == '>' || c == '\\')
			WTI_SHOW(show, "\\%03o", c);
		else
			wti_buf_byte(show->out, c);
	}
	WTI_SHOW(show, ">");
}

void wti_say_fd(struct wti_show *show, int32_t fd)
{
	const struct wti_decode_files *files = show->options->files;
	struct wt_text name;

	if (fd == AT_FDCWD)
		WTI_SHOW(show, "AT_FDCWD");
	else
		WTI_SHOW(show, "%d", fd);
	if (files && files->name(files->opaque, fd, &name))
		show_file_name(show, name);
}

void wti_say_id(struct wti_show *show, uint32_t id)
{
	if (id == UINT32_MAX)
		WTI_SHOW(show, "-1");
	else
		WTI_SHOW(show, "%u", id);
}

void wti_say_device(struct wti_show *show, uint64_t device)
{
	WTI_SHOW(show, "makedev(%#x, %#x)", major(device), minor(device));
}

static const struct {
	uint32_t type;
	const char *name;
} file_types[] = {
	{S_IFREG, "S_IFREG"}, {S_IFSOCK, "S_IFSOCK"}, {S_IFIFO, "S_IFIFO"}, {S_IFLNK, "S_IFLNK"},
	{S_IFDIR, "S_IFDIR"}, {S_IFBLK, "S_IFBLK"},   {S_IFCHR, "S_IFCHR"},
};

static const struct {
	uint32_t bit;
	const char *name;
} mode_bits[] = {{S_ISUID, "S_ISUID"}, {S_ISGID, "S_ISGID"}, {S_ISVTX, "S_ISVTX"}};

void wti_say_mode(struct wti_show *show, uint32_t mode)
{
	const char *name = NULL;

	for (size_t i = 0; i < sizeof(file_types) / sizeof(file_types[0]); i++) {
		if ((mode & S_IFMT) == file_types[i].type)
			name = file_types[i].name;
	}
	if (!name && mode & S_IFMT) {
		WTI_SHOW(show, "%#o", mode);
		return;
	}
	if (name)
		WTI_SHOW(show, "%s", name);
	for (size_t i = 0; i < sizeof(mode_bits) / sizeof(mode_bits[0]); i++) {
		if (mode & mode_bits[i].bit)
			WTI_SHOW(show, "%s%s", mode & S_IFMT || i ? "|" : "", mode_bits[i].name);
	}
	WTI_SHOW(show, "%s%#03o", mode & ~0777u ? "|" : "",
		 mode & ~(uint32_t)(S_IFMT | S_ISUID | S_ISGID | S_ISVTX));
}

/* ---- Flags ----------------------------------------------------------------------------------- */

/* Constants that are negative ints, or have the highest bit of one, beside an argument of 32 bits.
 */
static uint64_t narrow(uint64_t constant, uint64_t value)
{
	return value <= UINT32_MAX && (int64_t)constant < 0 ? (uint32_t)constant : constant;
}

const char *wti_flag_name(const struct wti_flags *set, uint64_t value)
{
	for (const struct wti_flag *flag = set->all; flag->name; flag++) {
		if (flag->value == value || narrow(flag->value, value) == value)
			return flag->name;
	}
	return NULL;
}

void wti_say_enum(struct wti_show *show, const struct wti_flags *set, uint64_t value)
{
	const char *name = wti_flag_name(set, value);

	if (name)
		WTI_SHOW(show, "%s", name);
	else
		WTI_SHOW(show, "%#llx /* %s */", (unsigned long long)value, set->unknown);
}

/* Shows what has a name, each behind `*between`, and returns the rest. */
static uint64_t show_named(struct wti_show *show, const struct wti_flags *set, uint64_t value,
			   const char **between)
{
	for (const struct wti_flag *flag = set->all; flag->name && value; flag++) {
		uint64_t bits = narrow(flag->value, value);

		if (!bits || (value & bits) != bits)
			continue;
		WTI_SHOW(show, "%s%s", *between, flag->name);
		*between = "|";
		value &= ~bits;
	}
	return value;
}

void wti_say_flags(struct wti_show *show, const struct wti_flags *set, uint64_t value)
{
	const char *zero = value ? NULL : wti_flag_name(set, 0);
	const char *between = "";
	uint64_t rest;

	if (!value) {
		WTI_SHOW(show, "%s", zero ? zero : "0");
		return;
	}
	rest = show_named(show, set, value, &between);
	if (rest == value)
		WTI_SHOW(show, "%#llx /* %s */", (unsigned long long)value, set->unknown);
	else if (rest)
		WTI_SHOW(show, "|%#llx", (unsigned long long)rest);
}

void wti_say_more_flags(struct wti_show *show, const struct wti_flags *set, uint64_t value)
{
	const char *between = "|";
	uint64_t rest = show_named(show, set, value, &between);

	if (rest)
		WTI_SHOW(show, "|%#llx", (unsigned long long)rest);
}

/* ---- Signals and errors ---------------------------------------------------------------------- */

const char *wti_signal_label(char out[WTI_SIGNAL_LABEL_BYTES], uint32_t signal)
{
	/* The kernel's: the C library keeps the first ones for itself. */
	const uint32_t first_realtime = 32, last_realtime = 64;

	if (signal < wti_signal_count && wti_signal_names[signal])
		return wti_signal_names[signal];
	if (signal == first_realtime)
		return "SIGRTMIN";
	if (signal > first_realtime && signal <= last_realtime)
		snprintf(out, WTI_SIGNAL_LABEL_BYTES, "SIGRT_%u", signal - first_realtime);
	else
		snprintf(out, WTI_SIGNAL_LABEL_BYTES, "%d", (int32_t)signal);
	return out;
}

void wti_say_signal(struct wti_show *show, uint32_t signal)
{
	char label[WTI_SIGNAL_LABEL_BYTES];

	WTI_SHOW(show, "%s", wti_signal_label(label, signal));
}

const char *wti_errno_name(uint32_t number)
{
	return number < wti_errno_count ? wti_errno_names[number] : NULL;
}
