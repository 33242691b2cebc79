/* SPDX-License-Identifier: Apache-2.0 */
/* Between effect_calls.c, which counts any call, and effect_files.c and effect_others.c, which know
 * more of theirs. */
#ifndef WTI_WORLD_EFFECT_ROW_H
#define WTI_WORLD_EFFECT_ROW_H

#include "model.h"

/* A call while it is looked at. */
struct wti_doing {
	struct wti_effects_state *s;
	const struct wti_syscall *call;
	uint32_t thing;  /* what it is about; UINT32_MAX: what its arguments say */
	uint32_t effect; /* for the order; UINT32_MAX: the call itself */
	bool is_ignored; /* says nothing of the program */
};

struct wti_effect_row {
	const char *call;
	void (*prepare)(struct wti_doing *doing); /* finds the thing; may be NULL */
	void (*act)(struct wti_doing *doing);     /* of calls that succeeded; may be NULL */
	bool reaches; /* prepare() finds whom it is to reach, which counts even if it does not */
};

/* NULL: nothing special. */
const struct wti_effect_row *wti_effect_row(const struct wti_effects_state *s,
					    const struct wti_syscall *call);
/* The thing that the path in argument `path` names, from `dirfd` on. */
uint32_t wti_thing_at(struct wti_effects_state *s, const struct wti_syscall *call, unsigned path,
		      int32_t dirfd);

extern const struct wti_effect_row wti_effect_file_rows[];
extern const size_t wti_effect_file_row_count;
extern const struct wti_effect_row wti_effect_other_rows[];
extern const size_t wti_effect_other_row_count;

/* It happened: counted, and in the order it stands for the call. */
static inline void wti_did(struct wti_doing *d, uint32_t effect, uint64_t amount)
{
	wti_world_add(d->s, d->thing, effect, amount);
	if (effect != WTI_EFFECT_READ_BYTES)
		d->effect = effect;
}

#endif
