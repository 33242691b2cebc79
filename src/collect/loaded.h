/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of a run have loaded: executables and shared objects, with their build-ids. */
#ifndef WTI_COLLECT_LOADED_H
#define WTI_COLLECT_LOADED_H

#include <stdint.h>

#include "base/map.h"

#define WTI_LOADED_MAX 4096

struct wti_loaded {
	struct wti_map paths; /* in the order in which they were first seen */
};

void wti_loaded_init(struct wti_loaded *loaded);
void wti_loaded_release(struct wti_loaded *loaded);
/* Adds what a process has mapped at this moment. */
void wti_loaded_look(struct wti_loaded *loaded, uint32_t pid);

#endif
