/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of any type as numbers. */
#ifndef WTI_DIGEST_VALUES_H
#define WTI_DIGEST_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Exact, but for 64-bit integers, which are rounded. Of complex types the halves, in turn: `count`
 * is that of reals, and `dtype` that of wti_dtype_real(). */
void wti_values(const void *data, uint32_t dtype, size_t count, double *ret);

#endif
