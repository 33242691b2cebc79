/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of 32-bit programs (i386). Those that mean the same as one of x86_64, with the same things
 * in the same arguments, are read as that one, so that whoever follows files, descriptors and peers
 * sees them without knowing. Structures are laid out otherwise and are not read: they are shown as
 * addresses, and their call is one whose memory could not be read.
 */
#ifndef WTI_SYSCALL_COMPAT_H
#define WTI_SYSCALL_COMPAT_H

#include "record.h"

#define WTI_COMPAT_MAX 512

/* The number on x86_64 of the call that i386's `nr` is; -1: of none. */
int wti_compat_number(uint32_t nr);
/* The same plus one, where all that its arguments point to has the same layout and can be read as
 * there; else 0. */
uint16_t wti_compat_plan(uint32_t nr);
/* A call of i386 becomes the one of x86_64 that it is, if it is one. */
void wti_compat_translate(struct wti_syscall *call);
/* Whether a call of i386 that is none of x86_64 touches nothing but the process itself. */
bool wti_compat_is_harmless(uint32_t nr);

#endif
