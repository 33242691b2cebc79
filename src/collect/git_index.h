/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a git repository: which files are under its control, and what they looked like when
 * git last had a look. Read by ourselves, as git compares contents only through filters, which are
 * programs that a repository names.
 */
#ifndef WTI_COLLECT_GIT_INDEX_H
#define WTI_COLLECT_GIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define WTI_GIT_ENTRY_BYTES_MIN 62u /* of an entry in the file */

struct wti_git_entry {
	const char *path; /* NUL-terminated, good until the next entry */
	size_t path_bytes;
	uint32_t ctime, ctime_ns;
	uint32_t mtime, mtime_ns;
	uint32_t size; /* of the file, modulo 2^32 */
	uint32_t mode; /* 0100644, 0100755, 0120000, 0160000; 0040000: a folder left out whole */
	const uint8_t *id;
	unsigned stage;    /* other than 0: not merged yet */
	bool is_untouched; /* git does not look at the file: assume-unchanged, or left out */
	bool is_intended;  /* to be added; its contents are not in the index yet */
};

struct wti_git_index {
	const uint8_t *data;
	size_t bytes;
	size_t at;
	uint32_t version;
	uint32_t left; /* entries */
	size_t id_bytes;
	struct wti_buf path;
};

/* False: damaged, of an unknown version, or a part of another index (split). */
bool wti_git_index_open(struct wti_git_index *index, const void *data, size_t bytes,
			size_t id_bytes);
void wti_git_index_release(struct wti_git_index *index);
/* 1: an entry, 0: the end, -1: damaged. */
int wti_git_index_next(struct wti_git_index *index, struct wti_git_entry *ret_entry);

#endif
