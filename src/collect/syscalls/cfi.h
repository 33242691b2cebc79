/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information (.eh_frame) of one file: for an address, how to get from a frame to the
 * one that called it. Reads the file into memory with ceilings and lets go of it, so that a file
 * that is replaced while we record does no harm; follows no offset in it unchecked.
 */
#ifndef WTI_SYSCALLS_CFI_H
#define WTI_SYSCALLS_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw.h"

#define WTI_CFI_SEGMENTS_MAX 16

enum wti_cfi_how {
	WTI_CFI_SAME, /* it is what it was */
	WTI_CFI_UNDEFINED,
	WTI_CFI_AT,    /* stands in memory at CFA + value */
	WTI_CFI_IS,    /* is CFA + value */
	WTI_CFI_MOVED, /* is in register `value` */
	WTI_CFI_EXPRESSION_AT,
	WTI_CFI_EXPRESSION_IS,
};

struct wti_cfi_rule {
	uint8_t how;
	uint16_t bytes; /* of an expression */
	int32_t value;  /* or where in `frames` an expression stands */
};

/* What is true at one address. */
struct wti_cfi_row {
	bool cfa_is_expression;
	bool is_signal; /* the frame was interrupted, not left by a call */
	uint8_t cfa_register;
	uint8_t return_register;
	uint16_t cfa_bytes; /* of its expression */
	int32_t cfa_value;  /* offset, or where its expression stands */
	struct wti_cfi_rule registers[WTI_RAW_REGS];
};

struct wti_cfi_segment {
	uint64_t offset;
	uint64_t address;
	uint64_t bytes;
	uint64_t memory_bytes;
};

struct wti_cfi_entry { /* of the index, sorted */
	uint64_t address;
	uint32_t at; /* of its FDE in `frames` */
};

struct wti_cfi {
	struct wti_cfi_segment segments[WTI_CFI_SEGMENTS_MAX];
	size_t segment_count;
	uint64_t begin_address; /* of the page that the first segment begins in */
	uint64_t end_address;   /* behind the last segment */
	uint64_t entry;         /* where execution begins */
	uint8_t *frames;        /* .eh_frame; NULL: there is none */
	size_t frame_bytes;
	uint64_t frame_address;
	struct wti_cfi_entry *index;
	size_t index_count;
};

/* Where to find bytes of a file, or of something like it. How many there are; -1: none. */
struct wti_cfi_source {
	int64_t (*read)(const void *opaque, void *out, size_t bytes, uint64_t offset);
	const void *opaque;
};

/* Segments only: enough to know which address a place in the file has. False: no ELF of ours. */
bool wti_cfi_open(struct wti_cfi *cfi, const struct wti_cfi_source *source);
/* The rest, if it is there. At most `bytes_max` are taken. */
void wti_cfi_load(struct wti_cfi *cfi, const struct wti_cfi_source *source, size_t bytes_max);
void wti_cfi_release(struct wti_cfi *cfi);
/* The address in the file of what stands at `offset` of it. */
bool wti_cfi_address(const struct wti_cfi *cfi, uint64_t offset, uint64_t *ret_address);
/* The entry behind the one at `at`, 0: none; and the address that it begins with, 0: it has none.
 */
size_t wti_cfi_next(const struct wti_cfi *cfi, size_t at, uint64_t *ret_begin);
/* False: nothing is known of this address. */
bool wti_cfi_find(const struct wti_cfi *cfi, uint64_t address, struct wti_cfi_row *ret_row);

#endif
