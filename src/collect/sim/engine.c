/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop over the next thing that happens anywhere: a start or an end at the head of a queue. Each
 * queue keeps the moment of its own, each device the least of its queues'. What an operation still
 * has to do is kept in 1/1024 ns and settled whenever its speed changes, so that sharing needs no
 * fractions.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"

#define FULL_RATE 1024u

int wti_sim_engine_init(struct wti_sim_engine *engine, const struct wti_sim_config *config,
			const struct wti_sim_program *program, struct wti_sim_truth *truth,
			struct wt_err *err)
{
	*engine = (struct wti_sim_engine){.config = config, .program = program, .truth = truth};
	wti_sim_random_init(&engine->random, config->seed);
	engine->joined = calloc(program->count, sizeof(*engine->joined));
	if (!engine->joined)
		return wti_err(err, WT_E_NOMEM, "out of memory for the devices");
	for (uint32_t d = 0; d < config->devices; d++) {
		struct wti_sim_device *device = &engine->devices[d];

		device->arrived_ns = calloc(program->count, sizeof(uint64_t));
		device->recorded_ns = calloc(program->count, sizeof(uint64_t));
		if (!device->arrived_ns || !device->recorded_ns)
			return wti_err(err, WT_E_NOMEM, "out of memory for the devices");
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++) {
			device->queues[q].free_ns = config->start_ns;
			device->queues[q].ops = calloc(program->count, sizeof(uint32_t));
			if (!device->queues[q].ops)
				return wti_err(err, WT_E_NOMEM, "out of memory for the queues");
		}
	}
	return 0;
}

void wti_sim_engine_release(struct wti_sim_engine *engine)
{
	for (uint32_t d = 0; d < WTI_SIM_DEVICES_MAX; d++) {
		free(engine->devices[d].arrived_ns);
		free(engine->devices[d].recorded_ns);
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++)
			free(engine->devices[d].queues[q].ops);
	}
	free(engine->joined);
	*engine = (struct wti_sim_engine){0};
}

/* ---- When something happens next ----------------------------------------------------------- */

/* At the same moment ends come before starts, so that back-to-back work does not overlap. */
static uint64_t key_of(uint64_t time_ns, bool start)
{
	return time_ns == WTI_SIM_NEVER ? WTI_SIM_NEVER : time_ns * 2 + start;
}

static void update_device(struct wti_sim_device *device)
{
	uint64_t key = device->queues[0].key;

	for (uint32_t q = 1; q < WTI_SIM_QUEUES; q++)
		key = device->queues[q].key < key ? device->queues[q].key : key;
	device->key = key;
}

static const struct wti_sim_op *head_of(const struct wti_sim_engine *engine,
					const struct wti_sim_queue_state *queue)
{
	return &engine->program->ops[queue->ops[queue->next]];
}

/* The start of the queue's next operation, as far as it is known. */
static void plan_start(const struct wti_sim_engine *engine, const struct wti_sim_device *device,
		       struct wti_sim_queue_state *queue)
{
	const struct wti_sim_op *op = head_of(engine, queue);
	uint64_t start_ns = queue->ready_ns;

	if (op->after != WTI_SIM_NONE) {
		uint64_t recorded_ns = device->recorded_ns[op->after];

		if (!recorded_ns)
			start_ns = WTI_SIM_NEVER;
		else if (recorded_ns > start_ns)
			start_ns = recorded_ns;
	}
	queue->key = key_of(start_ns, true);
}

static void next_op(struct wti_sim_engine *engine, struct wti_sim_device *device,
		    struct wti_sim_queue_state *queue)
{
	uint64_t gap_ns = engine->config->queue_gap_ns;
	uint64_t arrived_ns;

	if (queue->next == queue->count) {
		queue->key = WTI_SIM_NEVER;
		return;
	}
	/* Points in time need less of a gap than work that has to be set up. */
	if (!wti_sim_op_is_work(head_of(engine, queue)))
		gap_ns /= 4;
	if (gap_ns)
		gap_ns = wti_sim_random_around(&engine->random, gap_ns,
					       engine->config->jitter_share);
	arrived_ns = device->arrived_ns[queue->ops[queue->next]];
	queue->ready_ns = queue->free_ns + gap_ns;
	if (arrived_ns > queue->ready_ns)
		queue->ready_ns = arrived_ns;
	plan_start(engine, device, queue);
}

/* ---- Sharing -------------------------------------------------------------------------------- */

static void set_rate(struct wti_sim_queue_state *queue, uint32_t rate, uint64_t now_ns)
{
	uint64_t done = (now_ns - queue->settled_ns) * queue->rate;

	if (queue->rate == rate)
		return;
	queue->left = queue->left > done ? queue->left - done : 0;
	queue->settled_ns = now_ns;
	queue->rate = rate;
	queue->key = key_of(now_ns + (queue->left + rate - 1) / rate, false);
}

static bool shares_capacity(const struct wti_sim_op *op)
{
	return op->op == WT_OP_KERNEL || op->op == WT_OP_FILL;
}

/* Beyond its capacity a device slows everything down alike. Collectives use it, but are as fast as
 * the fabric between the devices. */
static void share_device(struct wti_sim_engine *engine, struct wti_sim_device *device,
			 uint64_t now_ns)
{
	uint32_t rate = FULL_RATE;

	if (device->load_percent > 100)
		rate = FULL_RATE * 100 / device->load_percent;
	for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++) {
		struct wti_sim_queue_state *queue = &device->queues[q];

		if (queue->running && shares_capacity(head_of(engine, queue)))
			set_rate(queue, rate, now_ns);
	}
}

static void share_link(struct wti_sim_engine *engine, uint32_t link, uint64_t now_ns)
{
	uint32_t first = link * engine->config->link_devices;
	uint32_t end = first + engine->config->link_devices;
	uint32_t copies = engine->link_copies[link];

	if (!copies)
		return;
	for (uint32_t d = first; d < end && d < engine->config->devices; d++) {
		struct wti_sim_device *device = &engine->devices[d];

		for (uint32_t q = WTI_SIM_UPLOAD; q <= WTI_SIM_DOWNLOAD; q++) {
			if (device->queues[q].running)
				set_rate(&device->queues[q], FULL_RATE / copies, now_ns);
		}
		update_device(device);
	}
}

static void share(struct wti_sim_engine *engine, uint32_t d, const struct wti_sim_op *op,
		  bool begins, uint64_t now_ns)
{
	struct wti_sim_device *device = &engine->devices[d];
	uint32_t link = d / engine->config->link_devices;

	if (op->op == WT_OP_COPY) {
		engine->link_copies[link] += begins ? 1 : -1u;
		share_link(engine, link, now_ns);
	} else {
		device->load_percent += begins ? op->load_percent : -op->load_percent;
		share_device(engine, device, now_ns);
	}
}

/* ---- Starts and ends ------------------------------------------------------------------------ */

static uint64_t draw_work(struct wti_sim_engine *engine, const struct wti_sim_op *op)
{
	struct wti_sim_random *random = &engine->random;
	uint64_t work_ns = wti_sim_random_around(random, op->mean_ns, op->jitter_share);

	/* Now and then something else gets in the way: up to four times as long. */
	if (wti_sim_random_below(random, WTI_SIM_SHARE_ONE) < engine->config->outlier_share)
		work_ns += wti_sim_random_below(random, 3 * work_ns + 1);
	return work_ns;
}

/* All begin when they get there; the transfer itself starts with the last and ends for all. */
static void start_collective(struct wti_sim_engine *engine, uint32_t index, uint64_t now_ns)
{
	const struct wti_sim_op *op = &engine->program->ops[index];
	uint64_t end_ns;

	if (++engine->joined[index] < engine->config->devices)
		return;
	end_ns = now_ns + draw_work(engine, op);
	for (uint32_t d = 0; d < engine->config->devices; d++) {
		engine->devices[d].queues[op->queue].key = key_of(end_ns, false);
		update_device(&engine->devices[d]);
	}
}

static void start_work(struct wti_sim_engine *engine, uint32_t d, struct wti_sim_queue_state *queue,
		       uint64_t now_ns)
{
	const struct wti_sim_op *op = head_of(engine, queue);

	queue->running = true;
	queue->started_ns = now_ns;
	queue->settled_ns = now_ns;
	queue->key = WTI_SIM_NEVER;
	wti_sim_truth_begin(engine->truth, d, now_ns);
	if (op->op == WT_OP_COLLECTIVE) {
		start_collective(engine, queue->ops[queue->next], now_ns);
	} else {
		queue->left = draw_work(engine, op) * 1024;
		queue->rate = 0; /* share() sets it, and with it the end */
	}
	share(engine, d, op, true, now_ns);
}

static void wake_waiting(struct wti_sim_engine *engine, struct wti_sim_device *device,
			 uint32_t record)
{
	for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++) {
		struct wti_sim_queue_state *queue = &device->queues[q];

		if (!queue->running && queue->next < queue->count &&
		    head_of(engine, queue)->after == record)
			plan_start(engine, device, queue);
	}
}

/* The operation at the head of the queue is over. */
static int leave(struct wti_sim_engine *engine, uint32_t d, struct wti_sim_queue_state *queue,
		 uint64_t started_ns, uint64_t now_ns)
{
	struct wti_sim_device *device = &engine->devices[d];
	uint32_t index = queue->ops[queue->next];
	const struct wti_sim_op *op = &engine->program->ops[index];

	queue->next++;
	queue->free_ns = now_ns;
	device->done_ns = now_ns;
	if (op->op == WT_OP_RECORD) {
		device->recorded_ns[index] = now_ns;
		wake_waiting(engine, device, index);
	}
	next_op(engine, device, queue);
	wti_sim_truth_op(engine->truth, d, op, started_ns, now_ns);
	return engine->done(engine->cookie, d, index, started_ns, now_ns);
}

static int happen(struct wti_sim_engine *engine, uint32_t d, struct wti_sim_queue_state *queue)
{
	const struct wti_sim_op *op = head_of(engine, queue);
	uint64_t now_ns = queue->key / 2;

	if (queue->running) {
		queue->running = false;
		wti_sim_truth_end(engine->truth, d, now_ns);
		share(engine, d, op, false, now_ns);
		return leave(engine, d, queue, queue->started_ns, now_ns);
	}
	if (wti_sim_op_is_work(op)) {
		start_work(engine, d, queue, now_ns);
		return 0;
	}
	return leave(engine, d, queue, now_ns, now_ns);
}

/* ---- A step --------------------------------------------------------------------------------- */

static void begin_step(struct wti_sim_engine *engine, uint32_t op_count)
{
	memset(engine->joined, 0, engine->program->count * sizeof(*engine->joined));
	for (uint32_t d = 0; d < engine->config->devices; d++) {
		struct wti_sim_device *device = &engine->devices[d];

		memset(device->recorded_ns, 0, engine->program->count * sizeof(uint64_t));
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++)
			device->queues[q].count = device->queues[q].next = 0;
		for (uint32_t i = 0; i < op_count; i++) {
			struct wti_sim_queue_state *queue =
				&device->queues[engine->program->ops[i].queue];

			queue->ops[queue->count++] = i;
		}
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++)
			next_op(engine, device, &device->queues[q]);
		update_device(device);
	}
}

int wti_sim_engine_step(struct wti_sim_engine *engine, uint32_t op_count)
{
	uint32_t count = engine->config->devices;

	begin_step(engine, op_count);
	for (;;) {
		struct wti_sim_device *device;
		uint32_t first = 0;
		uint32_t q = 0;
		int r;

		for (uint32_t d = 1; d < count; d++)
			first = engine->devices[d].key < engine->devices[first].key ? d : first;
		device = &engine->devices[first];
		if (device->key == WTI_SIM_NEVER)
			return 0;
		while (device->queues[q].key != device->key)
			q++;
		r = happen(engine, first, &device->queues[q]);
		if (r < 0)
			return r;
		update_device(device);
	}
}
