/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about copies of a model that follow it: averages, teachers, target networks. */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"

/* ---- What is written into a copy ------------------------------------------------------------ */

enum { STEPS_IN_A_ROW = 16 };

/* Writes part of a tensor into another of its shape: copy += (live - copy) / n, and the like. */
static bool is_blend(const struct wti_moment *moment, const struct wti_value_row **ret_to,
		     const struct wti_value_row **ret_from)
{
	const struct wti_value_row *to, *from;

	if (moment->call->what != WTI_CALLEE_BLEND && moment->call->what != WTI_CALLEE_ADD_IN_PLACE)
		return false;
	to = wti_call_tensor(moment->call, false, 0);
	from = wti_call_tensor(moment->call, false, 1);
	if (!to || !from || to->digest.shape != from->digest.shape || to->digest.count < 2 ||
	    (to->digest.flags | from->digest.flags) & WTI_TENSOR_NO_HASH)
		return false;
	*ret_to = to;
	*ret_from = from;
	return true;
}

/* What parameters hold, by hash, as of the last step: is this one that the step has moved? */
struct live {
	struct wti_slots hashes; /* stream and hash: struct moved */
	uint64_t step;
};

struct moved {
	uint64_t step;      /* in which it was, from 1 */
	uint32_t parameter; /* place plus one; 0: not known */
};

static uint64_t live_key(size_t stream, uint64_t hash)
{
	return (hash ^ (uint64_t)stream << 48) * 0x9e3779b97f4a7c15u;
}

static void note_live(struct live *live, const struct wti_moment *moment)
{
	live->step++;
	if (live->hashes.count > 1u << 18)
		wti_slots_release(&live->hashes);
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct moved *moved;

		if (!parameter->moved || !parameter->has_hash)
			continue;
		moved = wti_slot(&live->hashes, live_key(parameter->stream, parameter->hash),
				 sizeof(*moved));
		if (moved)
			*moved = (struct moved){live->step, parameter->place + 1};
	}
}

/* NULL: the last step did not move what has this hash. */
static const struct moved *find_live(const struct live *live, const struct wti_moment *moment,
				     uint64_t hash)
{
	const struct moved *moved =
		wti_slot_find(&live->hashes, live_key(moment->process->stream, hash));

	return moved && moved->step == live->step ? moved : NULL;
}

/* ---- WT-EMA-001: stops following ------------------------------------------------------------ */

struct following {
	struct live live;
	struct wti_slots lines; /* struct line of each that blends a live parameter into another */
};

struct line {
	uint32_t site;
	uint32_t parameter; /* that it last wrote into a copy: place plus one */
	bool is_seen;       /* since the last step */
	bool is_idle;       /* likewise, but it left the copy as it was */
	uint32_t with;      /* steps in a row */
	uint32_t in_vain;   /* steps in a row in which it changed nothing */
	struct wti_where where;
};

static void release_following(void *state)
{
	struct following *following = state;

	wti_slots_release(&following->live.hashes);
	wti_slots_release(&following->lines);
}

static void judge_line(struct wti_case *account, struct line *line, const struct wti_moment *moment)
{
	bool is_idle = line->is_idle && !line->is_seen;

	line->in_vain = is_idle ? line->in_vain + 1 : 0;
	line->is_idle = false;
	if (is_idle) {
		if (line->in_vain >= STEPS_IN_A_ROW)
			wti_violated(account, moment, 0,
				     "parameters were written into a copy after each of %u steps, "
				     "at line %lld, which has changed nothing in it",
				     line->in_vain, (long long)line->where.line);
		return;
	}
	if (line->is_seen) {
		line->with++;
		line->is_seen = false;
		wti_held(account);
		return;
	}
	if (line->with < STEPS_IN_A_ROW) {
		line->with = 0;
		return;
	}
	wti_violated(account, moment, 0,
		     "parameters were written into a copy after each of %u steps, at line %lld, "
		     "and are no longer",
		     line->with, (long long)line->where.line);
}

/* Whether this step has moved what the line last wrote: what rests need not be followed. */
static bool is_due(const struct line *line, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter;

	if (!line || !line->parameter)
		return false;
	parameter = wti_parameter_at(moment->training, line->parameter - 1);
	return parameter->stream == moment->process->stream && parameter->moved &&
	       parameter->optimizer == moment->object->place + 1;
}

static void judge_lines(struct wti_case *account, struct following *following,
			const struct wti_moment *moment)
{
	for (size_t i = 0; i < following->lines.count; i++) {
		uint64_t key = following->lines.index.entries[i].key;
		struct line *line = wti_slot_find(&following->lines, key);

		if (is_due(line, moment))
			judge_line(account, line, moment);
	}
}

static void see_following(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct following *following = state;
	const struct wti_value_row *to, *from, *after;
	const struct moved *moved;
	struct line *line;

	if (moment->type == WTI_MOMENT_STEPPED) {
		judge_lines(account, following, moment);
		note_live(&following->live, moment);
		return;
	}
	if (!is_blend(moment, &to, &from) || to->digest.hash == from->digest.hash)
		return;
	moved = find_live(&following->live, moment, from->digest.hash);
	if (!moved)
		return;
	line = wti_slot(&following->lines,
			(uint64_t)moment->call->stream << 32 | moment->call->site, sizeof(*line));
	if (!line)
		return;
	line->parameter = moved->parameter;
	after = wti_call_tensor(moment->call, true, 0);
	if (after && !(after->digest.flags & WTI_TENSOR_NO_HASH) &&
	    after->digest.hash == to->digest.hash)
		line->is_idle = true;
	else
		line->is_seen = true;
	if (!line->site) {
		line->site = moment->call->site;
		line->where = wti_moment_where(moment);
	}
}

const struct wti_rule wti_rule_ema_001 = {
	.code = "WT-EMA-001",
	.severity = WT_WARNING,
	.title = "a copy that is to follow the model does not, or has stopped to",
	.means = "an average or a target network is no longer updated, while the model trains on",
	.hint = "look at the condition under which the update is called, at the decay (1 keeps the "
		"copy as it is), and at the type of the copy (half precision rounds small "
		"updates away)",
	.definition =
		"If a line writes parameters that the optimizer has just moved into other tensors "
		"(add_, lerp_, copy_) after sixteen steps in a row, it does so after the next "
		"that moves them too; and in one of sixteen it changes one of them. A case is a "
		"step with such an update.",
	.innocent = "Averaging that ends on purpose before the training does.",
	.needs = "no line wrote parameters into a copy after a step",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct following),
	.watch = see_following,
	.release = release_following,
};

/* ---- WT-EMA-002: it is the model itself ----------------------------------------------------- */

enum { WEIGHED_MAX = 1 << 14 };

struct itself {
	struct live live;
	struct wti_slots weighed; /* products by their hash: struct weight */
	uint64_t last_step;
	uint32_t tensors; /* after that step */
};

/* A live parameter, and what it was multiplied with. */
struct weight {
	uint64_t of; /* hash */
	double factor;
	uint64_t step;
};

static void release_itself(void *state)
{
	struct itself *itself = state;

	wti_slots_release(&itself->live.hashes);
	wti_slots_release(&itself->weighed);
}

/* slow.mul_(decay) comes before slow.add_(fast): if both are one, both have been scaled. */
static void note_scaled(struct itself *itself, const struct wti_moment *moment)
{
	const struct wti_value_row *before = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(moment->call, true, 0);
	struct moved *moved;

	if (!before || !after || before->digest.count < 2 ||
	    (before->digest.flags | after->digest.flags) & WTI_TENSOR_NO_HASH ||
	    !find_live(&itself->live, moment, before->digest.hash))
		return;
	moved = wti_slot(&itself->live.hashes,
			 live_key(moment->process->stream, after->digest.hash), sizeof(*moved));
	if (moved)
		*moved = (struct moved){.step = itself->live.step};
}

/* decay * parameter */
static void note_weighed(struct itself *itself, const struct wti_moment *moment)
{
	const struct wti_value_row *given = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *product = wti_call_tensor(moment->call, true, 0);
	struct weight *weight;
	double factor;

	if (!given || !product || given->digest.count < 2 ||
	    given->digest.shape != product->digest.shape ||
	    (given->digest.flags | product->digest.flags) & WTI_TENSOR_NO_HASH ||
	    !find_live(&itself->live, moment, given->digest.hash) ||
	    !wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "other"),
				1, &factor))
		return;
	weight = wti_slot(&itself->weighed, live_key(moment->process->stream, product->digest.hash),
			  sizeof(*weight));
	if (weight)
		*weight = (struct weight){given->digest.hash, factor, itself->live.step};
}

/* What one side of a sum is of a live parameter; false: it is none. */
static bool weight_of(const struct itself *itself, const struct wti_moment *moment,
		      const struct wti_value_row *side, struct weight *ret)
{
	const struct weight *weight;

	if (!side || side->digest.flags & WTI_TENSOR_NO_HASH)
		return false;
	weight = wti_slot_find(&itself->weighed,
			       live_key(moment->process->stream, side->digest.hash));
	if (weight && weight->step == itself->live.step) {
		*ret = *weight;
		return true;
	}
	*ret = (struct weight){side->digest.hash, 1, itself->live.step};
	return find_live(&itself->live, moment, side->digest.hash);
}

/* decay * slow + (1 - decay) * fast, of which both are one. */
static bool is_mean_with_itself(const struct itself *itself, const struct wti_moment *moment)
{
	struct weight one, other;
	double alpha = 1;

	if (!weight_of(itself, moment, wti_call_tensor(moment->call, false, 0), &one) ||
	    !weight_of(itself, moment, wti_call_tensor(moment->call, false, 1), &other))
		return false;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "alpha"), -2,
			   &alpha);
	other.factor *= alpha;
	return one.of == other.of && one.factor > 0 && other.factor > 0 &&
	       fabs(one.factor + other.factor - 1) < 1e-6;
}

/* One may hold the same by chance, as what is all zeros. */
static bool is_second_of_step(struct itself *itself)
{
	if (itself->last_step != itself->live.step)
		itself->tensors = 0;
	itself->last_step = itself->live.step;
	return ++itself->tensors >= 2;
}

static void see_itself(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct itself *itself = state;
	const struct wti_value_row *to, *from;

	if (moment->type == WTI_MOMENT_STEPPED) {
		note_live(&itself->live, moment);
		if (itself->weighed.count > WEIGHED_MAX)
			wti_slots_release(&itself->weighed);
		return;
	}
	if (moment->call->what == WTI_CALLEE_MULTIPLY) {
		note_weighed(itself, moment);
		return;
	}
	if (moment->call->what == WTI_CALLEE_ADD) {
		if (is_mean_with_itself(itself, moment) && is_second_of_step(itself))
			wti_violated(account, moment, moment->call->callee,
				     "it averages a parameter with itself: the slow copy and the "
				     "model are the same");
		return;
	}
	if (moment->call->what == WTI_CALLEE_SCALE_IN_PLACE) {
		note_scaled(itself, moment);
		return;
	}
	if (!is_blend(moment, &to, &from) || !find_live(&itself->live, moment, from->digest.hash))
		return;
	if (to->digest.hash != from->digest.hash) {
		wti_held(account);
		return;
	}
	if (is_second_of_step(itself))
		wti_violated(account, moment, moment->call->callee,
			     "it writes into a tensor what that tensor already holds: both are the "
			     "same parameter");
}

const struct wti_rule wti_rule_ema_002 = {
	.code = "WT-EMA-002",
	.severity = WT_ERROR,
	.title = "the averaged copy is the model itself",
	.means = "the slow copy was assigned and not copied: teacher and student are one",
	.hint = "make the copy with copy.deepcopy(model)",
	.definition =
		"A parameter that the optimizer has just moved is not written (add_, lerp_, copy_) "
		"into a tensor with the same bytes, and is not averaged with the same bytes "
		"(factors that add up to 1). Two parameters after one step are a violation. A "
		"case is such a write.",
	.innocent = "None is known: a real copy lags behind what has just moved.",
	.needs = "no line wrote parameters into a copy after a step",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct itself),
	.watch = see_itself,
	.release = release_itself,
};

/* ---- WT-EMA-003: never refreshed ------------------------------------------------------------ */

enum { STEPS_TO_TELL = 30 };

struct stale {
	uint64_t steps; /* since it was first called */
	uint32_t object;
	bool is_changed; /* ever, since it was first called */
	bool is_used;    /* called without gradients in training */
};

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_copy(const struct wti_object *object)
{
	return object && object->type == WT_OBJECT_TYPE_MODULE && object->how == WT_FOUND_COPIED &&
	       object->of;
}

/* Its parameters could be trained, and no optimizer has them. */
static bool is_trainable_and_free(const struct wti_training *training, size_t stream,
				  uint32_t owner)
{
	bool has_any = false;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != stream || parameter->owner != owner ||
		    parameter->is_buffer)
			continue;
		if (parameter->optimizer || parameter->step_count || !parameter->requires_grad)
			return false;
		has_any = true;
	}
	return has_any;
}

static const char meant_to_stay[] = "the copies of a model that were called without gradients are "
				    "frozen, in an optimizer, or in "
				    "evaluation mode: they may be meant to stay";
static const char too_short[] =
	"no copy of a model was called without gradients thirty steps before the end";

static void judge_copies(struct wti_case *account, struct wti_slots *slots,
			 const struct wti_moment *moment)
{
	for (size_t i = 0; i < slots->count; i++) {
		uint64_t key = slots->index.entries[i].key;
		struct stale *stale = wti_slot(slots, key, sizeof(*stale));

		if (key >> 32 != moment->process->stream || !stale || !stale->is_used)
			continue;
		if (stale->is_changed)
			wti_held(account);
		else if (++stale->steps < STEPS_TO_TELL)
			wti_not_measured(account, too_short);
		else if (!is_trainable_and_free(moment->training, moment->process->stream,
						stale->object))
			wti_not_measured(account, meant_to_stay);
		else
			wti_violated(account, moment, stale->object,
				     "a copy that is asked in training has not changed in %llu "
				     "steps, while the model trains",
				     (unsigned long long)stale->steps);
	}
}

static void see_stale(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct stale *stale;

	if (moment->type == WTI_MOMENT_STEPPED) {
		judge_copies(account, state, moment);
		return;
	}
	if (moment->type == WTI_MOMENT_CALL && moment->call->what != WTI_CALLEE_LOAD_STATE_DICT)
		return;
	if (!is_copy(moment->object))
		return;
	/* Statistics of normalisation move whenever it is called. */
	if (moment->type == WTI_MOMENT_STATE &&
	    (!moment->parameter || moment->parameter->is_buffer ||
	     wt_event_u64(moment->event, WT_STATE_FIELD_FLAGS) & 1))
		return;
	stale = wti_slot_of_object(state, moment->object, sizeof(*stale));
	if (!stale)
		return;
	stale->object = moment->object->name;
	if (moment->type != WTI_MOMENT_MODULE)
		stale->is_changed = true;
	else if (moment->call->flags & WTI_CALL_GRAD)
		return;
	else if (moment->call->flags & WTI_CALL_TRAINING)
		stale->is_used = true;
	else
		wti_not_measured(account, meant_to_stay);
}

const struct wti_rule wti_rule_ema_003 = {
	.code = "WT-EMA-003",
	.severity = WT_WARNING,
	.title = "a copy of the model is asked again and again, and never refreshed",
	.means = "a target network or a teacher stays what the model was in the beginning",
	.hint = "copy the parameters over now and then, or freeze the copy (requires_grad_(False)) "
		"if it is meant to stay",
	.definition =
		"A copy of a model that is called without gradients in training mode, whose "
		"parameters require gradients and are in no optimizer, changes within thirty steps "
		"or is loaded. A case is such a copy in a step.",
	.innocent = "A copy that is meant to stay (a reference model), and was not frozen.",
	.needs = "no copy of a model was called without gradients in training",
	.explains = (const char *const[]){"WT-EMA-005", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE | WTI_MOMENT_STATE | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_stale,
	.release = release_slots,
};
