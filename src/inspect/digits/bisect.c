/* SPDX-License-Identifier: Apache-2.0 */
/* Parts first, then what is left without a part, then smaller parts. */
#include "bisect.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct bisect {
	size_t count; /* of all */
	size_t *left; /* numbers of those that are still chosen */
	size_t left_count;
	size_t parts;
	bool *trial;
	size_t tests_left;
	wti_bisect_test test;
	void *cookie;
	struct wt_err *err;
};

static void part_of(const struct bisect *b, size_t part, size_t *ret_from, size_t *ret_to)
{
	*ret_from = b->left_count * part / b->parts;
	*ret_to = b->left_count * (part + 1) / b->parts;
}

/* The part alone, or all but it: 1 enough, 0 not, or an error. */
static int try_part(struct bisect *b, size_t part, bool without)
{
	size_t from, to;

	part_of(b, part, &from, &to);
	memset(b->trial, 0, b->count * sizeof(*b->trial));
	for (size_t i = 0; i < b->left_count; i++)
		b->trial[b->left[i]] = (i >= from && i < to) != without;
	if (!b->tests_left)
		return 0;
	b->tests_left--;
	return b->test(b->cookie, b->trial, b->err);
}

static void keep(struct bisect *b, size_t part, bool without)
{
	size_t from, to, kept = 0;

	part_of(b, part, &from, &to);
	for (size_t i = 0; i < b->left_count; i++) {
		if ((i >= from && i < to) != without)
			b->left[kept++] = b->left[i];
	}
	b->left_count = kept;
}

/* 1: fewer are left; 0: none of these is enough. */
static int reduce(struct bisect *b, bool without)
{
	for (size_t part = 0; part < b->parts && b->tests_left; part++) {
		int r = try_part(b, part, without);

		if (r < 0)
			return r;
		if (!r)
			continue;
		keep(b, part, without);
		b->parts = without && b->parts > 3 ? b->parts - 1 : 2;
		return 1;
	}
	return 0;
}

static int search(struct bisect *b)
{
	b->parts = 2;
	while (b->left_count > 1 && b->tests_left) {
		int r;

		b->parts = b->parts < b->left_count ? b->parts : b->left_count;
		r = reduce(b, false);
		if (!r && b->parts > 2)
			r = reduce(b, true);
		if (r < 0)
			return r;
		if (r)
			continue;
		if (b->parts >= b->left_count)
			return 0;
		b->parts *= 2;
	}
	return b->left_count > 1;
}

int wti_bisect(size_t count, wti_bisect_test test, void *cookie, size_t tests_max, bool *ret_chosen,
	       struct wt_err *err)
{
	struct bisect b = {.count = count,
			   .left = calloc(count + 1, sizeof(size_t)),
			   .left_count = count,
			   .trial = calloc(count + 1, sizeof(bool)),
			   .tests_left = tests_max,
			   .test = test,
			   .cookie = cookie,
			   .err = err};
	int r = b.left && b.trial ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");

	for (size_t i = 0; i < count && !r; i++)
		b.left[i] = i;
	r = r ? r : search(&b);
	if (r >= 0) {
		memset(ret_chosen, 0, count * sizeof(*ret_chosen));
		for (size_t i = 0; i < b.left_count; i++)
			ret_chosen[b.left[i]] = true;
	}
	free(b.left);
	free(b.trial);
	return r;
}
