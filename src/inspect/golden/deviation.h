/* SPDX-License-Identifier: Apache-2.0 */
/* Between golden_check.c and golden_order.c, which find what deviates, golden_causes.c, which finds
 * what has one cause, and golden_report.c, which reports it. */
#ifndef WTI_EFFECTS_DEVIATION_H
#define WTI_EFFECTS_DEVIATION_H

#include "golden.h"
#include "inspect/core/code.h"

/* A count of a thing that is not what the golden has. */
struct wti_off {
	const char *word;
	struct wti_range total; /* as the golden has it */
	struct wti_range step;
	const struct wti_tally *tally; /* in the run; NULL: none */
	bool is_total, is_step;        /* which of the two is off */
};

#define WTI_DEVIATIONS_MAX 2000u
#define WTI_OFFS_MAX 64 /* of one thing; more are counted */

/* All that deviates of one thing: one finding. */
struct wti_deviation {
	const struct wti_golden_thing *golden; /* NULL: it is new */
	const struct wti_thing *thing;         /* NULL: it is missing */
	const struct wti_thing *instead;       /* of a missing thing: what is there in its place */
	bool is_mode;                          /* other permissions */
	bool is_via;                           /* renamed from something else, or not any more */
	/* Once all are found (golden_causes.c): */
	const struct wti_off
		*cause; /* the count that explains the others; NULL: it is not a count */
	uint32_t role;  /* thing plus one: the process that did it; 0: not known */
	size_t leader;  /* index plus one of the one that it is said with; 0: none */
	struct wti_off offs[WTI_OFFS_MAX];
	size_t off_count;
	size_t off_more;
};

struct wti_checking {
	const struct wti_golden *golden;
	const struct wti_effects *run;
	const struct wti_locator *locator;
	struct wt_result *result;
	struct wti_deviation *all;
	size_t count, capacity;
	bool other_steps; /* the number of steps is not the golden's */
	bool *is_surplus; /* of each actor: a process that the golden does not have */
};

enum wti_thing_type wti_deviation_type(const struct wti_deviation *deviation);
const char *wti_deviation_name(const struct wti_deviation *deviation);
/* What varied may vary a little more: by as much as it did already. */
bool wti_golden_is_within(enum wti_thing_type type, struct wti_range range, uint64_t value);
/* How often the run did to the thing what the word says. */
uint64_t wti_golden_total(const struct wti_effects *run, const struct wti_thing *thing,
			  const char *word);
/* Where the order deviates, into the result, and the keys of the roles into ret_deviating, which
 * may be NULL. Once causes are found. */
int wti_golden_check_order(const struct wti_checking *checking, struct wti_map *ret_deviating);
int wti_golden_find_causes(struct wti_checking *checking);
/* Whether `deviation` is said with `leader`. */
bool wti_golden_leads(const struct wti_checking *checking, const struct wti_deviation *leader,
		      const struct wti_deviation *deviation);

/* The codes of what goldens find; ends with a code of NULL. */
extern const struct wti_code wti_golden_codes[];
const struct wti_code *wti_golden_code(const char *code); /* or NULL */

/* True: what is missing may have happened unseen. */
bool wti_golden_in_doubt(const struct wti_checking *checking,
			 const struct wti_deviation *deviation);
/* The same, and a note says so. */
bool wti_golden_doubtful(const struct wti_checking *checking,
			 const struct wti_deviation *deviation);
/* The finding of a deviation, into the result. */
void wti_golden_report(const struct wti_checking *checking, const struct wti_deviation *deviation);
void wti_golden_report_steps(const struct wti_checking *checking);
void wti_golden_report_times(const struct wti_checking *checking, int64_t quiet_ns);
void wti_golden_report_order(const struct wti_checking *checking, const struct wti_way *way,
			     const char *expected, const char *actual, const char *follows,
			     const struct wti_world_act *act);

#endif
