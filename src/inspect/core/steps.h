/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps, as contexts and ranks set them while the events go by. Two questions, and nobody else
 * asks them of the events:
 *
 *  - where a track is: step, epoch, stage and rank (struct wti_steps);
 *  - what the steps of the run are: whose count, and where one begins and ends (struct
 *    wti_leader). That is not in the former: it needs one track's history with the calls
 *    between, and no other track, and its answer is taken back when a rank appears.
 */
#ifndef WTI_INSPECT_STEPS_H
#define WTI_INSPECT_STEPS_H

#include <wheeltap/trace.h>

#include "base/map.h"
#include "label.h"
#include "symbols.h"

/* What an event of kind context sets, as far as everybody asks. */
enum wti_context_key {
	WTI_CONTEXT_OTHER,
	WTI_CONTEXT_STEP,
	WTI_CONTEXT_EPOCH,
	WTI_CONTEXT_STAGE,
};
enum wti_context_key wti_context_key(const struct wt_event *event);

/* ---- Where a track is ----------------------------------------------------------------------- */

struct wti_scope {
	int64_t step;   /* -1: not set */
	int64_t epoch;  /* -1: not set */
	uint32_t stage; /* symbol */
	int32_t rank;   /* -1: not one of several */
	int32_t world;
};

struct wti_step {
	size_t stream;
	uint32_t track;
	struct wti_scope scope;
	bool has_context; /* of its own, and not only a rank */
	bool has_step, has_epoch;
	bool is_process; /* what any track of the process set last */
	int64_t time_ns; /* of the last context */
};

struct wti_steps {
	struct wti_symbols *symbols; /* of stages; NULL: stages are not wanted */
	struct wti_map index;        /* stream and track: entry plus one */
	struct wti_step *entries;
	size_t count, capacity;
};

void wti_steps_init(struct wti_steps *steps, struct wti_symbols *symbols);
void wti_steps_release(struct wti_steps *steps);
/* Takes an event of kind context or rank. */
int wti_steps_event(struct wti_steps *steps, const struct wt_event *event, struct wt_err *err);
/*
 * A track that never sets anything (a worker thread, a thread of the autograd engine) is where its
 * process last was.
 */
struct wti_scope wti_steps_scope(const struct wti_steps *steps, size_t stream, uint32_t track);
/* "12", or "(no step)": what the event's track itself has set. */
struct wt_text wti_steps_label(const struct wti_steps *steps, char out[WTI_LABEL_BYTES],
			       const struct wt_event *event);
/* The track that set something last; NULL: none did. */
const struct wti_step *wti_steps_last(const struct wti_steps *steps);

/*
 * The first and the last step of what is found in one more. Ranks are not in the same step at the
 * same time, so that the one that comes later may be the earlier.
 */
void wti_steps_widen(int64_t *first, int64_t *last, int64_t step, bool is_first_time);

/* ---- The steps of the run ------------------------------------------------------------------- */

/*
 * They are those of the first track that emits them, as ranks go in step. A launcher has an agent,
 * too, and sets its step 0 before any rank does; it gives way to the first rank unless it steps
 * itself.
 *
 * And what a step is. A program sets where its steps begin: the last runs until the program ends,
 * and is a step that nobody saw end. An agent counts steps where they end, from a 0 with which
 * every run begins: the first step begins with the first call of a training, and what follows the
 * last is after the steps.
 */
struct wti_leader {
	bool is_known;
	bool is_rank;
	bool saw_rank;
	uint32_t track;
	size_t stream;
	size_t rank_stream; /* the first that is a rank's */
	bool in_step;
	bool is_start; /* all that was emitted is the 0 with which an agent begins */
	bool had_start;
	bool has_trained; /* since then */
	bool at_ends;     /* contexts come where steps end */
	int64_t step;
	uint64_t whole_count; /* steps that ended */
};

/* What an event means for the steps of the run; bits. */
enum wti_step_change {
	WTI_STEP_FORGET = 1, /* what seemed to be in a step was before the first */
	WTI_STEP_ENDS = 2,   /* the step before is whole */
	WTI_STEP_BEGINS = 4,
};

/* Takes events of kind context, rank and call_begin, ignores others: enum wti_step_change. */
unsigned wti_leader_event(struct wti_leader *leader, const struct wt_event *event);
/* True too if nobody leads yet. */
bool wti_may_lead(const struct wti_leader *leader, const struct wt_event *event);
/* How many steps the run had, at its end; 0: there was none, whatever seemed to be one. */
uint64_t wti_leader_steps(const struct wti_leader *leader);

#endif
