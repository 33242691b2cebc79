/* SPDX-License-Identifier: Apache-2.0 */
/* Two tensors of one type, element by element. */
#ifndef WTI_DIVERGENCE_ELEMENTS_H
#define WTI_DIVERGENCE_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wti_elements {
	uint64_t count, different; /* parts of complex numbers one by one */
	uint64_t ulp_max;          /* of floats: numbers of the type that lie between, plus one */
	uint64_t within[3];        /* of floats that differ: by 1, by up to 4, by up to 64 ULP */
	double farthest;           /* absolute distance, over pairs of finite elements */
	uint64_t first;            /* place of the first that differs */
	uint64_t nan_a, nan_b;     /* NaN in one of them only */
	bool is_float;
};

/* `count` elements each, packed. False: of that type nothing is known. */
bool wti_elements_compare(uint32_t dtype, const void *a, const void *b, uint64_t count,
			  struct wti_elements *ret_elements);
/* Bytes of an element; 0: of that type nothing is known. */
size_t wti_elements_bytes(uint32_t dtype);

#endif
