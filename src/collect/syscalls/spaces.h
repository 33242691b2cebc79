/* SPDX-License-Identifier: Apache-2.0 */
/* Which code stands where in the memory of each process, kept up to date by records of changes. */
#ifndef WTI_SYSCALLS_SPACES_H
#define WTI_SYSCALLS_SPACES_H

#include "code.h"

struct wti_mapping {
	uint64_t begin;
	uint64_t end;
	uint64_t offset; /* in the file */
	uint32_t code;   /* number of the file */
};

struct wti_space {
	struct wti_mapping *mappings; /* sorted, without overlaps */
	size_t count;
	size_t capacity;
};

struct wti_spaces {
	struct wti_codes codes;
	struct wti_map by_pid;
	uint64_t left_out; /* mappings that found no room */
};

void wti_spaces_init(struct wti_spaces *spaces);
void wti_spaces_release(struct wti_spaces *spaces);
/* A process of the run. Of others, unless these are its children, nothing is kept. */
void wti_spaces_begin(struct wti_spaces *spaces, uint32_t pid);
void wti_spaces_change(struct wti_spaces *spaces, const struct wti_raw_map *raw);
/* NULL: nothing is known of the process. */
const struct wti_space *wti_spaces_of(const struct wti_spaces *spaces, uint32_t pid);
/* The file at an address, 0: none, and the address in the file. */
uint32_t wti_spaces_place(const struct wti_spaces *spaces, const struct wti_space *space,
			  uint64_t address, uint64_t *ret_address);

#endif
