/* SPDX-License-Identifier: Apache-2.0 */
/* Between deeds.c, which counts any call, and deeds_files.c and deeds_others.c, which know more of
 * theirs. */
#ifndef WTI_EFFECTS_DEEDS_H
#define WTI_EFFECTS_DEEDS_H

#include "model.h"

/* A call while it is looked at. */
struct wti_doing {
	struct wti_effects_state *s;
	const struct wti_syscall *call;
	uint32_t thing;  /* what it is about; UINT32_MAX: what its arguments say */
	uint32_t deed;   /* for the order; UINT32_MAX: the call itself */
	bool is_ignored; /* says nothing of the program */
};

struct wti_deed_row {
	const char *call;
	void (*prepare)(struct wti_doing *doing); /* finds the thing; may be NULL */
	void (*act)(struct wti_doing *doing);     /* of calls that succeeded; may be NULL */
	bool reaches; /* prepare() finds whom it is to reach, which counts even if it does not */
};

/* NULL: nothing special. */
const struct wti_deed_row *wti_deed_row(const struct wti_effects_state *s,
					const struct wti_syscall *call);
/* The thing that the path in argument `path` names, from `dirfd` on. */
uint32_t wti_thing_at(struct wti_effects_state *s, const struct wti_syscall *call, unsigned path,
		      int32_t dirfd);

extern const struct wti_deed_row wti_deed_files[];
extern const size_t wti_deed_file_count;
extern const struct wti_deed_row wti_deed_others[];
extern const size_t wti_deed_other_count;

/* It happened: counted, and told in the order instead of the call. */
static inline void wti_did(struct wti_doing *d, uint32_t deed, uint64_t amount)
{
	wti_model_add(d->s, d->thing, deed, amount);
	if (deed != WTI_DEED_READ_BYTES)
		d->deed = deed;
}

#endif
