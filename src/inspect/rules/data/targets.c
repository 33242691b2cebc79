/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about targets: that there are some, that they differ, and are not what the model is given.
 */
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/shape.h"
#include "inspect/training/slots.h"

/* Classes in a loss that expects them; NULL: not measured. */
static const struct wti_value_row *classes_of(const struct wti_moment *moment)
{
	const struct wti_value_row *target;

	if (moment->call->what != WTI_CALLEE_CROSS_ENTROPY && moment->call->what != WTI_CALLEE_NLL)
		return NULL;
	target = wti_call_tensor(moment->call, false, 1);
	if (!target || !wti_dtype_is_integer(target->digest.dtype) || !target->digest.count ||
	    target->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return NULL;
	return target;
}

/* ---- WT-TARGET-001: one class --------------------------------------------------------------- */

enum { CONSTANTS_MAX = 32, TARGETS_TO_TELL = 64, CALLS_TO_TELL = 2, CALLS_TO_WAIT = 1024 };

struct line {
	bool is_varied;
	bool is_told;
	double value;
	uint64_t calls, targets, classes;
	size_t stream;
	struct wti_scope scope; /* of the first call by which it could be told */
	struct wti_call call;   /* likewise, without its values */
};

struct constant {
	struct wti_slots lines;
	uint64_t made[CONSTANTS_MAX]; /* tensors of one value that were made so: a ring */
	uint64_t made_count;
};

static void release_constant(void *state)
{
	struct constant *constant = state;

	wti_slots_release(&constant->lines);
}

static void note_constant(struct constant *constant, const struct wti_moment *moment)
{
	const struct wti_value_row *result = wti_call_tensor(moment->call, true, 0);

	if (result && !(result->digest.flags & WTI_TENSOR_NO_HASH))
		constant->made[constant->made_count++ % CONSTANTS_MAX] = result->digest.hash;
}

/* "All of these are real": labels of one value that the program made on purpose. */
static bool is_meant(const struct constant *constant, uint64_t hash)
{
	for (uint64_t i = 0; i < CONSTANTS_MAX && i < constant->made_count; i++)
		if (constant->made[i] == hash)
			return true;
	return false;
}

static void note_suspicion(struct line *line, const struct wti_moment *moment)
{
	line->stream = moment->process->stream;
	line->scope = moment->scope;
	line->call = *moment->call;
	line->call.values = NULL;
	line->call.value_count = 0;
}

static void tell_line(struct wti_case *account, struct line *line, struct wti_moment moment)
{
	if (!line->is_told) {
		moment.scope = line->scope;
		moment.call = &line->call;
	}
	line->is_told = true;
	wti_violated(account, &moment, line->call.callee,
		     "all of %llu targets so far were %.0f, of %llu classes",
		     (unsigned long long)line->targets, line->value,
		     (unsigned long long)line->classes);
}

/* Sorted data begin with one class too: the others come before the epoch ends. */
static void judge_line(struct wti_case *account, struct line *line, const struct wti_moment *moment,
		       const struct wti_value_row *target)
{
	struct wti_shape shape = wti_shape_read(
		wti_moment_text(moment, wti_call_tensor(moment->call, false, 0)->digest.shape));

	if (line->is_varied || target->digest.min != target->digest.max ||
	    (line->calls && line->value != target->digest.min)) {
		line->is_varied = true;
		wti_held(account);
		return;
	}
	line->value = target->digest.min;
	line->targets += target->digest.count;
	if (++line->calls < CALLS_TO_TELL || line->targets < TARGETS_TO_TELL || shape.rank < 2)
		return;
	line->classes = shape.extents[1];
	if (!line->call.callee)
		note_suspicion(line, moment);
	if (line->is_told || line->calls >= CALLS_TO_WAIT ||
	    line->scope.epoch != moment->scope.epoch)
		tell_line(account, line, *moment);
}

static void finish_constant(struct wti_case *account, void *state,
			    const struct wti_training *training)
{
	struct constant *constant = state;

	for (size_t i = 0; i < constant->lines.count; i++) {
		struct line *line =
			wti_slot_find(&constant->lines, constant->lines.index.entries[i].key);

		if (line && line->call.callee && !line->is_varied && !line->is_told)
			tell_line(account, line, wti_moment_of_end(training, line->stream));
	}
}

static void see_constant(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct constant *constant = state;
	const struct wti_call *call = moment->call;
	const struct wti_value_row *target;
	struct line *line;

	if (call->what == WTI_CALLEE_CONSTANT) {
		note_constant(constant, moment);
		return;
	}
	target = classes_of(moment);
	if (!target || !wti_stage_is(moment, "train") || is_meant(constant, target->digest.hash))
		return;
	line = wti_slot(&constant->lines, wti_line_of(call), sizeof(*line));
	if (line)
		judge_line(account, line, moment, target);
}

const struct wti_rule wti_rule_target_001 = {
	.code = "WT-TARGET-001",
	.severity = WT_WARNING,
	.title = "all targets are of one class",
	.means = "the labels were lost on the way, by an integer division or a wrong column: the "
		 "model learns to say one thing",
	.hint = "print a few labels as they come out of the loader",
	.definition =
		"The classes that one line gives to cross_entropy or nll_loss in training are not "
		"all the same in two calls with 64 targets or more, until the epoch ends. Tensors "
		"that were made of one value (zeros, ones, full) are left out. A case is a call.",
	.innocent = "A part of the data that holds one class only; contrastive losses whose target "
		    "is always the first.",
	.needs = "no cross_entropy or nll_loss with measured classes was called in training",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct constant),
	.watch = see_constant,
	.conclude = finish_constant,
	.release = release_constant,
};

/* ---- WT-TARGET-002: all ignored ------------------------------------------------------------- */

enum { ONE_IN = 8, CALLS_FIRST = 4 };

struct ignored {
	uint64_t count, empty_count; /* calls, and those without a target */
};

static void see_ignored(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_value_row *target = classes_of(moment);
	struct ignored *calls = state;
	double ignored = -100;

	if (!target)
		return;
	calls->count++;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "ignore_index"),
			   -2, &ignored);
	if (target->digest.min != ignored || target->digest.max != ignored)
		wti_held(account);
	else if (++calls->empty_count * ONE_IN >= calls->count && calls->count >= CALLS_FIRST)
		wti_violated(account, moment, moment->call->callee,
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
		"Not all classes that cross_entropy or nll_loss is given are equal to "
		"ignore_index, in one call in eight or more, from the fourth on. A case is a call.",
	.innocent = "Rare batches of a data set in which many rows have no target.",
	.needs = "no cross_entropy or nll_loss with measured classes was called",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct ignored),
	.watch = see_ignored,
};

/* ---- WT-TARGET-003: the input itself -------------------------------------------------------- */

enum { TARGETS_TO_COMPARE = 16, CALLS_WITH_INPUT = 3 };

/*
 * A model may be given its targets as well, to compute the loss itself. Its input is what a module
 * in it, or a function with a result of numbers (an embedding), is given; where none of that was
 * recorded, its first argument.
 */
struct copied {
	struct wti_recent given; /* to models in training, integers; the note: it was the first */
	struct wti_recent used;  /* inside of them */
	bool is_any_used;        /* of what the last model was given */
	uint32_t streak;
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
		if (!(call->flags & WTI_CALL_GRAD))
			return;
		if (call->flags & WTI_CALL_OUTERMOST)
			note_given(copied, call);
		else
			note_used(copied, call);
		return;
	}
	result = wti_call_tensor(call, true, 0);
	if (result && result->digest.flags & WTI_TENSOR_REQUIRES_GRAD)
		note_used(copied, call);
}

static bool is_input(const struct copied *copied, const struct wti_value_row *target)
{
	const struct wti_recent_tensor *given = wti_recent_find(&copied->given, target);

	if (!given)
		return false;
	return copied->is_any_used ? wti_recent_find(&copied->used, target) != NULL : given->note;
}

static void see_copied(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct copied *copied = wti_slot(state, moment->process->stream, sizeof(*copied));
	const struct wti_value_row *target;

	if (!copied)
		return;
	if (moment->type == WTI_MOMENT_BACKWARD) { /* the next loss is of what is given next */
		copied->given = copied->used = (struct wti_recent){0};
		return;
	}
	note_tokens(copied, moment);
	target = moment->type == WTI_MOMENT_CALL ? classes_of(moment) : NULL;
	if (!target || target->digest.count < TARGETS_TO_COMPARE || !copied->given.count)
		return;
	if (!is_input(copied, target)) {
		copied->streak = 0;
		wti_held(account);
	} else if (++copied->streak >= CALLS_WITH_INPUT) {
		wti_violated(account, moment, moment->call->callee,
			     "its %llu targets are what the model was given, to the bit",
			     (unsigned long long)target->digest.count);
	}
}

static void release_copied(void *state)
{
	wti_slots_release(state);
}

const struct wti_rule wti_rule_target_003 = {
	.code = "WT-TARGET-003",
	.severity = WT_WARNING,
	.title = "the targets are what the model is given",
	.means = "it learns to copy its input: in a language model the targets were not shifted by "
		 "one, so that each token is to predict itself",
	.hint = "shift: inputs = tokens[:, :-1], targets = tokens[:, 1:]",
	.definition =
		"The classes that cross_entropy or nll_loss is given, 16 or more and not all the "
		"same, are not what a model was given since the last backward() with gradients on "
		"and "
		"has passed on to a module or an embedding in it, to the bit, three times in a "
		"row; where "
		"nothing inside of it was recorded, not its first argument. A case is a call.",
	.innocent = "A task that is to copy: an autoencoder of tokens with a narrow middle.",
	.needs = "no model with an input of integers was followed by a loss with classes",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_copied,
	.release = release_copied,
};

/* ---- WT-TARGET-005: batches of one class ---------------------------------------------------- */

enum { TARGETS_OF_BATCH = 8, BATCHES_MIN = 8 };

struct sorted {
	uint64_t batches, pure; /* pure: of one class */
	double first;           /* the class of the first pure one */
	bool is_other;          /* another pure one had another class */
};

static void judge_batch(struct wti_case *account, struct sorted *sorted,
			const struct wti_moment *moment, const struct wti_value_row *target)
{
	bool is_pure = target->digest.min == target->digest.max;

	sorted->batches++;
	if (is_pure) {
		if (!sorted->pure++)
			sorted->first = target->digest.min;
		sorted->is_other |= target->digest.min != sorted->first;
	}
	if (sorted->batches < BATCHES_MIN)
		return;
	if (!sorted->is_other || sorted->pure * 4 < sorted->batches * 3)
		wti_held(account);
	else
		wti_violated(account, moment, moment->call->callee,
			     "of %llu batches, %llu had targets of one class only, not always the "
			     "same",
			     (unsigned long long)sorted->batches, (unsigned long long)sorted->pure);
}

static void see_sorted(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_value_row *target = classes_of(moment);
	struct sorted *sorted;

	if (!target || target->digest.count < TARGETS_OF_BATCH || !wti_stage_is(moment, "train"))
		return;
	sorted = wti_slot(state, wti_line_of(moment->call), sizeof(*sorted));
	if (sorted)
		judge_batch(account, sorted, moment, target);
}

const struct wti_rule wti_rule_target_005 = {
	.code = "WT-TARGET-005",
	.severity = WT_WARNING,
	.title = "batches hold one class each",
	.means = "the data are sorted by class and not shuffled: each step teaches one class and "
		 "unteaches the others",
	.hint = "shuffle: DataLoader(..., shuffle=True)",
	.definition =
		"Of the batches of eight targets or more that one line gives to cross_entropy or "
		"nll_loss in training, from the eighth on, fewer than three in four are of one "
		"class, or all of those are of the same. A case is a batch.",
	.innocent = "Classes that are learned one after the other on purpose.",
	.needs = "fewer than eight batches with measured classes were trained on",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_sorted,
	.release = release_copied,
};
