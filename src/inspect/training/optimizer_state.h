/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which entries of a checkpoint are what an optimizer keeps, by their structure: state_dict() of an
 * optimizer has its groups ("solver.param_groups.0.lr") beside what it keeps of each parameter
 * ("solver.state.0.exp_avg"). Where the groups were left out, the names that optimizers use for
 * what they keep remain.
 */
#ifndef WTI_INSPECT_OPTIMIZER_STATE_H
#define WTI_INSPECT_OPTIMIZER_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a checkpoint: what its paths begin with. */
struct wti_optimizer_part {
	const char *path; /* its first bytes: "solver." */
	size_t bytes;
};

/* The part that an entry is in the groups of; false: it is not of any optimizer's groups. */
bool wti_optimizer_groups(const char *path, struct wti_optimizer_part *ret);
/* Of an entry that such a part keeps of a parameter: how many bytes name both; 0: it is not. */
size_t wti_optimizer_state_bytes(const char *path, const struct wti_optimizer_part *part);
/* By its last key alone: "exp_avg", "momentum_buffer" and the others. */
bool wti_optimizer_keeps(const char *path);

#endif
