/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run did to the world, and how often: the model on which diff, goldens and budgets stand.
 *
 * A run touches THINGS (files, libraries, peers, programs, processes ...), each under the name that
 * it has in every run (names.h) and with one raw name kept beside. For each thing there are
 * TALLIES: effects (made, replaced, removed, bytes written ...) and calls ("openat", "openat
 * ENOENT"), counted in all, before the first step and by step. And there is the order: for each
 * thread the ACTS in which it touched things, with the stacks that they came from.
 *
 * A file that is renamed takes along what was done to it: a checkpoint that is written to ckpt.tmp
 * and renamed is one thing, ckpt, `replaced` via ckpt.tmp.
 *
 * More than 64 files of a folder, with the same extension and the same done to them, are one thing,
 * with a star for their names.
 *
 * Everything has a ceiling; what was beyond is counted in left_out_count and reported.
 */
#ifndef WTI_EFFECTS_H
#define WTI_EFFECTS_H

#include <wheeltap/inspect.h>

#include "base/arena.h"
#include "inspect/core/quantiles.h"
#include "names.h"
#include "unseen.h"

enum wti_effect {
	WTI_EFFECT_MADE,     /* created, or emptied to be written anew */
	WTI_EFFECT_REPLACED, /* a file was renamed to this name */
	WTI_EFFECT_CHANGED,  /* written to where it stood */
	WTI_EFFECT_REMOVED,
	WTI_EFFECT_MOVED,       /* renamed away */
	WTI_EFFECT_LINKED,      /* got one more name */
	WTI_EFFECT_PERMISSIONS, /* mode or owner set */
	WTI_EFFECT_EXECUTED,
	WTI_EFFECT_CONNECTED,
	WTI_EFFECT_LISTENED,
	WTI_EFFECT_ACCEPTED,
	WTI_EFFECT_LOADED,  /* mapped as code */
	WTI_EFFECT_STARTED, /* processes */
	WTI_EFFECT_THREADS, /* threads started in such processes */
	WTI_EFFECT_SYNCED,
	WTI_EFFECT_UNSYNCED, /* replaced while what was written had not been synced */
	WTI_EFFECT_OPENED,
	WTI_EFFECT_LEFT_OPEN, /* descriptors that were never closed */
	WTI_EFFECT_WRITTEN_BYTES,
	WTI_EFFECT_READ_BYTES,
	WTI_EFFECT_CALLED, /* functions of the program, by agents */
	WTI_EFFECT_FILES,  /* so many files are this one thing */
	WTI_EFFECT_SYMLINKED,
	WTI_EFFECT_AT_ONCE, /* children of a process that no pipe connects, at most */
	WTI_EFFECT_COUNT,
	/* From here on system calls: WTI_EFFECT_CALL plus an index into effects->calls. */
	WTI_EFFECT_CALL = 64,
};

/* "made", "written_bytes", "openat ENOENT": as goldens and JSON have it. */
struct wti_effects;
const char *wti_effect_word(const struct wti_effects *effects, uint32_t effect);
/* -1: it is a call, and not an effect. */
int wti_effect_by_word(const char *word);

#define WTI_SITES_MAX 4
#define WTI_STAGE_BYTES 128
#define WTI_SHARES_MAX 4
#define WTI_NO_STEP INT64_MIN
#define WTI_UMASK ((uint32_t)1 << 16)     /* in the permissions of a process: its umask is known */
#define WTI_UMASK_SET ((uint32_t)1 << 17) /* and it, or who started it, has changed it */

/* In a stack's number: it is the number of a call site of effects->call_stream instead. */
#define WTI_STACK_IS_SITE ((uint32_t)1 << 31)

/* Where an act came from: an interned stack of effects->stream, or a call site. */
struct wti_site {
	uint32_t stack;
	uint64_t count;
};

/* Who did it: a process, by its index plus one among the actors. */
struct wti_share {
	uint32_t process;
	uint64_t count;
};

struct wti_tally {
	uint32_t thing;
	uint32_t effect; /* enum wti_effect, or a call */
	uint64_t total;
	uint64_t before;   /* the first step, or all if there were none */
	uint64_t after;    /* since the last step began: its own and the end of the program */
	uint64_t step_min; /* of whole steps; 0 if some were without */
	uint64_t step_max;
	uint64_t step_count;                     /* whole steps in which it happened */
	int64_t first_step;                      /* WTI_NO_STEP: before all */
	uint32_t next;                           /* of the same thing; index plus one */
	struct wti_site sites[WTI_SITES_MAX];    /* the first few places */
	struct wti_share shares[WTI_SHARES_MAX]; /* the first few processes */
	/* While the run goes by: */
	uint64_t current; /* in this step */
	uint64_t current_index;
};

struct wti_thing {
	enum wti_thing_type type;
	const char *name;
	const char *raw;   /* the first raw name that it had */
	const char *via;   /* the name from which it was renamed; NULL: never */
	const char *place; /* where it really is, as a name; NULL: where its name says */
	const char *place_raw;
	uint32_t permissions; /* as last given; 0: never; of a process: its umask */
	uint32_t process;     /* index plus one of the only process that touched it; 0: several */
	uint32_t first_tally; /* index plus one */
	bool is_tried;        /* a peer that somebody wanted to reach, whatever came of it */
	/* While the run goes by: */
	uint32_t moved_to;       /* index plus one */
	uint32_t searched_count; /* times that a search for a program came by */
	bool is_dirty;           /* written and not synced */
	bool is_gone;            /* removed, and not made again */
	bool is_made_as_temp;    /* as mkstemp() and mkdtemp() make theirs */
	bool is_made_alone;      /* it must not have been there */
	bool is_opened_to_write; /* at least once */
	bool is_touched;
};

/* A process or a thread, by its place in the spawn tree. */
struct wti_actor {
	uint32_t pid;
	uint32_t tid;
	uint32_t parent;  /* index plus one of the process that made it; 0: the first */
	uint32_t process; /* of a thread: index plus one of its process; 0: it is one itself */
	uint32_t child_count;
	uint32_t thread_count;
	uint32_t ordinal; /* among its parent's children, or its process's threads, from 1 */
	uint32_t thing;   /* of a process: index plus one */
	uint32_t lookup;  /* of a process that searches: the last, index plus one (searches.c) */
	uint32_t first_umask; /* before it asked for it the first time; 0: it did not */
	uint32_t umask;       /* of a process: WTI_UMASK and the mask; 0: not known */
	uint32_t unwaited;    /* its children that it has not waited for */
	uint32_t at_once;     /* the most that there were and no pipe connects */
	uint32_t batch_count; /* children since it had none */
	uint32_t pipe_count;  /* of these: started right after a pipe was made */
	uint64_t call_count;  /* of a process, and of its last pipe; 0: it served */
	uint64_t pipe_call;
	bool is_parallel; /* it starts children beside others that no pipe connects */
	bool ended;
	int32_t status;   /* of a process that ended, or minus the signal that killed it */
	char command[32]; /* of a process: the last program that it became */
	/* What it did, in order. */
	struct wti_world_act *acts;
	size_t act_count, act_capacity;
};

struct wti_world_act {
	uint32_t thing;
	uint32_t effect; /* or a call, as in struct wti_tally; an effect stands for its call */
	uint32_t stack;  /* as in struct wti_site; 0: not known */
	uint32_t step;   /* how many steps had begun */
};

/* A counter, or a setting that is a number, as agents emit it. */
struct wti_value {
	const char *name;
	uint64_t count;
	bool is_counter; /* and not a setting */
	double first, last;
	double min, max, sum; /* of those that are finite */
	uint64_t finite_count;
	uint64_t hash; /* of all in their order */
	struct wti_quantiles quantiles;
};

#define WTI_STEP_TIMES_MAX (1u << 20)

struct wti_effects {
	struct wti_arena arena;
	struct wti_thing *things;
	size_t thing_count, thing_capacity;
	struct wti_map thing_index; /* type and name: index plus one */
	struct wti_tally *tallies;
	size_t tally_count, tally_capacity;
	struct wti_map tally_index; /* thing and effect: index plus one */
	struct wti_map calls;       /* names of calls, with their errors */
	struct wti_map staged;      /* stage and call: how often, as far as each counts exactly */
	struct wti_actor *actors;
	size_t actor_count, actor_capacity;
	uint64_t act_count; /* of all actors */

	uint64_t syscall_count; /* of the program, guests' left out */
	uint64_t own_count;     /* guests' */
	uint64_t lost_count;    /* events that are missing */
	uint64_t unread_count;  /* calls whose memory could not be read */
	uint64_t left_out_count;
	struct wti_unseen unseen; /* what it may have done besides */
	bool has_tasks;           /* system calls were recorded, be there some or none */
	bool has_stacks;          /* of at least one call */
	bool order_is_cut;
	size_t stream;      /* of system calls */
	size_t call_stream; /* the first whose agent emitted calls with their sites */
	const char *arch;   /* of the first system call; "": there was none */

	struct wti_value *values;
	size_t value_count, value_capacity;
	struct wti_map value_index; /* name: index plus one */

	uint64_t step_count;   /* begun, if the program says where; else ended (steps.h) */
	uint64_t whole_count;  /* ended */
	bool has_start;        /* an agent was there before the first */
	int64_t *step_numbers; /* what the program calls them, in the order they began in */
	size_t step_number_count, step_number_capacity;
	int64_t *step_ns; /* of whole steps */
	size_t step_time_count, step_time_capacity;
	int64_t duration_ns; /* from the first to the last event */
	int failed;          /* WT_E_NOMEM once memory ran out */
};

/* ---- Asking for it --------------------------------------------------------------------------- */

struct wti_effects_options {
	const struct wti_root *roots; /* names.h; $CWD is the working directory of the run */
	size_t root_count;
	struct wti_effects *ret_effects; /* the caller's to release */
	/* The first stack that leads to the same line as `stack` does; 0: it leads to none. Or
	 * NULL: nobody knows lines of stacks. */
	uint32_t (*place)(void *opaque, const struct wt_reader *reader, uint32_t stack);
	void *opaque;
};

/* The inspector "effects" fills ret_effects. */
void wti_effects_release(struct wti_effects *effects);

/*
 * A thing is called otherwise from now on. If there is one of that name, the two are one. False:
 * out of memory.
 */
bool wti_effects_rename(struct wti_effects *effects, uint32_t thing, const char *name);

/* ---- Looking at it --------------------------------------------------------------------------- */

/* Of one of its things. */
static inline uint32_t wti_effects_index(const struct wti_effects *effects,
					 const struct wti_thing *thing)
{
	return (uint32_t)(thing - effects->things);
}

/* NULL: never. */
const struct wti_thing *wti_effects_thing(const struct wti_effects *effects,
					  enum wti_thing_type type, const char *name);
const struct wti_tally *wti_effects_tally(const struct wti_effects *effects, uint32_t thing,
					  uint32_t effect);
/* The same by its word, as the number of a call differs from run to run. `thing` may be NULL. */
const struct wti_tally *wti_effects_tally_by_word(const struct wti_effects *effects,
						  const struct wti_thing *thing, const char *word);
/* Tallies of a thing, one after the other; NULL after the last. */
const struct wti_tally *wti_effects_first(const struct wti_effects *effects, uint32_t thing);
const struct wti_tally *wti_effects_next(const struct wti_effects *effects,
					 const struct wti_tally *tally);
/* "0", "0.2", "0.2:1": the second child of the first process, and its first further thread. */
void wti_effects_place(const struct wti_effects *effects, size_t actor, struct wti_buf *out);
/* "train > sh": the programs on the way from the first process to this one. */
void wti_effects_role(const struct wti_effects *effects, size_t actor, struct wti_buf *out);
/* What the program calls the n-th step that began; n from 1. */
int64_t wti_effects_step_number(const struct wti_effects *effects, uint64_t n);
/* The share-th quantile of the duration of whole steps, in ns; -1: there are none. */
int64_t wti_effects_step_ns(const struct wti_effects *effects, double share);

/* Where a stack (struct wti_site) stands in the source. False: not known. */
struct wti_locator {
	bool (*locate)(const void *opaque, uint32_t stack, char *ret_file, size_t file_bytes,
		       uint32_t *ret_line);
	const void *opaque;
};

#endif
