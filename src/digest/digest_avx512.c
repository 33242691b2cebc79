/* SPDX-License-Identifier: Apache-2.0 */
/* The digest with vectors of 512 bits. */
#define WTI_KERNEL wti_digest_avx512
#define WTI_WIDTH 8
#include "digest_kernel.h"
