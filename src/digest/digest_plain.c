/* SPDX-License-Identifier: Apache-2.0 */
/* The digest for every machine of the architecture. */
#define WTI_KERNEL wti_digest_plain
#define WTI_WIDTH 2
#include "digest_kernel.h"
