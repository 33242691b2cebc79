/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an array as numpy writes it: a dictionary in the syntax of Python. */
#ifndef WTI_MODEL_NPY_HEADER_H
#define WTI_MODEL_NPY_HEADER_H

#include "model/format.h"

struct wti_npy_header {
	char descr[32];
	bool is_fortran; /* the first dimension is the one whose elements are neighbours */
	uint32_t rank;
	uint64_t shape[WTI_MODEL_RANK_MAX];
};

/* NULL: it is one; otherwise what is wrong with it. Nothing is evaluated. */
const char *wti_npy_parse(const char *text, size_t bytes, struct wti_npy_header *ret);

/*
 * The array that begins at `offset` and has `bytes` bytes in all, header included, as tensor
 * `name`.
 */
int wti_npy_add(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		const char *name, struct wt_err *err);

#endif
