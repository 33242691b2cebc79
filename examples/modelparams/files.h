/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network in files, written and read without a library: safetensors, which everybody reads, and
 * Burn's .bin, which the ancestor of this program wrote. A file is written beside, brought to the
 * disk and renamed; beside it lies NAME.sum, FNV-1a over all bytes, without which no flipped bit of
 * a weight could be seen.
 */
#ifndef EXAMPLES_FILES_H
#define EXAMPLES_FILES_H

#include "tiny.h"

#define FILE_BYTES_MAX 65536u

struct image {
	size_t bytes;
	unsigned char data[FILE_BYTES_MAX];
};

/* Faults that can be switched on, to see that a check fails with them. */
struct faults {
	bool lossy_safetensors; /* weights lose half of their bits when they are saved */
	bool lossy_bin;
	bool drift;          /* loading changes the last bit of a weight */
	bool accept_missing; /* what cannot be read is an empty model */
	bool accept_unreadable;
	bool no_length_check;
	bool no_sum_check;
	bool no_shape_check;
	bool no_folders;
	bool write_in_place; /* and do not look whether it worked */
	bool drop_optimizer; /* of a checkpoint */
	bool drop_order;
};

enum file_format { FILE_SAFETENSORS, FILE_BIN };

void image_make(struct image *image, const struct tiny *tiny, enum file_format format,
		const struct faults *faults);
/* Into a network of the same shape, which is as it was if that failed. NULL, or why not. */
const char *image_load(const struct image *image, struct tiny *tiny, const struct faults *faults);
uint64_t image_sum(const struct image *image);

/* With the trainer's state: what a training needs to go on as if it had never stopped. */
void checkpoint_make(struct image *image, const struct tiny *tiny,
		     const struct tiny_trainer *trainer, const struct faults *faults);
const char *checkpoint_load(const struct image *image, struct tiny *tiny,
			    struct tiny_trainer *trainer, const struct faults *faults);

/* NULL, or why not. Folders are made; an old file stays until all is written. */
const char *file_save(const struct image *image, const char *path, const struct faults *faults);
const char *file_load(struct image *image, const char *path, const struct faults *faults);

#endif
