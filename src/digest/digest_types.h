/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the digest share: their input, and the merge of one part into another. */
#ifndef WTI_DIGEST_TYPES_H
#define WTI_DIGEST_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/kinds.h>

#include "digest.h"

/* Statistics of a row of reals. */
struct wti_part {
	uint64_t count; /* finite ones */
	uint64_t nan;
	uint64_t inf;
	uint64_t zeros;
	double min;
	double max;
	double mean;
	double m2;
};

/* Reals of one type: complex elements are two of them. */
struct wti_reals {
	const void *data;      /* NULL: `next` gives them */
	wti_digest_next *next; /* by bytes */
	void *self;
	uint32_t dtype;
	uint32_t size; /* of a real, in bytes */
	uint64_t count;
};

/* `total` NULL: the hash alone; `ret_hash` NULL, of one block: no hash. False: `next` gave up. */
typedef bool wti_digest_kernel(const struct wti_reals *reals, struct wti_part *total,
			       uint64_t *ret_hash);
wti_digest_kernel wti_digest_plain;
wti_digest_kernel wti_digest_avx2;
wti_digest_kernel wti_digest_avx512;

/* `part` comes after all that is in `total` already. */
void wti_part_merge(struct wti_part *total, const struct wti_part *part);

#endif
