/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated run from its first to its last row. A step has three parts: the host threads launch
 * all operations without waiting, the devices work them off (sim_engine.c), the host threads wait
 * for the end. All begin the next step together, as if one of them handed out the batches.
 *
 * As many whole steps as there is room for, then the beginning of one more, then marks up to the
 * number of rows asked for.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"

#include "engine.h"
#include "folder.h"
#include "kinds.h"
#include "output.h"
#include "program.h"
#include "random.h"
#include "truth.h"

#define TIME_NS_MAX (1ull << 62)
#define PROGRESS_STEPS 64
/* What queued and submitted lie before the end of the launch call, as shares of it. */
#define QUEUED_PART 2
#define SUBMITTED_PART 4

struct names { /* of what the hosts emit */
	uint32_t step;
	uint32_t loss;
	uint32_t padding;
};

struct sim {
	const struct wti_sim_config *config;
	struct wti_sim_program program;
	struct wti_sim_truth truth;
	struct wti_sim_engine engine;
	struct wti_sim_output output;
	struct wti_sim_random random; /* of the hosts */
	struct names names;
	uint64_t host_ns[WTI_SIM_DEVICES_MAX];
	uint64_t correlation[WTI_SIM_DEVICES_MAX]; /* of the first operation of the step */
	uint64_t next_correlation;
};

/* ---- What the hosts emit --------------------------------------------------------------------- */

/* Room for the fields of any kind that hosts emit; those that are not named are 0. */
#define FIELDS 8
#define VALUES(...) ((const uint64_t[FIELDS]){__VA_ARGS__})

static int report(struct sim *sim, uint32_t device, uint16_t kind, const uint64_t values[FIELDS])
{
	sim->truth.kinds[kind]++;
	return wti_sim_output_host(&sim->output, device, kind, sim->host_ns[device], values,
				   FIELDS);
}

static int emit_name(struct sim *sim, uint32_t device, uint16_t kind, uint32_t name)
{
	return report(sim, device, kind, VALUES(name, 0));
}

static int emit_edge(struct sim *sim, uint32_t device, uint32_t type, uint64_t from, uint64_t to)
{
	sim->truth.edges[type]++;
	return report(sim, device, WT_KIND_EDGE, VALUES(type, 0, from, to));
}

static void pass(struct sim *sim, uint32_t device, uint64_t mean_ns)
{
	if (mean_ns)
		sim->host_ns[device] +=
			wti_sim_random_around(&sim->random, mean_ns, sim->config->jitter_share);
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* How many rows the host emits about an operation: what launch() does, counted. */
static uint64_t host_rows(const struct sim *sim, const struct wti_sim_op *op)
{
	const struct wti_sim_config *config = sim->config;
	uint64_t rows = config->host == WTI_SIM_HOST_SPANS   ? 2
			: config->host == WTI_SIM_HOST_MARKS ? 1
							     : 0;

	if (!config->edges)
		return rows;
	rows += 1 + (op->after != WTI_SIM_NONE) + (op->forward != WTI_SIM_NONE);
	rows += op->op == WT_OP_COLLECTIVE && config->devices > 1;
	return rows + (op->op == WT_OP_SYNC);
}

static int launch_edges(struct sim *sim, uint32_t device, uint32_t index)
{
	const struct wti_sim_op *op = &sim->program.ops[index];
	uint64_t base = sim->correlation[device];
	uint64_t self = base + index;
	uint32_t peer = (device + 1) % sim->config->devices;
	int r;

	if (!sim->config->edges)
		return 0;
	r = emit_edge(sim, device, WT_EDGE_LAUNCH, self, self);
	if (r == 0 && op->after != WTI_SIM_NONE)
		r = emit_edge(sim, device, WT_EDGE_RECORD_WAIT, base + op->after, self);
	if (r == 0 && op->forward != WTI_SIM_NONE)
		r = emit_edge(sim, device, WT_EDGE_FORWARD_BACKWARD, base + op->forward, self);
	if (r == 0 && op->op == WT_OP_COLLECTIVE && peer != device)
		r = emit_edge(sim, device, WT_EDGE_SEND_RECEIVE, self,
			      sim->correlation[peer] + index);
	if (r == 0 && op->op == WT_OP_SYNC)
		r = emit_edge(sim, device, WT_EDGE_SYNC, self - 1, self);
	return r;
}

static int launch(struct sim *sim, uint32_t device, uint32_t index)
{
	const struct wti_sim_op *op = &sim->program.ops[index];
	uint32_t host = sim->config->host;
	int r = 0;

	wti_sim_truth_launch(&sim->truth, device, op);
	if (host == WTI_SIM_HOST_SPANS)
		r = emit_name(sim, device, WT_KIND_SPAN_BEGIN, op->call);
	else if (host == WTI_SIM_HOST_MARKS)
		r = report(sim, device, WT_KIND_MARK,
			   VALUES(op->call, 0, sim->correlation[device] + index));
	if (r == 0)
		r = launch_edges(sim, device, index);
	pass(sim, device, sim->config->launch_ns);
	sim->engine.devices[device].arrived_ns[index] = sim->host_ns[device];
	/* The call that waits for the device ends when the device is done: see end_step(). */
	if (r == 0 && host == WTI_SIM_HOST_SPANS && op->op != WT_OP_SYNC)
		r = emit_name(sim, device, WT_KIND_SPAN_END, op->call);
	pass(sim, device, sim->config->launch_gap_ns);
	return r;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Rows of a host around its launches: context, begin and end of the step, loss. */
static uint64_t frame_rows(const struct sim *sim)
{
	return sim->config->host == WTI_SIM_HOST_NONE ? 0 : 4;
}

static int begin_step(struct sim *sim, uint32_t device, uint64_t step)
{
	int r;

	if (!frame_rows(sim))
		return 0;
	r = report(sim, device, WT_KIND_CONTEXT,
		   VALUES(sim->names.step, WT_VALUE_TYPE_INT, step, 0));
	return r ? r : emit_name(sim, device, WT_KIND_SPAN_BEGIN, sim->names.step);
}

/* A loss that falls like 1/step and wavers a little; the division by a power of two is exact. */
static uint64_t loss_bits(struct sim *sim, uint64_t step)
{
	uint64_t fixed = (8 << 16) / (step + 1) + (3 << 15);
	double loss = (double)(fixed + wti_sim_random_below(&sim->random, 1 << 10)) / (1 << 16);
	uint64_t bits;

	memcpy(&bits, &loss, sizeof(bits));
	return bits;
}

static int end_step(struct sim *sim, uint32_t device, uint64_t step, uint32_t op_count)
{
	const struct wti_sim_op *last = op_count ? &sim->program.ops[op_count - 1] : NULL;
	uint64_t done_ns = sim->engine.devices[device].done_ns;
	int r = 0;

	if (done_ns > sim->host_ns[device])
		sim->host_ns[device] = done_ns;
	pass(sim, device, sim->config->launch_ns);
	if (last && last->op == WT_OP_SYNC && sim->config->host == WTI_SIM_HOST_SPANS)
		r = emit_name(sim, device, WT_KIND_SPAN_END, last->call);
	if (r < 0 || !frame_rows(sim))
		return r;
	r = report(sim, device, WT_KIND_COUNTER, VALUES(sim->names.loss, 0, loss_bits(sim, step)));
	return r ? r : emit_name(sim, device, WT_KIND_SPAN_END, sim->names.step);
}

static void meet(struct sim *sim)
{
	uint64_t last_ns = 0;

	for (uint32_t d = 0; d < sim->config->devices; d++)
		last_ns = sim->host_ns[d] > last_ns ? sim->host_ns[d] : last_ns;
	for (uint32_t d = 0; d < sim->config->devices; d++) {
		sim->host_ns[d] = last_ns;
		pass(sim, d, sim->config->step_ns);
	}
}

static int run_step(struct sim *sim, uint64_t step, uint32_t op_count)
{
	int r = 0;

	for (uint32_t d = 0; d < sim->config->devices; d++) {
		sim->correlation[d] = sim->next_correlation;
		sim->next_correlation += op_count;
	}
	for (uint32_t d = 0; d < sim->config->devices && r == 0; d++) {
		r = begin_step(sim, d, step);
		for (uint32_t i = 0; i < op_count && r == 0; i++)
			r = launch(sim, d, i);
	}
	if (r == 0)
		r = wti_sim_engine_step(&sim->engine, op_count);
	for (uint32_t d = 0; d < sim->config->devices && r == 0; d++)
		r = end_step(sim, d, step, op_count);
	meet(sim);
	sim->truth.steps++;
	return r;
}

/* From the engine: an operation is over. */
static int on_done(void *cookie, uint32_t device, uint32_t op, uint64_t started_ns,
		   uint64_t ended_ns)
{
	struct sim *sim = cookie;
	struct wti_sim_row row = {
		.op = &sim->program.ops[op],
		.device = device,
		.correlation = sim->correlation[device] + op,
		.emitted_ns = ended_ns,
		.started_ns = started_ns,
		.ended_ns = ended_ns,
	};

	if (sim->config->emit_ns)
		row.emitted_ns += wti_sim_random_around(&sim->engine.random, sim->config->emit_ns,
							sim->config->jitter_share);
	if (sim->config->stamps) {
		uint64_t arrived_ns = sim->engine.devices[device].arrived_ns[op];

		row.queued_ns = arrived_ns - sim->config->launch_ns / QUEUED_PART;
		row.submitted_ns = arrived_ns - sim->config->launch_ns / SUBMITTED_PART;
	}
	return wti_sim_output_op(&sim->output, &row);
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Rows of a step that consists of the first `op_count` operations. */
static uint64_t step_rows(const struct sim *sim, uint32_t op_count)
{
	uint64_t rows = frame_rows(sim);

	for (uint32_t i = 0; i < op_count; i++)
		rows += 1 + host_rows(sim, &sim->program.ops[i]);
	return rows * sim->config->devices;
}

/* How many operations of a step make at most that many rows. */
static uint32_t ops_within(const struct sim *sim, uint64_t rows)
{
	uint64_t devices = sim->config->devices;
	uint64_t used = frame_rows(sim) * devices;
	uint32_t count = 0;

	while (count < sim->program.count) {
		used += (1 + host_rows(sim, &sim->program.ops[count])) * devices;
		if (used > rows)
			break;
		count++;
	}
	return count;
}

static int pad(struct sim *sim, uint64_t rows)
{
	int r = 0;

	for (uint64_t i = 0; i < rows && r == 0; i++) {
		pass(sim, 0, 1000);
		r = report(sim, 0, WT_KIND_MARK, VALUES(sim->names.padding, 0, i));
	}
	return r;
}

static int run_steps(struct sim *sim, const struct wti_sim_options *options, struct wt_err *err)
{
	uint64_t rows = step_rows(sim, sim->program.count);
	uint64_t steps = sim->config->events / rows;
	uint64_t left = sim->config->events % rows;
	uint32_t op_count = ops_within(sim, left);
	int r = 0;

	for (uint64_t step = 0; step < steps && r == 0; step++) {
		if (sim->host_ns[0] > TIME_NS_MAX)
			return wti_err(err, WT_E_LIMIT,
				       "the simulated time does not fit into 62 bits: use fewer "
				       "events or shorter operations");
		r = run_step(sim, step, sim->program.count);
		if (options->progress && step % PROGRESS_STEPS == 0)
			options->progress(options->cookie, (double)step / (double)steps);
	}
	if (r == 0 && op_count) {
		left -= step_rows(sim, op_count);
		r = run_step(sim, steps, op_count);
	}
	if (r == 0)
		r = pad(sim, left);
	return r ? wti_sim_output_error(&sim->output, r, err) : 0;
}

static int prepare(struct sim *sim, const char *folder, struct wt_err *err)
{
	int r = wti_sim_program_init(&sim->program, sim->config, err);

	if (r < 0)
		return r;
	sim->names.step = wti_sim_program_string(&sim->program, "step");
	sim->names.loss = wti_sim_program_string(&sim->program, "loss");
	sim->names.padding = wti_sim_program_string(&sim->program, "padding");
	if (sim->program.failed)
		return wti_err(err, WT_E_NOMEM, "out of memory for names");
	r = wti_sim_truth_init(&sim->truth, &sim->program, err);
	if (r == 0)
		r = wti_sim_engine_init(&sim->engine, sim->config, &sim->program, &sim->truth, err);
	if (r == 0)
		r = wti_sim_output_init(&sim->output, sim->config, &sim->program, folder, err);
	if (r < 0)
		return r;
	sim->engine.done = on_done;
	sim->engine.cookie = sim;
	/* Another sequence than the devices', from the same seed. */
	wti_sim_random_init(&sim->random, ~sim->config->seed);
	sim->next_correlation = 1;
	for (uint32_t d = 0; d < sim->config->devices; d++)
		sim->host_ns[d] = sim->config->start_ns;
	return 0;
}

static int run_workload(struct sim *sim, const struct wti_sim_options *options,
			struct wti_sim_summary *summary, struct wt_err *err)
{
	char path[4096];
	int r = prepare(sim, options->folder, err);

	if (r == 0)
		r = run_steps(sim, options, err);
	if (r == 0)
		r = wti_sim_output_finish(&sim->output, &summary->bytes, err);
	if (r < 0)
		return r;
	summary->events = sim->config->events;
	summary->duration_ns = sim->host_ns[0] - sim->config->start_ns;
	if ((size_t)snprintf(path, sizeof(path), "%s/truth.json", options->folder) >= sizeof(path))
		return wti_err(err, WT_E_LIMIT, "path too long '%s'", options->folder);
	return wti_sim_truth_write(&sim->truth, sim->config, &sim->program, path, err);
}

int wti_sim_run(const struct wti_sim_options *options, struct wti_sim_summary *ret_summary,
		struct wt_err *err)
{
	struct sim *sim;
	struct wti_sim_summary summary = {0};
	int r = wti_sim_folder_make(options->folder, err);

	if (r < 0)
		return r;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	sim->config = options->config;
	if (options->all_kinds)
		r = wti_sim_kinds_run(options, &summary, err);
	else
		r = run_workload(sim, options, &summary, err);
	wti_sim_output_release(&sim->output);
	wti_sim_engine_release(&sim->engine);
	wti_sim_truth_release(&sim->truth);
	wti_sim_program_release(&sim->program);
	free(sim);
	if (r == 0)
		r = wti_sim_folder_finish(options, &summary, err);
	if (r == 0)
		*ret_summary = summary;
	return r;
}
