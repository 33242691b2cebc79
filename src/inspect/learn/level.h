/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a run, or what a pack was learned from, was recorded: the level (`--detail`) and whether
 * calls were picked (`--only`, `--skip`). A call that a level does not record is not one that did
 * not happen, and one that only a higher level records is none that was learned about.
 */
#ifndef WTI_LEARN_LEVEL_H
#define WTI_LEARN_LEVEL_H

#include "base/buf.h"
#include "pack.h"

/* Of several runs, or processes: each that there was. */
enum wti_level {
	WTI_LEVEL_LEAN = 1,
	WTI_LEVEL_NORMAL = 2,
	WTI_LEVEL_FULL = 4,
	WTI_LEVEL_PICKED = 8, /* by --only or --skip */
};

enum { WTI_LEVELS = 4 };
extern const char *const wti_levels[WTI_LEVELS]; /* as packs write them, by bit */

/* Takes what a recording says of itself; anything else is left alone. */
void wti_levels_take(uint32_t *levels, const struct wt_event *event);
/* "normal", "lean and full" */
void wti_levels_words(struct wti_buf *out, uint32_t levels);

/*
 * Whether a violation may come from the levels alone: a call is missing that the run does not
 * report, or there are calls that were not recorded when it was learned. Levels that are not known
 * do not differ.
 */
bool wti_levels_explain(const struct wti_pack *pack, uint32_t of_run,
			const struct wti_invariant *invariant);
/* Whether they differ at all. */
bool wti_levels_differ(uint32_t of_pack, uint32_t of_run);

#endif
