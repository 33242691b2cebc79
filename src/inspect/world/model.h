/* SPDX-License-Identifier: Apache-2.0 */
/* How the model is filled while a run goes by: between effects.c, actors.c, effect_*.c and model.c.
 */
#ifndef WTI_EFFECTS_MODEL_H
#define WTI_EFFECTS_MODEL_H

#include "effects.h"
#include "inspect/core/inside.h"
#include "inspect/core/steps.h"
#include "syscall/handles.h"

struct wti_effect_row;

/* A look-up of a name that was not there, and the one before it of the same search. */
struct wti_lookup {
	uint32_t thing;
	uint32_t before; /* index plus one */
};

/* Where we are: the process and the call that an event belongs to. */
struct wti_effects_state {
	struct wti_effects *fx;
	struct wti_names names;
	struct wti_handles handles;
	struct wti_map raw_names;  /* raw path and process class: thing plus one */
	struct wti_map actor_of;   /* track: actor plus one */
	struct wti_map process_of; /* pid: actor plus one */
	struct wti_map tid_of;     /* tid: actor plus one */
	uint64_t *touched;         /* tallies of this step */
	size_t touched_count, touched_capacity;
	struct wti_leader leader; /* whose steps count */
	int64_t step;
	char stage[WTI_STAGE_BYTES]; /* "": none yet */
	int64_t step_began_ns;
	int64_t first_ns, last_ns;
	uint32_t actor; /* of the call */
	uint32_t process;
	uint32_t pid, tid;
	uint32_t stack;
	struct wti_inside calls;
	bool has_call_stream;
	struct wti_lookup *lookups; /* failed ones of searches that go on (searches.c) */
	size_t lookup_count, lookup_capacity;
	uint32_t free_lookup; /* index plus one */
	struct wti_buf text;  /* for names */
	struct wti_effects_options options;
	const struct wti_effect_row *const *rows[2]; /* by architecture and number of the call */
	uint32_t *successes[2];                      /* its effect, if it succeeds; 0: not yet */
};

/* ---- Storage (model.c) ----------------------------------------------------------------------- */

/* What stands in `text`; that memory ran out for it is remembered. */
const char *wti_world_text(struct wti_effects *fx, struct wti_buf *text);
void wti_world_init(struct wti_effects *fx);
/* Index of the thing of that name; made if absent. UINT32_MAX: beyond the ceiling. */
uint32_t wti_world_thing(struct wti_effects *fx, enum wti_thing_type type, const char *name,
			 const char *raw);
/* Index of a system call's name, as an effect. */
uint32_t wti_world_call(struct wti_effects *fx, const char *name);
void wti_world_add(struct wti_effects_state *s, uint32_t thing, uint32_t effect, uint64_t amount);
/* A call about that thing, for the stage that the program is in. */
void wti_world_stage(struct wti_effects_state *s, uint32_t thing, uint32_t effect);
/* What was done to `from` was done to `to`, as that is what it is called now. */
void wti_world_move(struct wti_effects_state *s, uint32_t from, uint32_t to);
/* The step is over (or the run): its counts go into the tallies. */
void wti_world_end_step(struct wti_effects_state *s, bool is_whole);
void wti_world_act(struct wti_effects_state *s, uint32_t thing, uint32_t effect);
void wti_world_value(struct wti_effects *fx, const char *name, double value, bool is_counter);
/* Each thing becomes the one whose index stands in its place. False: out of memory. */
bool wti_world_join(struct wti_effects *fx, uint32_t *into);
/* Files that were temporary, whatever they were called, are called <temp> (temporary.c). */
void wti_world_temporary(struct wti_effects_state *s);
/* Many files of a folder that are alike become one thing (crowds.c). */
void wti_world_crowds(struct wti_effects_state *s);
/* Steps at which nothing happened count too. */
void wti_world_finish(struct wti_effects *fx);

/* ---- Who (actors.c) -------------------------------------------------------------------------- */

int wti_actors_task(struct wti_effects_state *s, const struct wt_event *event, struct wt_err *err);
/* True if the event ends a process; its descriptors are still there. */
bool wti_actors_end(struct wti_effects_state *s, const struct wt_event *event);
/* The process has waited for one of its children. */
void wti_actors_waited(struct wti_effects_state *s);
bool wti_actors_find(struct wti_effects_state *s, const struct wt_event *event);
void wti_actors_finish(struct wti_effects_state *s);

/* ---- What (effect_calls.c, effect_files.c) --------------------------------------------------- */

uint32_t wti_thing_of_path(struct wti_effects_state *s, const char *path);
uint32_t wti_thing_of_program(struct wti_effects_state *s, struct wt_text path, int32_t dirfd);
/* UINT32_MAX if the descriptor is not open. */
uint32_t wti_thing_of_fd(struct wti_effects_state *s, int32_t fd);
/* Follows renames. */
uint32_t wti_thing_now(const struct wti_effects *fx, uint32_t thing);
void wti_effect_of_call(struct wti_effects_state *s, const struct wti_syscall *call);
/* After the handles know it: what an open has opened. */
void wti_effect_after_call(struct wti_effects_state *s, const struct wti_syscall *call);
/* Of an event of kind descriptor, once the handles know it. */
void wti_effect_open_before(struct wti_effects_state *s, const struct wt_event *event);
void wti_effect_left_open(struct wti_effects_state *s, uint32_t pid);

/* ---- Looking for programs (searches.c) ------------------------------------------------------- */

/* The process asked for the thing by its path. */
void wti_searches_look(struct wti_effects_state *s, uint32_t thing, bool is_there);
/* Things that were only looked at in searches for programs are none of the program's. */
void wti_searches_drop(struct wti_effects *fx);

#endif
