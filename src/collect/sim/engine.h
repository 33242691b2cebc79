/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices: queues that work off what the host has launched, in order, each operation when it
 * has arrived, the one before it is done and the event it waits for is recorded. Operations share
 * what they run on: kernels the capacity of their device, copies the link to the host.
 *
 * Knows nothing of files. All devices are simulated together, event by event, one step at a time.
 */
#ifndef WTI_COLLECT_SIM_ENGINE_H
#define WTI_COLLECT_SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "sim.h"
#include "program.h"
#include "random.h"
#include "truth.h"

#define WTI_SIM_NEVER UINT64_MAX

struct wti_sim_queue_state {
	uint32_t *ops; /* indexes into the program, in order */
	uint32_t count;
	uint32_t next;
	bool running;
	uint32_t rate;     /* progress per ns, 1024 when nothing slows it down */
	uint64_t key;      /* when something happens next: twice the time, plus 1 for a start */
	uint64_t ready_ns; /* of the next operation, waits aside */
	uint64_t free_ns;  /* end of the last one */
	uint64_t started_ns;
	uint64_t settled_ns; /* `left` is what was left then */
	uint64_t left;       /* of the work, in 1/1024 ns */
};

struct wti_sim_device {
	struct wti_sim_queue_state queues[WTI_SIM_QUEUES];
	uint64_t key;          /* least of its queues' */
	uint32_t load_percent; /* of all that runs */
	uint64_t *arrived_ns;  /* by operation: set by the host before a step is run */
	uint64_t *recorded_ns; /* by operation: when an event was recorded; 0: not yet */
	uint64_t done_ns;      /* end of the last operation of the step */
};

/* An operation is over. */
typedef int wti_sim_done(void *cookie, uint32_t device, uint32_t op, uint64_t started_ns,
			 uint64_t ended_ns);

struct wti_sim_engine {
	const struct wti_sim_config *config;
	const struct wti_sim_program *program;
	struct wti_sim_truth *truth;
	struct wti_sim_random random;
	struct wti_sim_device devices[WTI_SIM_DEVICES_MAX];
	uint32_t link_copies[WTI_SIM_DEVICES_MAX]; /* under way on each link */
	uint32_t *joined; /* by operation: devices that have begun this collective */
	wti_sim_done *done;
	void *cookie;
};

int wti_sim_engine_init(struct wti_sim_engine *engine, const struct wti_sim_config *config,
			const struct wti_sim_program *program, struct wti_sim_truth *truth,
			struct wt_err *err);
void wti_sim_engine_release(struct wti_sim_engine *engine);
/* Runs the first `op_count` operations of the program on every device. 0, or what `done` gave. */
int wti_sim_engine_step(struct wti_sim_engine *engine, uint32_t op_count);

#endif
