/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls of device APIs have to do with an operation of their correlation, by their names. */
#ifndef WTI_AGENTS_LAUNCHING_H
#define WTI_AGENTS_LAUNCHING_H

#include <stdbool.h>

/* True for those that put something on a device, wait for it, or change its memory. */
bool wti_launching(const char *name);

#endif
