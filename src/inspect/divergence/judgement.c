/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of operations in their order, and where the first difference begins: see judgement.h. */
#include "judgement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "inspect/core/library.h"
#include "copies.h"
#include "generators.h"
#include "inspect/digits/lane.h"
#include "memory.h"
#include "settings.h"
#include "shards.h"
#include "solo.h"

#define DEPTH_MAX 4096u
#define PENDING_MAX 256u
#define HASHES_MAX 4096u
#define NUMBERS_MAX 65536u
#define SEED_OPERATIONS 64u /* of numpy at most, from what the system gives to a seed */

/* A call whose outcome is read later. */
struct maker {
	bool is_known;
	struct wti_first_difference seen;
};

/* The last value of a number that has a name. */
struct number {
	struct wti_computed item;
	struct wti_value_row value;
};

struct wti_judge_track {
	const struct wti_course *a, *b;
	const struct wti_within_line *where;
	struct wti_judgement *judgement;
	struct maker backward, step;
	enum wt_action last; /* of the call that ended last */
	bool *inside;        /* by depth: whether something in there differs */
	struct wti_generators generators;
	int64_t ahead; /* so many steps less than A's the second run has counted */
	bool is_ahead_known;
	int64_t shown_before; /* the last step but one of which parameters were compared */
	struct wti_library_settings settings;
	struct wti_shards shards;
	struct wti_solo solo;
	/* Memory that nobody has written, the last such calls, by the hash of A's result. */
	struct wti_first_difference *pending;
	size_t pending_count;
	struct wti_map memory; /* hash: place in `pending` plus one */
	/* Seeds of the system: the first, and how many there are. */
	struct wti_first_difference seed;
	uint64_t seed_count;
	uint64_t began_at; /* so many operations before the first difference */
	/* Of a resumed run: numbers by name as they are now, compared at its first step. */
	bool is_resumed;
	struct wti_map numbers[2]; /* token: place in `kept` plus one */
	struct number *kept;
	size_t kept_count, kept_capacity;
};

/* ---- What is kept of an operation ------------------------------------------------------------ */

static void set_text(char *out, size_t bytes, const char *text)
{
	snprintf(out, bytes, "%s", text);
}

static void describe(const struct wti_judge_track *track, const struct wti_course *course,
		     const struct wti_computed *item, struct wti_first_difference *ret_first)
{
	wti_copy_computed(course, item, ret_first);
	ret_first->unread_before = track->judgement->unread;
	wti_solo_before(&track->solo, ret_first);
}

static void keep(const struct wti_judge_track *track, struct maker *maker,
		 const struct wti_computed *a, const struct wti_computed *b,
		 const struct wti_equality *in)
{
	maker->is_known = true;
	describe(track, track->a, a, &maker->seen);
	maker->seen.in = *in;
	wti_copy_values(track->a, a, b, &maker->seen);
}

/* ---- Memory that nobody has written ---------------------------------------------------------- */

static void keep_memory(struct wti_judge_track *track, const struct wti_computed *a,
			const struct wti_computed *b, const struct wti_equality *out)
{
	size_t place = track->pending_count % PENDING_MAX;
	struct wti_first_difference *first = &track->pending[place];

	describe(track, track->a, a, first);
	first->how = WTI_BEGINS_MEMORY;
	first->out = *out;
	wti_copy_values(track->a, a, b, first);
	track->pending_count++;
	if (track->memory.count >= HASHES_MAX)
		return;
	wti_map_put(&track->memory, a->values[out->first_a].digest.hash, place + 1);
}

/* The memory that an operation was given; NULL: none of it. */
static const struct wti_first_difference *memory_of(const struct wti_judge_track *track,
						    const struct wti_value_row *value)
{
	uint64_t hash = value->type == WTI_VALUE_TENSOR ? value->digest.hash : value->bits;
	uint64_t place = hash ? wti_map_get(&track->memory, hash) : 0;

	return place ? &track->pending[place - 1] : NULL;
}

/* ---- Values that were read on their own ------------------------------------------------------ */

/* The call that made a value which was read on its own; NULL: nobody knows. */
static const struct maker *maker_of(const struct wti_judge_track *track, const char *name)
{
	if (wti_ends_with(name, ".grad"))
		return track->backward.is_known ? &track->backward : NULL;
	/* What a step has changed is read as soon as it has ended. */
	return track->step.is_known && track->last == WT_ACTION_STEP ? &track->step : NULL;
}

static void begin_with_value(struct wti_judge_track *track, struct wti_first_difference *first,
			     const struct wti_computed *a, const struct wti_computed *b,
			     const struct wti_equality *out)
{
	const char *name = wti_course_text(track->a, a->callee);
	const struct wti_first_difference *memory = memory_of(track, &a->values[0]);
	const struct maker *maker = maker_of(track, name);

	if (memory)
		*first = *memory;
	else if (maker)
		*first = maker->seen;
	else
		describe(track, track->a, a, first);
	first->how = memory ? WTI_BEGINS_MEMORY : maker ? WTI_BEGINS_STATE : WTI_BEGINS_UNSEEN;
	first->out = *out;
	first->after_step = track->shown_before;
	first->unread_before = track->judgement->unread;
	set_text(first->value, sizeof(first->value), name);
	wti_copy_values(track->a, a, b, first);
	if (first->value_count)
		set_text(first->values[first->value_count - 1].name, sizeof(first->values[0].name),
			 name);
}

/* Recordings that omit steps may omit different ones: what has the same name need not correspond.
 */
static bool is_of_another_step(const struct wti_judge_track *track, const struct wti_computed *a,
			       const struct wti_computed *b)
{
	return track->is_ahead_known && a->step >= 0 && b->step >= 0 &&
	       a->step - b->step != track->ahead;
}

static void take_value(struct wti_judge_track *track, const struct wti_computed *a,
		       const struct wti_computed *b)
{
	const struct wti_equality out = wti_compare_side(
		(struct wti_computed_in){track->a, a}, (struct wti_computed_in){track->b, b}, true);
	struct wti_judgement *judgement = track->judgement;
	bool is_report = a->values[0].type == WT_VALUE_TYPE_FLOAT && !a->depth;

	if (a->is_random) {
		wti_generators_take(&track->generators,
				    wti_course_text(track->a, a->callee) + strlen("random."),
				    out.different);
		return;
	}
	if (wti_is_shard(&track->shards, wti_course_text(track->a, a->callee), a->values,
			 b->values)) {
		judgement->shards++;
		return;
	}
	if (is_of_another_step(track, a, b)) {
		judgement->unread++;
		return;
	}
	judgement->values_compared += out.compared;
	if (a->values[0].type == WT_VALUE_TYPE_HASH && a->step > judgement->shown_step) {
		track->shown_before = judgement->shown_step;
		judgement->shown_step = a->step;
	}
	judgement->states += a->values[0].type == WT_VALUE_TYPE_HASH;
	judgement->unread += out.unread;
	judgement->same_since += out.compared && !out.different;
	if (!out.different)
		return;
	if (is_report) {
		judgement->reports++;
		if (judgement->report.how == WTI_BEGINS_NOT)
			begin_with_value(track, &judgement->report, a, b, &out);
	} else if (judgement->first.how == WTI_BEGINS_NOT && !track->where->file) {
		begin_with_value(track, &judgement->first, a, b, &out);
	} else {
		judgement->inherited++;
	}
}

/* ---- Of a resumed run ------------------------------------------------------------------------ */

static bool is_number(const struct wti_computed *item)
{
	return item->kind == WTI_COMPUTED_VALUE && !item->is_random &&
	       (item->values[0].type == WT_VALUE_TYPE_INT ||
		item->values[0].type == WT_VALUE_TYPE_FLOAT);
}

static void keep_number(struct wti_judge_track *track, unsigned run,
			const struct wti_computed *item)
{
	uint64_t *place =
		track->is_resumed && is_number(item)
			? wti_map_number(&track->numbers[run], item->tokens[WTI_LIKE_NAME])
			: NULL;

	if (!place || (!*place && wti_grow(&track->kept, track->kept_count + 1,
					   &track->kept_capacity, 2 * NUMBERS_MAX)))
		return;
	if (!*place)
		*place = ++track->kept_count;
	track->kept[*place - 1] = (struct number){*item, item->values[0]};
}

/* A learning rate that was not restored: the second run says nothing of it after it began. */
static void compare_numbers(struct wti_judge_track *track)
{
	for (size_t i = 0; i < track->numbers[0].count; i++) {
		const struct wti_map_entry *entry = &track->numbers[0].entries[i];
		uint64_t place = wti_map_get(&track->numbers[1], entry->key);
		struct number *a = entry->value ? &track->kept[entry->value - 1] : NULL;
		struct number *b = place ? &track->kept[place - 1] : NULL;

		if (!a || !b || track->judgement->first.how != WTI_BEGINS_NOT)
			continue;
		a->item.values = &a->value;
		b->item.values = &b->value;
		take_value(track, &a->item, &b->item);
	}
	track->is_resumed = false;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* Whether something inside it differs; what is around it has something inside then. */
static bool leave(struct wti_judge_track *track, uint32_t depth, bool differs)
{
	bool inner;

	if (depth >= DEPTH_MAX)
		return false;
	inner = track->inside[depth];
	track->inside[depth] = false;
	if (depth && (inner || differs))
		track->inside[depth - 1] = true;
	return inner;
}

/* It has inputs that are not among its arguments: parameters, a graph, random numbers. */
static bool has_hidden_inputs(const struct wti_computed *item, const struct wti_equality *in)
{
	return item->action != WT_ACTION_NONE || item->object || !in->compared ||
	       item->kind == WTI_COMPUTED_OPERATOR;
}

static void begin(struct wti_judge_track *track, const struct wti_computed *a,
		  const struct wti_computed *b, const struct wti_equality *in,
		  const struct wti_equality *out)
{
	struct wti_first_difference *first = &track->judgement->first;
	const struct wti_first_difference *memory =
		in->different ? memory_of(track, &a->values[in->first_a]) : NULL;

	if (memory) {
		*first = *memory;
		set_text(first->value, sizeof(first->value), wti_course_text(track->a, a->callee));
		return;
	}
	track->began_at = track->judgement->compared;
	if (in->different && wti_solo_made(&track->solo, a, b, first))
		return;
	/* Of several, one may have been seeded again: it is not known which is drawn from. */
	if (!in->different && track->seed_count == 1 && strstr(track->seed.path, "default_rng") &&
	    wti_draws_numbers(track->a, a)) {
		*first = track->seed;
		set_text(first->value, sizeof(first->value), wti_course_text(track->a, a->callee));
		return;
	}
	describe(track, track->a, a, first);
	first->how = in->different ? WTI_BEGINS_INPUT : WTI_BEGINS_OUTPUT;
	first->in = *in;
	first->out = *out;
	first->has_hidden_inputs = has_hidden_inputs(a, in);
	wti_copy_values(track->a, a, b, first);
}

/* What an operation overwrites is no input of it. */
static struct wti_equality inputs_of(const struct wti_judge_track *track, struct wti_computed_in a,
				     struct wti_computed_in b)
{
	struct wti_equality in = wti_compare_side(a, b, false);

	if (in.different == 1 &&
	    ((wti_fills_memory(track->a, a.item) &&
	      in.first_a == wti_side_value(a.item, false, 0)) ||
	     !strcmp(wti_course_text(track->a, a.item->values[in.first_a].name), "out")))
		in.different = 0;
	return in;
}

static bool is_place(const struct wti_judge_track *track, const struct wti_course *course,
		     const struct wti_computed *item)
{
	const char *file = wti_course_text(course, item->file);

	if (track->where->is_yours && (!*file || wti_is_library(file)))
		return false;
	return !track->where->file ||
	       (item->line == track->where->line && !strcmp(file, track->where->file));
}

static bool is_where(const struct wti_judge_track *track, const struct wti_computed *item)
{
	return is_place(track, track->a, item);
}

/* Nothing of what it was given was read, and the next operations of its line make a seed of it. */
static bool prepares_seed(const struct wti_judge_track *track, const struct wti_computed *seed)
{
	const struct wti_first_difference *first = &track->judgement->first;

	return first->how == WTI_BEGINS_OUTPUT && !first->in.compared && first->in.opaque &&
	       track->judgement->compared - track->began_at <= SEED_OPERATIONS &&
	       first->line == seed->line &&
	       !strcmp(first->file, wti_course_text(track->a, seed->file));
}

/* Whether numbers will be drawn, or the program seeds it again, is not known yet. */
static void keep_seed(struct wti_judge_track *track, const struct wti_computed *a,
		      const struct wti_computed *b, const struct wti_equality *out)
{
	if (prepares_seed(track, a))
		track->judgement->first = (struct wti_first_difference){.how = WTI_BEGINS_NOT};
	if (!is_where(track, a) || track->seed_count++)
		return;
	describe(track, track->a, a, &track->seed);
	track->seed.how = WTI_BEGINS_SEED;
	track->seed.out = *out;
	wti_copy_values(track->a, a, b, &track->seed);
}

static void judge(struct wti_judge_track *track, const struct wti_computed *a,
		  const struct wti_computed *b)
{
	const struct wti_computed_in mine = {track->a, a}, other = {track->b, b};
	const struct wti_equality in = inputs_of(track, mine, other);
	const struct wti_equality out = wti_compare_side(mine, other, true);
	struct wti_judgement *judgement = track->judgement;
	bool overwrites = in.different && out.compared && !out.different && !out.unread;
	bool is_memory = out.different && !in.different && wti_gives_memory(track->a, a);
	bool is_seed = out.different && !in.different && wti_makes_seed(track->a, a);
	bool differs = (in.different && !overwrites) || (out.different && !is_memory && !is_seed);
	bool inner = leave(track, a->depth, differs);

	judgement->compared++;
	judgement->values_compared += in.compared + out.compared;
	judgement->unread += out.unread;
	judgement->overwritten += overwrites;
	if (is_memory)
		keep_memory(track, a, b, &out);
	else if (is_seed)
		keep_seed(track, a, b, &out);
	if (differs && !inner && judgement->first.how == WTI_BEGINS_NOT && is_where(track, a))
		begin(track, a, b, &in, &out);
	else if (out.different && !in.different && !inner && !is_memory && !is_seed &&
		 !has_hidden_inputs(a, &in))
		judgement->further++;
	else if (differs || inner)
		judgement->inherited++;
	else
		judgement->same++;
	judgement->same_since += out.compared && !differs && !inner;
	track->last = a->action;
	track->ahead = a->step - b->step;
	track->is_ahead_known = a->step >= 0 && b->step >= 0;
	if (a->action == WT_ACTION_STEP && track->is_resumed)
		compare_numbers(track);
	if (a->action == WT_ACTION_BACKWARD)
		keep(track, &track->backward, a, b, &in);
	else if (a->action == WT_ACTION_STEP)
		keep(track, &track->step, a, b, &in);
}

static void take_lone(struct wti_judge_track *track, const struct wti_course *course,
		      const struct wti_computed *item)
{
	struct wti_first_difference *order = &track->judgement->order;

	track->judgement->lone++;
	track->judgement->same_since = 0;
	if (order->how != WTI_BEGINS_NOT)
		return;
	describe(track, course, item, order);
	order->how = WTI_BEGINS_ORDER;
	order->single_in = track->solo.has_order ? 1 + (course == track->b) : 0;
}

/* One that has no partner. */
static void take_single(struct wti_judge_track *track, const struct wti_course *course,
			const struct wti_computed *item, enum wti_pairing_label label)
{
	struct wti_first_difference seen;
	bool is_alone = wti_pair_is_alone(label);

	if (is_alone || label == WTI_PAIR_REPLACED) {
		describe(track, course, item, &seen);
		wti_solo_take(&track->solo, course == track->b, item, &seen,
			      is_alone && is_place(track, course, item));
	}
	if (is_alone)
		take_lone(track, course, item);
}

static void count(struct wti_judgement *judgement, const struct wti_computed *a,
		  const struct wti_computed *b, enum wti_pairing_label label)
{
	const struct wti_computed *item = a ? a : b;

	if (a && b && a->step > judgement->last_step)
		judgement->last_step = a->step;
	if (item->kind == WTI_COMPUTED_VALUE)
		return;
	judgement->a_count += a != NULL;
	judgement->b_count += b != NULL;
	judgement->labels[label]++;
}

/* As they are up to the first difference. */
static void take_setting(struct wti_judge_track *track, const struct wti_computed *a,
			 const struct wti_computed *b)
{
	if (track->judgement->first.how != WTI_BEGINS_NOT)
		return;
	if (a)
		wti_settings_take(&track->settings, 0, track->a, a);
	if (b)
		wti_settings_take(&track->settings, 1, track->b, b);
}

static int take(void *self, const struct wti_computed *a, const struct wti_computed *b,
		enum wti_pairing_label label)
{
	struct wti_judge_track *track = self;

	count(track->judgement, a, b, label);
	wti_solo_step(&track->solo, a, b);
	if (a)
		keep_number(track, 0, a);
	if (b)
		keep_number(track, 1, b);
	if (label == WTI_PAIR_ABSORBED)
		return 0;
	if ((a ? a : b)->is_setting)
		take_setting(track, a, b);
	else if (a && b && a->kind == WTI_COMPUTED_VALUE)
		take_value(track, a, b);
	else if (a && b)
		judge(track, a, b);
	else if ((a ? a : b)->kind != WTI_COMPUTED_VALUE)
		take_single(track, a ? track->a : track->b, a ? a : b, label);
	return 0;
}

/* What has no counterpart; numbers among it are what both begin with. */
static int skip(struct wti_judge_track *track, struct wti_course *course, unsigned run,
		uint64_t count)
{
	int r = 0;

	for (uint64_t i = 0; i < count && !r; i++) {
		r = wti_course_fill(course, 1);
		if (r || !wti_course_count(course))
			break;
		keep_number(track, run, wti_course_at(course, 0));
		wti_course_drop(course, 1);
	}
	return r;
}

static int judge_all(struct wti_judge_track *track, struct wti_course *a, struct wti_course *b,
		     const struct wti_resume *resume, const struct wti_pairer *pairer)
{
	const struct wti_pairing_how how = {track, take};
	int r = 0;

	track->is_resumed = resume->is_found;
	track->is_ahead_known = !resume->is_found;
	track->shown_before = -1;
	track->solo.has_order = !pairer;
	if (resume->is_found) {
		r = skip(track, a, 0, resume->a_skip);
		r = r ? r : skip(track, b, 1, resume->b_skip);
	}
	if (!r)
		r = pairer ? pairer->pair(pairer->self, a, b, &how) : wti_pair_courses(a, b, &how);
	track->judgement->only = track->solo.first;
	if (!r && (track->solo.made.failed || track->memory.failed || track->shards.names.failed ||
		   track->numbers[0].failed || track->numbers[1].failed))
		r = WT_E_NOMEM;
	if (!r)
		wti_generators_differing(&track->generators, track->judgement->generators,
					 sizeof(track->judgement->generators));
	if (track->judgement->first.how != WTI_BEGINS_NOT)
		wti_settings_differing(&track->settings, track->judgement->settings,
				       sizeof(track->judgement->settings));
	return r;
}

static void release(struct wti_judge_track *track)
{
	free(track->inside);
	free(track->pending);
	wti_shards_release(&track->shards);
	wti_solo_release(&track->solo);
	wti_map_release(&track->memory);
	wti_map_release(&track->numbers[0]);
	wti_map_release(&track->numbers[1]);
	free(track->kept);
	free(track);
}

int wti_judge_courses(struct wti_course *a, struct wti_course *b, const struct wti_resume *resume,
		      const struct wti_within_line *where, const struct wti_pairer *pairer,
		      struct wti_judgement *ret_judgement)
{
	struct wti_judge_track *track = calloc(1, sizeof(*track));
	int r;

	*ret_judgement =
		(struct wti_judgement){.last_step = -1, .shown_step = -1, .resume = *resume};
	if (!track)
		return WT_E_NOMEM;
	track->a = a;
	track->b = b;
	track->where = where;
	track->judgement = ret_judgement;
	track->inside = calloc(DEPTH_MAX, sizeof(*track->inside));
	track->pending = calloc(PENDING_MAX, sizeof(*track->pending));
	wti_shards_init(&track->shards);
	wti_solo_init(&track->solo);
	wti_map_init(&track->memory, HASHES_MAX);
	wti_map_init(&track->numbers[0], NUMBERS_MAX);
	wti_map_init(&track->numbers[1], NUMBERS_MAX);
	r = track->inside && track->pending ? judge_all(track, a, b, resume, pairer) : WT_E_NOMEM;
	release(track);
	return r;
}
