/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about workers of a loader: that each of them draws its own random numbers. */
#include <string.h>

#include "base/number.h"
#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- WT-RNG-002: workers draw the same ------------------------------------------------------ */

enum { DRAWN = 8 };

/* Of a line in a worker: the first tensors that it made from numbers. */
struct drawn {
	uint64_t hashes[DRAWN];
	uint32_t count;
	bool is_compared;
	uint32_t file; /* symbol */
	int64_t line;
};

struct worker {
	int64_t id; /* plus one; 0: not a worker */
};

struct workers {
	struct wti_slots workers; /* by stream */
	struct wti_slots drawn;   /* stream and site */
};

static void release_workers(void *state)
{
	struct workers *workers = state;

	wti_slots_release(&workers->workers);
	wti_slots_release(&workers->drawn);
}

/* Numbers that came from outside of torch, or from its generator. */
static bool is_drawn(const struct wti_call *call)
{
	return call->what == WTI_CALLEE_FROM_NUMPY || call->what == WTI_CALLEE_RANDOM_FILL;
}

static void note_worker(struct workers *workers, const struct wti_moment *moment)
{
	struct worker *worker;

	if (strcmp(wti_moment_text(moment, moment->owner), "worker") ||
	    strcmp(wti_moment_text(moment, moment->attribute), "id"))
		return;
	worker = wti_slot(&workers->workers, moment->process->stream, sizeof(*worker));
	if (worker)
		worker->id = wti_bounded(wti_i64_of(moment->number)) + 1;
}

static bool has_drawn(const struct drawn *drawn, uint64_t hash)
{
	for (uint32_t i = 0; i < drawn->count; i++)
		if (drawn->hashes[i] == hash)
			return true;
	return false;
}

static int64_t worker_id(struct workers *workers, uint64_t stream)
{
	const struct worker *worker = wti_slot_find(&workers->workers, stream);

	return worker ? worker->id : 0;
}

static void compare(struct wti_case *account, struct workers *workers, struct drawn *drawn,
		    const struct wti_moment *moment)
{
	int64_t id = worker_id(workers, moment->process->stream);

	for (size_t i = 0; i < workers->drawn.count; i++) {
		uint64_t key = workers->drawn.index.entries[i].key;
		const struct drawn *other = wti_slot_find(&workers->drawn, key);

		if (!other || other == drawn || other->count < DRAWN ||
		    other->file != drawn->file || other->line != drawn->line ||
		    worker_id(workers, key >> 32) == id)
			continue;
		if (memcmp(other->hashes, drawn->hashes, sizeof(drawn->hashes)))
			wti_held(account);
		else
			wti_violated(
				account, moment, moment->call->callee,
				"workers %lld and %lld made the same %d tensors here, one after "
				"the other",
				(long long)worker_id(workers, key >> 32) - 1, (long long)id - 1,
				DRAWN);
	}
}

static void see_drawn(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct workers *workers = state;
	const struct wti_value_row *result;
	struct wti_where where;
	struct drawn *drawn;

	if (moment->type == WTI_MOMENT_STATE) {
		note_worker(workers, moment);
		return;
	}
	if (!is_drawn(moment->call) || !worker_id(workers, moment->process->stream))
		return;
	result = wti_call_tensor(moment->call, true, 0);
	drawn = wti_slot(&workers->drawn,
			 (uint64_t)moment->process->stream << 32 | moment->call->site,
			 sizeof(*drawn));
	if (!drawn || !result || drawn->count >= DRAWN || result->digest.count < 2 ||
	    result->digest.flags & WTI_TENSOR_NO_HASH || has_drawn(drawn, result->digest.hash))
		return;
	drawn->hashes[drawn->count++] = result->digest.hash;
	if (drawn->count < DRAWN)
		return;
	where = wti_moment_where(moment);
	drawn->file = where.file ? wti_symbol_word(moment->training->symbols, where.file) : 0;
	drawn->line = where.line;
	compare(account, workers, drawn, moment);
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
		"Two workers of different numbers do not make the same eight tensors of numbers "
		"from outside of torch, or of random numbers, one after the other in one line. "
		"Equal tensors of one worker count once. A case is a pair of workers and a line.",
	.innocent = "A table of eight rows or more that each worker reads for itself.",
	.needs = "no two workers made tensors of numbers in one line",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STATE,
	.state_bytes = sizeof(struct workers),
	.watch = see_drawn,
	.release = release_workers,
};
