/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A golden: what a program does, learned from several runs of it, as a text that people review
 * (docs/golden.md). What was the same in all runs is exact, what varied is a range.
 *
 *   wti_golden_learn   runs to a golden
 *   wti_golden_write   a golden to text, always the same text for the same golden
 *   wti_golden_read    and back; nothing in it is trusted
 *   wti_golden_adapt   calls things of a run as the golden does, where names vary
 *   wti_golden_check   a run against a golden: findings, one a cause
 *   wti_golden_accept  what runs show in place of what they deviate from
 */
#ifndef WTI_EFFECTS_GOLDEN_H
#define WTI_EFFECTS_GOLDEN_H

#include "inspect/world/act_order.h"
#include "inspect/world/effects.h"
#include "inspect/world/exactness.h"
#include "inspect/world/range.h"

/* Format 1 has programs without their folders, wherever they are, and no syncs of $CWD itself.
 * Formats 1 and 2 count what is before or after the steps that an agent counts as one more. */
#define WTI_GOLDEN_FORMAT 3
#define WTI_GOLDEN_BYTES_MAX ((size_t)8 << 20)
#define WTI_GOLDEN_THINGS_MAX (1u << 16)
#define WTI_GOLDEN_RUNS_MAX 64
#define WTI_GOLDEN_SLOWER                                                                          \
	0.15 /* a step may take so much longer, unless the golden says otherwise */

/* One effect or call on a thing. */
struct wti_golden_fact {
	const char *word; /* as wti_effect_word() gives it */
	struct wti_range total;
	struct wti_range step; /* of whole steps; 0 to 0: never within one */
};

struct wti_golden_thing {
	enum wti_thing_type type;
	const char *name;
	const char *via;      /* NULL: never renamed from anything */
	uint32_t permissions; /* 0: never given, or not always the same */
	bool is_optional;     /* only some of the runs had it */
	struct wti_golden_fact *facts;
	size_t fact_count, fact_capacity;
};

struct wti_golden {
	struct wti_arena arena;
	int format;
	const char *name;
	const char *arch;
	const char *recorded; /* "all", or the expression by which calls were chosen */
	uint64_t run_count;
	struct wti_range steps;
	bool has_times;
	struct wti_range
		step_ns; /* of the runs: the time that three in four steps take longer than */
	double slower;
	struct wti_golden_thing *things; /* sorted by type and name */
	size_t thing_count, thing_capacity;
	struct wti_order order;
};

void wti_golden_init(struct wti_golden *golden);
void wti_golden_release(struct wti_golden *golden);
/* A copy that lives as long as the golden; "" of NULL, or if memory runs out (arena.status). */
const char *wti_golden_keep(struct wti_golden *golden, const char *text);
const char *wti_golden_keep_bytes(struct wti_golden *golden, const char *text, size_t bytes);
/* By type and name, as wti_golden_thing() finds them. */
void wti_golden_sort(struct wti_golden *golden);

struct wti_golden_options {
	const char *name;
	const char *recorded;
	bool with_times;
};

/* Part of a name that was another one in every run. */
#define WTI_VARIES "<varies>"

/* Things of the runs whose names vary get one name. */
int wti_golden_learn(struct wti_golden *golden, struct wti_effects *runs, size_t count,
		     const struct wti_golden_options *options, struct wt_err *err);
void wti_golden_write(const struct wti_golden *golden, struct wti_buf *out);
/* `path` is for error messages, which say line and column. */
int wti_golden_read(const char *path, const char *text, size_t bytes, struct wti_golden *ret_golden,
		    struct wt_err *err);
/* Before a run is checked: what has a name with <varies> in the golden gets that name, and what
 * the golden's format names otherwise is named so. */
int wti_golden_adapt(const struct wti_golden *golden, struct wti_effects *run, struct wt_err *err);
const struct wti_golden_thing *wti_golden_thing(const struct wti_golden *golden,
						enum wti_thing_type type, const char *name);

/* The run did something to its thing that goldens have a word for. */
bool wti_golden_uses(const struct wti_effects *run, const struct wti_thing *thing);

/* Findings go into `result`. `ret_deviating` (may be NULL) gets a key for each thing that deviates.
 */
int wti_golden_check(const struct wti_golden *golden, const struct wti_effects *run,
		     const struct wti_locator *locator, struct wt_result *result,
		     struct wti_map *ret_deviating, struct wt_err *err);
/* `fresh` was learned from the runs that deviate; what they deviate in is taken from it. */
int wti_golden_accept(struct wti_golden *golden, const struct wti_golden *fresh,
		      const struct wti_map *deviating, struct wt_err *err);

/* Keys of what may deviate, for ret_deviating: a thing, an order, "steps", "times". */
#define WTI_GOLDEN_KEY_BYTES 4200
size_t wti_golden_thing_key(char key[WTI_GOLDEN_KEY_BYTES], enum wti_thing_type type,
			    const char *name);
size_t wti_golden_order_key(char key[WTI_GOLDEN_KEY_BYTES], const char *role, enum wti_when when);

#endif
