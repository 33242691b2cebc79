/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack: invariants as a file that people can read, mend and pass on (docs/invariants.md,
 * schema/pack.schema.json). Reading never evaluates anything and never trusts a count.
 */
#ifndef WTI_LEARN_PACK_H
#define WTI_LEARN_PACK_H

#include "base/buf.h"
#include "precondition.h"

enum {
	WTI_INVARIANTS_MAX = 65536,
	WTI_SUPPRESSIONS_MAX = 4096,
	WTI_ID_BYTES = 40,
};

struct wti_invariant {
	char id[WTI_ID_BYTES]; /* of what it says, so that it is the same in every pack */
	uint32_t relation;
	uint32_t subject[2]; /* symbols of the pack */
	struct wti_fact fact;
	/* Of an order: what comes after b, one after the other. */
	uint32_t then[WTI_CHAIN_MAX];
	uint32_t then_count;
	double low, high; /* of a range */
	struct wti_precondition when;
	struct wti_support support;
	double confidence;
	uint64_t origins; /* bits of the packs that it, or what it stands for, comes from */
};

struct wti_suppression {
	char *pattern; /* a glob over ids and codes */
	char *reason;
	char *until; /* "2026-12-31", or NULL: for good */
	uint64_t used_count;
};

struct wti_pack {
	struct wti_symbols symbols;
	struct wti_invariant *invariants; /* by relation, subject and fact */
	size_t count, capacity;
	uint64_t run_count;
	uint32_t levels; /* at which they were recorded, enum wti_level; 0: not known */
	char *source;    /* where it comes from, in words; NULL: learned here */
	struct wti_suppression *suppressions;
	size_t suppression_count, suppression_capacity;
};

int wti_pack_new(struct wti_pack **ret_pack, struct wt_err *err);
void wti_pack_free(struct wti_pack *pack);

/* What the tables support. */
int wti_pack_learn(struct wti_pack *pack, struct wti_tables *tables,
		   const struct wti_demand *demand, struct wt_err *err);
/* A place for one more; NULL: too many, or out of memory. */
struct wti_invariant *wti_pack_add(struct wti_pack *pack);
/* Gives ids, sorts, and leaves of the same invariant the one with the most support. */
void wti_pack_settle(struct wti_pack *pack);
/* Marks all as coming from the pack of this number, below 64. */
void wti_pack_mark(struct wti_pack *pack, size_t number);
int wti_pack_merge(struct wti_pack *pack, const struct wti_pack *other, struct wt_err *err);
int wti_pack_suppress(struct wti_pack *pack, const char *pattern, const char *reason,
		      const char *until, struct wt_err *err);
/* The suppression that an invariant is under on this day ("2026-03-01"), or NULL. */
const struct wti_suppression *wti_pack_suppressed(const struct wti_pack *pack,
						  const struct wti_invariant *invariant,
						  const char *today);

/* Whether it was learned here and speaks of what another seed draws anew. */
bool wti_invariant_is_of_chance(const struct wti_pack *pack, const struct wti_invariant *invariant);

void wti_pack_write(struct wti_buf *out, const struct wti_pack *pack);
/* `name` is for errors. */
int wti_pack_read(const char *name, const char *text, size_t bytes, struct wti_pack **ret_pack,
		  struct wt_err *err);
/* Its parts, each as a text and as a term; `words` stays where it is. */
struct wti_words;
void wti_invariant_read(struct wti_words *words, const struct wti_pack *pack,
			const struct wti_invariant *invariant);
/* "In each step, Optimizer.zero_grad is called, where ..." */
void wti_invariant_words(struct wti_buf *out, const struct wti_pack *pack,
			 const struct wti_invariant *invariant);

#endif
