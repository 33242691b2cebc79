/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files whose code processes run: the program, libraries, the kernel's vDSO. Each gets a place of
 * its own in an address space that belongs to the trace, so that a stack is the same stack in
 * whatever process and at whatever address the files were loaded. Rows of call frame information
 * are kept by address, as programs call from few places.
 */
#ifndef WTI_SYSCALLS_CODE_H
#define WTI_SYSCALLS_CODE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/build_id.h"

#include "cfi.h"

struct wti_mapped_code {
	char *path;
	uint64_t base; /* in the trace's address space */
	uint64_t bytes;
	char build_id[WTI_BUILD_ID_TEXT_BYTES]; /* in hexadecimal; "": none */
	struct wti_cfi cfi;
	bool is_elf;
	bool is_loaded;  /* its frames were looked for */
	bool is_emitted; /* in the trace */
	uint64_t size;   /* of the file when it was found */
};

struct wti_codes {
	struct wti_mapped_code **all;
	size_t count, capacity;
	struct wti_map by_identity;
	struct wti_map rows; /* number and address: a row */
	struct wti_arena row_memory;
	uint64_t next_base;
	size_t frame_bytes; /* of all files */
	uint64_t unloaded;  /* files whose frames could not be had, or were too many */
};

void wti_codes_init(struct wti_codes *codes);
void wti_codes_release(struct wti_codes *codes);
/* The number of the file that is at `path` now; 0: there are too many. */
uint32_t wti_codes_find(struct wti_codes *codes, const char *path, size_t path_bytes);
struct wti_mapped_code *wti_codes_at(const struct wti_codes *codes, uint32_t number);
/* What is known of an address of the file; NULL: nothing. */
const struct wti_cfi_row *wti_codes_row(struct wti_codes *codes, uint32_t number, uint64_t address);

#endif
