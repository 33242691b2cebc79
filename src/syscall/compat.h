/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of 32-bit programs (i386). Those that mean the same as one of x86_64, with the same things
 * in the same arguments, are read as that one, so that whoever follows files, descriptors and peers
 * sees them without knowing. Structures are laid out otherwise: they are read as i386 has them, and
 * widened before they reach the trace. What cannot be is shown as an address.
 */
#ifndef WTI_SYSCALL_COMPAT_H
#define WTI_SYSCALL_COMPAT_H

#include "record.h"

#define WTI_COMPAT_MAX 512

/* The number on x86_64 of the call that i386's `nr` is; -1: of none. */
int wti_compat_number(uint32_t nr);
/* What has to be read for it, as i386 lays it out; how many reads that are. */
size_t wti_compat_reads(uint32_t nr, struct wti_read reads[WTI_READS_MAX]);
/* Pieces that were read so become what the call of x86_64 would have got; how many bytes they are
 * then. */
uint32_t wti_compat_widen(uint32_t nr, const uint64_t args[WTI_CALL_ARGS],
			  uint8_t memory[WTI_SYSCALL_MEMORY_MAX], uint32_t bytes);
/* Whether something is missing among them that the call was given. */
bool wti_compat_is_unread(uint32_t nr, const uint64_t args[WTI_CALL_ARGS], const uint8_t *memory,
			  uint32_t bytes);
/* A call of i386 becomes the one of x86_64 that it is, if it is one. */
void wti_compat_translate(struct wti_syscall *call);
/* Whether a call of i386 that is none of x86_64 touches nothing but the process itself. */
bool wti_compat_is_harmless(uint32_t nr);

#endif
