/* SPDX-License-Identifier: Apache-2.0 */
/* The sketch for AVX2. */
#define WTI_SKETCH wti_sketch_avx2
#define WTI_WIDTH 4
#include "sample_kernel.h"
