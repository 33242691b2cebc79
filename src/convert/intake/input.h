/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of any size through a window that moves over it; gzip is unpacked on the way. What is
 * behind the end of the window reads as zeros, so that words may be read across it.
 */
#ifndef WTI_CONVERT_INPUT_H
#define WTI_CONVERT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#define WTI_INPUT_BEHIND 64

struct wti_sliding {
	const char *path;
	int fd;
	void *unpacking; /* NULL: as it is */
	uint8_t *packed;
	uint8_t *data; /* the window */
	size_t begin, end;
	size_t capacity, ceiling;
	size_t piece_bytes;   /* that are read at once */
	uint64_t offset;      /* of data[0] in the file, unpacked */
	bool at_end;          /* of the file */
	struct wt_err damage; /* code 0: none. What was read before it is good */
};

/* `ceiling`: how large the window may become, for something that has to be seen as a whole. */
int wti_input_open(struct wti_sliding *input, const char *path, size_t ceiling, struct wt_err *err);
/* The same of bytes in memory, which it copies; for tests. */
int wti_input_open_memory(struct wti_sliding *input, const void *data, size_t bytes,
			  struct wt_err *err);
void wti_input_release(struct wti_sliding *input);
/*
 * More behind what is there; what stands before `begin` is forgotten. 1, 0 at the end of the file
 * or where it is damaged, or WT_E_LIMIT: the window is as large as it may be.
 */
int wti_input_more(struct wti_sliding *input, struct wt_err *err);
/* Where a place in the window is in the file. */
static inline uint64_t wti_input_offset(const struct wti_sliding *input, const void *at)
{
	return input->offset + (uint64_t)((const uint8_t *)at - input->data);
}

#endif
