/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that give memory which nobody has written, and those that write all of it. */
#ifndef WTI_DIVERGENCE_MEMORY_H
#define WTI_DIVERGENCE_MEMORY_H

#include "course.h"

/* Nothing of what was there before goes into the result: Tensor.uniform_, init.zeros_, copyto. */
bool wti_fills_memory(const struct wti_course *course, const struct wti_computed *item);
/* torch.empty, Tensor.new_empty, numpy.empty_like ... */
bool wti_gives_memory(const struct wti_course *course, const struct wti_computed *item);

/* Random numbers of numpy: the seed of a generator, and what draws from one. */
bool wti_makes_seed(const struct wti_course *course, const struct wti_computed *item);
bool wti_draws_numbers(const struct wti_course *course, const struct wti_computed *item);

#endif
