/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows libdwfl and libdw. Debug information that stands apart is found by its build-id in
 * /usr/lib/debug; nothing is fetched from a network, whatever the environment says.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/file.h"

#include "file.h"

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Where distributions put libraries; a program of theirs is a program all the same. */
static bool is_system_library(const char *path)
{
	return begins_with(path, "/lib") || begins_with(path, "/usr/lib") || path[0] == '[';
}

/* Functions of headers are inlined into programs. */
static bool is_system_source(const char *path)
{
	return begins_with(path, "/usr/include/") || begins_with(path, "/usr/lib/gcc/");
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		      const char *file, const char *link, GElf_Word crc, char **ret_file)
{
	(void)link;
	(void)crc;
	return dwfl_build_id_find_debuginfo(module, userdata, name, base, file, NULL, 0, ret_file);
}

static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_debug};

static bool is_changed(const struct wt_module *module, const char *path)
{
	char now[WTI_BUILD_ID_TEXT_BYTES], then[WTI_BUILD_ID_TEXT_BYTES] = "";

	if (module->build_id_bytes > (sizeof(then) - 1) / 2)
		return true;
	for (size_t i = 0; i < module->build_id_bytes; i++)
		snprintf(then + 2 * i, 3, "%02x", module->build_id[i]);
	wti_build_id(path, now);
	return strcmp(now, then) != 0;
}

static void open_module(struct wti_file *file)
{
	int fd = wti_open_regular(file->path, NULL);

	if (fd < 0)
		return;
	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, file->path, file->path, fd, 0, false);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (!file->module)
		close(fd); /* otherwise it is the module's */
	if (file->module)
		dwfl_module_info(file->module, NULL, &file->begin, NULL, NULL, NULL, NULL, NULL);
}

struct wti_file *wti_file_open(const struct wt_module *module)
{
	struct wti_file *file = calloc(1, sizeof(*file));

	if (file)
		file->path = strndup(module->path, module->path_bytes);
	if (!file || !file->path) {
		free(file);
		return NULL;
	}
	file->is_of_system = is_system_library(file->path);
	file->state = WTI_FILE_GONE;
	if (file->path[0] != '/')
		return file;
	open_module(file);
	if (file->module)
		file->state = is_changed(module, file->path) ? WTI_FILE_CHANGED : WTI_FILE_READY;
	return file;
}

void wti_file_close(struct wti_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file->path);
	free(file);
}

/* ---- Looking up ------------------------------------------------------------------------------ */

struct look {
	struct wti_arena *arena;
	struct wti_frame *frames;
	size_t count;
	size_t count_max;
	const char *file; /* of the source, at the innermost frame that was not yet taken */
	uint32_t line;
	Dwarf_Files *files; /* of the unit */
};

static const char *keep(const struct look *look, const char *text)
{
	return text ? wti_arena_text(look->arena, text, strlen(text)) : NULL;
}

/* Without the version that libraries tie to symbols: write@@GLIBC_2.2.5. */
static const char *keep_name(const struct look *look, const char *name)
{
	return name ? wti_arena_text(look->arena, name, strcspn(name, "@")) : NULL;
}

static void take_frame(struct look *look, const char *function)
{
	struct wti_frame *frame = &look->frames[look->count];

	if (look->count == look->count_max)
		return;
	*frame = look->frames[0]; /* path and address are those of all */
	frame->function = keep_name(look, function);
	frame->file = keep(look, look->file);
	frame->line = frame->file ? look->line : 0;
	frame->is_of_system |= frame->file && is_system_source(frame->file);
	look->count++;
}

static uint64_t number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_attr(die, name, &attribute))
		dwarf_formudata(&attribute, &value);
	return value;
}

/* An inlined function says where it was called: that is the line of what it is part of. */
static void take_inlined(struct look *look, Dwarf_Die *die)
{
	const char *caller =
		look->files ? dwarf_filesrc(look->files, number(die, DW_AT_call_file), NULL, NULL)
			    : NULL;

	take_frame(look, dwarf_diename(die));
	look->file = caller;
	look->line = (uint32_t)number(die, DW_AT_call_line);
}

/* The scopes around an address, and the function as a whole at last. */
static const char *take_scopes(struct look *look, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die *scopes = NULL, *around = NULL;
	const char *function = NULL;
	size_t file_count;
	int count = dwarf_getscopes(unit, address, &scopes);

	if (dwarf_getsrcfiles(unit, &look->files, &file_count))
		look->files = NULL;
	/* What lies around an inlined function is asked for by itself: otherwise the answer is
	 * where it was written, not where it is. */
	count = count > 0 ? dwarf_getscopes_die(&scopes[0], &around) : 0;
	for (int i = 0; i < count && !function; i++) {
		if (dwarf_tag(&around[i]) == DW_TAG_inlined_subroutine)
			take_inlined(look, &around[i]);
		else if (dwarf_tag(&around[i]) == DW_TAG_subprogram)
			function = dwarf_diename(&around[i]);
	}
	free(scopes);
	free(around);
	return function;
}

static void name_whole(const struct wti_file *file, struct look *look, Dwarf_Addr address,
		       const char *function)
{
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(file->module, address, &offset, &symbol, NULL, NULL, NULL);
	size_t inlined_count = look->count;

	take_frame(look, name ? name : function);
	if (look->count > inlined_count && name)
		look->frames[inlined_count].function_offset = offset + 1;
	for (size_t i = 0; i < inlined_count; i++) {
		look->frames[i].inlined_in = keep_name(look, name ? name : function);
		look->frames[i].function_offset = 0;
	}
}

size_t wti_file_frames(const struct wti_file *file, uint64_t offset, struct wti_arena *arena,
		       struct wti_frame *ret_frames, size_t count_max)
{
	struct look look = {.arena = arena, .frames = ret_frames, .count_max = count_max};
	uint64_t address = file->begin + offset;
	Dwarf_Addr bias = 0, sought = address - 1;
	const char *function = NULL;
	Dwfl_Line *line;
	Dwarf_Die *unit;
	int number_of_line = 0;

	ret_frames[0] = (struct wti_frame){
		.path = file->path, .address = address, .is_of_system = file->is_of_system};
	if (file->state != WTI_FILE_READY)
		return 1;
	line = dwfl_module_getsrc(file->module, sought);
	if (line)
		look.file = dwfl_lineinfo(line, NULL, &number_of_line, NULL, NULL, NULL);
	look.line = (uint32_t)number_of_line;
	unit = dwfl_module_addrdie(file->module, sought, &bias);
	if (unit)
		function = take_scopes(&look, unit, sought - bias);
	name_whole(file, &look, sought, function);
	return look.count;
}
