/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which violations have one cause. Those of the same relation and subject have; and those that are
 * about the same thing: the same act that is missing, wherever it is missed; a NaN, a type, a shape
 * that goes from one function to the next; a mode; data that is the same again. What is about
 * values follows from an act that is missing meanwhile, and what a stage calls from a mode.
 */
#ifndef WTI_LEARN_CAUSES_H
#define WTI_LEARN_CAUSES_H

#include "checker.h"

enum { WTI_ACTS_MAX = WTI_CHAIN_MAX + 2 };

/* Of an order that is broken: the acts that had no place in it; all, if it was turned round. */
size_t wti_causes_acts(const struct wti_account *account, uint32_t acts[WTI_ACTS_MAX]);

struct wti_cause {
	uint32_t first; /* of the same cause: a place among the violated */
	uint32_t place; /* of the violation itself */
};

/* A row for each of the violated, which are sorted by weight; rows of one cause lie together, the
 * one to be shown in front. False: out of memory. */
bool wti_causes_find(const struct wti_checker *checker, struct wti_account *const *violated,
		     size_t count, struct wti_cause *ret_causes);

#endif
