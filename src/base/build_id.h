/* SPDX-License-Identifier: Apache-2.0 */
/* The build-id of an ELF file. */
#ifndef WTI_BASE_BUILD_ID_H
#define WTI_BASE_BUILD_ID_H

#include <stdbool.h>

#define WTI_BUILD_ID_TEXT_BYTES 65 /* hexadecimal; the ids in use have 20 bytes */

/* False, and an empty text, if it has none or is no ELF file. */
bool wti_build_id(const char *path, char out[WTI_BUILD_ID_TEXT_BYTES]);

#endif
