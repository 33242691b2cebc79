/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of any length in the order of their times, with memory that does not grow with their
 * number: what does not fit is sorted in parts, kept in a file without a name, and merged. What is
 * in a record behind its head is its owner's.
 */
#ifndef WTI_CONVERT_SORTER_H
#define WTI_CONVERT_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

/* Order: time, then the longer first, then `rank`, then as they were added. */
struct wti_sorted {
	uint64_t time;
	uint64_t duration;
	uint64_t added : 56; /* set by the sorter */
	uint64_t rank : 8;
	uint32_t bytes; /* of the whole record; a multiple of 8 */
	uint16_t type;
	uint16_t kind;
};

#define WTI_SORTED_BYTES_MAX ((uint32_t)64 << 10)

struct wti_sorter;

/* `folder`: where there is room for the file. `memory`: of records; 0: what is usual. */
int wti_sorter_open(const char *folder, size_t memory, struct wti_sorter **ret_sorter,
		    struct wt_err *err);
void wti_sorter_free(struct wti_sorter *sorter);
/* Room for a record of so many bytes, whose head is filled in afterwards; NULL: see the error. */
struct wti_sorted *wti_sorter_add(struct wti_sorter *sorter, size_t bytes);
/* No more are added. */
int wti_sorter_finish(struct wti_sorter *sorter, struct wt_err *err);
/* The next in order, valid until the next call; NULL at the end or after an error. */
const struct wti_sorted *wti_sorter_next(struct wti_sorter *sorter);
/* What went wrong, if anything did. */
int wti_sorter_status(const struct wti_sorter *sorter, struct wt_err *err);

#endif
