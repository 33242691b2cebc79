/* SPDX-License-Identifier: Apache-2.0 */
/* The digest with vectors of 256 bits. */
#define WTI_KERNEL wti_digest_avx2
#define WTI_WIDTH 4
#include "digest_kernel.h"
