/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one run loaded beside what another run saved to that file. Opens neither: whoever has both
 * gives what is compared.
 */
#ifndef WTI_INSPECT_ORIGIN_ACROSS_H
#define WTI_INSPECT_ORIGIN_ACROSS_H

#include <wheeltap/result.h>

#include "inspect/training/transfers.h"

struct wti_across {
	const struct wti_file_transfer *load;
	const struct wti_transfer_value *loaded;       /* its values */
	const char *run;                               /* that saved */
	const char *path;                              /* to which it saved */
	int64_t step;                                  /* in which it saved */
	const struct wti_transfer_value *const *saved; /* of all ranks */
	size_t saved_count;
	const struct wti_map
		*steps;      /* hashes: the step plus two in which one was saved; 0: never */
	bool is_by_contents; /* the save was found by a tensor, not by the path */
};

/* Findings, or none. How many tensors are equal. */
size_t wti_across_judge(const struct wti_across *across, struct wt_result *result);
/* All that was loaded is another save than the last one to this path. */
void wti_across_other(const struct wti_across *across, const char *last_run, int64_t last_step,
		      struct wt_result *result);

#endif
