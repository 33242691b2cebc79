/* SPDX-License-Identifier: Apache-2.0 */
/* Runs operations: one at a time with all contents looked at, or all at once as the program had it.
 */
#include "pass.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "pass_compare.h"

enum { WRITTEN_MAX = 256, PAUSE_NS_MAX = 1000000000, REPEATS_OF_ATOMICS = 30 };

/* Memory that an operation writes, and what was in it. */
struct written {
	uint32_t object;
	int32_t argument;
	uint64_t bytes;
	uint8_t *before, *after, *again;
};

struct run {
	struct wti_replay_session *session;
	const struct wti_replay_plan *plan;
	const struct wti_replay_pass_how *how;
	struct wti_replay_pass *pass;
	struct wti_replay_session_command *commands; /* of each operation, on its way */
	uint32_t *uses;             /* of each object: operations that will touch it */
	uint64_t host_bytes;        /* of commands on their way */
	int64_t begin_ns, first_ns; /* of this execution, and of the recorded one */
	int failed;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool is_selected(const struct run *run, uint32_t op)
{
	return !run->how->is_selected || run->how->is_selected[op];
}

/* Not asked for, but needed by what is. */
static bool is_before(const struct run *run, uint32_t op)
{
	return run->how->is_asked && !run->how->is_asked[op];
}

static struct wti_replay_outcome *outcome_of(struct run *run, uint32_t op)
{
	return &run->pass->outcomes[op];
}

static void is_missing(struct run *run, uint32_t op, const char *why)
{
	struct wti_replay_outcome *outcome = outcome_of(run, op);

	outcome->state = WTI_OUTCOME_MISSING;
	outcome->why = why;
}

/* ---- Hashes of what is in memory ------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	const uint64_t pair[] = {hash, value};

	return XXH3_64bits(pair, sizeof(pair));
}

static uint64_t hash_of(const struct run *run, uint32_t op, bool of_written)
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];
	uint64_t hash = 0;

	for (uint32_t i = 0; i < about->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&run->plan->accesses[about->access_first + i];

		if (of_written ? wti_replay_plan_writes(run->plan, access)
			       : wti_replay_plan_reads(run->plan, access))
			hash = mix(hash, run->pass->contents[access->object]);
	}
	return hash;
}

/* ---- What differs ---------------------------------------------------------------------------- */

static void add_found(struct run *run, const struct wti_replay_pass_found *found)
{
	struct wti_replay_pass *pass = run->pass;
	int r = wti_grow(&pass->founds, pass->found_count + 1, &pass->found_capacity,
			 WTI_NO_CEILING);

	if (r) {
		run->failed = r;
		return;
	}
	pass->founds[pass->found_count++] = *found;
	outcome_of(run, found->op)->found = (uint32_t)pass->found_count;
}

static void compare_recorded(struct run *run, uint32_t op,
			     const struct wti_replay_pass_content *content)
{
	struct wti_replay_outcome *outcome = outcome_of(run, op);
	struct wti_replay_pass_found found = {.op = op, .object = content->object, .argument = -1};
	enum wti_replay_recorded recorded =
		wti_replay_pass_compare(run->session, op, content, &found.type, &found.difference);

	if (recorded == WTI_RECORDED_NOTHING) {
		run->pass->uncompared_count++;
		return;
	}
	run->pass->compared_count++;
	run->pass->compared_bytes += content->bytes;
	if (recorded > outcome->recorded)
		outcome->recorded = recorded;
	if (recorded == WTI_RECORDED_DIFFERS && !outcome->found)
		add_found(run, &found);
}

/* What went to the host, if the recording has it. */
static void compare_host(struct run *run, uint32_t op)
{
	const struct wti_replay_session_command *command = &run->commands[op];
	const struct wti_replay_plan_access *access =
		wti_replay_plan_access(run->plan, &run->plan->ops[op], WT_ACCESS_MODE_WRITE, true);

	if (access && access->hash && command->host && command->host_bytes == access->bytes)
		compare_recorded(run, op,
				 &(struct wti_replay_pass_content){.object = WTI_PLAN_NONE,
								   .data = command->host,
								   .bytes = access->bytes,
								   .hash = access->hash});
}

/* Contents that the recorder read when the host had waited. */
static void compare_states(struct run *run, uint32_t op)
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];

	for (uint32_t i = 0; i < about->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&run->plan->accesses[about->access_first + i];
		uint64_t bytes;
		uint8_t *data;

		if (!wti_replay_plan_reads(run->plan, access) || !access->hash || access->offset)
			continue;
		bytes = wti_replay_session_bytes(run->session, access->object);
		data = bytes && bytes == access->bytes ? malloc(bytes) : NULL;
		if (data && !wti_replay_session_get(run->session, access->object, data))
			compare_recorded(run, op,
					 &(struct wti_replay_pass_content){.object = access->object,
									   .data = data,
									   .bytes = bytes,
									   .hash = access->hash});
		free(data);
	}
}

static void restore_states(struct run *run, uint32_t op)
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];

	for (uint32_t i = 0; i < about->access_count; i++) {
		const struct wti_replay_plan_access *access =
			&run->plan->accesses[about->access_first + i];
		const char *why;

		if (!wti_replay_plan_reads(run->plan, access) || !access->hash || access->offset)
			continue;
		why = wti_replay_pass_restore(run->session, access);
		if (why)
			is_missing(run, op, why);
		run->pass->contents[access->object] = access->hash;
	}
}

/* ---- One at a time --------------------------------------------------------------------------- */

static size_t list_written(const struct run *run, uint32_t op, struct written list[WRITTEN_MAX])
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];
	size_t count = 0;

	for (uint32_t i = 0; i < about->access_count && count < WRITTEN_MAX; i++) {
		const struct wti_replay_plan_access *access =
			&run->plan->accesses[about->access_first + i];
		bool is_new = wti_replay_plan_writes(run->plan, access);
		void *handle;

		for (size_t k = 0; is_new && k < count; k++)
			is_new = list[k].object != access->object;
		/* Made now: its first content is what a repetition begins with. */
		if (is_new && !wti_replay_session_object(run->session, access->object, &handle) &&
		    wti_replay_session_bytes(run->session, access->object))
			list[count++] = (struct written){
				.object = access->object,
				.argument = access->argument,
				.bytes = wti_replay_session_bytes(run->session, access->object)};
	}
	return count;
}

static const char *get_all(struct run *run, struct written *list, size_t count, size_t member)
{
	const char *why = NULL;

	for (size_t i = 0; !why && i < count; i++) {
		uint8_t **room = (uint8_t **)((char *)&list[i] + member);

		if (!*room)
			*room = malloc(list[i].bytes);
		why = *room ? wti_replay_session_get(run->session, list[i].object, *room)
			    : "there is not enough memory for its results";
	}
	return why;
}
#define GET_ALL(run, list, count, which) get_all(run, list, count, offsetof(struct written, which))

static const char *execute(struct run *run, uint32_t op)
{
	struct wti_replay_session_command *command = &run->commands[op];
	const char *why;

	wti_replay_session_done(run->session, command);
	why = wti_replay_session_enqueue(run->session, op, 0, NULL, command);
	return why ? why : wti_replay_session_wait(run->session, command);
}

/* True: it differs, and where is kept. */
static bool compare_again(struct run *run, uint32_t op, const struct written *written)
{
	struct wti_replay_pass_found found = {
		.op = op, .object = written->object, .argument = written->argument};

	if (!memcmp(written->after, written->again, written->bytes))
		return false;
	found.type = wti_replay_pass_type(run->session, op, written->object);
	wti_replay_difference(written->after, written->again, written->bytes,
			      wti_replay_element_of(found.type), &found.difference);
	if (!outcome_of(run, op)->found)
		add_found(run, &found);
	return true;
}

/*
 * A few repetitions of a kernel that is not deterministic may agree by chance. Atomic operations
 * are what most of these kernels have, so where there are any, more of them are worth their time.
 */
static uint32_t repeats_of(const struct run *run, uint32_t op)
{
	return run->how->repeats < REPEATS_OF_ATOMICS &&
			       wti_replay_session_has_atomics(run->session, op)
		       ? REPEATS_OF_ATOMICS
		       : run->how->repeats;
}

/* The same kernel from the same contents: if that does not give the same, it is the kernel. */
static const char *repeat(struct run *run, uint32_t op, struct written *list, size_t count)
{
	struct wti_replay_outcome *outcome = outcome_of(run, op);
	uint32_t repeats = repeats_of(run, op);
	const char *why = NULL;

	outcome->distinct = 1;
	for (uint32_t i = 1; !why && i < repeats && outcome->distinct == 1; i++) {
		for (size_t k = 0; !why && k < count; k++)
			why = wti_replay_session_put(run->session, list[k].object, list[k].before);
		why = why ? why : execute(run, op);
		why = why ? why : GET_ALL(run, list, count, again);
		for (size_t k = 0; !why && k < count; k++)
			if (compare_again(run, op, &list[k]))
				outcome->distinct = 2;
	}
	for (size_t k = 0; !why && outcome->distinct > 1 && k < count; k++)
		why = wti_replay_session_put(run->session, list[k].object, list[k].after);
	return why;
}

static void execute_one(struct run *run, uint32_t op)
{
	struct written list[WRITTEN_MAX];
	size_t count = list_written(run, op, list);
	bool repeats = run->plan->ops[op].call == WTI_CALL_KERNEL && run->how->repeats > 1 &&
		       !is_before(run, op);
	const char *why = repeats ? GET_ALL(run, list, count, before) : NULL;
	struct wti_replay_outcome *outcome = outcome_of(run, op);

	outcome->in = hash_of(run, op, false);
	why = why ? why : execute(run, op);
	why = why ? why : GET_ALL(run, list, count, after);
	for (size_t i = 0; !why && i < count; i++)
		run->pass->contents[list[i].object] = XXH3_64bits(list[i].after, list[i].bytes);
	if (!why && repeats)
		why = repeat(run, op, list, count);
	outcome->out = hash_of(run, op, true);
	outcome->state = WTI_OUTCOME_EXECUTED;
	if (why)
		is_missing(run, op, why);
	else
		compare_host(run, op);
	wti_replay_session_done(run->session, &run->commands[op]);
	for (size_t i = 0; i < count; i++) {
		free(list[i].before);
		free(list[i].after);
		free(list[i].again);
	}
}

/* Whatever nothing will touch any more gives its memory back. */
static void release_unused(struct run *run, uint32_t op)
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];

	for (uint32_t i = 0; i < about->access_count; i++) {
		uint32_t object = run->plan->accesses[about->access_first + i].object;

		if (object != WTI_PLAN_NONE && run->uses[object] && !--run->uses[object] &&
		    run->plan->objects[object].type == WT_DEVICE_OBJECT_TYPE_BUFFER)
			wti_replay_session_release(run->session, object);
	}
}

static void one_at_a_time(struct run *run)
{
	for (size_t i = 0; i < run->how->count && !run->failed; i++) {
		uint32_t op = run->how->order[i];
		uint32_t call = run->plan->ops[op].call;

		if (is_selected(run, op) && call == WTI_CALL_SYNC && is_before(run, op))
			restore_states(run, op);
		else if (is_selected(run, op) && call == WTI_CALL_SYNC)
			compare_states(run, op);
		else if (is_selected(run, op) && call != WTI_CALL_USER_SET)
			execute_one(run, op);
		if (is_selected(run, op) && !run->how->is_keeping)
			release_unused(run, op);
		if (run->how->progress)
			run->how->progress(run->how->cookie,
					   (double)(i + 1) / (double)run->how->count);
	}
}

/* ---- All at once ----------------------------------------------------------------------------- */

/* Pauses until it would have been time, at most a second: a program may have waited for a person.
 */
static void keep_pace(struct run *run, uint32_t op)
{
	int64_t since = run->plan->ops[op].start_ns, wait;

	if (run->how->speed <= 0 || !since)
		return;
	if (!run->first_ns)
		run->first_ns = since;
	wait = (int64_t)((double)(since - run->first_ns) / run->how->speed) -
	       (now_ns() - run->begin_ns);
	if (wait > PAUSE_NS_MAX) {
		run->begin_ns -= wait - PAUSE_NS_MAX;
		wait = PAUSE_NS_MAX;
	}
	if (wait > 0)
		nanosleep(&(struct timespec){wait / 1000000000, wait % 1000000000}, NULL);
}

/* It has ended: what it has is compared, and given back. */
static void finish_one(struct run *run, uint32_t op)
{
	struct wti_replay_session_command *command = &run->commands[op];
	const char *why;

	if (!command->event)
		return;
	why = wti_replay_session_wait(run->session, command);
	if (why)
		is_missing(run, op, why);
	else
		compare_host(run, op);
	run->host_bytes -= command->host_bytes;
	wti_replay_session_done(run->session, command);
}

static void finish_all(struct run *run)
{
	for (uint32_t i = 0; i < run->plan->op_count; i++)
		finish_one(run, i);
}

/* Those of its wait list that are still on their way. */
static void enqueue_one(struct run *run, uint32_t op, cl_event *room)
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];
	cl_uint count = 0;
	const char *why;

	for (uint32_t i = 0; i < about->wait_count; i++) {
		cl_event event = run->commands[run->plan->waits[about->wait_first + i]].event;

		if (event)
			room[count++] = event;
	}
	keep_pace(run, op);
	why = wti_replay_session_enqueue(run->session, op, count, room, &run->commands[op]);
	if (why) {
		is_missing(run, op, why);
		return;
	}
	outcome_of(run, op)->state = WTI_OUTCOME_EXECUTED;
	run->host_bytes += run->commands[op].host_bytes;
	if (run->host_bytes > run->session->how.memory_bytes)
		finish_all(run);
}

static void wait_as_host(struct run *run, uint32_t op)
{
	const struct wti_replay_plan_op *about = &run->plan->ops[op];

	for (uint32_t i = 0; i < about->before_count; i++)
		finish_one(run, run->plan->befores[about->before_first + i]);
}

/* A queue that is never flushed may never begin. */
static void flush_queues(struct run *run)
{
	for (size_t i = 0; i < run->plan->object_count; i++)
		if (run->plan->objects[i].type == WT_DEVICE_OBJECT_TYPE_QUEUE &&
		    run->session->objects[i].handle)
			run->session->cl.clFlush(run->session->objects[i].handle);
}

static void all_at_once(struct run *run)
{
	uint32_t most = 0;
	cl_event *room;

	for (size_t i = 0; i < run->plan->op_count; i++)
		most = run->plan->ops[i].wait_count > most ? run->plan->ops[i].wait_count : most;
	room = malloc((most + 1) * sizeof(*room));
	if (!room) {
		run->failed = WT_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < run->how->count; i++) {
		uint32_t op = run->how->order[i], call = run->plan->ops[op].call;

		if (!is_selected(run, op) || call == WTI_CALL_USER_SET)
			continue;
		if (call == WTI_CALL_SYNC) {
			flush_queues(run);
			wait_as_host(run, op);
			if (is_before(run, op))
				restore_states(run, op);
		} else {
			enqueue_one(run, op, room);
		}
	}
	flush_queues(run);
	finish_all(run);
	free(room);
}

/* ---- The whole of it ------------------------------------------------------------------------- */

static void count_uses(struct run *run)
{
	for (size_t i = 0; i < run->how->count; i++) {
		const struct wti_replay_plan_op *op = &run->plan->ops[run->how->order[i]];

		for (uint32_t k = 0; is_selected(run, run->how->order[i]) && k < op->access_count;
		     k++) {
			uint32_t object = run->plan->accesses[op->access_first + k].object;

			if (object != WTI_PLAN_NONE)
				run->uses[object]++;
		}
	}
	/* A sub-buffer is made from its buffer at any time. */
	for (size_t i = 0; i < run->plan->object_count; i++) {
		const struct wti_replay_plan_object *object = &run->plan->objects[i];

		if (object->parent != WTI_PLAN_NONE && wti_replay_plan_is_memory(object))
			run->uses[object->parent]++;
	}
}

/* What is left in memory when all is done. */
static void hash_contents(struct run *run)
{
	for (uint32_t i = 0; i < run->plan->object_count; i++) {
		uint64_t bytes =
			run->session->objects[i].handle && !run->session->objects[i].why &&
					wti_replay_plan_is_memory(&run->plan->objects[i]) &&
					run->plan->objects[i].type !=
						WT_DEVICE_OBJECT_TYPE_SUB_BUFFER
				? wti_replay_session_bytes(run->session, i)
				: 0;
		uint8_t *data = bytes ? malloc(bytes) : NULL;

		if (data && !wti_replay_session_get(run->session, i, data))
			run->pass->contents[i] = XXH3_64bits(data, bytes);
		free(data);
	}
}

int wti_replay_pass_run(struct wti_replay_session *session, const struct wti_replay_pass_how *how,
			struct wti_replay_pass *ret_pass, struct wt_err *err)
{
	const struct wti_replay_plan *plan = session->plan;
	struct wti_replay_pass pass = {
		.outcomes = calloc(plan->op_count + 1, sizeof(*pass.outcomes)),
		.contents = calloc(plan->object_count + 1, sizeof(*pass.contents)),
	};
	struct run run = {.session = session,
			  .plan = plan,
			  .how = how,
			  .pass = &pass,
			  .commands = calloc(plan->op_count + 1, sizeof(*run.commands)),
			  .uses = calloc(plan->object_count + 1, sizeof(*run.uses)),
			  .begin_ns = now_ns()};

	wti_replay_session_reset(session);
	if (!pass.outcomes || !pass.contents || !run.commands || !run.uses) {
		run.failed = WT_E_NOMEM;
	} else {
		count_uses(&run);
		if (how->is_at_once)
			all_at_once(&run);
		else
			one_at_a_time(&run);
		pass.duration_ns = now_ns() - run.begin_ns;
		hash_contents(&run);
	}
	for (size_t i = 0; pass.outcomes && i < plan->op_count; i++)
		pass.executed_count += pass.outcomes[i].state == WTI_OUTCOME_EXECUTED;
	free(run.commands);
	free(run.uses);
	if (run.failed) {
		wti_replay_pass_release(&pass);
		return wti_err(err, run.failed, "out of memory for a replay");
	}
	*ret_pass = pass;
	return 0;
}

void wti_replay_pass_release(struct wti_replay_pass *pass)
{
	free(pass->outcomes);
	free(pass->contents);
	free(pass->founds);
	*pass = (struct wti_replay_pass){0};
}
