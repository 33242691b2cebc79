/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch runs below Python, as records: reported by the shim (shim/shim.h), on whatever thread,
 * with or without the interpreter's lock. So nothing here touches an object of Python's, or a table
 * that the lock guards.
 *
 * A node of the backward graph that runs is joined by an edge to the call or operator that made it.
 */
#include "own.h"

#include <stdio.h>
#include <string.h>

#include "common/private.h"
#include "python/shim/shim.h"
#include "threads.h"
#include "emit.h"

enum {
	NAME_BYTES_MAX = 256,
	SHAPE_BYTES = 256,
};

static bool is_wanted(void)
{
	return __atomic_load_n(&wti_python.is_on, __ATOMIC_RELAXED) && !wti_python_thread.inside;
}

static struct wt_name *name_of(const char *text)
{
	size_t bytes = strnlen(text, NAME_BYTES_MAX);

	return wti_name_find(text, wti_text_cut(text, bytes, NAME_BYTES_MAX));
}

static void emit_edge(struct wti_here here, const struct wti_shim_operator *op, uint32_t seq)
{
	uint64_t from = wti_threads_origin(op->thread, (uint64_t)op->sequence);
	struct wti_record_edge edge = {.type = WT_EDGE_FORWARD_BACKWARD, .from = from};

	if (!from)
		return;
	edge.to = wti_event_correlation(here.ring->track, seq);
	wti_emit_edge(here, &edge);
}

static void operator_begins(const struct wti_shim_operator *op, struct wti_shim_emitted *ret)
{
	const bool is_node = op->scope == WT_OPERATOR_SCOPE_BACKWARD;
	struct wti_record_operator_begin begin;
	struct wti_here here;
	struct wt_name *name;

	ret->name = NULL;
	if (!is_wanted())
		return;
	here = wti_here();
	if (!here.ring)
		return;
	if (is_node)
		wti_threads_follow(op->thread);
	name = name_of(op->name);
	begin = (struct wti_record_operator_begin){
		.operator= wti_name(here, name),
		.scope = op->scope,
		.thread = is_node ? (uint32_t)op->thread : 0,
		.sequence = op->sequence,
	};
	if (!wti_emit_operator_begin(here, &begin))
		return;
	ret->name = name;
	ret->seq = begin.record.seq;
	if (is_node && op->sequence >= 0)
		emit_edge(here, op, ret->seq);
}

/* Emitted even if recording was stopped in between: what has a begin gets an end. */
static void operator_ends(const struct wti_shim_emitted *emitted, bool is_thrown)
{
	const struct wti_here here = wti_here();

	if (here.ring)
		wti_emit_operator_end(here,
				      &(struct wti_record_operator_end){
					      .operator= wti_name(here, emitted->name),
					      .flags = is_thrown ? WT_OPERATOR_END_EXCEPTION : 0});
}

static void async_known(const char *name, bool is_end, uint64_t handle)
{
	struct wti_record_operator_async async;
	struct wti_here here;

	if (!is_wanted())
		return;
	here = wti_here();
	if (!here.ring)
		return;
	async = (struct wti_record_operator_async){
		.operator= wti_name(here, name_of(name)),
		.phase = is_end ? WT_PHASE_END : WT_PHASE_BEGIN,
		.handle = handle,
	};
	wti_emit_operator_async(here, &async);
}

static void nodes_made(const struct wti_shim_emitted *emitted, uint64_t from, uint64_t to)
{
	wti_threads_made(from, to, emitted->seq);
}

/* ---- Outputs -------------------------------------------------------------------------------- */

/* Not wti_shape_name(): its table is the lock's. */
static struct wt_name *shape_of(const struct wti_tensor *tensor)
{
	char text[SHAPE_BYTES];
	int used = 0;

	for (uint32_t i = 0; i < tensor->rank && used < SHAPE_BYTES - 24; i++)
		used += snprintf(text + used, (size_t)(SHAPE_BYTES - used), "%s%lld", i ? "x" : "",
				 (long long)tensor->sizes[i]);
	return wti_name_find(text, (size_t)used);
}

static struct wt_name *position_name(uint32_t position)
{
	char text[16];
	int bytes = snprintf(text, sizeof(text), "[%u]", position);

	return wti_name_find(text, (size_t)bytes);
}

/*
 * Of an operator within backward: where a gradient first has a NaN is seen here, and only here.
 */
static void output_known(const struct wti_shim_emitted *emitted, const struct wti_shim_tensor *seen,
			 uint32_t position)
{
	struct wti_tensor_names names = {.call = emitted->seq, .position = -1};
	struct wti_tensor tensor = {.device = WT_NAME("cpu")};
	struct wt_digest digest;
	bool is_read;

	if (!wti_seen_tensor(seen, &tensor))
		return;
	is_read = tensor.data && tensor.count * tensor.item_bytes <= wti_python.digest_bytes_max &&
		  wti_tensor_digest(&tensor, &digest);
	if (position)
		names.name = position_name(position);
	names.shape = shape_of(&tensor);
	wti_tensor_emit(&tensor, &names, is_read ? &digest : NULL);
}

const struct wti_shim_host wti_operator_host = {
	.begin = operator_begins,
	.nodes = nodes_made,
	.output = output_known,
	.end = operator_ends,
	.async = async_known,
};
