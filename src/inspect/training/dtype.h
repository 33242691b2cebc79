/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of element types, as far as rules and relations ask. */
#ifndef WTI_TRAINING_DTYPE_H
#define WTI_TRAINING_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/kinds.h>

static inline bool wti_dtype_is_integer(uint32_t dtype)
{
	return dtype >= WT_DTYPE_U8 && dtype <= WT_DTYPE_I64;
}

/* Without fractions: integers, truth values, and types that have no name here. */
static inline bool wti_dtype_is_whole(uint32_t dtype)
{
	return dtype < WT_DTYPE_F16;
}

/* Of 16 bits. */
static inline bool wti_dtype_is_half(uint32_t dtype)
{
	return dtype == WT_DTYPE_F16 || dtype == WT_DTYPE_BF16;
}

/* Of 8 bits, too: what is trained in it needs a copy in a wider one. */
static inline bool wti_dtype_is_narrow(uint32_t dtype)
{
	return wti_dtype_is_half(dtype) || dtype == WT_DTYPE_F8E4M3 || dtype == WT_DTYPE_F8E5M2;
}

/* What models compute with: 16 bits and more. */
static inline bool wti_dtype_is_float(uint32_t dtype)
{
	return wti_dtype_is_half(dtype) || dtype == WT_DTYPE_F32 || dtype == WT_DTYPE_F64;
}

#endif
