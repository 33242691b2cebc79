/* SPDX-License-Identifier: Apache-2.0 */
/* Knows who is who: processes and threads by their place in the spawn tree. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "model.h"

#define ACTORS_MAX (1u << 20)
#define PIPE_CALLS_MAX 6  /* between a pipe and who is started for it */
#define ROLE_DEPTH_MAX 16 /* programs on the way; what is deeper is named by the last of them */

static uint32_t new_actor(struct wti_effects *fx, uint32_t pid, uint32_t tid)
{
	int r = wti_grow(&fx->actors, fx->actor_count + 1, &fx->actor_capacity, ACTORS_MAX);

	if (r) {
		fx->failed = r == WT_E_LIMIT ? fx->failed : r;
		fx->left_out_count++;
		return 0;
	}
	fx->actors[fx->actor_count++] = (struct wti_actor){.pid = pid, .tid = tid};
	return (uint32_t)fx->actor_count;
}

static void name_command(struct wti_actor *actor, const struct wt_event *event)
{
	struct wt_text command = wt_event_text(event, WT_TASK_FIELD_COMMAND);
	size_t bytes = command.bytes < sizeof(actor->command) - 1 ? command.bytes
								  : sizeof(actor->command) - 1;

	memcpy(actor->command, command.data, bytes);
	actor->command[bytes] = 0;
}

/* A process, or a thread if `process` is not 0. */
static uint32_t birth(struct wti_effects_state *s, const struct wt_event *event, uint32_t pid,
		      uint32_t tid, uint32_t process)
{
	uint32_t parent =
		(uint32_t)wti_map_get(&s->tid_of, wt_event_u64(event, WT_TASK_FIELD_PARENT));
	uint32_t index = new_actor(s->fx, pid, tid);
	struct wti_actor *actor;

	if (!index)
		return 0;
	actor = &s->fx->actors[index - 1];
	if (process) {
		actor->process = process;
		actor->ordinal = ++s->fx->actors[process - 1].thread_count;
	} else {
		if (parent && s->fx->actors[parent - 1].process)
			parent = s->fx->actors[parent - 1].process;
		actor->parent = parent;
		actor->ordinal = parent ? ++s->fx->actors[parent - 1].child_count : 0;
		name_command(actor, event);
		wti_map_put(&s->process_of, pid, index);
	}
	wti_map_put(&s->tid_of, tid, index);
	return index;
}

/* Children that pipes connect are one step of a script; other children beside each other come and
 * go as it happens, and in no order. */
static void started(struct wti_effects_state *s, uint32_t child, uint32_t by_tid)
{
	uint32_t parent = s->fx->actors[child - 1].parent;
	struct wti_actor *actor = parent ? &s->fx->actors[parent - 1] : NULL;

	if (!actor)
		return;
	if (!actor->unwaited)
		actor->batch_count = actor->pipe_count = 0;
	actor->batch_count++;
	if (actor->pipe_call && actor->call_count - actor->pipe_call <= PIPE_CALLS_MAX)
		actor->pipe_count++;
	actor->pipe_call = 0;
	actor->unwaited++;
	actor->at_once = actor->at_once ? actor->at_once : 1;
	if (actor->batch_count > actor->pipe_count + 1) {
		actor->is_parallel = true;
		if (actor->unwaited > actor->at_once)
			actor->at_once = actor->unwaited;
	}
	s->fx->actors[child - 1].umask = actor->umask;
	s->actor = (uint32_t)wti_map_get(&s->tid_of, by_tid);
	s->stack = 0;
	wti_world_act(s, child - 1, WTI_EFFECT_STARTED); /* named in wti_actors_finish() */
}

void wti_actors_waited(struct wti_effects_state *s)
{
	struct wti_actor *actor = &s->fx->actors[s->process - 1];

	actor->unwaited -= actor->unwaited > 0;
}

int wti_actors_task(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	uint32_t tid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_TID);
	uint32_t pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	uint32_t how = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_HOW);
	uint32_t process = (uint32_t)wti_map_get(&s->process_of, pid), actor;

	wti_names_pid(&s->names, pid);
	wti_names_pid(&s->names, tid);
	if (how == WT_TASK_EXEC) {
		if (process)
			name_command(&s->fx->actors[process - 1], event);
		return 0;
	}
	actor = birth(s, event, pid, tid, how == WT_TASK_THREAD ? process : 0);
	if (actor)
		wti_map_put(&s->actor_of, event->track, actor);
	if (actor && !s->fx->actors[actor - 1].process)
		started(s, actor, (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PARENT));
	return actor ? 0 : wti_err(err, WT_E_LIMIT, "too many threads to follow");
}

bool wti_actors_find(struct wti_effects_state *s, const struct wt_event *event)
{
	const struct wti_actor *actor;

	s->actor = (uint32_t)wti_map_get(&s->actor_of, event->track);
	if (!s->actor)
		return false;
	actor = &s->fx->actors[s->actor - 1];
	s->process = actor->process ? actor->process : s->actor;
	s->pid = actor->pid;
	s->tid = actor->tid;
	return true;
}

bool wti_actors_end(struct wti_effects_state *s, const struct wt_event *event)
{
	if (!wti_actors_find(s, event) ||
	    !(wt_event_u64(event, WT_TASK_END_FIELD_FLAGS) & WT_TASK_END_LAST))
		return false;
	s->fx->actors[s->process - 1].ended = true;
	s->fx->actors[s->process - 1].status =
		(int32_t)wt_event_i64(event, WT_TASK_END_FIELD_STATUS);
	return true;
}

/* The process of an actor and those above it, as indexes plus one; returns how many. */
static uint32_t find_chain(const struct wti_effects *fx, size_t index,
			   uint32_t chain[ROLE_DEPTH_MAX])
{
	const struct wti_actor *actor = &fx->actors[index];
	uint32_t depth = 0, at = actor->process ? actor->process : (uint32_t)index + 1;

	for (; at && depth < ROLE_DEPTH_MAX; at = fx->actors[at - 1].parent)
		chain[depth++] = at;
	return depth;
}

void wti_effects_place(const struct wti_effects *fx, size_t index, struct wti_buf *out)
{
	const struct wti_actor *actor = &fx->actors[index];
	uint32_t chain[ROLE_DEPTH_MAX];
	uint32_t depth = find_chain(fx, index, chain);

	wti_buf_text(out, "0");
	while (depth-- > 1)
		wti_buf_printf(out, ".%u", fx->actors[chain[depth - 1] - 1].ordinal);
	if (actor->process)
		wti_buf_printf(out, ":%u", actor->ordinal);
}

void wti_effects_role(const struct wti_effects *fx, size_t index, struct wti_buf *out)
{
	uint32_t chain[ROLE_DEPTH_MAX];
	uint32_t depth = find_chain(fx, index, chain);

	while (depth--)
		wti_buf_printf(out, "%s%s", fx->actors[chain[depth] - 1].command,
			       depth ? " > " : "");
}

/* Who writes to a pipe that nobody reads is killed for it or not: it depends on who comes first. */
static void count_status(struct wti_effects_state *s, const struct wti_actor *actor, uint32_t thing)
{
	char word[32];

	if (!actor->ended || !actor->status || actor->status == -SIGPIPE)
		return;
	snprintf(word, sizeof(word), "%s %u", actor->status < 0 ? "signal" : "exit",
		 (uint32_t)wti_magnitude(actor->status));
	wti_world_add(s, thing, wti_world_call(s->fx, word), 1);
}

static void count_at_once(struct wti_effects_state *s, const struct wti_actor *actor,
			  uint32_t thing)
{
	const struct wti_tally *most = wti_effects_tally(s->fx, thing, WTI_EFFECT_AT_ONCE);
	uint64_t known = most ? most->total : 0;

	if (actor->at_once > known)
		wti_world_add(s, thing, WTI_EFFECT_AT_ONCE, actor->at_once - known);
}

static void count_process(struct wti_effects_state *s, size_t index)
{
	struct wti_actor *actor = &s->fx->actors[index];
	uint32_t threads = actor->thread_count, thing;

	wti_buf_clear(&s->text);
	wti_effects_role(s->fx, index, &s->text);
	thing = wti_world_thing(s->fx, WTI_THING_PROCESS, wti_world_text(s->fx, &s->text),
				wti_world_text(s->fx, &s->text));
	s->fx->actors[index].thing = thing + 1;
	s->process = actor->parent; /* who started it, and is to blame */
	s->stack = 0;
	wti_world_add(s, thing, WTI_EFFECT_STARTED, 1);
	wti_world_add(s, thing, WTI_EFFECT_THREADS, threads);
	if (thing == UINT32_MAX)
		return;
	count_status(s, actor, thing);
	count_at_once(s, actor, thing);
	if (s->fx->things[thing].permissions < actor->umask)
		s->fx->things[thing].permissions = actor->umask;
}

/* Children are named now. Those that come and go as it happens are in no order. */
static void name_started(struct wti_effects *fx, struct wti_actor *actor)
{
	const struct wti_actor *process = actor->process ? &fx->actors[actor->process - 1] : actor;
	size_t kept = 0;

	for (size_t i = 0; i < actor->act_count; i++) {
		struct wti_world_act act = actor->acts[i];

		if (act.effect == WTI_EFFECT_STARTED) {
			act.thing = fx->actors[act.thing].thing - 1;
			if (process->is_parallel || act.thing == UINT32_MAX)
				continue;
		}
		actor->acts[kept++] = act;
	}
	fx->act_count -= actor->act_count - kept;
	actor->act_count = kept;
}

/* Names are known at the end: a child becomes another program after it was born. */
void wti_actors_finish(struct wti_effects_state *s)
{
	for (size_t i = 0; i < s->fx->actor_count; i++)
		if (!s->fx->actors[i].process)
			count_process(s, i);
	for (size_t i = 0; i < s->fx->actor_count; i++)
		name_started(s->fx, &s->fx->actors[i]);
}
