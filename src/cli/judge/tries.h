/* SPDX-License-Identifier: Apache-2.0 */
/* What single reruns gave, and the table of it. */
#ifndef WTI_CLI_JUDGE_TRIES_H
#define WTI_CLI_JUDGE_TRIES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/result.h>

#include "inspect/divergence/divergence.h"

struct wti_try {
	enum wti_repeat verdict;
	int64_t steps;
	int status;       /* of the program */
	uint64_t seen_ns; /* after how long the difference was seen while it ran; 0: it was not */
	double metric;
	bool has_metric;
	uint32_t line;
	char callee[128], file[512], folder[PATH_MAX];
};

/* `metric`: the name of what the reruns were judged by, or NULL. */
struct wt_table *wti_tries_table(struct wt_result *result, const struct wti_try *tries,
				 size_t count, const char *metric);

#endif
