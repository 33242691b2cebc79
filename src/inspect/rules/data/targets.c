/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about targets: that there are some, that they differ, and are not what the model is given.
 */
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/shape.h"

/* Classes in a loss that expects them; NULL: not measured. */
static const struct wti_value_row *classes_of(const struct wti_moment *moment)
{
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);

	if (!(WTI_CALLEE_SET(moment->call->what) & WTI_CLASS_LOSSES) ||
	    !wti_value_is_measured(target) || !wti_dtype_is_integer(target->digest.dtype))
		return NULL;
	return target;
}

/* ---- WT-TARGET-001: one class --------------------------------------------------------------- */

enum { TARGETS, CALLS, WAIT }; /* thresholds */
enum { OF_LINE, OF_PROCESS };  /* keeps */
enum { CONSTANTS_MAX = 32 };

struct line {
	bool is_varied;
	bool is_reported;
	double value;
	uint64_t calls, targets, classes;
	struct wti_call suspect; /* the first call that looked like it, without its values */
};

/* Tensors of one value that were made so: a ring. */
struct constants {
	uint64_t hashes[CONSTANTS_MAX];
	uint64_t count;
};

static void note_constant(struct constants *constants, const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);

	if (result && !(result->digest.flags & WT_TENSOR_NO_HASH))
		constants->hashes[constants->count++ % CONSTANTS_MAX] = result->digest.hash;
}

/* "All of these are real": labels of one value that the program made on purpose. */
static bool is_meant(const struct constants *constants, uint64_t hash)
{
	for (uint64_t i = 0; i < CONSTANTS_MAX && i < constants->count; i++)
		if (constants->hashes[i] == hash)
			return true;
	return false;
}

/* The first time as of the call that looked like it. */
static enum wti_answer report_line(struct wti_case *account, struct line *line,
				   struct wti_moment moment)
{
	if (!line->is_reported) {
		moment.scope = line->suspect.scope;
		moment.call = &line->suspect;
	}
	line->is_reported = true;
	return wti_violated(account, &moment, line->suspect.callee,
			    "all of %llu targets so far were %.0f, of %llu classes",
			    (unsigned long long)line->targets, line->value,
			    (unsigned long long)line->classes);
}

/* Sorted data begin with one class too: the others come before the epoch ends. */
static enum wti_answer judge_line(struct wti_case *account, struct line *line,
				  const struct wti_moment *moment,
				  const struct wti_value_row *target)
{
	struct wti_shape shape = wti_value_shape(moment, wti_call_tensor(moment->call, false, 0));

	if (line->is_varied || target->digest.min != target->digest.max ||
	    (line->calls && line->value != target->digest.min)) {
		line->is_varied = true;
		return WTI_RULE_HELD;
	}
	line->value = target->digest.min;
	line->targets += target->digest.count;
	if (++line->calls < wti_threshold(account, CALLS) ||
	    line->targets < wti_threshold(account, TARGETS) || shape.rank < 2)
		return WTI_RULE_NO_CASE;
	line->classes = shape.extents[1];
	if (!line->suspect.callee)
		line->suspect = wti_moment_call(moment);
	if (line->is_reported || line->calls >= wti_threshold(account, WAIT) ||
	    line->suspect.scope.epoch != moment->scope.epoch)
		return report_line(account, line, *moment);
	return WTI_RULE_NO_CASE;
}

static enum wti_answer see_constant(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct constants *constants = wti_kept(account, OF_PROCESS, moment);
	const struct wti_value_row *target = classes_of(moment);

	if (!constants)
		return WTI_RULE_NO_CASE;
	if (moment->call->what == WTI_CALLEE_CONSTANT)
		note_constant(constants, moment);
	if (!target || !wti_stage_is(moment, "train") || is_meant(constants, target->digest.hash))
		return WTI_RULE_NO_CASE;
	return judge_line(account, kept, moment, target);
}

static enum wti_answer finish_constant(struct wti_case *account, void *kept,
				       const struct wti_moment *end)
{
	struct line *line = kept;

	if (!line->suspect.callee || line->is_varied || line->is_reported)
		return WTI_RULE_NO_CASE;
	return report_line(account, line, *end);
}

const struct wti_rule wti_rule_target_001 = {
	.code = "WT-TARGET-001",
	.severity = WT_WARNING,
	.title = "all targets are of one class",
	.means = "the labels were lost on the way, by an integer division or a wrong column: the "
		 "model learns to always give the same answer",
	.hint = "print a few labels as they come out of the loader",
	.definition =
		"The classes that one line gives to cross_entropy or nll_loss in training, in "
		"two calls or more with 64 targets or more together, are not all the same until "
		"the epoch ends. Tensors that were made of one value (zeros, ones, full) are "
		"left out. A case is a call.",
	.innocent = "A part of the data that holds one class only; contrastive losses whose "
		    "target is always the first.",
	.needs = "no cross_entropy or nll_loss with measured classes was called in training",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CLASS_LOSSES | WTI_CALLEE_SET(WTI_CALLEE_CONSTANT),
	.keeps = {[OF_LINE] = {WTI_PER_LINE, sizeof(struct line)},
		  [OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct constants)}},
	.see = see_constant,
	.finish = finish_constant,
	.thresholds = {[TARGETS] = {"targets", 64,
				    "in all calls: fewer may be of one class by chance"},
		       [CALLS] = {"calls", 2, "one batch may be a special one"},
		       [WAIT] = {"wait", 1024,
				 "calls at most, if the epoch does not end: sorted data have "
				 "other classes by then"}},
};

/* ---- WT-TARGET-002: all ignored ------------------------------------------------------------- */

enum { IGNORED_IN, IGNORED_CALLS }; /* thresholds */

struct ignored {
	uint64_t count, empty_count; /* calls, and those without a target */
};

static enum wti_answer see_ignored(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *target = classes_of(moment);
	double ignored = wti_ignored_class(moment);
	struct ignored *calls = kept;

	if (!target)
		return WTI_RULE_NO_CASE;
	calls->count++;
	if (target->digest.min != ignored || target->digest.max != ignored)
		return WTI_RULE_HELD;
	calls->empty_count++;
	if (calls->empty_count * wti_threshold(account, IGNORED_IN) < calls->count ||
	    calls->count < wti_threshold(account, IGNORED_CALLS))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "all %llu targets are %.0f, which is ignored",
			    (unsigned long long)target->digest.count, ignored);
}

const struct wti_rule wti_rule_target_002 = {
	.code = "WT-TARGET-002",
	.severity = WT_WARNING,
	.title = "all targets of a batch are ignored",
	.means = "the batch trains nothing: its loss is 0, or NaN where a mean over nothing is "
		 "taken. Often the answers were cut off behind a long prompt",
	.hint = "cut the prompt, not the answer; leave out batches without targets",
	.definition =
		"From the fourth call of cross_entropy or nll_loss on, fewer than one call in "
		"eight so far was given classes that are all equal to ignore_index. A case is a "
		"call.",
	.innocent = "Rare batches of a data set in which many rows have no target.",
	.needs = "no cross_entropy or nll_loss with measured classes was called",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CLASS_LOSSES,
	.keeps = {{WTI_PER_RUN, sizeof(struct ignored)}},
	.see = see_ignored,
	.thresholds =
		{[IGNORED_IN] = {"one_in", 8,
				 "calls: where many rows have no target, a batch now and then "
				 "has none"},
		 [IGNORED_CALLS] = {"calls", 4, "of fewer calls, one is a large share"}},
};

/* ---- WT-TARGET-003: the input itself -------------------------------------------------------- */

enum { COPIED_CALLS, COPIED_TARGETS }; /* thresholds */

/*
 * A model may be given its targets as well, to compute the loss itself. Its input is what a module
 * in it, or a function with a result of numbers (an embedding), is given; where none of that was
 * recorded, its first argument.
 */
struct copied {
	struct wti_recent given; /* to models in training, integers; the note: it was the first */
	struct wti_recent used;  /* inside of them */
	bool is_any_used;        /* of what the last model was given */
};

static void note_given(struct copied *copied, const struct wti_call *call)
{
	const struct wti_value_row *value;

	if (call->what != WTI_CALLEE_OTHER)
		return;
	copied->is_any_used = false;
	for (uint32_t n = 0; (value = wti_call_tensor(call, false, n)); n++)
		if (wti_dtype_is_integer(value->digest.dtype))
			wti_recent_add(&copied->given, call, value, !n);
}

static void note_used(struct copied *copied, const struct wti_call *call)
{
	const struct wti_value_row *value = wti_call_tensor(call, false, 0);

	if (!value || !wti_dtype_is_integer(value->digest.dtype) ||
	    call->what != WTI_CALLEE_OTHER || !wti_recent_find(&copied->given, value))
		return;
	wti_recent_add(&copied->used, call, value, 0);
	copied->is_any_used = true;
}

static void note_tokens(struct copied *copied, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *result;

	if (moment->type == WTI_MOMENT_MODULE) {
		if (!(call->flags & WT_CALL_GRAD))
			return;
		if (call->flags & WT_CALL_OUTERMOST)
			note_given(copied, call);
		else
			note_used(copied, call);
		return;
	}
	result = wti_call_tensor(call, true, 0);
	if (result && result->digest.flags & WT_TENSOR_REQUIRES_GRAD)
		note_used(copied, call);
}

static bool is_input(const struct copied *copied, const struct wti_value_row *target)
{
	const struct wti_recent_tensor *given = wti_recent_find(&copied->given, target);

	if (!given)
		return false;
	return copied->is_any_used ? wti_recent_find(&copied->used, target) != NULL : given->note;
}

static enum wti_answer see_copied(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct copied *copied = kept;
	const struct wti_value_row *target;

	if (moment->type == WTI_MOMENT_BACKWARD) { /* the next loss is of what is given next */
		copied->given = copied->used = (struct wti_recent){0};
		return WTI_RULE_NO_CASE;
	}
	note_tokens(copied, moment);
	target = moment->type == WTI_MOMENT_CALL ? classes_of(moment) : NULL;
	if (!target || target->digest.count < wti_threshold(account, COPIED_TARGETS) ||
	    !copied->given.count)
		return WTI_RULE_NO_CASE;
	if (!is_input(copied, target))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
			    "its %llu targets are what the model was given, to the bit",
			    (unsigned long long)target->digest.count);
}

const struct wti_rule wti_rule_target_003 = {
	.code = "WT-TARGET-003",
	.severity = WT_WARNING,
	.title = "the targets are the model's own inputs",
	.means = "it learns to copy its input: in a language model the targets were not shifted "
		 "by one, so that each token is to predict itself",
	.hint = "shift: inputs = tokens[:, :-1], targets = tokens[:, 1:]",
	.definition =
		"The classes that cross_entropy or nll_loss is given, 16 or more and not all the "
		"same, are not, to the bit, what a model was given since the last backward() with "
		"gradients on and has passed on to a module or an embedding in it; where nothing "
		"inside of the "
		"model was recorded, not its first argument. Three losses in a row are a "
		"violation. A case is a call.",
	.innocent = "A copying task, such as an autoencoder of tokens with a narrow middle.",
	.needs = "no model with an input of integers was followed by a loss with classes",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct copied)}},
	.see = see_copied,
	.thresholds = {[COPIED_CALLS] = {WTI_IN_A_ROW, 3,
					 "where sequences repeat themselves, targets and inputs "
					 "may be equal by chance"},
		       [COPIED_TARGETS] = {"targets", 16, "fewer may be equal by chance"}},
};

/* ---- WT-TARGET-005: batches of one class ---------------------------------------------------- */

enum { BATCH_TARGETS, BATCHES, MIXED_IN }; /* thresholds */

struct sorted {
	uint64_t batches, pure; /* pure: of one class */
	double first;           /* the class of the first pure one */
	bool is_other;          /* another pure one had another class */
};

static void note_batch(struct sorted *sorted, const struct wti_value_row *target)
{
	sorted->batches++;
	if (target->digest.min != target->digest.max)
		return;
	if (!sorted->pure++)
		sorted->first = target->digest.min;
	sorted->is_other |= target->digest.min != sorted->first;
}

static enum wti_answer see_sorted(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	const struct wti_value_row *target = classes_of(moment);
	struct sorted *sorted = kept;
	uint64_t mixed;

	if (!target || target->digest.count < wti_threshold(account, BATCH_TARGETS) ||
	    !wti_stage_is(moment, "train"))
		return WTI_RULE_NO_CASE;
	note_batch(sorted, target);
	mixed = sorted->batches - sorted->pure;
	if (sorted->batches < wti_threshold(account, BATCHES))
		return WTI_RULE_NO_CASE;
	if (!sorted->is_other || mixed * wti_threshold(account, MIXED_IN) > sorted->batches)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
			    "of %llu batches, %llu had targets of one class only, not always the "
			    "same",
			    (unsigned long long)sorted->batches, (unsigned long long)sorted->pure);
}

const struct wti_rule wti_rule_target_005 = {
	.code = "WT-TARGET-005",
	.severity = WT_WARNING,
	.title = "batches hold one class each",
	.means = "the data are sorted by class and not shuffled: each step teaches one class and "
		 "makes the model forget the others",
	.hint = "shuffle: DataLoader(..., shuffle=True)",
	.definition =
		"Of the batches of eight targets or more that one line gives to cross_entropy or "
		"nll_loss in training, from the eighth on, more than one in four has several "
		"classes, or those with a single class all have the same one. A case is a batch.",
	.innocent = "Classes that are learned one after the other on purpose.",
	.needs = "fewer than eight batches with measured classes were trained on",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CLASS_LOSSES,
	.keeps = {{WTI_PER_LINE, sizeof(struct sorted)}},
	.see = see_sorted,
	.thresholds = {[BATCH_TARGETS] = {"targets", 8,
					  "of a batch: fewer may be of one class by chance"},
		       [BATCHES] = {"batches", 8, "the first few may be of one class by chance"},
		       [MIXED_IN] = {"mixed_in", 4,
				     "batches: of sorted data only those at the end of a class "
				     "are mixed"}},
};
