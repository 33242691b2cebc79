/* SPDX-License-Identifier: Apache-2.0 */
/* Counting, then one JSON object. Knows the rules of counting and nothing of how work is scheduled.
 */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#include "folder.h"
#include "output.h"

#define JSON_BYTES_MAX (16u << 20)

int wti_sim_truth_init(struct wti_sim_truth *truth, const struct wti_sim_program *program,
		       struct wt_err *err)
{
	*truth = (struct wti_sim_truth){.first_ns = UINT64_MAX};
	truth->name_count = (uint32_t)program->strings.count + 1;
	truth->names = calloc(truth->name_count, sizeof(*truth->names));
	if (!truth->names)
		return wti_err(err, WT_E_NOMEM, "out of memory for the ground truth");
	return 0;
}

void wti_sim_truth_release(struct wti_sim_truth *truth)
{
	free(truth->names);
	truth->names = NULL;
}

/* ---- Counting ------------------------------------------------------------------------------- */

static void begin(struct wti_sim_overlap *overlap, uint64_t now_ns)
{
	if (overlap->running++ == 0)
		overlap->since_ns = now_ns;
	if (overlap->running > overlap->running_max)
		overlap->running_max = overlap->running;
}

static void end(struct wti_sim_overlap *overlap, uint64_t now_ns)
{
	if (--overlap->running == 0)
		overlap->busy_ns += now_ns - overlap->since_ns;
}

void wti_sim_truth_begin(struct wti_sim_truth *truth, uint32_t device, uint64_t now_ns)
{
	begin(&truth->all, now_ns);
	begin(&truth->devices[device], now_ns);
	if (now_ns < truth->first_ns)
		truth->first_ns = now_ns;
}

void wti_sim_truth_end(struct wti_sim_truth *truth, uint32_t device, uint64_t now_ns)
{
	end(&truth->all, now_ns);
	end(&truth->devices[device], now_ns);
	truth->last_ns = now_ns;
}

static void add(struct wti_sim_total *total, uint64_t ns, uint64_t bytes)
{
	if (!total->count || ns < total->min_ns)
		total->min_ns = ns;
	if (ns > total->max_ns)
		total->max_ns = ns;
	total->count++;
	total->total_ns += ns;
	total->bytes += bytes;
}

void wti_sim_truth_launch(struct wti_sim_truth *truth, uint32_t device, const struct wti_sim_op *op)
{
	truth->after_sync_count += truth->has_synced[device];
	truth->has_synced[device] = op->op == WT_OP_SYNC;
}

void wti_sim_truth_op(struct wti_sim_truth *truth, uint32_t device, const struct wti_sim_op *op,
		      uint64_t started_ns, uint64_t ended_ns)
{
	uint64_t ns = ended_ns - started_ns;

	truth->kinds[WT_KIND_DEVICE_OP]++;
	add(&truth->ops[op->op], ns, op->bytes);
	add(&truth->names[op->name], ns, op->bytes);
	add(&truth->queues[device][op->queue], ns, op->bytes);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void put_u64(struct wti_json *json, const char *key, uint64_t value)
{
	wti_json_key(json, key);
	wti_json_u64(json, value);
}

static uint64_t window_ns(const struct wti_sim_truth *truth)
{
	return truth->last_ns > truth->first_ns ? truth->last_ns - truth->first_ns : 0;
}

static void put_utilisation(struct wti_json *json, const struct wti_sim_truth *truth,
			    uint64_t busy_ns)
{
	uint64_t window = window_ns(truth);

	put_u64(json, "busy_ns", busy_ns);
	wti_json_key(json, "utilisation");
	wti_json_f64(json, window ? (double)busy_ns / (double)window : 0);
}

static void put_total(struct wti_json *json, const struct wti_sim_total *total)
{
	put_u64(json, "count", total->count);
	put_u64(json, "total_ns", total->total_ns);
	put_u64(json, "min_ns", total->min_ns);
	put_u64(json, "max_ns", total->max_ns);
	put_u64(json, "bytes", total->bytes);
}

static void put_kinds(struct wti_json *json, const struct wti_sim_truth *truth)
{
	wti_json_key(json, "kinds");
	wti_json_object(json);
	for (uint16_t i = 0; i < WT_KIND_END; i++) {
		if (truth->kinds[i])
			put_u64(json, wt_kind_builtin(i)->name, truth->kinds[i]);
	}
	wti_json_object_end(json);
}

static void put_edges(struct wti_json *json, const struct wti_sim_truth *truth)
{
	const struct wt_field *type = &wt_kind_builtin(WT_KIND_EDGE)->fields[WT_EDGE_FIELD_TYPE];

	wti_json_key(json, "edges");
	wti_json_object(json);
	for (uint32_t i = 0; i < WTI_SIM_EDGES; i++)
		put_u64(json, type->enum_names[i], truth->edges[i]);
	wti_json_object_end(json);
}

/* Pairs of operations of which one has to come first, by the reason. */
static void put_dependencies(struct wti_json *json, const struct wti_sim_truth *truth,
			     uint32_t device_count)
{
	uint64_t same_queue = 0;

	for (uint32_t d = 0; d < device_count; d++)
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++)
			if (truth->queues[d][q].count)
				same_queue += truth->queues[d][q].count - 1;
	wti_json_key(json, "dependencies");
	wti_json_object(json);
	put_u64(json, "same queue", same_queue);
	put_u64(json, "event", truth->edges[WT_EDGE_RECORD_WAIT]);
	put_u64(json, "host wait", truth->edges[WT_EDGE_SYNC]);
	put_u64(json, "host sync", truth->after_sync_count);
	put_u64(json, "collective", truth->edges[WT_EDGE_SEND_RECEIVE]);
	wti_json_object_end(json);
}

static void put_ops(struct wti_json *json, const struct wti_sim_truth *truth)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_DEVICE_OP);

	wti_json_key(json, "ops");
	wti_json_object(json);
	for (uint32_t i = 0; i < WTI_SIM_OPS; i++) {
		if (!truth->ops[i].count)
			continue;
		wti_json_key(json, kind->fields[WT_DEVICE_OP_FIELD_OP].enum_names[i]);
		wti_json_object(json);
		put_total(json, &truth->ops[i]);
		wti_json_object_end(json);
	}
	wti_json_object_end(json);
}

static void put_names(struct wti_json *json, const struct wti_sim_truth *truth,
		      const struct wti_sim_program *program)
{
	wti_json_key(json, "names");
	wti_json_object(json);
	for (uint32_t i = 1; i < truth->name_count; i++) {
		if (!truth->names[i].count)
			continue;
		wti_json_key(json, program->strings.entries[i - 1].text);
		wti_json_object(json);
		put_total(json, &truth->names[i]);
		wti_json_object_end(json);
	}
	wti_json_object_end(json);
}

static void put_queue(struct wti_json *json, const struct wti_sim_truth *truth, uint32_t device,
		      uint32_t queue)
{
	const struct wti_sim_total *total = &truth->queues[device][queue];
	char name[WTI_SIM_TRACK_NAME_BYTES];

	wti_json_object(json);
	wti_json_member(json, "name", wti_sim_queue_name(name, device, queue));
	put_u64(json, "device", device);
	put_u64(json, "operations", total->count);
	/* Operations of a queue do not overlap: their sum is their union. */
	put_utilisation(json, truth, total->total_ns);
	wti_json_object_end(json);
}

static void put_devices(struct wti_json *json, const struct wti_sim_truth *truth, uint32_t count)
{
	wti_json_key(json, "devices");
	wti_json_array(json);
	for (uint32_t d = 0; d < count; d++) {
		wti_json_object(json);
		put_u64(json, "device", d);
		put_u64(json, "concurrency_max", truth->devices[d].running_max);
		put_utilisation(json, truth, truth->devices[d].busy_ns);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
	wti_json_key(json, "queues");
	wti_json_array(json);
	for (uint32_t d = 0; d < count; d++) {
		for (uint32_t q = 0; q < WTI_SIM_QUEUES; q++) {
			if (truth->queues[d][q].count)
				put_queue(json, truth, d, q);
		}
	}
	wti_json_array_end(json);
}

static uint64_t all_rows(const struct wti_sim_truth *truth)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < WT_KIND_END; i++)
		sum += truth->kinds[i];
	return sum;
}

static void put_truth(struct wti_json *json, const struct wti_sim_truth *truth,
		      const struct wti_sim_config *config, const struct wti_sim_program *program)
{
	wti_json_object(json);
	put_u64(json, "events", all_rows(truth));
	put_u64(json, "seed", config->seed);
	put_u64(json, "steps", truth->steps);
	put_kinds(json, truth);
	wti_json_key(json, "window");
	wti_json_object(json);
	put_u64(json, "from_ns", window_ns(truth) ? truth->first_ns : 0);
	put_u64(json, "to_ns", truth->last_ns);
	wti_json_object_end(json);
	put_u64(json, "concurrency_max", truth->all.running_max);
	put_utilisation(json, truth, truth->all.busy_ns);
	put_devices(json, truth, config->devices);
	put_ops(json, truth);
	put_names(json, truth, program);
	put_edges(json, truth);
	put_dependencies(json, truth, config->devices);
	wti_json_object_end(json);
}

int wti_sim_truth_write(const struct wti_sim_truth *truth, const struct wti_sim_config *config,
			const struct wti_sim_program *program, const char *path, struct wt_err *err)
{
	struct wti_buf text;
	struct wti_json json;

	wti_buf_init(&text, JSON_BYTES_MAX);
	wti_json_init(&json, &text, true);
	put_truth(&json, truth, config, program);
	return wti_sim_json_finish(&text, path, err);
}
