/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where files really are that a program changes: a path may lead through links, and a descriptor
 * may come from somebody else. Looked up when the call is taken, as nobody could know it later, and
 * kept with the call where it is another place than the path says.
 */
#ifndef WTI_SYSCALLS_PLACES_H
#define WTI_SYSCALLS_PLACES_H

#include <stdint.h>

#include "raw.h"

struct wti_places;

/* `folder`: that the program is started in; NULL: it runs already. NULL: out of memory. */
struct wti_places *wti_places_new(const char *folder);
void wti_places_free(struct wti_places *places);
/* Of NULL nothing is known. */
void wti_places_task(struct wti_places *places, const struct wti_raw_task *raw);
void wti_places_end(struct wti_places *places, const struct wti_raw_end *raw);
/* Appends what is to be said to the memory of a call; how many bytes there are then. */
uint32_t wti_places_call(struct wti_places *places, uint32_t pid, const struct wti_raw_call *raw,
			 uint8_t *memory, uint32_t bytes);

#endif
