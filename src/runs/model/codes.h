/* SPDX-License-Identifier: Apache-2.0 */
/* What findings about model files are called. */
#ifndef WTI_RUNS_MODEL_CODES_H
#define WTI_RUNS_MODEL_CODES_H

#include <wheeltap/result.h>

#include "inspect/core/code.h"

/* The order is that of the codes; numbers are never used again. */
enum wti_model_code_number {
	WTI_MODEL_FILE_DIFFERS,
	WTI_MODEL_TENSOR_DIFFERS,
	WTI_MODEL_TENSOR_MISSING,
	WTI_MODEL_NOT_SIGNED,
	WTI_MODEL_NAN,
	WTI_MODEL_INFINITE,
	WTI_MODEL_DEAD_ROWS,
	WTI_MODEL_DEAD_COLUMNS,
	WTI_MODEL_SAME_ROWS,
	WTI_MODEL_CONSTANT,
	WTI_MODEL_INITIAL,
	WTI_MODEL_PROBE,
	WTI_MODEL_CHANCE,
	WTI_MODEL_CODES,
};

struct wti_model_code {
	struct wti_code code;
	enum wt_severity severity;
	const char *needs; /* what `explain` says it needs */
};

const struct wti_model_code *wti_model_code_at(size_t number); /* NULL: there are no more */

#endif
