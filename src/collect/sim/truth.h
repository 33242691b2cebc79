/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is really in a simulated run, counted while it is made and not read back from the trace:
 * what inspectors are compared with. Busy means that at least one operation that takes time is
 * under way; intervals are half open, so that an operation that begins when another ends does not
 * overlap with it.
 */
#ifndef WTI_COLLECT_SIM_TRUTH_H
#define WTI_COLLECT_SIM_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>
#include <wheeltap/kinds.h>

#include "sim.h"
#include "program.h"

#define WTI_SIM_OPS (WT_OP_OTHER + 1)
#define WTI_SIM_EDGES (WT_EDGE_SYNC + 1)

struct wti_sim_total {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t bytes;
};

struct wti_sim_overlap {
	uint32_t running;
	uint32_t running_max;
	uint64_t since_ns; /* when the first of those running began */
	uint64_t busy_ns;
};

struct wti_sim_truth {
	uint64_t kinds[WT_KIND_END]; /* rows */
	uint64_t edges[WTI_SIM_EDGES];
	struct wti_sim_total ops[WTI_SIM_OPS];
	struct wti_sim_total *names; /* by string id */
	uint32_t name_count;
	struct wti_sim_overlap all;
	struct wti_sim_overlap devices[WTI_SIM_DEVICES_MAX];
	struct wti_sim_total queues[WTI_SIM_DEVICES_MAX][WTI_SIM_QUEUES];
	uint64_t first_ns; /* start of the first operation that takes time */
	uint64_t last_ns;  /* end of the last */
	uint64_t steps;
	bool has_synced[WTI_SIM_DEVICES_MAX]; /* the host has waited, and launched nothing since */
	uint64_t after_sync_count;            /* launches that were the first after a wait */
};

int wti_sim_truth_init(struct wti_sim_truth *truth, const struct wti_sim_program *program,
		       struct wt_err *err);
void wti_sim_truth_release(struct wti_sim_truth *truth);

/* Must be called in the order of time; at the same moment ends before begins. */
void wti_sim_truth_begin(struct wti_sim_truth *truth, uint32_t device, uint64_t now_ns);
void wti_sim_truth_end(struct wti_sim_truth *truth, uint32_t device, uint64_t now_ns);
/* The host launches an operation, in the order of its thread. */
void wti_sim_truth_launch(struct wti_sim_truth *truth, uint32_t device,
			  const struct wti_sim_op *op);
/* An operation that is over, in any order. */
void wti_sim_truth_op(struct wti_sim_truth *truth, uint32_t device, const struct wti_sim_op *op,
		      uint64_t started_ns, uint64_t ended_ns);

int wti_sim_truth_write(const struct wti_sim_truth *truth, const struct wti_sim_config *config,
			const struct wti_sim_program *program, const char *path,
			struct wt_err *err);

#endif
