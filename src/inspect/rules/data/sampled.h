/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sample of rows that a model was given: which of them were trained on, and how often rows of
 * an input repeat in the training data by themselves. A row of a batch is all its inputs together:
 * masks, positions and short texts are the same in many rows, so that the input that overlaps least
 * decides, and counts only with more than its own repetitions explain.
 *
 * A trace keeps one content in four (sixteen), the same ones everywhere: a sample is compared with
 * a sample.
 */
#ifndef WTI_INSPECT_SAMPLED_H
#define WTI_INSPECT_SAMPLED_H

#include "inspect/judge/rule.h"

enum { WTI_INPUTS_MAX = 16 }; /* of a model; more are not judged by */

enum { WTI_TIMES_MAX = 64 }; /* how often a content comes in an epoch; the last stands for more */

struct wti_sampled_tally {
	uint64_t rows, seen;             /* seen: trained on before */
	uint64_t held_out;               /* of those seen: they had been held out first */
	uint64_t new;                    /* of those seen: they were not evaluated before */
	uint32_t seen_at[WTI_TIMES_MAX]; /* those by how often they came in the last epoch */
};

/* One tensor among the inputs of a model. */
struct wti_input {
	uint32_t name;
	bool is_continuous;         /* its numbers are no integers: rows are not equal by chance */
	int32_t epoch;              /* of which the next two are */
	uint64_t trained, repeated; /* rows in training; those that occur in the epoch again */
	uint32_t contents[WTI_TIMES_MAX]; /* different ones, by how often they came in this epoch */
	double rate; /* the highest share of repeated rows in an epoch before */
	struct wti_sampled_tally call, all; /* of this evaluation call; of those that were kept */
	/* As training stood when this evaluation began. */
	uint32_t settled[WTI_TIMES_MAX]; /* contents */
	uint64_t settled_rows;
	uint64_t settled_learned;
	/* Contents. */
	uint64_t held_out;   /* that a model in training was evaluated on first */
	uint64_t given_away; /* and that it was trained on later */
	uint64_t learned;    /* that were trained on at all */
	uint64_t looked_at;  /* of those: evaluated first, also before all training */
};

/* When a model was trained, among the others of its process. */
struct wti_sampled_turn {
	uint32_t name;
	/* How many steps its process had made in its last training call, and in the last one before
	 * that with another number; from 1. */
	uint64_t last_step, earlier_step;
	bool is_teacher; /* it was evaluated while others were trained, and itself no more */
};

/* The first member of what a rule keeps of a model. */
struct wti_sampled_model {
	uint32_t input_count;
	bool is_trained;
	struct wti_sampled_turn turn; /* for rules that call wti_sampled_turn() */
	uint64_t content_count;       /* different ones, of all inputs */
	struct wti_input inputs[WTI_INPUTS_MAX];
};

/* Of a content in an input of a model. */
struct wti_sampled_count {
	int32_t epoch;
	uint32_t count : 27;
	bool is_evaluated : 1; /* whether trained on or not */
	bool is_looked_at : 1; /* evaluated, and not trained on before */
	bool is_held_out : 1;  /* likewise, by a model that had been trained */
	bool is_given_away : 1;
	bool is_learned : 1; /* trained on */
};

/* Of a model and a content. */
struct wti_sampled_content {
	bool is_known;
	bool is_trained; /* it was trained on */
	uint32_t input;  /* in which it was first seen: most are in one only, and need no other */
	struct wti_sampled_count count; /* in that one */
};

/* What rules about rows keep; of processes and models what they say. */
enum { WTI_OF_PROCESS, WTI_OF_MODEL, WTI_OF_CONTENT, WTI_OF_COUNT };

#define WTI_SAMPLED_KEEPS(process_bytes, model_bytes)                                              \
	[WTI_OF_PROCESS] = {WTI_PER_PROCESS, process_bytes},                                       \
	[WTI_OF_MODEL] = {WTI_PER_OBJECT, model_bytes},                                            \
	[WTI_OF_CONTENT] = {WTI_PER_KEY, sizeof(struct wti_sampled_content)},                      \
	[WTI_OF_COUNT] = {WTI_PER_KEY, sizeof(struct wti_sampled_count)}

/* Takes a moment of a row, or the end of a module's call. The model that it was of; NULL: of none,
 * or neither in training nor in evaluation. */
struct wti_sampled_model *wti_sampled_take(struct wti_case *account,
					   const struct wti_moment *moment);
/* The evaluation call that has ended is added to all, or forgotten. */
void wti_sampled_keep_call(struct wti_sampled_model *model, bool is_kept);

/* A model's call has ended, and was judged by what came before it: which models are trained by
 * now, and whether this one serves another. */
void wti_sampled_turn(struct wti_case *account, struct wti_sampled_model *model,
		      const struct wti_moment *moment);

void wti_tally_add(struct wti_sampled_tally *to, const struct wti_sampled_tally *from);
/* Nearly all of them were trained on: all but one in that many. */
bool wti_tally_is_most(const struct wti_sampled_tally *tally, uint64_t all_but);
/* Of all evaluations that were kept: the input of which the smallest share was trained on. The rows
 * as a whole cannot have more. NULL: none was given. */
const struct wti_input *wti_input_least_seen(const struct wti_sampled_model *model);

/* The last call of several. */
struct wti_last_call {
	uint32_t name;        /* of the model; 0: there was none */
	struct wti_call call; /* without its values */
};

struct wti_last_call wti_last_call_of(const struct wti_moment *moment);
struct wti_moment wti_at_last_call(struct wti_moment moment, const struct wti_last_call *last);

/* Reasons for thresholds that rules about rows share. */
#define WTI_WHY_ROWS "of the sample: one or two may be equal by chance"
#define WTI_WHY_ALL_BUT                                                                            \
	"one row in this many may be new, where nearly all were trained on: a part of the "        \
	"training set may be drawn at random in each epoch"
#define WTI_WHY_DEVIATIONS                                                                         \
	"standard deviations above what repetitions explain: chance reaches that once in a "       \
	"thousand evaluations"

/* When contents that come several times are set apart from those that come once. */
struct wti_copying {
	uint64_t several;  /* times, at least */
	uint64_t contents; /* at least, that come so often */
	uint64_t one_in;   /* of all contents, at least */
	uint64_t fewer;    /* times fewer that come twice or more, but not so often */
	double deviations; /* of chance, that come less often than what repeats by itself */
};

/*
 * Whether rows of training were copied before some of them were held out: contents that come
 * several times are set apart from those that come once, as no content of itself is, and they are
 * in the evaluation as often as a split of all copies would put them there.
 */
bool wti_input_is_copied(const struct wti_input *input, const struct wti_copying *copying);
/* Whether (nearly) all that was trained on had been evaluated first: evaluations choose what is
 * trained on. All but one in that many. */
bool wti_input_is_chosen(const struct wti_input *input, uint64_t all_but);
/* Whether `found` of `among` are more than repetitions inside the training data explain, by that
 * many standard deviations. */
bool wti_input_exceeds(const struct wti_input *input, uint64_t found, uint64_t among,
		       double deviations);

#endif
