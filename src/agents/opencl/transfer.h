/* SPDX-License-Identifier: Apache-2.0 */
/* What transfers touch: host memory, boxes in a buffer, whole objects, mapped regions. */
#ifndef WTI_AGENTS_OPENCL_TRANSFER_H
#define WTI_AGENTS_OPENCL_TRANSFER_H

#include "own.h"

#pragma GCC visibility push(hidden)

/* A box of rows in linear memory. */
struct wti_cl_box {
	uint64_t origin[3], region[3], row, slice; /* as they are given to the driver */
	uint64_t offset;                           /* of its first byte */
	uint64_t bytes;                            /* from there to behind its last */
	uint64_t content;                          /* that are really in it */
};

/* NULL, or 0 for a pitch, as the driver takes it. */
struct wti_cl_box wti_cl_box(const size_t *origin, const size_t *region, size_t row, size_t slice);
/* With --replayable: two boxes as a value, for what takes both. */
void wti_cl_boxes(struct wti_cl_command *c, const struct wti_cl_box *first,
		  const struct wti_cl_box *second);
/* Host memory that is read: its bytes are kept with --replayable. */
void wti_cl_from_host(struct wti_cl_command *c, const void *host, uint64_t bytes);
/* With --replayable: whether an object has these bytes. If not, the driver refuses, and host memory
 * must not be read. */
bool wti_cl_has(cl_mem mem, uint64_t offset, uint64_t bytes);
/* Host memory that is written: hashed with --replayable, when a blocking call has returned. */
void wti_cl_to_host(struct wti_cl_command *c, const void *host, uint64_t bytes);
/* With --replayable: something small. */
void wti_cl_gives(struct wti_cl_command *c, const void *value, uint64_t bytes);
/* The pattern of a fill; one that is too long the driver refuses, and it is not read. */
void wti_cl_pattern(struct wti_cl_command *c, const void *pattern, uint64_t bytes);
/* All of an object; how many bytes that are. */
uint64_t wti_cl_whole(struct wti_cl_command *c, uint32_t mode, const void *mem);

/* A mapping: reads the region; from here on it is known where it lies. */
void wti_cl_maps(struct wti_cl_command *c, const void *mem, uint64_t offset, uint64_t bytes,
		 cl_map_flags flags);
void wti_cl_mapped(const void *mem, const void *address, uint64_t offset, uint64_t bytes,
		   cl_map_flags flags);
/* Its end: writes the region, if it was mapped for that. */
void wti_cl_unmaps(struct wti_cl_command *c, const void *mem, const void *address);

#pragma GCC visibility pop

#endif
