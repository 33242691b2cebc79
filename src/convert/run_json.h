/* SPDX-License-Identifier: Apache-2.0 */
/* What run.json says of a run that no recorder made. */
#ifndef WTI_CONVERT_RUN_JSON_H
#define WTI_CONVERT_RUN_JSON_H

#include <stdint.h>

#include <wheeltap/err.h>

#include "trace/run_folder.h"

struct wti_run_facts {
	const char *source; /* where the events came from */
	enum wti_run_status status;
	int64_t start_ns; /* since 1970; not above 0: not known */
	uint64_t duration_ns;
	uint64_t events, lost;
};

int wti_run_json_write(const char *folder, const struct wti_run_facts *facts, struct wt_err *err);

#endif
