/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sequences side by side: what they have in common, in order, and what only one of them has.
 *
 * Tokens that each sequence has exactly once, in the same order in both, are anchors; between them
 * a shortest edit script is looked for, up to a ceiling of differences: beyond it a part is simply
 * exchanged. Time and memory are linear in the lengths but for that ceiling.
 */
#ifndef WTI_INSPECT_ALIGN_H
#define WTI_INSPECT_ALIGN_H

#include <wheeltap/err.h>

#include <stddef.h>
#include <stdint.h>

/* `count` tokens from a and b each that are equal, or of one of them alone. */
struct wti_edit {
	size_t a, a_count;
	size_t b, b_count;
	/* equal: a_count == b_count and both the same; otherwise exchanged */
	uint32_t is_equal;
};

struct wti_edits {
	struct wti_edit *all;
	size_t count, capacity;
};

/* 0, or WT_E_NOMEM. Edits cover both sequences from end to end; equal and others alternate. */
int wti_align(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
	      struct wti_edits *ret_edits);
void wti_edits_release(struct wti_edits *edits);

#endif
