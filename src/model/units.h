/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns of a tensor that say nothing, found while its elements pass by. */
#ifndef WTI_MODEL_UNITS_H
#define WTI_MODEL_UNITS_H

#include "model/examine.h"

struct wti_units_watch {
	struct wti_model_units *units;
	size_t unit;        /* bytes of an element */
	uint8_t sign;       /* the bit of the highest byte that does not make it different from 0 */
	uint64_t row_bytes; /* 0: nothing is watched */
	uint64_t at;        /* in the current row */
	uint64_t row;       /* its number */
	uint8_t first[16];  /* the first element of the current row */
	bool is_equal;      /* all elements of the row so far are that */
	uint8_t *first_row; /* NULL: columns are not watched */
	uint32_t *alive;    /* columns that had the same value in all rows so far */
	size_t alive_count;
	size_t next; /* in `alive`: the first that is not compared in this row yet */
	size_t kept;
};

int wti_units_begin(struct wti_units_watch *watch, const struct wti_model_tensor *tensor,
		    struct wti_model_units *units);
/* Whole elements. */
void wti_units_take(struct wti_units_watch *watch, const uint8_t *data, size_t bytes);
/* Fills in what is only known now. */
void wti_units_end(struct wti_units_watch *watch);

#endif
