/* SPDX-License-Identifier: Apache-2.0 */
/* The findings about data sets, by number. */
#ifndef WTI_DATASET_CODES_H
#define WTI_DATASET_CODES_H

#include "dataset/dataset.h"
#include "inspect/core/code.h"

enum wti_set_code {
	WTI_SET_LEAK,
	WTI_SET_CONTRADICTION,
	WTI_SET_DUPLICATES,
	WTI_SET_CONSTANT,
	WTI_SET_MISSING,
	WTI_SET_UNBALANCED,
	WTI_SET_LABEL_INSIDE,
};

extern const struct wti_code wti_dataset_codes[]; /* ends with a code of NULL */

/* `count` of the set's rows, or of its values. */
void wti_dataset_report(struct wt_result *result, enum wti_set_code code, enum wt_severity severity,
			const struct wti_dataset *set, uint64_t count, const char *title,
			const char *evidence);

#endif
