/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows where call frame information stands in an ELF file: at PT_GNU_EH_FRAME, whose sorted table
 * is the index; in static programs, which have no such table, in the section .eh_frame, from which
 * an index is made.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"

#include "cfi.h"

#define PROGRAM_HEADERS_MAX 128
#define SECTIONS_MAX 4096
#define SECTION_NAMES_MAX (1u << 20)
#define TABLE_ENCODING 0x3b  /* offsets from the header, four bytes with a sign */
#define FRAMES_ENCODING 0x1b /* the same, from where they stand */
#define COUNT_ENCODING 0x03
#define HEADER_BYTES 12u
#define ENTRY_BYTES 8u

static bool read_all(const struct wti_cfi_source *source, void *out, size_t bytes, uint64_t offset)
{
	return source->read(source->opaque, out, bytes, offset) == (int64_t)bytes;
}

static bool is_ours(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= PROGRAM_HEADERS_MAX;
}

bool wti_cfi_open(struct wti_cfi *cfi, const struct wti_cfi_source *source)
{
	Elf64_Ehdr header;

	*cfi = (struct wti_cfi){0};
	if (!read_all(source, &header, sizeof(header), 0) || !is_ours(&header))
		return false;
	cfi->entry = header.e_entry;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_all(source, &segment, sizeof(segment),
			      header.e_phoff + i * sizeof(segment)))
			return false;
		if (segment.p_type != PT_LOAD || cfi->segment_count == WTI_CFI_SEGMENTS_MAX)
			continue;
		cfi->segments[cfi->segment_count++] = (struct wti_cfi_segment){
			segment.p_offset, segment.p_vaddr, segment.p_filesz, segment.p_memsz};
		if (cfi->segment_count == 1 || segment.p_vaddr < cfi->begin_address)
			cfi->begin_address = segment.p_vaddr & ~UINT64_C(4095);
		if (segment.p_memsz < UINT64_MAX - segment.p_vaddr &&
		    segment.p_vaddr + segment.p_memsz > cfi->end_address)
			cfi->end_address = segment.p_vaddr + segment.p_memsz;
	}
	return cfi->segment_count > 0;
}

void wti_cfi_release(struct wti_cfi *cfi)
{
	free(cfi->frames);
	free(cfi->index);
	*cfi = (struct wti_cfi){0};
}

bool wti_cfi_address(const struct wti_cfi *cfi, uint64_t offset, uint64_t *ret_address)
{
	for (size_t i = 0; i < cfi->segment_count; i++) {
		const struct wti_cfi_segment *segment = &cfi->segments[i];

		/* Pages are mapped whole, also what stands before and behind. */
		if (offset >= (segment->offset & ~UINT64_C(4095)) &&
		    (int64_t)(offset - segment->offset) <
			    (int64_t)((segment->bytes + 4095) & ~UINT64_C(4095))) {
			*ret_address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

/* Where an address stands in the file, and how much of its segment is left from there. */
static uint64_t offset_of(const struct wti_cfi *cfi, uint64_t address, uint64_t *ret_left)
{
	for (size_t i = 0; i < cfi->segment_count; i++) {
		const struct wti_cfi_segment *segment = &cfi->segments[i];

		if (address >= segment->address && address - segment->address < segment->bytes) {
			*ret_left = segment->bytes - (address - segment->address);
			return segment->offset + (address - segment->address);
		}
	}
	*ret_left = 0;
	return 0;
}

static bool load_frames(struct wti_cfi *cfi, const struct wti_cfi_source *source, uint64_t address,
			uint64_t bytes, uint64_t offset, size_t bytes_max)
{
	if (!bytes || bytes > bytes_max)
		return false;
	cfi->frames = malloc(bytes);
	if (!cfi->frames || !read_all(source, cfi->frames, bytes, offset)) {
		free(cfi->frames);
		cfi->frames = NULL;
		return false;
	}
	cfi->frame_bytes = bytes;
	cfi->frame_address = address;
	return true;
}

/* ---- With a table ---------------------------------------------------------------------------- */

static void take_table(struct wti_cfi *cfi, const uint8_t *table, size_t count,
		       uint64_t header_address)
{
	cfi->index = malloc(count * sizeof(*cfi->index));
	for (size_t i = 0; cfi->index && i < count; i++) {
		uint64_t fde = header_address +
			       (uint64_t)(int64_t)(int32_t)wti_get32(table + i * ENTRY_BYTES + 4);

		if (fde < cfi->frame_address || fde - cfi->frame_address >= cfi->frame_bytes)
			continue;
		cfi->index[cfi->index_count++] = (struct wti_cfi_entry){
			header_address +
				(uint64_t)(int64_t)(int32_t)wti_get32(table + i * ENTRY_BYTES),
			(uint32_t)(fde - cfi->frame_address)};
	}
}

static bool load_by_table(struct wti_cfi *cfi, const struct wti_cfi_source *source,
			  const Elf64_Phdr *place, size_t bytes_max)
{
	uint8_t header[HEADER_BYTES], *table;
	uint64_t address, left, offset, bytes;

	if (place->p_filesz < sizeof(header) || place->p_filesz > bytes_max ||
	    !read_all(source, header, sizeof(header), place->p_offset) || header[0] != 1 ||
	    header[1] != FRAMES_ENCODING || header[2] != COUNT_ENCODING ||
	    header[3] != TABLE_ENCODING)
		return false;
	address = place->p_vaddr + 4 + (uint64_t)(int64_t)(int32_t)wti_get32(header + 4);
	bytes = (uint64_t)wti_get32(header + 8) * ENTRY_BYTES;
	offset = offset_of(cfi, address, &left);
	if (!bytes || bytes > place->p_filesz - sizeof(header) ||
	    !load_frames(cfi, source, address, left < bytes_max ? left : bytes_max, offset,
			 bytes_max))
		return false;
	table = malloc(bytes);
	if (table && read_all(source, table, bytes, place->p_offset + sizeof(header)))
		take_table(cfi, table, bytes / ENTRY_BYTES, place->p_vaddr);
	free(table);
	return true;
}

/* ---- Without ------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct wti_cfi_entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void make_index(struct wti_cfi *cfi)
{
	size_t at = 0, capacity = 0, next;
	uint64_t begin;

	for (; (next = wti_cfi_next(cfi, at, &begin)); at = next) {
		if (!begin)
			continue;
		if (wti_grow(&cfi->index, cfi->index_count + 1, &capacity, WTI_NO_CEILING))
			break;
		cfi->index[cfi->index_count++] = (struct wti_cfi_entry){begin, (uint32_t)at};
	}
	if (cfi->index_count)
		qsort(cfi->index, cfi->index_count, sizeof(*cfi->index), by_address);
}

static bool is_frames(const Elf64_Shdr *section, const char *names, size_t name_bytes)
{
	static const char wanted[] = ".eh_frame";

	return section->sh_type != SHT_NOBITS && name_bytes >= sizeof(wanted) &&
	       section->sh_name <= name_bytes - sizeof(wanted) &&
	       !memcmp(names + section->sh_name, wanted, sizeof(wanted));
}

static void load_by_section(struct wti_cfi *cfi, const struct wti_cfi_source *source,
			    const Elf64_Ehdr *header, size_t bytes_max)
{
	Elf64_Shdr *sections, *names;
	size_t bytes = (size_t)header->e_shnum * sizeof(*sections);
	char *text = NULL;

	if (!header->e_shnum || header->e_shnum > SECTIONS_MAX ||
	    header->e_shstrndx >= header->e_shnum || header->e_shentsize != sizeof(*sections))
		return;
	sections = malloc(bytes);
	if (sections && read_all(source, sections, bytes, header->e_shoff)) {
		names = &sections[header->e_shstrndx];
		if (names->sh_size && names->sh_size <= SECTION_NAMES_MAX)
			text = malloc(names->sh_size);
		if (text && read_all(source, text, names->sh_size, names->sh_offset)) {
			for (unsigned i = 0; i < header->e_shnum && !cfi->frames; i++)
				if (is_frames(&sections[i], text, names->sh_size))
					load_frames(cfi, source, sections[i].sh_addr,
						    sections[i].sh_size, sections[i].sh_offset,
						    bytes_max);
		}
	}
	free(text);
	free(sections);
	if (cfi->frames)
		make_index(cfi);
}

void wti_cfi_load(struct wti_cfi *cfi, const struct wti_cfi_source *source, size_t bytes_max)
{
	Elf64_Ehdr header;

	if (!read_all(source, &header, sizeof(header), 0) || !is_ours(&header))
		return;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_all(source, &segment, sizeof(segment),
			      header.e_phoff + i * sizeof(segment)))
			return;
		if (segment.p_type == PT_GNU_EH_FRAME &&
		    load_by_table(cfi, source, &segment, bytes_max))
			return;
	}
	load_by_section(cfi, source, &header, bytes_max);
}
