/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tied tensors: parameters that are one, as an embedding and the output layer that uses it. Some
 * formats keep the storage once, others write it for each name.
 */
#ifndef WTI_MODEL_TIES_H
#define WTI_MODEL_TIES_H

#include "model/examine.h"

enum wti_tie {
	WTI_TIE_NONE,
	WTI_TIE_STORAGE, /* the same bytes of the file; a transposed view is that, too */
	WTI_TIE_OVERLAP, /* some bytes of the file belong to both */
	WTI_TIE_BYTES,   /* the same type, shape and elements, at two places */
};

struct wti_model_tie {
	enum wti_tie how;
	size_t to; /* the first tensor of the file that it is tied with; its own number: none */
};

/*
 * One for each tensor, to be freed. `examined` has SHA-256 and statistics. Tensors whose elements
 * are all the same value are equal by chance (new biases, scales of norms): only a common storage
 * ties them.
 */
int wti_model_ties(const struct wti_model *model, const struct wti_model_examined *examined,
		   struct wti_model_tie **ret, struct wt_err *err);
/* "storage", "overlap", "bytes"; NULL: not tied. */
const char *wti_tie_word(enum wti_tie how);

#endif
