/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim as the rest of the agent sees it: whether there is one, what it watches, and what it
 * knows of this thread. Hides how it is loaded.
 */
#ifndef WTI_PYTHON_SHIM_HOST_H
#define WTI_PYTHON_SHIM_HOST_H

#include "python/core/pyagent.h"

#include "shim.h"

struct wti_shim_state {
	const struct wti_shim *shim;      /* NULL: there is none */
	const struct wti_shim_host *host; /* who gets what it watches */
	uint32_t what;                    /* is to be watched while recording is on */
	uint32_t watched;                 /* WTI_SHIM_* */
	bool knows_modes;                 /* it has reported them right in each */
};

extern struct wti_shim_state wti_shim_state WTI_HIDDEN;

/*
 * `what` is watched for `host` while recording is on: WTI_SHIM_*. False with an exception: not
 * usable.
 */
bool wti_shim_load(const char *path, const char *identity, uint32_t what,
		   const struct wti_shim_host *host);
void wti_shim_start(void);
void wti_shim_stop(void);
/* torch's number of this thread; 0: not known. Needs no lock, as the next. */
uint64_t wti_shim_thread(void);
/* The number of the next node that this thread makes; 0 where nothing is watched. */
uint64_t wti_shim_sequence(void);
/* Bits of a call's flags. False: there is no shim, or it is not to be believed about them. */
bool wti_shim_modes(uint32_t *ret);
/* Whether it reports the same now as torch's own functions; and whether it did in each mode. */
bool wti_shim_modes_are(uint32_t asked);
void wti_shim_modes_trust(bool is_right);

#endif
