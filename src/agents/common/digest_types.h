/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the digest share: element types, and the merge of one part into another. */
#ifndef WTI_AGENTS_DIGEST_TYPES_H
#define WTI_AGENTS_DIGEST_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/kinds.h>

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

typedef void wti_digest_kernel(const void *data, uint32_t dtype, uint64_t count,
			       struct wti_part *total, uint64_t *ret_hash);
wti_digest_kernel wti_digest_plain;
wti_digest_kernel wti_digest_avx2;
wti_digest_kernel wti_digest_avx512;

/* Bytes of a real element; complex types count as their reals here. */
size_t wti_real_bytes(uint32_t dtype);

/* Elements from..from+count as doubles. */
void wti_to_doubles(const void *data, uint32_t dtype, size_t from, size_t count, double *ret);

/* `part` comes after all that is in `total` already. */
void wti_part_merge(struct wti_part *total, const struct wti_part *part);

#endif
