/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features: what may be said about the circumstances of an occasion, and what a precondition may
 * ask. Categories only, that mean the same in another run: no pids, addresses, times, paths.
 */
#ifndef WTI_LEARN_FEATURE_H
#define WTI_LEARN_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wti_feature {
	WTI_FEATURE_STAGE,
	WTI_FEATURE_FIRST, /* step of the run */
	WTI_FEATURE_GRAD_MODE,
	WTI_FEATURE_AUTOCAST,
	WTI_FEATURE_TRAINING, /* flag of the module around it */
	WTI_FEATURE_INSIDE,   /* the call around it */
	WTI_FEATURE_REQUIRES_GRAD,
	WTI_FEATURE_GRADIENT, /* none, zero, nonzero */
	WTI_FEATURE_DTYPE,
	WTI_FEATURE_NDIM,
	WTI_FEATURE_OWNER, /* kind of object */
	WTI_FEATURE_PLACEMENT,
	WTI_FEATURE_SCHEDULER, /* there is one */
	WTI_FEATURE_SCALER,
	WTI_FEATURE_WRAPPER,
	WTI_FEATURE_AVERAGE,
	WTI_FEATURE_OPTIMIZERS, /* how many */
	WTI_FEATURE_RATE,       /* zero, positive */
	WTI_FEATURE_USED,       /* in a forward pass with gradients */
	WTI_FEATURE_OPTIMIZED,  /* held by an optimizer */
	WTI_FEATURE_BACKWARDS,  /* since the last step of the optimizer */
	WTI_FEATURE_KIND,       /* what the relation says it is */
	WTI_FEATURE_OTHER,      /* a second one, to be compared with it */
	WTI_FEATURE_COUNT,
};

/* Sets of them, as bits. */
#define WTI_FEATURES_OF_CALLS                                                                      \
	(1u << WTI_FEATURE_GRAD_MODE | 1u << WTI_FEATURE_AUTOCAST | 1u << WTI_FEATURE_TRAINING |   \
	 1u << WTI_FEATURE_INSIDE | 1u << WTI_FEATURE_KIND | 1u << WTI_FEATURE_OTHER)
#define WTI_FEATURES_OF_LOOPS                                                                      \
	(1u << WTI_FEATURE_STAGE | 1u << WTI_FEATURE_FIRST | 1u << WTI_FEATURE_SCHEDULER |         \
	 1u << WTI_FEATURE_SCALER | 1u << WTI_FEATURE_OPTIMIZERS | 1u << WTI_FEATURE_BACKWARDS |   \
	 1u << WTI_FEATURE_INSIDE | 1u << WTI_FEATURE_OTHER)
#define WTI_FEATURES_OF_STATES                                                                     \
	(1u << WTI_FEATURE_REQUIRES_GRAD | 1u << WTI_FEATURE_GRADIENT | 1u << WTI_FEATURE_DTYPE |  \
	 1u << WTI_FEATURE_NDIM | 1u << WTI_FEATURE_OWNER | 1u << WTI_FEATURE_PLACEMENT |          \
	 1u << WTI_FEATURE_SCALER | 1u << WTI_FEATURE_WRAPPER | 1u << WTI_FEATURE_AVERAGE |        \
	 1u << WTI_FEATURE_RATE | 1u << WTI_FEATURE_USED | 1u << WTI_FEATURE_OPTIMIZED |           \
	 1u << WTI_FEATURE_KIND | 1u << WTI_FEATURE_OTHER)

struct wti_feature_row {
	const char *name;
	const char *words; /* in a sentence: "the stage is %s" */
	bool is_number;    /* kept plus one; otherwise a symbol. 0: absent */
};

extern const struct wti_feature_row wti_features[WTI_FEATURE_COUNT];
/* -1: there is none of that name. */
int wti_feature_by_name(const char *name);

struct wti_vector {
	uint32_t values[WTI_FEATURE_COUNT];
};

#endif
