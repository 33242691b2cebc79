/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a simulated run, and its run.json. Nothing of the host goes into it. */
#ifndef WTI_COLLECT_SIM_FOLDER_H
#define WTI_COLLECT_SIM_FOLDER_H

#include "base/buf.h"

#include "sim.h"

/* Room for the longest name of a file in it is checked here, once. */
int wti_sim_folder_make(const char *folder, struct wt_err *err);
/* Writes the text of a JSON file, with the end of its last line, and releases it. */
int wti_sim_json_finish(struct wti_buf *text, const char *path, struct wt_err *err);
int wti_sim_folder_finish(const struct wti_sim_options *options,
			  const struct wti_sim_summary *summary, struct wt_err *err);

#endif
