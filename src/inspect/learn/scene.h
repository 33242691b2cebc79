/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What relations need to know in common: how a function is called in any program, what is around a
 * call, which objects there are, in which mode a process is.
 *
 * Functions are named by what they are to a training run where that is known: Optimizer.step and
 * not Adam.step, Module.forward for models of the program's own. What is learned from one program
 * can then be asked of another.
 */
#ifndef WTI_LEARN_SCENE_H
#define WTI_LEARN_SCENE_H

#include "function_names.h"
#include "inspect/training/keep.h"
#include "occasion.h"

/* Words that are used all the time, interned once. */
enum wti_word {
	WTI_WORD_YES,
	WTI_WORD_NO,
	WTI_WORD_ON,
	WTI_WORD_OFF,
	WTI_WORD_NONE,
	WTI_WORD_ZERO,
	WTI_WORD_NONZERO,
	WTI_WORD_POSITIVE,
	WTI_WORD_MODULE,
	WTI_WORD_WRAPPER,
	WTI_WORD_AVERAGE,
	WTI_WORD_PARAMETER,
	WTI_WORD_BUFFER,
	WTI_WORD_OPTIMIZER_STEP,
	WTI_WORD_ZERO_GRAD,
	WTI_WORD_BACKWARD,
	WTI_WORD_FORWARD,
	WTI_WORD_LOADER_NEXT,
	WTI_WORD_COUNT,
};

enum {
	WTI_SCENE_OBJECT_TYPES = 16,
	WTI_RELATIONS_MAX = 32,
	WTI_TERMS_MAX = 32,   /* of a relation */
	WTI_MEMORIES_MAX = 8, /* likewise */
};

struct wti_scene_process {
	bool grad_is_off;
	uint64_t optimizer_steps;
	uint32_t objects[WTI_SCENE_OBJECT_TYPES]; /* how many of each enum wt_object_type */
};

struct wti_relation;

struct wti_scene {
	const struct wti_training *training;
	struct wti_symbols *symbols;
	struct wti_sink_of_occasions sink;
	uint32_t words[WTI_WORD_COUNT];
	struct wti_map functions;  /* callee, module, kind of object: function */
	struct wti_map acts;       /* function: 1 or 2, whether it is an act of training */
	struct wti_map numbers;    /* a value: its symbol */
	struct wti_map fields;     /* a part of an argument: its name (fields.h) */
	struct wti_map signatures; /* the tensors of a call: their names (fields.h) */
	uint32_t dtypes[64];       /* symbols, plus one */
	uint32_t terms[WTI_RELATIONS_MAX][WTI_TERMS_MAX]; /* symbols; 0: not asked for yet */
	struct wti_keep *keeps; /* of the relation that is shown a moment */
	struct wti_scene_process *processes;
	size_t process_count;
	uint32_t self_word; /* the name of the argument that is the object itself */
	uint32_t program;   /* the file that the first call came from, a symbol */
	uint64_t lost_count;
	struct wti_occasion occasion;
};

void wti_scene_init(struct wti_scene *scene, const struct wti_training *training,
		    struct wti_sink_of_occasions sink);
void wti_scene_release(struct wti_scene *scene);
/* Before the relations see it. */
void wti_scene_moment(struct wti_scene *scene, const struct wti_moment *moment);

/* ---- Asking --------------------------------------------------------------------------------- */

/* The function of a call, by what it is to a run; a symbol. */
uint32_t wti_scene_function(struct wti_scene *scene, const struct wti_call *call);
/* wti_is_act() of a symbol. */
bool wti_scene_is_act(struct wti_scene *scene, uint32_t function);
/* The k-th call around this one (1: its parent), or NULL. Only for calls that are open. */
const struct wti_call *wti_call_around(const struct wti_moment *moment, uint32_t k);
/* Whether a call of this function is around it, at any depth. Only for calls that are open. */
bool wti_is_within(struct wti_scene *scene, const struct wti_moment *moment, uint32_t function);
struct wti_scene_process *wti_scene_process(struct wti_scene *scene, size_t stream);
uint32_t wti_scene_objects(struct wti_scene *scene, size_t stream, uint32_t type);
uint32_t wti_scene_word(struct wti_scene *scene, const char *word);
/* A number as a word: "0.1", "3". */
uint32_t wti_scene_number(struct wti_scene *scene, uint32_t type, uint64_t bits);
uint32_t wti_scene_dtype(struct wti_scene *scene, uint32_t dtype);
/* "48x10x32" -> 3; an empty one has none. */
uint32_t wti_shape_ndim(const char *shape);
/* "48x10x32" -> 48; -1: it has no extent. */
int64_t wti_shape_first(const char *shape);

/* The symbol of a term of a relation (relation.h). */
uint32_t wti_term(struct wti_scene *scene, const struct wti_relation *relation, int term);

/* ---- Remembering ---------------------------------------------------------------------------- */

/* The memory that the row of the relation declares as `keeps[which]`, for a moment; NULL: none. */
void *wti_recall(struct wti_scene *scene, unsigned which, const struct wti_moment *moment);
void *wti_recall_of_process(struct wti_scene *scene, unsigned which, size_t stream);
void *wti_recall_of_object(struct wti_scene *scene, unsigned which,
			   const struct wti_object *object);
void *wti_recall_of_parameter(struct wti_scene *scene, unsigned which,
			      const struct wti_parameter *parameter);
void *wti_recall_of_key(struct wti_scene *scene, unsigned which, size_t stream, uint64_t key);
/* As that one, but none is made. */
const void *wti_recall_find_key(const struct wti_scene *scene, unsigned which, size_t stream,
				uint64_t key);

/* ---- Reporting ------------------------------------------------------------------------------- */

/* An occasion with the circumstances of the moment; filled in by the calls below, then reported. */
struct wti_occasion *wti_occasion(struct wti_scene *scene, const struct wti_relation *relation,
				  const struct wti_moment *moment, uint32_t subject,
				  uint32_t second);
/* The same, of terms; the second may be WTI_NO_TERM. */
struct wti_occasion *wti_occasion_of_term(struct wti_scene *scene,
					  const struct wti_relation *relation,
					  const struct wti_moment *moment, int subject, int second);
void wti_occasion_flag(struct wti_scene *scene, enum wti_feature feature, bool is);
void wti_occasion_word(struct wti_scene *scene, enum wti_feature feature, uint32_t symbol);
/* Within which call it is. */
void wti_occasion_inside(struct wti_scene *scene, const struct wti_moment *moment);
void wti_occasion_number(struct wti_scene *scene, enum wti_feature feature, uint32_t number);
void wti_occasion_parameter(struct wti_scene *scene, const struct wti_parameter *parameter);
void wti_say(struct wti_scene *scene, enum wti_form form, uint32_t a, uint32_t b);
/* That a term of the occasion's relation is true. */
void wti_say_term(struct wti_scene *scene, int term);
/* That it was called, and how often. */
void wti_say_called(struct wti_scene *scene, uint32_t function, uint32_t times);
void wti_measure(struct wti_scene *scene, uint32_t name, double value);
void wti_report(struct wti_scene *scene);

#endif
