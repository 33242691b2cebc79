/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out of a pack what follows from the rest of it, and puts pairs of acts that follow one
 * another together: a chain of orders is one invariant. Whoever violates what was left out violates
 * what stayed.
 *
 * Something follows only from what is asked wherever it is asked itself, and is as sure: what has
 * more exceptions than its consequence does not stand for it. The outcome depends on what the pack
 * holds and not on how it came together.
 */
#ifndef WTI_LEARN_REDUCE_H
#define WTI_LEARN_REDUCE_H

#include "pack.h"

/* The pack has to be settled, and is again afterwards. */
int wti_pack_reduce(struct wti_pack *pack, struct wt_err *err);

#endif
