/* SPDX-License-Identifier: Apache-2.0 */
/* The sketch for every machine of the architecture. */
#define WTI_SKETCH wti_sketch_plain
#define WTI_WIDTH 2
#include "sample_kernel.h"
