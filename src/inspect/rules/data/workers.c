/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about workers of a loader: that each of them draws its own random numbers. */
#include <string.h>

#include "base/number.h"
#include "inspect/judge/rule.h"

/* ---- WT-RNG-002: workers draw the same ------------------------------------------------------ */

enum { TENSORS, ELEMENTS };           /* thresholds */
enum { OF_PROCESS, OF_SITE, OF_RUN }; /* keeps */
enum { DRAWN_MAX = 64 };

struct worker {
	int64_t id; /* plus one; 0: not a worker */
};

/* Of a line in a worker: the first tensors that it made from numbers. */
struct drawn {
	uint64_t hashes[DRAWN_MAX];
	uint32_t count;
	uint32_t file; /* symbol */
	int64_t line;
	int64_t worker;
	const struct drawn *before; /* that was complete before this one */
};

struct complete {
	const struct drawn *last;
};

/* How many are compared. */
static uint32_t wanted(const struct wti_case *account)
{
	uint64_t count = wti_threshold(account, TENSORS);

	return count < DRAWN_MAX ? (uint32_t)count : DRAWN_MAX;
}

static void note_worker(struct worker *worker, const struct wti_moment *moment)
{
	if (!strcmp(wti_moment_text(moment, moment->owner), "worker") &&
	    !strcmp(wti_moment_text(moment, moment->attribute), "id"))
		worker->id = wti_bounded(wti_i64_of(moment->number)) + 1;
}

static bool has_drawn(const struct drawn *drawn, uint64_t hash)
{
	for (uint32_t i = 0; i < drawn->count; i++)
		if (drawn->hashes[i] == hash)
			return true;
	return false;
}

static void compare(struct wti_case *account, const struct drawn *drawn,
		    const struct wti_moment *moment)
{
	for (const struct drawn *other = drawn->before; other; other = other->before) {
		if (other->file != drawn->file || other->line != drawn->line ||
		    other->worker == drawn->worker)
			continue;
		if (memcmp(other->hashes, drawn->hashes, drawn->count * sizeof(*drawn->hashes)))
			wti_held(account);
		else
			wti_violated(
				account, moment, moment->call->callee,
				"workers %lld and %lld made the same %u tensors here, one after "
				"the other",
				(long long)other->worker - 1, (long long)drawn->worker - 1,
				drawn->count);
	}
}

/* Several cases at once: one for each worker that has been here. */
static void complete(struct wti_case *account, struct drawn *drawn, const struct wti_moment *moment)
{
	struct complete *complete = wti_kept(account, OF_RUN, moment);
	struct wti_where where = wti_moment_where(moment);

	if (!complete)
		return;
	drawn->file = where.file ? wti_symbol_word(moment->training->symbols, where.file) : 0;
	drawn->line = where.line;
	drawn->before = complete->last;
	complete->last = drawn;
	compare(account, drawn, moment);
}

static void draw(struct wti_case *account, const struct worker *worker,
		 const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);
	struct drawn *drawn =
		wti_kept_of_key(account, OF_SITE, moment->process->stream, moment->call->site);

	if (!drawn || !result || drawn->count >= wanted(account) ||
	    result->digest.count < wti_threshold(account, ELEMENTS) ||
	    result->digest.flags & WT_TENSOR_NO_HASH || has_drawn(drawn, result->digest.hash))
		return;
	drawn->worker = worker->id;
	drawn->hashes[drawn->count++] = result->digest.hash;
	if (drawn->count == wanted(account))
		complete(account, drawn, moment);
}

static enum wti_answer see_drawn(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct worker *worker = kept;

	if (moment->type == WTI_MOMENT_STATE)
		note_worker(worker, moment);
	else if (worker->id)
		draw(account, worker, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rng_002 = {
	.code = "WT-RNG-002",
	.severity = WT_WARNING,
	.title = "workers of a loader draw the same random numbers",
	.means = "each of them starts from the same seed: rows of different workers get the same "
		 "noise, crops and flips",
	.hint = "seed numpy and random from torch.initial_seed() in worker_init_fn, which differs "
		"from worker to worker",
	.definition =
		"On one line, two workers do not make the same eight tensors in the same order. "
		"Only tensors of random numbers, or of numbers from outside torch, are compared. "
		"Equal tensors of one worker count once. Workers with the same number, of two "
		"loaders or two epochs, are not compared. A case is a pair of workers and a line.",
	.innocent = "A table of eight rows or more that each worker reads in the same order.",
	.needs = "no two workers made tensors of numbers on the same line",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STATE,
	/* Numbers that came from outside of torch, or from its generator. */
	.callees = WTI_CALLEE_SET(WTI_CALLEE_FROM_NUMPY) | WTI_CALLEE_SET(WTI_CALLEE_RANDOM_FILL),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct worker)},
		  [OF_SITE] = {WTI_PER_KEY, sizeof(struct drawn)},
		  [OF_RUN] = {WTI_PER_RUN, sizeof(struct complete)}},
	.see = see_drawn,
	.thresholds = {[TENSORS] = {"tensors", 8,
				    "that differ from each other, at most 64: flips and labels of "
				    "few values may be the same a few times in a row"},
		       [ELEMENTS] = {"elements", 2,
				     "of a tensor: a single number is often equal by chance"}},
};
