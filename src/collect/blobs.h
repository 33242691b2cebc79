/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of tensors that agents hand over, kept as files of the run's folder: blobs/HASH, named by
 * the XXH3 of what is in them, as in the tensor events. Each content is written once.
 */
#ifndef WTI_COLLECT_BLOBS_H
#define WTI_COLLECT_BLOBS_H

#include <stdbool.h>
#include <stdint.h>

struct wti_blobs {
	int run_fd;    /* the run's folder, borrowed */
	int folder_fd; /* -1: not made yet */
	uint64_t bytes_max;
	uint64_t bytes;
	uint64_t count;
	uint64_t refused; /* too large, beyond the ceiling, or not what they should be */
	bool is_broken;   /* the disk failed: no more are kept */
};

void wti_blobs_init(struct wti_blobs *blobs, int run_fd, uint64_t bytes_max);
void wti_blobs_release(struct wti_blobs *blobs);
/* Keeps what is in a memory that was handed over; it is only borrowed. Returns its size. */
uint64_t wti_blobs_take(struct wti_blobs *blobs, int fd);

#endif
