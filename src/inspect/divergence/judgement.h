/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the operations of a track that differ is where the difference begins, and which only
 * inherit it.
 *
 * The first in the order of the track whose outputs differ though its inputs are equal is the
 * origin; so is, in a weaker sense, the first whose inputs already differ when nothing before has
 * shown a difference: what made them was not recorded. A value that was read on its own belongs to
 * the call that made it: a gradient to the last backward, a parameter to the step before it.
 * An input that differs and is overwritten, so that the outputs are equal, is no difference. Nor is
 * what memory held that nobody has written (torch.empty), until something is computed from it.
 * Nor is what a generator is seeded with, until numbers are drawn from it that differ.
 * If a value that differs where nothing recorded made it is the result of an operation which only
 * one run does, that operation is where the difference begins. Everything behind that depends on
 * what differs is counted. Calls around an operation that differs inherit from it, as what is
 * inside ends first.
 */
#ifndef WTI_DIVERGENCE_JUDGEMENT_H
#define WTI_DIVERGENCE_JUDGEMENT_H

#include "equality.h"
#include "pairing.h"
#include "resume.h"

enum wti_beginning {
	WTI_BEGINS_NOT,
	WTI_BEGINS_OUTPUT, /* its inputs were equal, its outputs differ */
	WTI_BEGINS_LATER,  /* the same, of a thread, when another already differs: parameters may */
	WTI_BEGINS_INPUT,  /* it was given other values, and nothing recorded made them */
	WTI_BEGINS_MIXED,  /* it was given values that both runs have, in another order */
	WTI_BEGINS_STATE,  /* a value differs that the call is known to have made */
	WTI_BEGINS_MEMORY, /* memory that nobody has written, and from which something is computed
			    */
	WTI_BEGINS_SEED,   /* a generator is seeded by the system, and numbers are drawn */
	WTI_BEGINS_UNSEEN, /* a value differs that no recorded call made */
	WTI_BEGINS_ORDER,  /* no value differs, but one of the runs does something else */
};

#define WTI_FIRST_VALUES 16u /* of the operation, that are kept */
#define WTI_FIRST_OTHERS 8u

/* A value of both runs. */
struct wti_value_pair {
	struct wti_value_row a, b;
	char name[64];
	char shape[64];
	enum wti_same same;
};

/* An argument that is no value to be compared: text, None, an object by its type. */
struct wti_other_argument {
	int32_t position;
	char name[64];
	char text[64];
};

/* Texts are copies: they are kept beyond the courses. */
struct wti_first_difference {
	enum wti_beginning how;
	char callee[128], module[128], path[512], object[128], file[512], stage[32];
	char value[192]; /* of a state: which; of memory: what is computed from it; of a seed: what
			    draws */
	uint32_t line;
	int64_t step, time_ns;
	int64_t after_step; /* the last in which parameters were the same; -1: not known */
	enum wt_action action;
	enum wti_computed_kind kind;
	struct wti_equality in, out;
	bool has_hidden_inputs; /* that are not among its arguments */
	struct wti_value_pair values[WTI_FIRST_VALUES];
	uint32_t value_count;
	struct wti_other_argument others[WTI_FIRST_OTHERS];
	uint32_t other_count;
	/* What was not seen before it. */
	uint64_t unread_before;
	uint32_t single_in; /* 1, 2: only that run does it; 0: not known, or both do */
	/* Of each run: operations before it that have no partner, and steps of optimizers. */
	uint64_t single_before[2], steps_before[2];
};

/* The first operation without a partner. */
struct wti_only {
	bool is_in_b;
	char callee[128], file[512], stage[32];
	uint32_t line;
	int64_t step;
};

struct wti_judgement {
	struct wti_first_difference first;  /* of all differences of values */
	struct wti_first_difference order;  /* of operations that only one run has */
	struct wti_first_difference report; /* of values that are only reported: counters */
	uint64_t labels[WTI_PAIR_LABELS];   /* operations of A, extra and split ones of B */
	uint64_t a_count, b_count;          /* operations, values aside */
	uint64_t compared, same, inherited, unread, further, reports;
	uint64_t overwritten;     /* inputs differ, and outputs do not */
	uint64_t lone;            /* operations that only one run has */
	uint64_t same_since;      /* with values that are the same, behind the last of these */
	uint64_t values_compared; /* inputs, outputs, states */
	uint64_t states;          /* parameters and gradients among them, by hash */
	uint64_t shards;          /* values of parameters of which the runs hold other amounts */
	int64_t last_step;        /* that both have begun */
	int64_t shown_step;       /* the last of which parameters were compared; -1: none */
	struct wti_resume resume; /* the second run goes on from what the first has saved */
	char generators[128];     /* random generators that are used and whose states differ */
	char settings[256];       /* of libraries, that differed where the difference begins */
	struct wti_only only;     /* where `single_before` of a difference counts any */
};

static inline bool wti_has_single_before(const struct wti_first_difference *first)
{
	return first->single_before[0] || first->single_before[1];
}

/* What it computes with besides its arguments may differ since something only one run did. */
static inline bool wti_is_weakened(const struct wti_first_difference *first)
{
	return wti_has_single_before(first) &&
	       (first->how == WTI_BEGINS_STATE ||
		(first->how == WTI_BEGINS_OUTPUT && first->has_hidden_inputs));
}

/* A line of the program: only there a difference begins, what differs before it is left alone. */
struct wti_within_line {
	const char *file; /* NULL: everywhere */
	uint32_t line;
	bool is_yours; /* only in lines of the program itself, not in what libraries do alone */
};

/* `pairer` NULL: wti_pair_courses(). */
int wti_judge_courses(struct wti_course *a, struct wti_course *b, const struct wti_resume *resume,
		      const struct wti_within_line *where, const struct wti_pairer *pairer,
		      struct wti_judgement *ret_judgement);
/* What it is a difference of, in a word: weights, data, random state, optimizer state, schedule; or
 * "". */
const char *wti_cause_of(const struct wti_judgement *judgement);

#endif
