/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of all types that are one number, from little-endian bytes. */
#include "model/number.h"

#include <math.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"

unsigned wti_model_number_bytes(uint32_t dtype)
{
	switch (dtype) {
	case WT_DTYPE_BOOL:
	case WT_DTYPE_U8:
	case WT_DTYPE_I8:
		return 1;
	case WT_DTYPE_U16:
	case WT_DTYPE_I16:
	case WT_DTYPE_F16:
	case WT_DTYPE_BF16:
		return 2;
	case WT_DTYPE_U32:
	case WT_DTYPE_I32:
	case WT_DTYPE_F32:
		return 4;
	case WT_DTYPE_U64:
	case WT_DTYPE_I64:
	case WT_DTYPE_F64:
		return 8;
	default:
		return 0;
	}
}

static double half_of(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double fraction = bits & 1023;
	double size = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
		      : exponent     ? ldexp(1024 + fraction, exponent - 25)
				     : ldexp(fraction, -24);

	return bits & 0x8000 ? -size : size;
}

static double float_of(uint32_t bits)
{
	float single;

	memcpy(&single, &bits, sizeof(single));
	return (double)single;
}

double wti_model_number(const uint8_t *at, uint32_t dtype)
{
	double real;

	switch (dtype) {
	case WT_DTYPE_BOOL:
	case WT_DTYPE_U8:
		return *at;
	case WT_DTYPE_I8:
		return (int8_t)*at;
	case WT_DTYPE_U16:
		return wti_get16(at);
	case WT_DTYPE_I16:
		return (int16_t)wti_get16(at);
	case WT_DTYPE_U32:
		return wti_get32(at);
	case WT_DTYPE_I32:
		return (int32_t)wti_get32(at);
	case WT_DTYPE_U64:
		return (double)wti_get64(at);
	case WT_DTYPE_I64:
		return (double)(int64_t)wti_get64(at);
	case WT_DTYPE_F16:
		return half_of(wti_get16(at));
	case WT_DTYPE_BF16:
		return float_of((uint32_t)wti_get16(at) << 16);
	case WT_DTYPE_F32:
		return float_of(wti_get32(at));
	case WT_DTYPE_F64:
		memcpy(&real, at, sizeof(real));
		return real;
	default:
		return NAN;
	}
}
