/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order a run did what it did: for each kind of thread and each part of the run (before
 * the steps, a step, after the last began) the acts that matter to the world, as texts such as
 * "write $CWD/log.txt". What is repeated at once, act or block of acts, is there once: how often
 * is counted elsewhere.
 */
#ifndef WTI_EFFECTS_ORDER_H
#define WTI_EFFECTS_ORDER_H

#include "effects.h"

enum wti_when { WTI_WHEN_START, WTI_WHEN_STEP, WTI_WHEN_END, WTI_WHENS };

const char *wti_when_word(enum wti_when when); /* "start", "step", "end" */

struct wti_sequence {
	uint32_t *tokens; /* of the order's texts */
	size_t count, capacity;
};

/* One way in which threads of that kind went through that part. */
struct wti_way {
	const char *role;
	enum wti_when when;
	struct wti_sequence acts;
	uint32_t first_step; /* ordinal of the first step that went so */
	uint64_t count;      /* how often */
};

#define WTI_WAYS_MAX 32       /* of a kind of thread and a part; beyond the order varies */
#define WTI_WAY_ACTS_MAX 1024 /* after folding; beyond the order varies */

struct wti_order {
	struct wti_arena arena;
	struct wti_map texts; /* of acts */
	struct wti_way *ways;
	size_t way_count, way_capacity;
	struct wti_map varying; /* role and part */
	int failed;
};

void wti_order_init(struct wti_order *order);
void wti_order_release(struct wti_order *order);
/* Adds the order of a run. */
int wti_order_add(struct wti_order *order, const struct wti_effects *fx, struct wt_err *err);
/* A way that is there already is counted, not added. */
int wti_order_way(struct wti_order *order, const char *role, enum wti_when when,
		  const struct wti_sequence *acts, uint32_t step);
void wti_order_vary(struct wti_order *order, const char *role, enum wti_when when);
bool wti_order_varies(const struct wti_order *order, const char *role, enum wti_when when);
uint32_t wti_order_token(struct wti_order *order, const char *text);
const char *wti_order_text(const struct wti_order *order, uint32_t token);

/* Appends, and folds what that repeats. False: out of memory. */
bool wti_sequence_add(struct wti_sequence *sequence, uint32_t token);
bool wti_sequence_equal(const struct wti_sequence *a, const struct wti_sequence *b);

/* "write $CWD/log.txt"; false if that act does not matter to the world. */
bool wti_act_text(const struct wti_effects *fx, const struct wti_world_act *act,
		  struct wti_buf *out);
/* "make", "write": the effect as an act. */
const char *wti_act_word(const struct wti_effects *fx, uint32_t effect);

#endif
