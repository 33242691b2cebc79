/* SPDX-License-Identifier: Apache-2.0 */
/* Random but valid rows of every event kind there is: food for decoders and renderers. */
#ifndef WTI_COLLECT_SIM_KINDS_H
#define WTI_COLLECT_SIM_KINDS_H

#include "sim.h"

int wti_sim_kinds_run(const struct wti_sim_options *options, struct wti_sim_summary *ret_summary,
		      struct wt_err *err);

#endif
