/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor as a map of few cells: rows are the first dimension, columns all others. Each cell has
 * the lowest and the highest of its elements, so that a single outlier stays visible, however large
 * the tensor is.
 */
#ifndef WTI_MODEL_HEAT_H
#define WTI_MODEL_HEAT_H

#include "model/model.h"

#define WTI_HEAT_SIDE_MAX 64u /* cells across or down: more cannot be told apart on a page */

struct wti_heat {
	uint64_t rows, columns; /* of the tensor */
	size_t down, across;    /* of the map: cell (i, j) begins at row ceil(i * rows / down) */
	double *low, *high;     /* of the finite elements of each cell; both NAN: there is none */
	bool *is_odd;           /* the cell has an element that is not finite */
};

/*
 * At most `cells_max` cells. Of complex elements both halves count. A tensor without elements, or
 * of a type that is not known, gives a map without cells.
 */
int wti_heat_make(struct wti_model *model, const struct wti_model_tensor *tensor, size_t cells_max,
		  struct wti_heat *ret, struct wt_err *err);
void wti_heat_release(struct wti_heat *heat);

#endif
