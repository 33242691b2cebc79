/* SPDX-License-Identifier: Apache-2.0 */
/* Knows when a path is still the same file, and where the bytes of one come from. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"

#include "code.h"

#define CODES_MAX (16u << 10)
#define ROWS_MAX (256u << 10)
#define ROWS_BYTES_MAX ((size_t)96 << 20)
#define FILE_FRAMES_MAX ((size_t)128 << 20) /* libraries of 1 GB have some 40 MB */
#define ALL_FRAMES_MAX ((size_t)1 << 30)
#define FIRST_BASE (UINT64_C(1) << 60) /* no process has anything there */
#define UNKNOWN_BYTES (UINT64_C(1) << 47)
#define PAGE_BYTES UINT64_C(4096)
#define VDSO "[vdso]"

void wti_codes_init(struct wti_codes *codes)
{
	*codes = (struct wti_codes){.next_base = FIRST_BASE};
	wti_map_init(&codes->by_identity, CODES_MAX);
	wti_map_init(&codes->rows, ROWS_MAX);
	wti_arena_init(&codes->row_memory, ROWS_BYTES_MAX);
}

void wti_codes_release(struct wti_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++) {
		wti_cfi_release(&codes->all[i]->cfi);
		free(codes->all[i]->path);
		free(codes->all[i]);
	}
	free(codes->all);
	wti_map_release(&codes->by_identity);
	wti_map_release(&codes->rows);
	wti_arena_release(&codes->row_memory);
	*codes = (struct wti_codes){0};
}

/* ---- Bytes of files -------------------------------------------------------------------------- */

static int64_t read_file(const void *opaque, void *out, size_t bytes, uint64_t offset)
{
	return offset > INT64_MAX ? -1 : wti_pread_all(*(const int *)opaque, out, bytes, offset);
}

/* How much of it is there for certain: its first segment. */
static uint64_t vdso_bytes(const uint8_t *image)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Phdr *segment = (const void *)(image + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			return segment[i].p_offset + segment[i].p_filesz;
	return 0;
}

/* Ours is everybody's: the kernel has one. */
static int64_t read_vdso(const void *opaque, void *out, size_t bytes, uint64_t offset)
{
	const uint8_t *image = opaque;
	uint64_t whole = vdso_bytes(image);

	if (offset > whole || bytes > whole - offset)
		return -1;
	memcpy(out, image + offset, bytes);
	return (int64_t)bytes;
}

/* Calls `use` with the bytes of the file, if it can be read. */
static void with_bytes(struct wti_mapped_code *code,
		       void (*use)(struct wti_mapped_code *code,
				   const struct wti_cfi_source *source))
{
	const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct stat status;
	int fd;

	if (!strcmp(code->path, VDSO)) {
		if (vdso)
			use(code, &(struct wti_cfi_source){read_vdso, vdso});
		return;
	}
	if (code->path[0] != '/')
		return;
	fd = wti_open_regular(code->path, NULL);
	if (fd < 0)
		return;
	if (!fstat(fd, &status) && (uint64_t)status.st_size == code->size)
		use(code, &(struct wti_cfi_source){read_file, &fd});
	close(fd);
}

static void open_code(struct wti_mapped_code *code, const struct wti_cfi_source *source)
{
	code->is_elf = wti_cfi_open(&code->cfi, source);
}

static void load_code(struct wti_mapped_code *code, const struct wti_cfi_source *source)
{
	wti_cfi_load(&code->cfi, source, FILE_FRAMES_MAX);
}

/* ---- Which file ------------------------------------------------------------------------------ */

static struct wti_mapped_code *new_code(struct wti_codes *codes, const char *path,
					const struct stat *status)
{
	struct wti_mapped_code *code;

	if (wti_grow(&codes->all, codes->count + 1, &codes->capacity, CODES_MAX))
		return NULL;
	code = calloc(1, sizeof(*code));
	if (code)
		code->path = strdup(path);
	if (!code || !code->path) {
		free(code);
		return NULL;
	}
	code->size = (uint64_t)status->st_size;
	with_bytes(code, open_code);
	if (code->path[0] == '/')
		wti_build_id(code->path, code->build_id);
	code->bytes =
		code->is_elf ? code->cfi.end_address - code->cfi.begin_address : UNKNOWN_BYTES;
	code->base = codes->next_base;
	codes->next_base += ((code->bytes + PAGE_BYTES) | (PAGE_BYTES - 1)) + 1;
	codes->all[codes->count++] = code;
	return code;
}

uint32_t wti_codes_find(struct wti_codes *codes, const char *path, size_t path_bytes)
{
	struct stat status = {0};
	char identity[4096 + 96];
	uint64_t *slot;
	int n;

	if (path_bytes >= 4096)
		return 0;
	memcpy(identity, path, path_bytes);
	identity[path_bytes] = 0;
	if (identity[0] != '/' || stat(identity, &status))
		status = (struct stat){0};
	n = snprintf(identity + path_bytes + 1, sizeof(identity) - path_bytes - 1,
		     "%llu:%llu:%lld:%lld.%ld", (unsigned long long)status.st_dev,
		     (unsigned long long)status.st_ino, (long long)status.st_size,
		     (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
	slot = wti_map_text(&codes->by_identity, identity, path_bytes + 1 + (size_t)n);
	if (!slot)
		return 0;
	if (!*slot && new_code(codes, identity, &status))
		*slot = codes->count;
	return (uint32_t)*slot;
}

struct wti_mapped_code *wti_codes_at(const struct wti_codes *codes, uint32_t number)
{
	return codes->all[number - 1];
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void load(struct wti_codes *codes, struct wti_mapped_code *code)
{
	code->is_loaded = true;
	if (codes->frame_bytes < ALL_FRAMES_MAX)
		with_bytes(code, load_code);
	codes->frame_bytes += code->cfi.frame_bytes;
	codes->unloaded += !code->cfi.index_count;
}

const struct wti_cfi_row *wti_codes_row(struct wti_codes *codes, uint32_t number, uint64_t address)
{
	struct wti_mapped_code *code = wti_codes_at(codes, number);
	struct wti_cfi_row row, *kept;
	uint64_t *slot;

	if (!code->is_elf || address >> 40)
		return NULL;
	slot = wti_map_number(&codes->rows, (uint64_t)number << 40 | address);
	if (!slot)
		return NULL;
	if (*slot)
		return *slot == 1 ? NULL : (const void *)(uintptr_t)*slot;
	if (!code->is_loaded)
		load(codes, code);
	*slot = 1; /* looked for, and not found */
	if (!wti_cfi_find(&code->cfi, address, &row))
		return NULL;
	kept = wti_arena_alloc(&codes->row_memory, sizeof(*kept));
	if (!kept)
		return NULL;
	*kept = row;
	*slot = (uint64_t)(uintptr_t)kept;
	return kept;
}
