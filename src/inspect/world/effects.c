/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `effects`: a run's events into the model of what it did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "effect_row.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/steps.h"

#define RAW_NAMES_MAX (1u << 18)
#define TRACKS_MAX (1u << 20)
#define NAME_MAX_BYTES 8192u

/* ---- Which call has a row -------------------------------------------------------------------- */

static const struct wti_effect_row *row_of(const char *name)
{
	for (size_t i = 0; i < wti_effect_file_row_count; i++)
		if (!strcmp(wti_effect_file_rows[i].call, name))
			return &wti_effect_file_rows[i];
	for (size_t i = 0; i < wti_effect_other_row_count; i++)
		if (!strcmp(wti_effect_other_rows[i].call, name))
			return &wti_effect_other_rows[i];
	return NULL;
}

struct state {
	struct wti_effects_state s;
	const struct wti_effect_row *rows[2][WTI_CALLS_MAX];
	uint32_t successes[2][WTI_CALLS_MAX];
	struct wti_effects fx;
	bool is_ready;
};

const struct wti_effect_row *wti_effect_row(const struct wti_effects_state *s,
					    const struct wti_syscall *call)
{
	if ((call->arch != WTI_ARCH_X86_64 && call->arch != WTI_ARCH_AARCH64) ||
	    call->nr >= WTI_CALLS_MAX)
		return NULL;
	return s->rows[call->arch - 1][call->nr];
}

static void find_rows(struct state *state)
{
	static const enum wti_arch archs[] = {WTI_ARCH_X86_64, WTI_ARCH_AARCH64};

	for (size_t i = 0; i < 2; i++)
		for (uint32_t nr = 0; nr < WTI_CALLS_MAX; nr++) {
			const char *name = wti_call_name(archs[i], nr);

			state->rows[i][nr] = name ? row_of(name) : NULL;
			state->s.rows[i] = state->rows[i];
			state->s.successes[i] = state->successes[i];
		}
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *state = opaque;
	struct wti_effects_state *s = &state->s;
	int r;

	(void)trace;
	if (!options)
		return wti_err(err, WT_E_ARG, "effects needs a place for what it learns");
	s->options = *(const struct wti_effects_options *)options;
	s->fx = &state->fx;
	wti_world_init(s->fx);
	s->fx->arch = "";
	wti_map_init(&s->raw_names, RAW_NAMES_MAX);
	wti_map_init(&s->actor_of, TRACKS_MAX);
	wti_map_init(&s->process_of, TRACKS_MAX);
	wti_map_init(&s->tid_of, TRACKS_MAX);
	wti_buf_init(&s->text, NAME_MAX_BYTES);
	wti_inside_init(&s->calls);
	s->first_ns = INT64_MAX;
	find_rows(state);
	r = wti_names_init(&s->names, s->options.roots, s->options.root_count, err);
	r = r ? r : wti_handles_init(&s->handles, s->names.cwd, err);
	state->is_ready = !r;
	return r;
}

static bool is(struct wt_text text, const char *word)
{
	return text.bytes == strlen(word) && !memcmp(text.data, word, text.bytes);
}

static void keep_time(struct wti_effects *fx, int64_t ns)
{
	if (fx->step_time_count >= WTI_STEP_TIMES_MAX)
		return;
	if (wti_grow(&fx->step_ns, fx->step_time_count + 1, &fx->step_time_capacity,
		     WTI_STEP_TIMES_MAX)) {
		fx->failed = WT_E_NOMEM;
		return;
	}
	fx->step_ns[fx->step_time_count++] = ns;
}

/* Of more steps than are kept the numbers go on by one. */
static void keep_number(struct wti_effects *fx, int64_t number)
{
	if (fx->step_count > WTI_STEP_TIMES_MAX)
		return;
	if (wti_grow(&fx->step_numbers, fx->step_count, &fx->step_number_capacity,
		     WTI_STEP_TIMES_MAX)) {
		fx->failed = WT_E_NOMEM;
		return;
	}
	fx->step_numbers[fx->step_count - 1] = number;
	fx->step_number_count = fx->step_count;
}

static void take_stage(struct wti_effects_state *s, struct wt_text stage)
{
	snprintf(s->stage, sizeof(s->stage), "%.*s",
		 (int)(stage.bytes < sizeof(s->stage) ? stage.bytes : sizeof(s->stage) - 1),
		 stage.data);
}

/* All that was done came before the first step: as by a launcher whose first rank steps now. */
static void forget_steps(struct wti_effects_state *s)
{
	s->fx->step_count = s->fx->step_number_count = 0;
	wti_world_end_step(s, false);
	for (size_t i = 0; i < s->fx->actor_count; i++)
		for (size_t j = s->fx->actors[i].act_count; j && s->fx->actors[i].acts[j - 1].step;
		     j--)
			s->fx->actors[i].acts[j - 1].step = 0;
}

static void take_steps(struct wti_effects_state *s, const struct wt_event *event)
{
	unsigned change = wti_leader_event(&s->leader, event);

	if (change & WTI_STEP_FORGET)
		forget_steps(s);
	if (!(change & WTI_STEP_BEGINS))
		return;
	wti_world_end_step(s, true);
	if (change & WTI_STEP_ENDS) {
		keep_time(s->fx, event->time_ns - s->step_began_ns);
		s->fx->whole_count++;
	}
	s->fx->step_count++;
	s->step = s->leader.step;
	keep_number(s->fx, s->step);
	s->step_began_ns = event->time_ns;
}

/* The steps and stages of the leading track are those of all: ranks go in step with it. */
static int take_context(struct wti_effects_state *s, const struct wt_event *event,
			struct wt_err *err)
{
	(void)err;
	take_steps(s, event);
	if (wti_context_key(event) == WTI_CONTEXT_STAGE && wti_may_lead(&s->leader, event))
		take_stage(s, wt_event_text(event, WT_CONTEXT_FIELD_TEXT));
	return 0;
}

/* What follows the last step of which an agent saw the end is none. */
static void end_steps(struct wti_effects_state *s)
{
	if (!wti_leader_steps(&s->leader))
		forget_steps(s);
	wti_world_end_step(s, false);
	s->fx->step_count = wti_leader_steps(&s->leader);
	s->fx->has_start = s->leader.had_start;
}

static const char *arch_word(uint32_t arch)
{
	return arch == WTI_ARCH_X86_64 ? "x86_64" : arch == WTI_ARCH_AARCH64 ? "aarch64" : "other";
}

/* The line of the call that an agent emitted, as what is native below is the interpreter; else the
 * stack, which stands for all that lead to the same line. */
static uint32_t place_of(struct wti_effects_state *s, const struct wt_event *event, uint32_t stack)
{
	const struct wti_effects_options *o = &s->options;
	struct wti_inside_site inside = wti_inside_of(&s->calls, s->tid);
	uint32_t place;

	if (inside.site && (!s->has_call_stream || inside.stream == s->fx->call_stream)) {
		s->has_call_stream = true;
		s->fx->call_stream = inside.stream;
		return inside.site | WTI_STACK_IS_SITE;
	}
	place = stack && o->place ? o->place(o->opaque, event->reader, stack) : 0;
	return place ? place : stack;
}

/* Functions through which Python reaches the kernel: what they do is seen in system calls. */
static bool is_way_to_system(struct wt_text module)
{
	static const char *const ways[] = {"_io",
					   "posix",
					   "_socket",
					   "_ssl",
					   "_posixsubprocess",
					   "select",
					   "fcntl",
					   "mmap",
					   "time",
					   "_signal",
					   "_thread",
					   "_posixshmem",
					   "resource",
					   "termios",
					   "_ctypes",
					   "_multiprocessing",
					   "_dbm",
					   "_gdbm",
					   "_sqlite3",
					   "io"};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (is(module, ways[i]))
			return true;
	return false;
}

static int take_call(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wti_syscall call;
	int r;

	wti_syscall_read(event, &call);
	if (!wti_actors_find(s, event))
		return 0;
	s->fx->stream = event->stream;
	s->stack = place_of(s, event, call.stack);
	s->fx->has_stacks |= call.stack != 0;
	if (!*s->fx->arch)
		s->fx->arch = arch_word(call.arch);
	if (call.flags & WT_SYSCALL_OWN) {
		s->fx->own_count++;
	} else {
		s->fx->unread_count += (call.flags & WT_SYSCALL_UNREAD) != 0;
		wti_unseen_call(&s->fx->unseen, &call, &s->tid_of);
		wti_effect_of_call(s, &call);
		s->fx->syscall_count++;
	}
	r = wti_handles_call(&s->handles, s->pid, s->tid, &call, err);
	if (!r && !(call.flags & WT_SYSCALL_OWN))
		wti_effect_after_call(s, &call);
	return r;
}

static void take_function(struct wti_effects_state *s, const struct wt_event *event)
{
	struct wt_text name = wt_event_text(event, WT_CALL_BEGIN_FIELD_CALLEE);

	if (is_way_to_system(wt_event_text(event, WT_CALL_BEGIN_FIELD_MODULE)))
		return;
	wti_buf_clear(&s->text);
	wti_buf_append(&s->text, name.data, name.bytes);
	s->process = 0;
	s->stack = 0;
	wti_world_add(s,
		      wti_world_thing(s->fx, WTI_THING_FUNCTION, wti_world_text(s->fx, &s->text),
				      wti_world_text(s->fx, &s->text)),
		      WTI_EFFECT_CALLED, 1);
}

static int take_counter(struct wti_effects_state *s, const struct wt_event *event,
			struct wt_err *err)
{
	struct wt_text name = wt_event_text(event, WT_COUNTER_FIELD_NAME);

	(void)err;
	wti_buf_clear(&s->text);
	wti_buf_append(&s->text, name.data, name.bytes);
	wti_world_value(s->fx, wti_world_text(s->fx, &s->text),
			wt_event_f64(event, WT_COUNTER_FIELD_VALUE), true);
	return 0;
}

static int take_state(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	struct wt_text owner = wt_event_text(event, WT_STATE_FIELD_OWNER);
	struct wt_text name = wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE);
	uint64_t type = wt_event_u64(event, WT_STATE_FIELD_TYPE);

	(void)err;
	if (type != WT_VALUE_TYPE_INT && type != WT_VALUE_TYPE_FLOAT && type != WT_VALUE_TYPE_BOOL)
		return 0;
	wti_buf_clear(&s->text);
	wti_buf_printf(&s->text, "%.*s.%.*s", (int)owner.bytes, owner.data, (int)name.bytes,
		       name.data);
	wti_world_value(s->fx, wti_world_text(s->fx, &s->text),
			type == WT_VALUE_TYPE_FLOAT
				? wt_event_f64(event, WT_STATE_FIELD_NEW)
				: (double)wt_event_i64(event, WT_STATE_FIELD_NEW),
			false);
	return 0;
}

static int take_end(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	/* Who is killed had no time to close anything. */
	if (wti_actors_end(s, event) && wt_event_i64(event, WT_TASK_END_FIELD_STATUS) >= 0)
		wti_effect_left_open(s, s->pid);
	return wti_handles_event(&s->handles, event, err);
}

static int take_birth(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	int r = wti_actors_task(s, event, err);

	s->fx->has_tasks = true;
	s->fx->stream = event->stream;
	return r ? r : wti_handles_event(&s->handles, event, err);
}

static int take_call_begin(struct wti_effects_state *s, const struct wt_event *event,
			   struct wt_err *err)
{
	(void)err;
	take_steps(s, event);
	take_function(s, event);
	wti_inside_event(&s->calls, event);
	return 0;
}

static int take_call_end(struct wti_effects_state *s, const struct wt_event *event,
			 struct wt_err *err)
{
	(void)err;
	wti_inside_event(&s->calls, event);
	return 0;
}

static int take_rank(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	(void)err;
	take_steps(s, event);
	return 0;
}

static int take_lost(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err)
{
	(void)err;
	s->fx->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
	return 0;
}

/* Opened before the recording: by --attach they are known. */
static int take_descriptor(struct wti_effects_state *s, const struct wt_event *event,
			   struct wt_err *err)
{
	int r = wti_handles_event(&s->handles, event, err);

	if (!r)
		wti_effect_open_before(s, event);
	return r;
}

/* What is taken of a trace: the kinds that are asked for, and who takes each. */
#define KINDS(X)                                                                                   \
	X(context, CONTEXT, take_context)                                                          \
	X(task, TASK, take_birth)                                                                  \
	X(task_end, TASK_END, take_end)                                                            \
	X(syscall, SYSCALL, take_call)                                                             \
	X(call_begin, CALL_BEGIN, take_call_begin)                                                 \
	X(call_end, CALL_END, take_call_end)                                                       \
	X(counter, COUNTER, take_counter)                                                          \
	X(state, STATE, take_state)                                                                \
	X(lost, LOST, take_lost)                                                                   \
	X(descriptor, DESCRIPTOR, take_descriptor)                                                 \
	X(rank, RANK, take_rank)

static void ask(struct wt_query *query, const void *options)
{
#define NAME(name, number, taker) #name,
	static const char *const kinds[] = {KINDS(NAME)};
#undef NAME

	(void)options;
	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(*kinds);
}

static int take(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *state = opaque;
	struct wti_effects_state *s = &state->s;

	if (event->time_ns < s->first_ns)
		s->first_ns = event->time_ns;
	s->last_ns = event->time_ns;
	switch (event->kind->number) {
#define TAKE(name, number, taker)                                                                  \
	case WT_KIND_##number:                                                                     \
		return taker(s, event, err);
		KINDS(TAKE)
#undef TAKE
	default:
		return 0;
	}
}

/* Of processes whose end was not seen. */
static void end_others(struct wti_effects_state *s)
{
	for (size_t i = 0; i < s->fx->actor_count; i++) {
		const struct wti_actor *actor = &s->fx->actors[i];

		if (actor->process || actor->ended)
			continue;
		s->process = (uint32_t)i + 1;
		s->pid = actor->pid;
		wti_effect_left_open(s, actor->pid);
	}
}

/* What was left out for a ceiling is counted and said; for want of memory there is no answer. */
static bool ran_out(const struct wti_effects_state *s)
{
	const struct wti_effects *fx = s->fx;
	const struct wti_map *maps[] = {&fx->thing_index, &fx->tally_index, &fx->calls,
					&fx->staged,      &fx->value_index, &s->raw_names,
					&s->actor_of,     &s->process_of,   &s->tid_of,
					&s->calls.of_tid, &s->names.pids,   &s->names.temps};
	bool failed = fx->failed || fx->arena.status == WT_E_NOMEM || s->handles.failed;

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		failed |= maps[i]->failed;
	return failed;
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *state = opaque;
	struct wti_effects_state *s = &state->s;

	(void)result;
	end_others(s);
	wti_unseen_finish(s->fx);
	wti_actors_finish(s);
	end_steps(s);
	wti_searches_drop(s->fx);
	wti_world_temporary(s);
	wti_world_crowds(s);
	wti_world_finish(s->fx);
	s->fx->duration_ns = s->last_ns > s->first_ns ? s->last_ns - s->first_ns : 0;
	if (ran_out(s))
		return wti_err(err, WT_E_NOMEM, "out of memory for what the run did");
	*s->options.ret_effects = state->fx;
	state->fx = (struct wti_effects){0};
	return 0;
}

static void release(void *opaque)
{
	struct state *state = opaque;
	struct wti_effects_state *s = &state->s;

	wti_effects_release(&state->fx);
	wti_names_release(&s->names);
	if (state->is_ready)
		wti_handles_release(&s->handles);
	wti_map_release(&s->raw_names);
	wti_map_release(&s->actor_of);
	wti_map_release(&s->process_of);
	wti_map_release(&s->tid_of);
	free(s->touched);
	free(s->lookups);
	wti_inside_release(&s->calls);
	wti_buf_release(&s->text);
}

const struct wt_inspector wti_inspector_effects = {
	.name = "effects",
	.summary = "what a run did to files, peers and processes",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = take,
	.finish = finish,
	.release = release,
};
