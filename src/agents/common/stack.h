/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks: addresses at capture, and the modules that they lie in. */
#ifndef WTI_AGENTS_STACK_H
#define WTI_AGENTS_STACK_H

#include <stdint.h>

/*
 * The number of the calling thread's stack, without the innermost `skip` frames; 0: none. Emits the
 * modules of the process first, where they have changed. Not from signal handlers: the unwinder and
 * the loader take locks.
 */
uint32_t wti_stack_capture(unsigned skip);

#endif
