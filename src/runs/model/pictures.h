/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as pictures, for a page. */
#ifndef WTI_RUNS_MODEL_PICTURES_H
#define WTI_RUNS_MODEL_PICTURES_H

#include <wheeltap/result.h>

#include "model/examine.h"

/*
 * Adds the table `pictures`, without a title: page.js draws it. A row is a tensor: its histogram
 * (`bins`: counts between min and max), and its map (`cells`: row by row, for each cell the lowest
 * and the highest value, two digits each of base 64 as URLs have it; 0 is min, 4094 is max, 4095
 * is "nothing finite"; `odd`: numbers of the cells with elements that are not finite).
 * `examined` has statistics. Tensors of one value have no picture.
 */
int wti_model_pictures(struct wti_model *model, const struct wti_model_examined *examined,
		       struct wt_result *result, struct wt_err *err);

#endif
