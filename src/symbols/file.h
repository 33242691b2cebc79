/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and lines of one ELF file, through libdw. */
#ifndef WTI_SYMBOLS_FILE_H
#define WTI_SYMBOLS_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/trace.h>

#include "base/arena.h"

#include "native.h"

enum wti_file_state {
	WTI_FILE_READY,
	WTI_FILE_GONE,    /* or not to be read */
	WTI_FILE_CHANGED, /* its build-id is another */
};

struct wti_file {
	char *path;
	enum wti_file_state state;
	bool is_of_system;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t begin; /* address of its first page in the file */
};

/* Never fails: what cannot be had has a state that says so. NULL: out of memory. */
struct wti_file *wti_file_open(const struct wt_module *module);
void wti_file_close(struct wti_file *file);
/*
 * The functions that the instruction before `offset` belongs to, counted from its first page,
 * inlined ones first: at least one frame, at most `count_max`. Texts go into `arena`.
 */
size_t wti_file_frames(const struct wti_file *file, uint64_t offset, struct wti_arena *arena,
		       struct wti_frame *ret_frames, size_t count_max);

#endif
