/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as addresses. Knows how to walk frames and how to list modules; symbols are for those
 * who read the trace, which is why modules are emitted with their build-ids.
 */
#include "stack.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "agent.h"
#include "private.h"

struct walk {
	uint64_t frames[WTI_STACK_MAX];
	unsigned count;
	unsigned skip;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context, void *cookie)
{
	struct walk *walk = cookie;
	uint64_t address = _Unwind_GetIP(context);

	if (address == 0 || walk->count == WTI_STACK_MAX)
		return _URC_END_OF_STACK;
	if (walk->skip)
		walk->skip--;
	else
		walk->frames[walk->count++] = address;
	return _URC_NO_REASON;
}

/* ---- Modules --------------------------------------------------------------------------------- */

struct module {
	struct wti_module_definition head;
	uint8_t rest[64 + WTI_TEXT_MAX]; /* build-id, path */
};

/* The note "GNU", type 3, among those of a segment. */
static size_t find_build_id(const uint8_t *note, size_t bytes, const uint8_t **ret_id)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) head;
		size_t name, description;

		memcpy(&head, note, sizeof(head));
		name = ((size_t)head.n_namesz + 3) & ~(size_t)3;
		description = ((size_t)head.n_descsz + 3) & ~(size_t)3;
		if (name > bytes - sizeof(head) || description > bytes - sizeof(head) - name)
			return 0;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && head.n_descsz <= 64 &&
		    memcmp(note + sizeof(head), "GNU", 4) == 0) {
			*ret_id = note + sizeof(head) + name;
			return head.n_descsz;
		}
		note += sizeof(head) + name + description;
		bytes -= sizeof(head) + name + description;
	}
	return 0;
}

static void module_extent(const struct dl_phdr_info *info, struct module *module)
{
	uint64_t begin = UINT64_MAX;
	uint64_t end = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_vaddr < begin)
			begin = segment->p_vaddr;
		if (segment->p_vaddr + segment->p_memsz > end)
			end = segment->p_vaddr + segment->p_memsz;
	}
	if (begin > end)
		begin = end;
	begin &= ~UINT64_C(4095);
	module->head.base = info->dlpi_addr + begin;
	module->head.bytes = end - begin;
}

static void module_build_id(const struct dl_phdr_info *info, struct module *module)
{
	const uint8_t *id = NULL;
	size_t bytes = 0;

	for (int i = 0; i < info->dlpi_phnum && bytes == 0; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_NOTE)
			bytes = find_build_id((const uint8_t *)(info->dlpi_addr + segment->p_vaddr),
					      segment->p_memsz, &id);
	}
	if (bytes)
		memcpy(module->rest, id, bytes);
	module->head.build_id_bytes = (uint32_t)bytes;
}

/* The program itself is listed without a name. */
static void module_path(const struct dl_phdr_info *info, struct module *module)
{
	char *path = (char *)module->rest + module->head.build_id_bytes;
	size_t bytes;

	if (info->dlpi_name && *info->dlpi_name) {
		bytes = wti_text_cut(info->dlpi_name, strlen(info->dlpi_name), WTI_TEXT_MAX);
		memcpy(path, info->dlpi_name, bytes);
	} else {
		ssize_t length = readlink("/proc/self/exe", path, WTI_TEXT_MAX);

		bytes = length > 0 ? (size_t)length : 0;
	}
	if (!wti_agent.control->strings_keep)
		bytes = wti_secret_mask(path, bytes);
	module->head.path_bytes = (uint32_t)bytes;
}

static int emit_module(struct dl_phdr_info *info, size_t info_bytes, void *cookie)
{
	struct module module;
	size_t bytes;

	(void)info_bytes;
	(void)cookie;
	module_extent(info, &module);
	module_build_id(info, &module);
	module_path(info, &module);
	bytes = sizeof(module.head) + module.head.build_id_bytes + module.head.path_bytes;
	if (module.head.bytes)
		wti_define(WTI_DEF_MODULE, &module, bytes, &module, bytes);
	return 0;
}

struct loader_counters {
	uint64_t added;
	uint64_t removed;
};

static int read_counters(struct dl_phdr_info *info, size_t info_bytes, void *cookie)
{
	struct loader_counters *counters = cookie;

	(void)info_bytes;
	counters->added = info->dlpi_adds;
	counters->removed = info->dlpi_subs;
	return 1; /* the first module knows all that we ask */
}

static void emit_modules(struct wti_agent_process *process)
{
	struct loader_counters now = {0};

	dl_iterate_phdr(read_counters, &now);
	if (now.added == process->modules_added && now.removed == process->modules_removed)
		return;
	dl_iterate_phdr(emit_module, NULL);
	process->modules_added = now.added;
	process->modules_removed = now.removed;
}

uint32_t wti_stack_capture(unsigned skip)
{
	struct walk walk = {.skip = skip + 1};

	_Unwind_Backtrace(walk_frame, &walk);
	if (walk.count == 0)
		return 0;
	emit_modules(wti_agent.process);
	return wti_define(WTI_DEF_STACK, walk.frames, walk.count * sizeof(walk.frames[0]),
			  walk.frames, walk.count * sizeof(walk.frames[0]));
}
