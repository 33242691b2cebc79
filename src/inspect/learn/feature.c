/* SPDX-License-Identifier: Apache-2.0 */
/* The features, by name. */
#include <string.h>

#include "feature.h"

const struct wti_feature_row wti_features[WTI_FEATURE_COUNT] = {
	[WTI_FEATURE_STAGE] = {"stage", "the stage"},
	[WTI_FEATURE_FIRST] = {"first_step", "the first step"},
	[WTI_FEATURE_GRAD_MODE] = {"grad_mode", "the grad mode"},
	[WTI_FEATURE_AUTOCAST] = {"autocast", "autocast"},
	[WTI_FEATURE_TRAINING] = {"training", "the training flag of the module"},
	[WTI_FEATURE_INSIDE] = {"inside", "the call around it"},
	[WTI_FEATURE_REQUIRES_GRAD] = {"requires_grad", "requires_grad"},
	[WTI_FEATURE_GRADIENT] = {"gradient", "the gradient"},
	[WTI_FEATURE_DTYPE] = {"dtype", "the dtype"},
	[WTI_FEATURE_NDIM] = {"ndim", "the number of dimensions", true},
	[WTI_FEATURE_OWNER] = {"owner", "the owner"},
	[WTI_FEATURE_PLACEMENT] = {"placement", "the placement"},
	[WTI_FEATURE_SCHEDULER] = {"scheduler", "a scheduler"},
	[WTI_FEATURE_SCALER] = {"scaler", "a loss scaler"},
	[WTI_FEATURE_WRAPPER] = {"wrapper", "a wrapper around the model"},
	[WTI_FEATURE_AVERAGE] = {"average", "an averaged copy"},
	[WTI_FEATURE_OPTIMIZERS] = {"optimizers", "the number of optimizers", true},
	[WTI_FEATURE_RATE] = {"rate", "the learning rate"},
	[WTI_FEATURE_USED] = {"used", "use in a forward pass"},
	[WTI_FEATURE_OPTIMIZED] = {"optimized", "being held by an optimizer"},
	[WTI_FEATURE_BACKWARDS] = {"backwards", "the number of backward passes before the step",
				   true},
	[WTI_FEATURE_KIND] = {"kind", "its kind"},
	[WTI_FEATURE_OTHER] = {"other", "the other's kind"},
};

int wti_feature_by_name(const char *name)
{
	for (int i = 0; i < WTI_FEATURE_COUNT; i++)
		if (!strcmp(wti_features[i].name, name))
			return i;
	return -1;
}
