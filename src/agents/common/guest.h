/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of this process, which a library is a guest of. */
#ifndef WTI_AGENTS_GUEST_H
#define WTI_AGENTS_GUEST_H

#include "services.h"

#pragma GCC visibility push(hidden)

/*
 * Finds the agent that is in this process already (of Python, or of a program that emits events
 * itself), or loads the client's. NULL: nobody records us.
 */
const struct wti_services *wti_guest_find(void);

#pragma GCC visibility pop

#endif
