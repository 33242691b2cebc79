/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a tensor looks as the usual functions draw it before the first step. Statistics of one
 * tensor prove little; what they prove together is for the caller to say.
 */
#ifndef WTI_MODEL_INITIAL_H
#define WTI_MODEL_INITIAL_H

#include "model/examine.h"

#define WTI_INITIAL_COUNT_MIN 1000u /* fewer random numbers do not fill their range */

enum wti_initial {
	WTI_INITIAL_NONE,    /* as none of the families draws it */
	WTI_INITIAL_BOUNDED, /* fills the range of a family and does not exceed it */
	WTI_INITIAL_NORMAL, /* has the spread of a normal family, as slightly trained ones have, too
			     */
	WTI_INITIAL_CONSTANT, /* of vectors: all 0 or all 1 */
	WTI_INITIAL_SMALL, /* of vectors: inside the range of the bias of some layer; says nothing
			    */
};

struct wti_initial_guess {
	enum wti_initial kind;
	const char *family; /* "kaiming uniform" */
};

/* Of a float tensor of two dimensions or more, and WTI_INITIAL_COUNT_MIN elements or more. */
struct wti_initial_guess wti_initial_matrix(const struct wti_model_tensor *tensor,
					    const struct wt_digest *digest);
/* Of a vector. `bound`: 1/sqrt(fan_in) of the matrix of its module; 0: there is none. */
enum wti_initial wti_initial_vector(const struct wt_digest *digest, double bound);

#endif
