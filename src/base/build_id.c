/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where the note with a build-id stands, and trusts no size in the file. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "file.h"

#include "build_id.h"

#define SEGMENTS_MAX 128
#define NOTES_BYTES_MAX 4096

static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

static bool in_notes(const uint8_t *notes, size_t bytes, char out[WTI_BUILD_ID_TEXT_BYTES])
{
	size_t at = 0;

	while (bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, payload;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		if (note.n_namesz > bytes - at || padded(note.n_namesz) > bytes - at)
			return false;
		name = at;
		at += padded(note.n_namesz);
		if (note.n_descsz > bytes - at || padded(note.n_descsz) > bytes - at)
			return false;
		payload = at;
		at += padded(note.n_descsz);
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(notes + name, "GNU", 4) || !note.n_descsz || note.n_descsz > 32)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(out + 2 * i, 3, "%02x", notes[payload + i]);
		return true;
	}
	return false;
}

static bool in_segment(int fd, const Elf64_Phdr *segment, char out[WTI_BUILD_ID_TEXT_BYTES])
{
	uint8_t notes[NOTES_BYTES_MAX];
	size_t bytes = segment->p_filesz < sizeof(notes) ? segment->p_filesz : sizeof(notes);
	ssize_t n;

	if (segment->p_type != PT_NOTE)
		return false;
	n = wti_pread_all(fd, notes, bytes, segment->p_offset);
	return n > 0 && in_notes(notes, (size_t)n, out);
}

static bool in_file(int fd, char out[WTI_BUILD_ID_TEXT_BYTES])
{
	Elf64_Ehdr header;

	if (wti_pread_all(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		Elf64_Phdr segment;
		uint64_t at = header.e_phoff + i * sizeof(segment);

		if (wti_pread_all(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return false;
		if (in_segment(fd, &segment, out))
			return true;
	}
	return false;
}

bool wti_build_id(const char *path, char out[WTI_BUILD_ID_TEXT_BYTES])
{
	int fd = wti_open_regular(path, NULL);
	bool found;

	out[0] = 0;
	if (fd < 0)
		return false;
	found = in_file(fd, out);
	close(fd);
	return found;
}
