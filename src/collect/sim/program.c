/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training step, as data-parallel training does it: the batch is copied up, the layers go
 * forward, the head computes the loss, the layers go backward while finished gradients are reduced
 * on another queue, the optimizer moves the parameters, the loss is copied down, and the host waits
 * for it. Now and then activations are kept on the host between forward and backward.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "base/grow.h"

#define OPS_MAX (1u << 20)
#define STRINGS_MAX 1024
#define WORK_NS_MAX 10000000000u

uint32_t wti_sim_program_string(struct wti_sim_program *program, const char *text)
{
	uint64_t *id;

	if (!*text)
		return 0;
	id = wti_map_text(&program->strings, text, strlen(text));
	if (!id) {
		program->failed = WT_E_NOMEM;
		return 0;
	}
	if (!*id)
		*id = program->strings.count;
	return (uint32_t)*id;
}

/* ---- Adding operations -------------------------------------------------------------------- */

static uint32_t add(struct wti_sim_program *program, const struct wti_sim_op *op)
{
	if (wti_grow(&program->ops, program->count + 1, &program->capacity, OPS_MAX)) {
		program->failed = WT_E_NOMEM;
		return 0;
	}
	program->ops[program->count] = *op;
	return program->count++;
}

static uint32_t add_kernel(struct wti_sim_program *program, const struct wti_sim_kernel *kernel,
			   uint32_t queue, uint32_t forward)
{
	struct wti_sim_op op = {
		.op = WT_OP_KERNEL,
		.queue = queue,
		.name = wti_sim_program_string(program, kernel->name),
		.geometry = wti_sim_program_string(program, kernel->geometry),
		.call = wti_sim_program_string(program, "launch_kernel"),
		.load_percent = kernel->load_percent,
		.jitter_share = kernel->jitter_share,
		.after = WTI_SIM_NONE,
		.forward = forward,
		.mean_ns = kernel->mean_ns,
	};

	return add(program, &op);
}

static uint32_t add_point(struct wti_sim_program *program, uint32_t type, uint32_t queue,
			  const char *name, uint32_t after)
{
	struct wti_sim_op op = {
		.op = type,
		.queue = queue,
		.name = wti_sim_program_string(program, name),
		.call = wti_sim_program_string(program, name),
		.after = after,
		.forward = WTI_SIM_NONE,
	};

	return add(program, &op);
}

/* What follows on `to` begins after all that was launched on `from` so far. */
static void add_order(struct wti_sim_program *program, uint32_t from, uint32_t to)
{
	uint32_t record = add_point(program, WT_OP_RECORD, from, "record_event", WTI_SIM_NONE);

	add_point(program, WT_OP_WAIT, to, "wait_event", record);
}

static uint64_t duration_of(uint64_t bytes, uint32_t bytes_per_us)
{
	uint64_t ns = bytes * 1000 / bytes_per_us;

	if (ns > WORK_NS_MAX)
		return WORK_NS_MAX;
	return ns ? ns : 1;
}

static uint32_t add_transfer(struct wti_sim_program *program, const struct wti_sim_config *config,
			     uint32_t type, uint32_t queue, const char *name, uint64_t bytes,
			     uint64_t mean_ns)
{
	struct wti_sim_op op = {
		.op = type,
		.queue = queue,
		.name = wti_sim_program_string(program, name),
		.call = wti_sim_program_string(program,
					       type == WT_OP_COPY ? "copy_async" : "all_reduce"),
		.after = WTI_SIM_NONE,
		.forward = WTI_SIM_NONE,
		.jitter_share = config->transfer_jitter_share,
		.mean_ns = mean_ns,
		.bytes = bytes,
	};

	return add(program, &op);
}

static uint32_t add_copy(struct wti_sim_program *program, const struct wti_sim_config *config,
			 uint32_t queue, const char *name, uint64_t bytes)
{
	return add_transfer(program, config, WT_OP_COPY, queue, name, bytes,
			    duration_of(bytes, config->link_bytes_per_us));
}

/* ---- The parts of a step ------------------------------------------------------------------ */

static uint32_t add_kernels(struct wti_sim_program *program, const struct wti_sim_config *config,
			    uint32_t phase, uint32_t queue, uint32_t forward)
{
	uint32_t last = WTI_SIM_NONE;

	for (size_t i = 0; i < config->kernel_count; i++) {
		if (config->kernels[i].phase != phase)
			continue;
		last = add_kernel(program, &config->kernels[i], queue, forward);
		forward = WTI_SIM_NONE; /* the first of a layer stands for all of it */
	}
	return last;
}

static bool is_offloaded(const struct wti_sim_config *config, uint32_t layer)
{
	return config->offload_layers && (layer + 1) % config->offload_layers == 0;
}

static void add_forward(struct wti_sim_program *program, const struct wti_sim_config *config,
			uint32_t *ret_last)
{
	for (uint32_t layer = 0; layer < config->layers; layer++) {
		ret_last[layer] = add_kernels(program, config, WTI_SIM_FORWARD, WTI_SIM_COMPUTE,
					      WTI_SIM_NONE);
		if (!is_offloaded(config, layer))
			continue;
		add_order(program, WTI_SIM_COMPUTE, WTI_SIM_DOWNLOAD);
		add_copy(program, config, WTI_SIM_DOWNLOAD, "copy_activations_to_host",
			 config->offload_bytes);
	}
}

static void add_reduce(struct wti_sim_program *program, const struct wti_sim_config *config,
		       uint32_t layers)
{
	uint64_t bytes = layers * config->layer_bytes;
	uint32_t op;

	add_order(program, WTI_SIM_COMPUTE, WTI_SIM_COMM);
	if (config->side_queue)
		add_order(program, WTI_SIM_SIDE, WTI_SIM_COMM);
	op = add_transfer(program, config, WT_OP_COLLECTIVE, WTI_SIM_COMM, "all_reduce", bytes,
			  duration_of(bytes, config->fabric_bytes_per_us));
	if (!program->failed)
		program->ops[op].load_percent = config->collective_load_percent;
}

/* Activations come back while the layer above is still busy. */
static void add_prefetch(struct wti_sim_program *program, const struct wti_sim_config *config,
			 uint32_t layer)
{
	if (!is_offloaded(config, layer))
		return;
	add_order(program, WTI_SIM_COMPUTE, WTI_SIM_UPLOAD);
	add_order(program, WTI_SIM_DOWNLOAD, WTI_SIM_UPLOAD);
	add_copy(program, config, WTI_SIM_UPLOAD, "copy_activations_to_device",
		 config->offload_bytes);
}

static void add_layer_backward(struct wti_sim_program *program, const struct wti_sim_config *config,
			       uint32_t layer, uint32_t forward)
{
	uint32_t side = config->side_queue ? WTI_SIM_SIDE : WTI_SIM_COMPUTE;

	if (is_offloaded(config, layer))
		add_order(program, WTI_SIM_UPLOAD, WTI_SIM_COMPUTE);
	if (config->side_queue)
		add_order(program, WTI_SIM_COMPUTE, WTI_SIM_SIDE);
	add_kernels(program, config, WTI_SIM_BACKWARD, WTI_SIM_COMPUTE, forward);
	add_kernels(program, config, WTI_SIM_WEIGHT, side, WTI_SIM_NONE);
}

static void add_backward(struct wti_sim_program *program, const struct wti_sim_config *config,
			 const uint32_t *forward)
{
	uint32_t waiting = 0; /* layers whose gradients are not yet reduced */

	add_prefetch(program, config, config->layers - 1);
	for (uint32_t layer = config->layers; layer-- > 0;) {
		if (layer > 0)
			add_prefetch(program, config, layer - 1);
		add_layer_backward(program, config, layer, forward[layer]);
		waiting++;
		if (waiting < config->bucket_layers && layer > 0)
			continue;
		add_reduce(program, config, waiting);
		waiting = 0;
	}
	add_order(program, WTI_SIM_COMM, WTI_SIM_COMPUTE);
}

static void add_optimizer(struct wti_sim_program *program, const struct wti_sim_config *config)
{
	uint64_t bytes = config->layers * config->layer_bytes;
	struct wti_sim_op fill = {
		.op = WT_OP_FILL,
		.queue = WTI_SIM_COMPUTE,
		.name = wti_sim_program_string(program, "zero_gradients"),
		.call = wti_sim_program_string(program, "fill_async"),
		.after = WTI_SIM_NONE,
		.forward = WTI_SIM_NONE,
		.load_percent = 40,
		.jitter_share = config->transfer_jitter_share,
		.mean_ns = duration_of(bytes, 1500000),
		.bytes = bytes,
	};

	add_kernels(program, config, WTI_SIM_OPTIMIZER, WTI_SIM_COMPUTE, WTI_SIM_NONE);
	add(program, &fill);
}

static void add_step(struct wti_sim_program *program, const struct wti_sim_config *config)
{
	uint32_t forward[WTI_SIM_LAYERS_MAX];

	add_copy(program, config, WTI_SIM_UPLOAD, "copy_batch_to_device", config->batch_bytes);
	add_order(program, WTI_SIM_UPLOAD, WTI_SIM_COMPUTE);
	add_forward(program, config, forward);
	add_kernels(program, config, WTI_SIM_HEAD, WTI_SIM_COMPUTE, WTI_SIM_NONE);
	add_backward(program, config, forward);
	add_optimizer(program, config);
	add_order(program, WTI_SIM_COMPUTE, WTI_SIM_DOWNLOAD);
	add_copy(program, config, WTI_SIM_DOWNLOAD, "copy_loss_to_host", 4);
	add_point(program, WT_OP_SYNC, WTI_SIM_DOWNLOAD, "synchronize", WTI_SIM_NONE);
}

/* Kernels of one name share a deviation, as they share their code. */
static void draw_jitter(struct wti_sim_program *program, uint64_t seed)
{
	for (uint32_t i = 0; i < program->count; i++) {
		struct wti_sim_op *op = &program->ops[i];
		struct wti_sim_random random;

		if (op->op != WT_OP_KERNEL || op->jitter_share != WTI_SIM_JITTER_DRAWN)
			continue;
		wti_sim_random_init(&random, seed ^ (uint64_t)op->name << 32);
		op->jitter_share = WTI_SIM_SHARE_ONE / 50 +
				   (uint32_t)wti_sim_random_below(&random, WTI_SIM_SHARE_ONE / 33);
	}
}

int wti_sim_program_init(struct wti_sim_program *program, const struct wti_sim_config *config,
			 struct wt_err *err)
{
	*program = (struct wti_sim_program){0};
	wti_map_init(&program->strings, STRINGS_MAX);
	add_step(program, config);
	if (program->failed) {
		wti_sim_program_release(program);
		return wti_err(err, WT_E_NOMEM, "out of memory for the operations of a step");
	}
	draw_jitter(program, config->seed);
	return 0;
}

void wti_sim_program_release(struct wti_sim_program *program)
{
	free(program->ops);
	program->ops = NULL;
	wti_map_release(&program->strings);
}
