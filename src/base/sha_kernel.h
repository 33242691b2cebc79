/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 of whole blocks on a certain instruction set: what sha.c chooses from. */
#ifndef WTI_BASE_SHA_KERNEL_H
#define WTI_BASE_SHA_KERNEL_H

#include <stddef.h>
#include <stdint.h>

void wti_sha256_ni(uint32_t state[8], const uint8_t *block, size_t count,
		   const uint32_t constants[64]);

#endif
