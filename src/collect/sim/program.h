/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each device does in a step, as a list of operations in the order in which the host launches
 * them. Made once from the configuration; every step of every device runs the same list.
 */
#ifndef WTI_COLLECT_SIM_PROGRAM_H
#define WTI_COLLECT_SIM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "base/map.h"

#include "sim.h"
#include "random.h"

enum wti_sim_queue {
	WTI_SIM_COMPUTE,
	WTI_SIM_SIDE,
	WTI_SIM_COMM,
	WTI_SIM_UPLOAD,
	WTI_SIM_DOWNLOAD,
	WTI_SIM_QUEUES,
};

#define WTI_SIM_NONE UINT32_MAX

struct wti_sim_op {
	uint32_t op;    /* enum wt_op */
	uint32_t queue; /* enum wti_sim_queue */
	uint32_t name;  /* string ids */
	uint32_t geometry;
	uint32_t call; /* what the host calls to launch it */
	uint32_t load_percent;
	uint32_t jitter_share;
	uint32_t after;   /* the record that a wait waits for, or WTI_SIM_NONE */
	uint32_t forward; /* of a backward operation: the one it undoes, or WTI_SIM_NONE */
	uint64_t mean_ns; /* 0: takes no time */
	uint64_t bytes;
};

struct wti_sim_program {
	struct wti_sim_op *ops;
	uint32_t count;
	size_t capacity;
	struct wti_map strings; /* text to id, from 1 */
	int failed;
};

int wti_sim_program_init(struct wti_sim_program *program, const struct wti_sim_config *config,
			 struct wt_err *err);
void wti_sim_program_release(struct wti_sim_program *program);
/* Id of a string, made if it is new; 0 for the empty one. A failure is kept in `failed`. */
uint32_t wti_sim_program_string(struct wti_sim_program *program, const char *text);
/* Work takes time and uses the device; the rest are points in time. */
static inline bool wti_sim_op_is_work(const struct wti_sim_op *op)
{
	return op->mean_ns > 0;
}

#endif
