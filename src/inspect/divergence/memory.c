/* SPDX-License-Identifier: Apache-2.0 */
/* By the names of torch and numpy: see memory.h. */
#include "memory.h"

#include <string.h>

#include "base/text.h"

static const char *last_word(const struct wti_course *course, const struct wti_computed *item)
{
	const char *callee = wti_course_text(course, item->callee);
	const char *last = strrchr(callee, item->kind == WTI_COMPUTED_OPERATOR ? ':' : '.');

	return last ? last + 1 : callee;
}

/* Tensor.uniform_, init.zeros_, copy_: nothing of what was there before goes into the result. */
bool wti_fills_memory(const struct wti_course *course, const struct wti_computed *item)
{
	static const char *const ends[] = {
		"uniform_", "normal_",     "random_", "bernoulli_", "exponential_", "geometric_",
		"cauchy_",  "fill_",       "zero_",   "zeros_",     "ones_",        "constant_",
		"copy_",    "orthogonal_", "eye_",    "copyto",     "fill"};
	const char *last = last_word(course, item);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (wti_ends_with(last, ends[i]))
			return true;
	return false;
}

/* torch.empty, Tensor.new_empty, numpy.empty_like ... */
bool wti_gives_memory(const struct wti_course *course, const struct wti_computed *item)
{
	static const char *const words[] = {"empty",     "empty_like",        "empty_strided",
					    "new_empty", "new_empty_strided", "resize_"};
	const char *last = last_word(course, item);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(last, words[i]))
			return true;
	return false;
}

/* What a generator's state is made of; old ones get it from the system before their own seed. */
bool wti_makes_seed(const struct wti_course *course, const struct wti_computed *item)
{
	return !strcmp(wti_course_text(course, item->callee), "SeedSequence.generate_state");
}

/* Of the generators that default_rng() makes: numpy's own one is of another type. */
bool wti_draws_numbers(const struct wti_course *course, const struct wti_computed *item)
{
	return !strncmp(wti_course_text(course, item->module), "numpy.random", 12) &&
	       !strncmp(wti_course_text(course, item->callee), "Generator.", 10);
}
