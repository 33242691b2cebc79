/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds occasions against a pack, and keeps account of each invariant: how often it held, how often
 * it was violated, first and last, where and on which ranks. Findings are made of that, one a
 * cause.
 */
#ifndef WTI_LEARN_CHECKER_H
#define WTI_LEARN_CHECKER_H

#include <wheeltap/result.h>

#include "pack.h"
#include "relation.h"

enum { WTI_ABOUT_SHOWN = 3 };

struct wti_account {
	const struct wti_invariant *invariant;
	uint32_t next;       /* invariant of the same subject, plus one */
	uint64_t stamp;      /* of the last occasion on which one of its facts was true */
	uint32_t true_facts; /* then, as bits: an order has a fact for each pair of its acts */
	uint32_t all_facts;
	uint32_t first_facts; /* those that were true at the first violation */
	double measured;
	uint64_t held_count;
	uint64_t violation_count;
	int64_t first_step, last_step;
	uint64_t ranks; /* bits of the first 64 */
	struct wti_where where;
	uint32_t about[WTI_ABOUT_SHOWN]; /* symbols of the run */
	uint32_t about_count;
	double actual;    /* of a range: the first that was outside */
	uint32_t instead; /* where a is b: what a was at first, a symbol of the run; 0: nothing */
	struct wti_vector first; /* circumstances of the first violation */
	bool is_suppressed;
	bool is_of_chance; /* a few occasions against it are no violation */
	bool is_emitted;
};

/* Whose fact it is, and who else has the same. */
struct wti_fact_of {
	uint32_t account;
	uint32_t bit;
	uint32_t next; /* plus one */
};

struct wti_checker {
	const struct wti_pack *pack;
	struct wti_symbols *symbols; /* of the run */
	struct wti_account *accounts;
	struct wti_precondition *when; /* of each, in symbols of the run */
	struct wti_map subjects;       /* bytes: the first account, plus one */
	struct wti_map facts;          /* bytes: place in fact_of, plus one */
	struct wti_fact_of *fact_of;
	uint32_t fact_count;
	uint64_t occasion_count;
	uint64_t lost_count;
	bool has_news; /* an invariant was violated that had not been before */
	uint64_t suppressed_count;
	bool beside_rules;             /* rules have been asked before, and have set a status */
	const char *const *pack_names; /* of which the pack is made */
	size_t pack_count;
	bool is_builtin;     /* the pack: it warns at most */
	uint32_t levels;     /* at which the run was recorded, enum wti_level */
	int64_t rules_since; /* the step from which on a rule has spoken; INT64_MAX: none has */
	uint32_t relations;  /* bits of those that the pack has */
};

/* `today` as "2026-03-01", for suppressions that end. */
int wti_checker_init(struct wti_checker *checker, const struct wti_pack *pack,
		     struct wti_symbols *symbols, const char *today, struct wt_err *err);
void wti_checker_release(struct wti_checker *checker);
void wti_checker_take(void *checker, const struct wti_occasion *occasion);
/* Whether what was against it is more than may be in a good run. */
bool wti_account_is_violated(const struct wti_account *account);
/* Findings, the table of invariants and the figures. */
void wti_checker_finish(struct wti_checker *checker, struct wt_result *result);
/* Live: findings that are new since the last time; how many. */
size_t wti_checker_news(struct wti_checker *checker, struct wt_result *result);

#endif
