/* SPDX-License-Identifier: Apache-2.0 */
/* Words that a program is started with, without what looks secret in them. */
#ifndef WTI_SYSCALLS_PRIVATE_H
#define WTI_SYSCALLS_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Masks in place the texts among pieces of memory, as they stand in the trace; their new length,
 * which is never larger. A word after one that names a secret ("--password") is masked as a whole.
 */
size_t wti_private_pieces(uint8_t *memory, size_t bytes);

#endif
