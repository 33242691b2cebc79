/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of the digest, for those who want the values themselves. */
#include "values.h"

#include <wheeltap/kinds.h>

/* The kernels use all of them, this file a few. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "digest_convert.h"

#define AT_ONCE 256u

void wti_values(const void *data, uint32_t dtype, size_t count, double *ret)
{
	static const uint8_t bytes[] = {
		[WT_DTYPE_U16] = 2,  [WT_DTYPE_I16] = 2, [WT_DTYPE_F16] = 2,
		[WT_DTYPE_BF16] = 2, [WT_DTYPE_F32] = 4,
	};
	size_t item = dtype < sizeof(bytes) && bytes[dtype] ? bytes[dtype] : 1;
	float narrow[AT_ONCE];

	if (!is_narrow(dtype)) {
		to_doubles(data, dtype, count, ret);
		return;
	}
	for (size_t at = 0; at < count; at += AT_ONCE) {
		size_t some = count - at < AT_ONCE ? count - at : AT_ONCE;

		to_floats((const char *)data + at * item, dtype, some, narrow);
		for (size_t i = 0; i < some; i++)
			ret[at + i] = narrow[i];
	}
}
