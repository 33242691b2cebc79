/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program was executed with, where that could not be read when the call began: after a plain
 * fork() pages of the program's file are not there yet, and who looks from within the kernel cannot
 * wait for them. The kernel has copied path and arguments to the new stack, from where they come
 * with the end of the call.
 */
#ifndef WTI_SYSCALLS_PROGRAM_H
#define WTI_SYSCALLS_PROGRAM_H

#include <stdint.h>

#include "raw.h"

/* Puts them where they belong among the pieces of the call; how many bytes there are then. If
 * nothing is missing any more, the flag that says so is taken from `flags`. */
uint32_t wti_program_pieces(const struct wti_raw_call *raw, uint8_t *memory, uint32_t bytes,
			    uint32_t *flags);

#endif
