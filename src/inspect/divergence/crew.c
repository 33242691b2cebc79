/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both crews are read three times: for the keys of all that they did, for what of it has no equal,
 * and to be judged. So only what differs is kept with its values.
 */
#include "crew.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "known.h"

#define WORK_MAX ((size_t)1 << 22)
#define LEFT_MAX ((size_t)1 << 18) /* kept with their values */
#define NOBODY SIZE_MAX

enum fate {
	FATE_OPEN,
	FATE_SAME,
	FATE_ABSORBED,
	FATE_PAIRED, /* with `partner`, which differs */
};

/* An operation of a member, in the order of members and of what each did. */
struct work {
	uint64_t content, inputs;
	size_t partner;
	struct wti_computed *item; /* with its values; only of what has no equal */
	enum fate fate;
};

struct side {
	const struct wti_crew *crew;
	struct work *all;
	size_t count, capacity;
	size_t *starts; /* the first of each member, and the end */
	size_t *left;   /* those that have no equal, by time */
	size_t left_count, left_capacity;
	struct wti_map results; /* call path, line and result of those */
};

/* Bits of what is known of a value, for run 0; those of run 1 are one to the left. */
enum flow {
	FLOW_KNOWN = 1u << 0,   /* it is in that run */
	FLOW_BESIDE = 1u << 2,  /* and somebody outside the crew has it */
	FLOW_TAKEN = 1u << 4,   /* an operation without equal takes it */
	FLOW_REMAINS = 1u << 6, /* and that one is not absorbed */
	FLOW_ASKED = 1u << 8,
};

struct job {
	struct side sides[2];
	struct wti_map values; /* key: flows */
	struct wt_err *err;
};

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t seed, uint64_t number)
{
	return XXH3_64bits_withSeed(&number, sizeof(number), seed);
}

static uint64_t values_key(const struct wti_computed *item, bool is_output, uint64_t key)
{
	for (uint32_t n = 0;; n++) {
		uint32_t i = wti_side_value(item, is_output, n);
		const struct wti_value_row *value = &item->values[i];

		if (i >= item->value_count)
			return mix(key, n);
		key = mix(key,
			  value->type == WT_VALUE_TYPE_TEXT ? value->bits : wti_known_key(value));
	}
}

static bool is_output(const struct wti_value_row *value)
{
	return value->position < 0;
}

/* Values that are only reported decide nothing; states of generators are shown, not judged. */
static bool is_aside(const struct wti_computed *item)
{
	return item->is_random || (item->kind == WTI_COMPUTED_VALUE && !item->depth &&
				   item->values[0].type == WT_VALUE_TYPE_FLOAT);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef int (*taker)(struct job *job, struct side *side, size_t number,
		     const struct wti_computed *item);

static int read_member(struct job *job, struct side *side, size_t member, taker take)
{
	const struct wti_crew_member *who = &side->crew->members[member];
	size_t number = side->starts[member];
	struct wti_course *course;
	int r = wti_course_open(side->crew->trace, who->stream, who->track, &course, job->err);

	if (r)
		return r;
	while (!(r = wti_course_fill(course, 1)) && wti_course_count(course)) {
		if (!is_aside(wti_course_at(course, 0)))
			r = take(job, side, number++, wti_course_at(course, 0));
		wti_course_drop(course, 1);
		if (r)
			break;
	}
	side->starts[member + 1] = number;
	wti_course_free(course);
	return r == WT_E_NOMEM ? wti_err(job->err, r, "out of memory") : r;
}

static int read_side(struct job *job, struct side *side, taker take)
{
	int r = 0;

	for (size_t i = 0; i < side->crew->count && !r; i++)
		r = read_member(job, side, i, take);
	return r;
}

static int take_keys(struct job *job, struct side *side, size_t number,
		     const struct wti_computed *item)
{
	struct work work = {.partner = NOBODY};

	if (wti_grow(&side->all, number + 1, &side->capacity, WORK_MAX))
		return wti_err(job->err, WT_E_LIMIT, "threads did more than can be compared");
	work.inputs = values_key(item, false, item->tokens[WTI_LIKE_SHAPES]);
	work.content = values_key(item, true, mix(work.inputs, item->raised));
	side->all[number] = work;
	side->count = number + 1;
	return 0;
}

static struct wti_computed *copy_of(const struct wti_computed *item)
{
	struct wti_computed *copy =
		malloc(sizeof(*copy) + sizeof(*item->values) * item->value_count);

	if (!copy)
		return NULL;
	*copy = *item;
	copy->values = (struct wti_value_row *)(copy + 1);
	memcpy(copy->values, item->values, sizeof(*item->values) * item->value_count);
	return copy;
}

static int take_left(struct job *job, struct side *side, size_t number,
		     const struct wti_computed *item)
{
	struct work *work = number < side->count ? &side->all[number] : NULL;

	if (!work || work->fate == FATE_SAME)
		return 0;
	if (wti_grow(&side->left, side->left_count + 1, &side->left_capacity, LEFT_MAX))
		return wti_err(job->err, WT_E_LIMIT, "threads differ in more than can be compared");
	work->item = copy_of(item);
	if (!work->item)
		return WT_E_NOMEM;
	side->left[side->left_count++] = number;
	for (uint32_t i = 0; i < item->value_count; i++) {
		uint64_t key = wti_known_key(&item->values[i]);

		if (key)
			wti_map_put(&job->values, key, FLOW_ASKED);
		if (key && is_output(&item->values[i]))
			wti_map_put(&side->results, mix(item->tokens[WTI_LIKE_LINE], key), 1);
	}
	return 0;
}

static int by_time(const void *x, const void *y, void *opaque)
{
	const struct side *side = opaque;
	const struct work *a = &side->all[*(const size_t *)x], *b = &side->all[*(const size_t *)y];

	if (a->item->time_ns != b->item->time_ns)
		return a->item->time_ns < b->item->time_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* ---- Who did the same ------------------------------------------------------------------------ */

enum by { BY_CONTENT, BY_INPUTS, BY_LINE };

static uint64_t key_by(const struct work *work, enum by by)
{
	return by == BY_CONTENT  ? work->content
	       : by == BY_INPUTS ? work->inputs
				 : work->item->tokens[WTI_LIKE_LINE];
}

/* The places in `from`, in its order; NULL: all of them. Those of the same key queue up in it. */
static int queue_up(struct side *side, const size_t *from, size_t count, enum by by,
		    struct wti_map *heads, size_t *next)
{
	for (size_t i = count; i-- > 0;) {
		size_t number = from ? from[i] : i;
		uint64_t *head = side->all[number].fate == FATE_OPEN
					 ? wti_map_number(heads, key_by(&side->all[number], by))
					 : NULL;

		if (!head)
			continue;
		next[number] = *head;
		*head = number + 1;
	}
	return heads->failed ? WT_E_NOMEM : 0;
}

static void take_partners(struct job *job, bool all, enum by by, struct wti_map *heads,
			  const size_t *next)
{
	struct side *a = &job->sides[0], *b = &job->sides[1];
	size_t count = all ? a->count : a->left_count;

	for (size_t i = 0; i < count; i++) {
		size_t number = all ? i : a->left[i];
		uint64_t key = key_by(&a->all[number], by), first = wti_map_get(heads, key);

		if (a->all[number].fate != FATE_OPEN || !first)
			continue;
		wti_map_put(heads, key, next[first - 1]);
		a->all[number].partner = first - 1;
		b->all[first - 1].partner = number;
		a->all[number].fate = b->all[first - 1].fate =
			by == BY_CONTENT ? FATE_SAME : FATE_PAIRED;
	}
}

static int match(struct job *job, enum by by)
{
	struct side *b = &job->sides[1];
	bool all = by == BY_CONTENT;
	size_t *next = calloc(b->count + 1, sizeof(*next));
	struct wti_map heads;
	int r;

	if (!next)
		return wti_err(job->err, WT_E_NOMEM, "out of memory");
	wti_map_init(&heads, WORK_MAX);
	r = queue_up(b, all ? NULL : b->left, all ? b->count : b->left_count, by, &heads, next);
	if (!r)
		take_partners(job, all, by, &heads, next);
	wti_map_release(&heads);
	free(next);
	return r ? wti_err(job->err, r, "out of memory") : 0;
}

/* ---- What leaves no trace -------------------------------------------------------------------- */

static int find_values(struct job *job)
{
	int r = 0;

	for (unsigned run = 0; run < 2 && !r; run++) {
		const struct wti_crew *crew = job->sides[run].crew;
		struct wti_map tracks;
		const struct wti_known_flags flags = {FLOW_KNOWN << run, FLOW_BESIDE << run,
						      &tracks};

		wti_map_init(&tracks, crew->count);
		for (size_t i = 0; i < crew->count; i++)
			wti_map_put(&tracks,
				    (uint64_t)crew->members[i].stream << 32 |
					    crew->members[i].track,
				    1);
		r = wti_known_scan(crew->trace, &job->values, &flags, job->err);
		wti_map_release(&tracks);
	}
	return r;
}

static bool result_remains(const struct job *job, unsigned run, const struct wti_computed *item,
			   uint64_t key)
{
	uint64_t flows = wti_map_get(&job->values, key);

	if (key == WTI_VALUE_UNREAD)
		return true;
	if (wti_map_get(&job->sides[!run].results, mix(item->tokens[WTI_LIKE_LINE], key)))
		return false;
	return !(flows & FLOW_TAKEN << run) || flows & FLOW_REMAINS << run ||
	       flows & FLOW_BESIDE << run;
}

/* Without a result it is what it was given that may remain: a file that was written. */
static bool remains(const struct job *job, unsigned run, const struct wti_computed *item)
{
	uint32_t results = 0;
	bool is_new = false;

	for (uint32_t i = 0; i < item->value_count; i++) {
		uint64_t key = wti_known_key(&item->values[i]);

		if (!key)
			continue;
		results += is_output(&item->values[i]);
		if (is_output(&item->values[i]) && result_remains(job, run, item, key))
			return true;
		is_new |= !(wti_map_get(&job->values, key) & FLOW_KNOWN << !run);
	}
	return !results && is_new;
}

static void note_taken(struct job *job, unsigned run, const struct wti_computed *item, bool remains)
{
	for (uint32_t i = 0; i < item->value_count; i++) {
		uint64_t key = wti_known_key(&item->values[i]);
		uint64_t *flows = key && !is_output(&item->values[i])
					  ? wti_map_number(&job->values, key)
					  : NULL;

		if (flows)
			*flows |= (uint64_t)(FLOW_TAKEN | (remains ? FLOW_REMAINS : 0)) << run;
	}
}

/* From the last to the first: what takes a value is judged before what made it. */
static void absorb(struct job *job, unsigned run)
{
	struct side *side = &job->sides[run];

	for (size_t i = side->left_count; i-- > 0;) {
		struct work *work = &side->all[side->left[i]];
		bool stays = work->fate != FATE_OPEN || remains(job, run, work->item);

		note_taken(job, run, work->item, stays);
		if (!stays)
			work->fate = FATE_ABSORBED;
	}
}

static int match_all(struct job *job)
{
	int r = read_side(job, &job->sides[0], take_keys);

	r = r ? r : read_side(job, &job->sides[1], take_keys);
	r = r ? r : match(job, BY_CONTENT);
	for (unsigned run = 0; run < 2 && !r; run++) {
		struct side *side = &job->sides[run];

		r = read_side(job, side, take_left);
		if (!r && side->left_count)
			qsort_r(side->left, side->left_count, sizeof(*side->left), by_time, side);
	}
	r = r ? r : match(job, BY_INPUTS);
	r = r ? r : find_values(job);
	if (!r &&
	    (job->values.failed || job->sides[0].results.failed || job->sides[1].results.failed))
		r = wti_err(job->err, WT_E_LIMIT, "threads differ in more than can be compared");
	if (r)
		return r;
	absorb(job, 0);
	absorb(job, 1);
	return match(job, BY_LINE);
}

/* ---- Judging --------------------------------------------------------------------------------- */

struct member {
	const struct job *job;
	unsigned run;
	size_t number; /* of its next work */
};

static int hand_over(const struct member *member, const struct work *work,
		     const struct wti_computed *item, const struct wti_pairing_how *how)
{
	const struct wti_computed *mine = member->run ? NULL : item;

	switch (work->fate) {
	case FATE_SAME:
		return member->run ? 0 : how->taker(how->self, item, item, WTI_PAIR_ALIGNED);
	case FATE_PAIRED:
		return member->run ? 0
				   : how->taker(how->self, item,
						member->job->sides[1].all[work->partner].item,
						WTI_PAIR_ALIGNED);
	case FATE_ABSORBED:
		return how->taker(how->self, mine, member->run ? item : NULL, WTI_PAIR_ABSORBED);
	default:
		return how->taker(how->self, mine, member->run ? item : NULL,
				  member->run ? WTI_PAIR_EXTRA : WTI_PAIR_MISSING);
	}
}

/* In place of wti_pair_courses(): the partners are known. */
static int pair_member(void *self, struct wti_course *a, struct wti_course *b,
		       const struct wti_pairing_how *how)
{
	struct member *member = self;
	const struct side *side = &member->job->sides[member->run];
	int r = 0;

	(void)b;
	while (!r && !(r = wti_course_fill(a, 1)) && wti_course_count(a)) {
		const struct wti_computed *item = wti_course_at(a, 0);

		if (!is_aside(item) && member->number < side->count)
			r = hand_over(member, &side->all[member->number++], item, how);
		wti_course_drop(a, 1);
	}
	return r;
}

static int judge_member(struct job *job, unsigned run, size_t i,
			const struct wti_within_line *where, struct wti_judgement *ret)
{
	const struct side *side = &job->sides[run];
	struct member member = {job, run, side->starts[i]};
	const struct wti_pairer pairer = {&member, pair_member};
	const struct wti_resume nowhere = {.is_found = false};
	struct wti_course *course;
	int r = wti_course_open(side->crew->trace, side->crew->members[i].stream,
				side->crew->members[i].track, &course, job->err);

	if (r)
		return r;
	r = wti_judge_courses(course, course, &nowhere, where, &pairer, ret);
	wti_course_free(course);
	return r ? wti_err(job->err, r, "out of memory") : 0;
}

static int side_init(struct side *side, const struct wti_crew *crew, struct wt_err *err)
{
	side->crew = crew;
	side->starts = calloc(crew->count + 1, sizeof(*side->starts));
	wti_map_init(&side->results, 4 * LEFT_MAX);
	return side->starts ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

static void side_release(struct side *side)
{
	for (size_t i = 0; i < side->left_count; i++)
		free(side->all[side->left[i]].item);
	free(side->all);
	free(side->starts);
	free(side->left);
	wti_map_release(&side->results);
}

int wti_crew_judge(const struct wti_crew *a, const struct wti_crew *b,
		   const struct wti_within_line *where, struct wti_judgement *ret_judgements,
		   struct wt_err *err)
{
	struct job job = {.err = err};
	int r = side_init(&job.sides[0], a, err);

	r = r ? r : side_init(&job.sides[1], b, err);
	wti_map_init(&job.values, 8 * LEFT_MAX);
	r = r ? r : match_all(&job);
	for (size_t i = 0; i < a->count + b->count && !r; i++)
		r = judge_member(&job, i >= a->count, i >= a->count ? i - a->count : i, where,
				 &ret_judgements[i]);
	wti_map_release(&job.values);
	side_release(&job.sides[0]);
	side_release(&job.sides[1]);
	return r;
}
