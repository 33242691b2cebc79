/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which calls open and close, and where paths stand among pieces of memory. */
#include "own.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "syscall/record.h"

void wti_own_init(struct wti_own *own)
{
	own->folder_count = own->open_count = 0;
	if (wti_expr_compile(WTI_ARCH_HERE, "%desc", &own->descriptors, NULL))
		own->descriptors = (struct wti_call_set){0};
}

void wti_own_folder(struct wti_own *own, const char *folder)
{
	if (own->folder_count < WTI_OWN_FOLDERS_MAX)
		snprintf(own->folders[own->folder_count++], PATH_MAX, "%.*s/",
			 (int)strnlen(folder, PATH_MAX - 2), folder);
}

/* The folder itself, or something in it. */
static bool is_path_of(const char *folder, const char *text, size_t bytes)
{
	size_t length = strlen(folder);

	if (bytes >= length && !memcmp(text, folder, length))
		return true;
	return bytes == length && !memcmp(text, folder, length - 1) && !text[length - 1];
}

static bool names_ours(const struct wti_own *own, const uint8_t *memory, size_t bytes)
{
	size_t at = 0;

	while (bytes - at >= WTI_PIECE_HEAD_BYTES) {
		size_t length = wti_get16(memory + at);
		size_t head = WTI_PIECE_HEAD_BYTES + (memory[at + 2] == WTI_PIECE_OTHER ? 8u : 0);

		if (head + length > bytes - at)
			return false;
		for (size_t i = 0; i < own->folder_count; i++)
			if (is_path_of(own->folders[i], (const char *)memory + at + head, length))
				return true;
		at += head + length;
	}
	return false;
}

static bool opens(uint32_t nr)
{
#ifdef SYS_open
	if (nr == SYS_open)
		return true;
#endif
	return nr == SYS_openat || nr == SYS_openat2;
}

/* Place of the descriptor among the open ones; open_count if it is none of ours. */
static size_t place_of(const struct wti_own *own, uint32_t pid, int fd)
{
	size_t i = 0;

	while (i < own->open_count && (own->open[i].pid != pid || own->open[i].fd != fd))
		i++;
	return i;
}

static void remember(struct wti_own *own, uint32_t pid, int fd)
{
	size_t place = place_of(own, pid, fd);

	if (place == WTI_OWN_OPEN_MAX)
		return;
	own->open_count += place == own->open_count;
	own->open[place].pid = pid;
	own->open[place].fd = fd;
}

static void forget(struct wti_own *own, size_t place)
{
	own->open[place] = own->open[--own->open_count];
}

bool wti_own_is(struct wti_own *own, uint32_t pid, const struct wti_raw_call *call,
		const uint8_t *memory, size_t bytes)
{
	bool is_mapping = call->nr == SYS_mmap;
	size_t place;

	if (call->arch != WTI_ARCH_HERE)
		return false;
	if (bytes && names_ours(own, memory, bytes)) {
		if (opens(call->nr) && call->result >= 0)
			remember(own, pid, (int)call->result);
		return call->nr != SYS_execve && call->nr != SYS_execveat;
	}
	if (!own->open_count || (!is_mapping && !wti_call_set_has(&own->descriptors, call->nr)))
		return false;
	place = place_of(own, pid, (int)call->args[is_mapping ? 4 : 0]);
	if (place == own->open_count) {
		/* The program has the number again for itself. */
		if (opens(call->nr) && call->result >= 0) {
			place = place_of(own, pid, (int)call->result);
			if (place < own->open_count)
				forget(own, place);
		}
		return false;
	}
	if (call->nr == SYS_close)
		forget(own, place);
	return true;
}
