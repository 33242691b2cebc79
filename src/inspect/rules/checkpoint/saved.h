/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call saves or loads, compared with the parameters of live models. A checkpoint has its
 * tensors under paths of keys ("model.fc1.weight") that end with the name that the parameter has in
 * its model; what stands in front of it is the part of the checkpoint ("model."). Models that are
 * copies of one another (averages) have the same names: a part is that of the one whose bytes it
 * holds most of.
 */
#ifndef WTI_INSPECT_SAVED_H
#define WTI_INSPECT_SAVED_H

#include "inspect/training/training.h"

/* A tensor that is saved. */
struct wti_saved_entry {
	const char *path;
	size_t bytes; /* of path */
	const struct wti_value_row *value;
};

struct wti_saved {
	const struct wti_moment *moment;
	struct wti_saved_entry *entries; /* by their paths, read from the end */
	size_t count;
	/* Whether the trace has less than was saved: what is not found may be there. */
	bool is_cut;
};

/* How the trained parameters of a model compare with what is saved. */
struct wti_saved_match {
	uint32_t equal, different, missing;
	uint32_t initial; /* of those that are different: what was there before all steps */
	const struct wti_parameter *first_different;
	const struct wti_parameter *first_missing; /* that requires a gradient */
};

/* false: out of memory. */
bool wti_saved_init(struct wti_saved *saved, const struct wti_moment *moment);
void wti_saved_release(struct wti_saved *saved);
/* Whether a tensor of its name, type and shape is saved. */
bool wti_saved_has(const struct wti_saved *saved, const struct wti_parameter *parameter);
/* All parameters of a model that have moved and whose value is known. */
struct wti_saved_match wti_saved_match(const struct wti_saved *saved, uint32_t owner);
/*
 * As above, without the parts of the checkpoint that are those of another model which the object is
 * a copy of, or which is a copy of it. false: such a model's values are not known.
 */
bool wti_saved_match_own(const struct wti_saved *saved, const struct wti_object *model,
			 struct wti_saved_match *ret);

#endif
