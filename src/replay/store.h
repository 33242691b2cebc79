/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a recording kept, by their hash. A file that is not what its name says is refused.
 */
#ifndef WTI_REPLAY_STORE_H
#define WTI_REPLAY_STORE_H

#include <stdint.h>

#include "base/buf.h"

/* Of a run's folder; -1: it has no bytes, which every question then says. */
int wti_replay_store_open(const char *folder);
void wti_replay_store_close(int store);

/* Why there are none, in words for the reader of a verdict; NULL: `out` has them. `bytes`: how many
 * there have to be; 0: as many as there are. */
const char *wti_replay_store_read(int store, uint64_t hash, uint64_t bytes, struct wti_buf *out);

#endif
