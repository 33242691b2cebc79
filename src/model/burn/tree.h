/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a record that is to be written, and a walk over it. */
#ifndef WTI_MODEL_BURN_TREE_H
#define WTI_MODEL_BURN_TREE_H

#include "model/burn/burn.h"

struct wti_burn_tree {
	struct wti_doc *root; /* as `burn.record` has it */
	size_t *order;        /* the i-th tensor of the tree: its index in the model */
	size_t count;
};

/* As the file was that the model comes from, or else as the names of its tensors are. */
int wti_burn_tree_init(struct wti_burn_tree *tree, const struct wti_model *model,
		       struct wt_err *err);
void wti_burn_tree_release(struct wti_burn_tree *tree);
bool wti_burn_tree_is_tensor(const struct wti_doc *node);

struct wti_burn_walk {
	const struct wti_doc *open[WTI_DOC_DEPTH_MAX + 2];
	const struct wti_doc *next;
	unsigned depth; /* of the node that came last: how many are open around it */
};

void wti_burn_walk_init(struct wti_burn_walk *walk, const struct wti_doc *root);
/* The next node, in the order of the text; a table or list comes again, at its end. */
const struct wti_doc *wti_burn_walk_next(struct wti_burn_walk *walk, bool *ret_is_end);

#endif
