/* SPDX-License-Identifier: Apache-2.0 */
/* The codes of findings of a replay. */
#ifndef WTI_REPLAY_CODES_H
#define WTI_REPLAY_CODES_H

#include "inspect/core/code.h"

enum wti_replay_code {
	WTI_REPLAY_INTRINSIC,
	WTI_REPLAY_RACE,
	WTI_REPLAY_DIVERGED,
	WTI_REPLAY_UNINITIALISED,
	WTI_REPLAY_CODES,
};

extern const struct wti_code wti_replay_codes[WTI_REPLAY_CODES];

#endif
