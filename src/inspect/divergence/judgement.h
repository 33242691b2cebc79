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
 * Everything behind that depends on what differs is counted. Calls around an operation that differs
 * inherit from it, as what is inside ends first.
 */
#ifndef WTI_DIVERGENCE_JUDGEMENT_H
#define WTI_DIVERGENCE_JUDGEMENT_H

#include "equality.h"
#include "pairing.h"

enum wti_beginning {
	WTI_BEGINS_NOT,
	WTI_BEGINS_OUTPUT, /* its inputs were equal, its outputs differ */
	WTI_BEGINS_INPUT,  /* it was given other values, and nothing recorded made them */
	WTI_BEGINS_STATE,  /* a value differs that the call is known to have made */
	WTI_BEGINS_MEMORY, /* memory that nobody has written, and from which something is computed
			    */
	WTI_BEGINS_UNSEEN, /* a value differs that no recorded call made */
	WTI_BEGINS_ORDER,  /* no value differs, but one of the runs does something else */
};

#define WTI_FIRST_VALUES 16u /* of the operation, that are kept */
#define WTI_GENERATORS 8u

/* A value of both runs. */
struct wti_value_pair {
	struct wti_value_row a, b;
	char name[64];
	char shape[64];
	enum wti_same same;
};

/* Texts are copies: they are kept beyond the flows. */
struct wti_first {
	enum wti_beginning how;
	char callee[128], path[512], object[128], file[512], stage[32];
	char value[192]; /* of a state: which; of memory: what is computed from it */
	uint32_t line;
	int64_t step, time_ns;
	enum wt_action action;
	enum wti_computed_kind kind;
	struct wti_equality in, out;
	struct wti_value_pair values[WTI_FIRST_VALUES];
	uint32_t value_count;
	/* What was not seen before it. */
	uint64_t unread_before, unpaired_before;
	char generators[128]; /* random generators whose states differ, as far as they were read */
};

struct wti_generator_state {
	char name[48];
	bool differs;
};

struct wti_judgement {
	struct wti_first first;           /* of all differences of values */
	struct wti_first order;           /* of operations that only one run has */
	struct wti_first report;          /* of values that are only reported: counters */
	uint64_t labels[WTI_PAIR_LABELS]; /* operations of A, extra and split ones of B */
	uint64_t a_count, b_count;        /* operations, values aside */
	uint64_t compared, same, inherited, unread, further, reports;
	uint64_t overwritten;     /* inputs differ, and outputs do not */
	uint64_t values_compared; /* inputs, outputs, states */
	int64_t last_step;        /* that both have begun */
};

struct wti_judge_track;

int wti_judge_flows(struct wti_flow *a, struct wti_flow *b, struct wti_judgement *ret_judgement);

#endif
