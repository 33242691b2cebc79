/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about copies of a model that follow it: averages, teachers, target networks. */
#include <math.h>

#include "inspect/judge/rule.h"

/* ---- What is written into a copy ------------------------------------------------------------ */

/* keeps of WT-EMA-001 and WT-EMA-002 */
enum { OF_PROCESS, OF_CONTENT, OF_LINE, OF_PRODUCT = OF_LINE };

/* Writes part of a tensor into another of its shape: copy += (live - copy) / n, and the like. */
static bool is_blend(const struct wti_moment *moment, const struct wti_value_row **ret_to,
		     const struct wti_value_row **ret_from)
{
	const struct wti_value_row *to, *from;

	to = wti_call_tensor(moment->call, false, 0);
	from = wti_call_tensor(moment->call, false, 1);
	if (!to || !from || to->digest.shape != from->digest.shape || to->digest.count < 2 ||
	    (to->digest.flags | from->digest.flags) & WT_TENSOR_NO_HASH)
		return false;
	*ret_to = to;
	*ret_from = from;
	return true;
}

enum { CONTENTS_MAX = 1 << 18 };

/* Of a content: which parameter a step has moved to it. */
struct moved {
	uint64_t step;      /* of the process */
	uint32_t parameter; /* place plus one; 0: not known */
};

/* `count` is how many are kept, those of long ago included. */
static void note_moved(struct wti_case *account, uint64_t *count, const struct wti_moment *moment)
{
	if (*count > CONTENTS_MAX) {
		wti_kept_forget(account, OF_CONTENT);
		*count = 0;
	}
	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct moved *moved = parameter->moved && parameter->has_hash
					      ? wti_kept_of_key(account, OF_CONTENT,
								parameter->stream, parameter->hash)
					      : NULL;

		if (!moved)
			continue;
		*moved = (struct moved){moment->process->step_count, parameter->place + 1};
		++*count;
	}
}

/* NULL: the last step did not move a parameter to this content. */
static const struct moved *find_moved(const struct wti_case *account,
				      const struct wti_moment *moment,
				      const struct wti_value_row *value)
{
	const struct moved *moved =
		wti_kept_find_key(account, OF_CONTENT, moment->process->stream, value->digest.hash);

	return moved && moved->step == moment->process->step_count ? moved : NULL;
}

/* ---- WT-EMA-001: stops following ------------------------------------------------------------ */

enum { STEPS, SHARE };

/* That writes a parameter, which has just moved, into another tensor. */
struct line {
	uint32_t site;
	uint32_t parameter; /* that it last wrote into a copy: place plus one */
	bool is_seen;       /* since the last step */
	bool is_idle;       /* likewise, but it left the copy as it was */
	uint32_t with;      /* steps in a row */
	uint32_t in_vain;   /* steps in a row in which it changed nothing */
	double share;       /* of the parameter in the sum; 0: not known */
	uint32_t replaced;  /* steps in a row with the same share, which left little of the copy */
	struct wti_where where;
};

static enum wti_answer judge_idle(struct wti_case *account, const struct line *line,
				  const struct wti_moment *moment)
{
	if (line->in_vain < wti_threshold(account, STEPS))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, 0,
			    "parameters were written into a copy after each of %u steps, at line "
			    "%lld, which changed nothing in the copy",
			    line->in_vain, (long long)line->where.line);
}

/* Nearly all of the sum is the parameter, but not all: a copy would have been written as one. */
static enum wti_answer judge_share(struct wti_case *account, struct line *line,
				   const struct wti_moment *moment)
{
	bool is_most = line->share >= wti_threshold_real(account, SHARE) && line->share < 1;

	line->replaced = is_most ? line->replaced + 1 : 0;
	if (line->replaced < wti_threshold(account, STEPS))
		return WTI_RULE_HELD;
	return wti_violated(
		account, moment, 0,
		"after each of %u steps, at line %lld, %g of the parameter was added to "
		"the copy: the copy is the model, and averages nothing",
		line->replaced, (long long)line->where.line, line->share);
}

static enum wti_answer judge_line(struct wti_case *account, struct line *line,
				  const struct wti_moment *moment)
{
	bool is_seen = line->is_seen, is_idle = line->is_idle && !is_seen;

	line->is_idle = line->is_seen = false;
	line->in_vain = is_idle ? line->in_vain + 1 : 0;
	if (is_idle)
		return judge_idle(account, line, moment);
	if (is_seen) {
		line->with++;
		return judge_share(account, line, moment);
	}
	if (line->with < wti_threshold(account, STEPS)) {
		line->with = 0;
		return WTI_RULE_NO_CASE;
	}
	return wti_violated(account, moment, 0,
			    "parameters were written into a copy after each of %u steps, at line "
			    "%lld, and no longer are",
			    line->with, (long long)line->where.line);
}

/* Whether this step has moved what the line last wrote: what rests need not be followed. */
static bool is_due(const struct line *line, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter =
		line->parameter ? wti_parameter_at(moment->training, line->parameter - 1) : NULL;

	return parameter && parameter->moved && parameter->optimizer == moment->object->place + 1;
}

static void judge_lines(struct wti_case *account, const struct wti_moment *moment)
{
	struct line *line;
	size_t place = 0;

	while ((line = wti_kept_next(account, OF_LINE, moment->process->stream, &place)))
		if (is_due(line, moment) && judge_line(account, line, moment) == WTI_RULE_HELD)
			wti_held(account);
}

/* add_(parameter, alpha=share), lerp_(parameter, share); 0: it is another call. */
static double share_of(const struct wti_moment *moment)
{
	struct wti_symbols *symbols = moment->training->symbols;
	double share = 0;

	if (!wti_call_as_number(moment->call, wti_symbol_word(symbols, "alpha"), -2, &share) &&
	    moment->call->what == WTI_CALLEE_BLEND)
		wti_call_as_number(moment->call, wti_symbol_word(symbols, "weight"), 2, &share);
	return share;
}

static void note_line(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_value_row *to, *from, *after = wti_call_tensor(moment->call, true, 0);
	const struct moved *moved;
	struct line *line;

	if (!is_blend(moment, &to, &from) || to->digest.hash == from->digest.hash)
		return;
	moved = find_moved(account, moment, from);
	line = moved ? wti_kept_of_key(account, OF_LINE, moment->call->stream, moment->call->site)
		     : NULL;
	if (!line)
		return;
	line->parameter = moved->parameter;
	line->share = share_of(moment);
	if (after && !(after->digest.flags & WT_TENSOR_NO_HASH) &&
	    after->digest.hash == to->digest.hash)
		line->is_idle = true;
	else
		line->is_seen = true;
	if (!line->site) {
		line->site = moment->call->site;
		line->where = wti_moment_where(moment);
	}
}

static enum wti_answer see_following(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STEPPED) {
		judge_lines(account, moment);
		note_moved(account, kept, moment);
	} else {
		note_line(account, moment);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ema_001 = {
	.code = "WT-EMA-001",
	.severity = WT_WARNING,
	.title = "a copy that should follow the model does not, or no longer does",
	.means =
		"an average or a target network is no longer updated while the model trains on, or "
		"is nearly replaced by the model each time",
	.hint = "look at the condition under which the update is called, at the decay (1 keeps the "
		"copy as it is, 0 replaces it), and at the type of the copy (half precision rounds "
		"small "
		"updates away)",
	.definition =
		"If a line writes parameters that the optimizer has just updated into other "
		"tensors (add_, lerp_, copy_) after `steps` steps in a row, it also does so after "
		"the next step that updates them; and within `steps` of these writes, at least "
		"one changes one of these tensors, and at least one leaves a tenth of what was "
		"there or more, or nothing at all (a copy). A case is a step with such an update.",
	.innocent = "Averaging that ends on purpose before the training does.",
	.needs = "no line wrote parameters into a copy after a step",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_BLEND) | WTI_CALLEE_SET(WTI_CALLEE_ADD_IN_PLACE),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(uint64_t)}, /* how many contents */
		  [OF_CONTENT] = {WTI_PER_KEY, sizeof(struct moved)},
		  [OF_LINE] = {WTI_PER_KEY, sizeof(struct line)}},
	.see = see_following,
	.thresholds = {[STEPS] = {"steps", 16,
				  "fewer in a row may be an update that is made now and then"},
		       [SHARE] = {"share", 0.9,
				  "of the parameter in the sum: averages keep more of the past"}},
};

/* ---- WT-EMA-002: it is the model itself ----------------------------------------------------- */

enum { TENSORS, ROUNDING };
enum { PRODUCTS_MAX = 1 << 14 };

/* Of a process. */
struct itself {
	uint64_t content_count, product_count; /* that are kept */
	uint64_t last_step;
	uint32_t tensors; /* after that step */
};

/* Of a product: a parameter that has just moved, and what it was multiplied with. */
struct weight {
	uint64_t of; /* hash */
	double factor;
	uint64_t step;
};

static bool have_hash(const struct wti_value_row *a, const struct wti_value_row *b)
{
	return a && b && a->digest.count >= 2 &&
	       !((a->digest.flags | b->digest.flags) & WT_TENSOR_NO_HASH);
}

/* slow.mul_(decay) comes before slow.add_(fast): if both are one, both have been scaled. */
static void note_scaled(struct wti_case *account, struct itself *itself,
			const struct wti_moment *moment)
{
	const struct wti_value_row *before = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *after = wti_call_tensor(moment->call, true, 0);
	struct moved *moved;

	if (!have_hash(before, after) || !find_moved(account, moment, before))
		return;
	moved = wti_kept_of_key(account, OF_CONTENT, moment->process->stream, after->digest.hash);
	if (!moved)
		return;
	*moved = (struct moved){.step = moment->process->step_count};
	itself->content_count++;
}

/* decay * parameter */
static void note_weighed(struct wti_case *account, struct itself *itself,
			 const struct wti_moment *moment)
{
	const struct wti_value_row *given = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *product = wti_call_tensor(moment->call, true, 0);
	uint32_t other = wti_symbol_word(moment->training->symbols, "other");
	struct weight *weight;
	double factor;

	if (!have_hash(given, product) || given->digest.shape != product->digest.shape ||
	    !find_moved(account, moment, given) ||
	    !wti_call_as_number(moment->call, other, 1, &factor))
		return;
	weight =
		wti_kept_of_key(account, OF_PRODUCT, moment->process->stream, product->digest.hash);
	if (!weight)
		return;
	*weight = (struct weight){given->digest.hash, factor, moment->process->step_count};
	itself->product_count++;
}

/* What one side of a sum is of a parameter that has just moved; false: it is something else. */
static bool weight_of(const struct wti_case *account, const struct wti_moment *moment,
		      const struct wti_value_row *side, struct weight *ret)
{
	uint64_t step = moment->process->step_count;
	const struct weight *weight;

	if (!side || side->digest.flags & WT_TENSOR_NO_HASH)
		return false;
	weight = wti_kept_find_key(account, OF_PRODUCT, moment->process->stream, side->digest.hash);
	if (weight && weight->step == step) {
		*ret = *weight;
		return true;
	}
	*ret = (struct weight){side->digest.hash, 1, step};
	return find_moved(account, moment, side);
}

/* decay * slow + (1 - decay) * fast, of which both are one. */
static bool is_mean_with_itself(const struct wti_case *account, const struct wti_moment *moment)
{
	struct weight one, other;
	double alpha = 1;

	if (!weight_of(account, moment, wti_call_tensor(moment->call, false, 0), &one) ||
	    !weight_of(account, moment, wti_call_tensor(moment->call, false, 1), &other))
		return false;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "alpha"), -2,
			   &alpha);
	other.factor *= alpha;
	return one.of == other.of && one.factor > 0 && other.factor > 0 &&
	       fabs(one.factor + other.factor - 1) < wti_threshold_real(account, ROUNDING);
}

static bool are_enough(const struct wti_case *account, struct itself *itself,
		       const struct wti_moment *moment)
{
	if (itself->last_step != moment->process->step_count)
		itself->tensors = 0;
	itself->last_step = moment->process->step_count;
	return ++itself->tensors >= wti_threshold(account, TENSORS);
}

static void note_step(struct wti_case *account, struct itself *itself,
		      const struct wti_moment *moment)
{
	note_moved(account, &itself->content_count, moment);
	if (itself->product_count > PRODUCTS_MAX) {
		wti_kept_forget(account, OF_PRODUCT);
		itself->product_count = 0;
	}
}

static enum wti_answer judge_sum(struct wti_case *account, struct itself *itself,
				 const struct wti_moment *moment)
{
	if (!is_mean_with_itself(account, moment) || !are_enough(account, itself, moment))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "it averages a parameter with itself: the slow copy and the model are "
			    "the same");
}

static enum wti_answer judge_blend(struct wti_case *account, struct itself *itself,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *to, *from;

	if (!is_blend(moment, &to, &from) || !find_moved(account, moment, from))
		return WTI_RULE_NO_CASE;
	if (to->digest.hash != from->digest.hash)
		return WTI_RULE_HELD;
	if (!are_enough(account, itself, moment))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "it writes into a tensor what that tensor already holds: both are the "
			    "same parameter");
}

static enum wti_answer see_itself(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STEPPED)
		note_step(account, kept, moment);
	else if (moment->call->what == WTI_CALLEE_MULTIPLY)
		note_weighed(account, kept, moment);
	else if (moment->call->what == WTI_CALLEE_SCALE_IN_PLACE)
		note_scaled(account, kept, moment);
	else if (moment->call->what == WTI_CALLEE_ADD)
		return judge_sum(account, kept, moment);
	else
		return judge_blend(account, kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ema_002 = {
	.code = "WT-EMA-002",
	.severity = WT_ERROR,
	.title = "the averaged copy is the model itself",
	.means = "the slow copy was assigned instead of copied: teacher and student are the same "
		 "object",
	.hint = "make the copy with copy.deepcopy(model)",
	.definition =
		"A parameter that the optimizer has just moved is not written (add_, lerp_, copy_) "
		"into a tensor with the same bytes, and is not averaged with the same bytes "
		"(factors that add up to 1). `tensors` such parameters after one step are a "
		"violation. A case is such a write.",
	.innocent = "None is known: a real copy lags behind what has just moved.",
	.needs = "no line wrote parameters into a copy after a step",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_BLEND) | WTI_CALLEE_SET(WTI_CALLEE_ADD_IN_PLACE) |
		   WTI_CALLEE_SET(WTI_CALLEE_MULTIPLY) | WTI_CALLEE_SET(WTI_CALLEE_SCALE_IN_PLACE) |
		   WTI_CALLEE_SET(WTI_CALLEE_ADD),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct itself)},
		  [OF_CONTENT] = {WTI_PER_KEY, sizeof(struct moved)},
		  [OF_PRODUCT] = {WTI_PER_KEY, sizeof(struct weight)}},
	.see = see_itself,
	.thresholds = {{"tensors", 2, "one may have the same content by chance, such as all zeros"},
		       {"rounding", 1e-6, "of decay and 1 - decay, computed in single precision"}},
};

/* ---- WT-EMA-003: never refreshed ------------------------------------------------------------ */

enum { STALE_STEPS };

/* Of a model. */
struct stale {
	uint64_t steps; /* since it was first called */
	int64_t since;  /* the first of these */
	uint32_t object;
	bool is_changed; /* ever, since it was first called */
	bool is_used;    /* called without gradients in training */
};

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
				    "frozen, in an optimizer, or in evaluation mode: they may be "
				    "meant to stay";
static const char too_short[] =
	"no copy of a model was called without gradients long enough before the end";

/* A target network may wait for long before it is refreshed: only the end shows that it never is.
 */
static enum wti_answer finish_stale(struct wti_case *account, void *kept,
				    const struct wti_moment *end)
{
	const struct stale *stale = kept;

	if (!stale->is_used)
		return WTI_RULE_NO_CASE;
	if (stale->is_changed)
		return WTI_RULE_HELD;
	if (stale->steps < wti_threshold(account, STALE_STEPS)) {
		wti_not_measured(account, too_short);
		return WTI_RULE_NO_CASE;
	}
	if (!is_trainable_and_free(end->training, end->process->stream, stale->object)) {
		wti_not_measured(account, meant_to_stay);
		return WTI_RULE_NO_CASE;
	}
	wti_since(account, stale->since);
	return wti_violated(account, end, stale->object,
			    "a copy that is called in training did not change in %llu steps, until "
			    "the end, while the model was trained",
			    (unsigned long long)stale->steps);
}

/* Statistics of normalisation move whenever it is called. */
static bool is_change(const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STATE)
		return moment->parameter && !moment->parameter->is_buffer &&
		       !(wt_event_u64(moment->event, WT_STATE_FIELD_FLAGS) & 1);
	return moment->type == WTI_MOMENT_CALL; /* it is loaded */
}

static void count_step(struct stale *stale, const struct wti_moment *moment)
{
	if (stale->is_used && !stale->steps++)
		stale->since = moment->scope.step;
}

static enum wti_answer see_stale(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct stale *stale = kept;

	if (moment->type == WTI_MOMENT_STEPPED) {
		count_step(stale, moment);
		return WTI_RULE_NO_CASE;
	}
	if (!is_copy(moment->object))
		return WTI_RULE_NO_CASE;
	stale->object = moment->object->name;
	if (is_change(moment))
		stale->is_changed = true;
	if (moment->type != WTI_MOMENT_MODULE || moment->call->flags & WT_CALL_GRAD)
		return WTI_RULE_NO_CASE;
	if (moment->call->flags & WT_CALL_TRAIN)
		stale->is_used = true;
	else
		wti_not_measured(account, meant_to_stay);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ema_003 = {
	.code = "WT-EMA-003",
	.severity = WT_WARNING,
	.title = "a copy of the model is called repeatedly and never updated",
	.means = "a target network or a teacher stays as the model was at the beginning",
	.hint = "copy the parameters over now and then, or freeze the copy (requires_grad_(False)) "
		"if it is meant to stay",
	.definition =
		"A copy of a model that is called without gradients in training mode, whose "
		"parameters require gradients and are in no optimizer, changes or is loaded before "
		"the run ends, unless the run ends within `steps` steps. A case is such a copy.",
	.innocent = "A copy that is meant to stay (a reference model), and was not frozen.",
	.needs = "no copy of a model was called without gradients in training",
	.explains = (const char *const[]){"WT-EMA-005", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE | WTI_MOMENT_STATE | WTI_MOMENT_STEPPED,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {{WTI_PER_OBJECT, sizeof(struct stale)}},
	.sweeps = WTI_MOMENT_STEPPED,
	.see = see_stale,
	.finish = finish_stale,
	.thresholds = {{"steps", 30,
			"a run that is shorter may end before a target network is refreshed; set "
			"it higher if yours waits longer"}},
};
