/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about attention: that it is kept from what it should not see, and from nothing else. */
#include <string.h>

#include "base/text.h"
#include "inspect/judge/recent.h"
#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"

/* ---- WT-MASK-001: the wrong way round ------------------------------------------------------- */

/* What is true in a mask, as far as the way it was made shows. */
enum sense { SENSE_PADDING = 1, SENSE_CONTENT };

/* tokens == 0 finds the padding, whatever number that is; tokens != 0 what is not. */
static uint32_t sense_of_number(const struct wti_call *call)
{
	double number;

	if (wti_call_tensor(call, false, 1) ||
	    !wti_call_as_number(call, WTI_SYMBOL_NONE, 1, &number))
		return 0;
	if (call->what == WTI_CALLEE_EQUAL)
		return SENSE_PADDING;
	return call->what == WTI_CALLEE_UNEQUAL ? SENSE_CONTENT : 0;
}

/* Positions, the same for all rows, against a column of lengths. */
static uint32_t sense_of_lengths(const struct wti_moment *moment)
{
	const struct wti_value_row *places = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *lengths = wti_call_tensor(moment->call, false, 1);
	struct wti_shape row, column;

	if (!places || !lengths)
		return 0;
	row = wti_value_shape(moment, places);
	column = wti_value_shape(moment, lengths);
	if (column.rank != 2 || column.extents[1] != 1 || column.extents[0] < 2 || !row.rank ||
	    (row.rank == 2 && row.extents[0] != 1) || row.rank > 2)
		return 0;
	if (moment->call->what == WTI_CALLEE_BELOW)
		return SENSE_CONTENT;
	return moment->call->what == WTI_CALLEE_NOT_BELOW ? SENSE_PADDING : 0;
}

static uint32_t sense_of_negation(const struct wti_recent *made, const struct wti_call *call)
{
	const struct wti_recent_tensor *before =
		wti_recent_find(made, wti_call_tensor(call, false, 0));

	if (call->what != WTI_CALLEE_NEGATE || !before)
		return 0;
	return before->note == SENSE_PADDING ? SENSE_CONTENT : SENSE_PADDING;
}

static void note_mask(struct wti_recent *made, const struct wti_moment *moment)
{
	uint32_t sense = sense_of_number(moment->call);

	if (!sense)
		sense = sense_of_lengths(moment);
	if (!sense)
		sense = sense_of_negation(made, moment->call);
	if (sense)
		wti_recent_add(made, moment->call, wti_call_tensor(moment->call, true, 0), sense);
}

static bool is_of_torch(const struct wti_moment *moment)
{
	return !strncmp(wti_moment_text(moment, moment->call->module), "torch.nn.", 9);
}

/* True means: not to be looked at. */
static const struct wti_value_row *padding_mask_of(const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;

	while ((value = wti_call_next_tensor(moment->call, false, value)))
		if (wti_ends_with(wti_moment_text(moment, value->name), "key_padding_mask"))
			return value;
	return NULL;
}

static enum wti_answer judge_mask(struct wti_case *account, const struct wti_recent *made,
				  const struct wti_moment *moment)
{
	const struct wti_value_row *mask = padding_mask_of(moment);
	const struct wti_recent_tensor *from = wti_recent_find(made, mask);
	struct wti_call call = wti_moment_call(moment);
	struct wti_moment there = *moment;

	if (!from)
		return WTI_RULE_NO_CASE;
	if (from->note == SENSE_PADDING)
		return WTI_RULE_HELD;
	call.site = from->site; /* the line that made the mask */
	there.call = &call;
	return wti_violated(
		account, &there, moment->call->object,
		"%s is true where there is content, in %.0f %% of all positions: attention "
		"ignores these",
		wti_moment_text(moment, mask->name), 100 * mask->digest.mean);
}

/* Of a process: truth values that were made, and their sense. */
static enum wti_answer see_mask(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_CALL)
		note_mask(kept, moment);
	else if (is_of_torch(moment))
		return judge_mask(account, kept, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_mask_001 = {
	.code = "WT-MASK-001",
	.severity = WT_ERROR,
	.title = "a padding mask is inverted",
	.means = "attention sees only the padding, and none of the content",
	.hint = "torch ignores positions where a key_padding_mask is true: use tokens == padding, "
		"not !=",
	.definition =
		"A key_padding_mask that one of torch's own modules is given is not true where "
		"tokens differ from a number or where positions are below a length, and is not "
		"the negation of the opposite comparison. Two calls in a row are a violation. A "
		"case is a call with a mask that was made by such a comparison.",
	.innocent = "None is known.",
	.needs = "no module was given a key_padding_mask that a recorded comparison had made",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_EQUAL) | WTI_CALLEE_SET(WTI_CALLEE_UNEQUAL) |
		   WTI_CALLEE_SET(WTI_CALLEE_BELOW) | WTI_CALLEE_SET(WTI_CALLEE_NOT_BELOW) |
		   WTI_CALLEE_SET(WTI_CALLEE_NEGATE),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct wti_recent)}},
	.see = see_mask,
	.thresholds = {{WTI_IN_A_ROW, 2,
			"a small mask may have the bytes of another one once, by chance"}},
};

/* ---- WT-MASK-002: the next token is in sight ------------------------------------------------ */

/* Of a process: tokens that were cut from others, and what attention did with them. */
struct tokens {
	struct wti_recent slices;  /* and of what, by its content */
	struct wti_recent batches; /* that were stacked of slices, likewise */
	uint64_t input;            /* of the model that is called; 0: it is no slice */
	uint32_t whole;
	uint64_t count;
	bool has_attention, has_mask;
};

static void note_slice(struct tokens *tokens, const struct wti_call *call)
{
	const struct wti_value_row *whole = wti_call_tensor(call, false, 0);
	const struct wti_value_row *part = wti_call_tensor(call, true, 0);

	if (whole && part && wti_dtype_is_integer(whole->digest.dtype) &&
	    part->digest.count < whole->digest.count)
		wti_recent_add(&tokens->slices, call, part, (uint32_t)whole->digest.hash | 1);
}

/* Of slices of one tensor; of many, the last are known. */
static void note_stack(struct tokens *tokens, const struct wti_call *call)
{
	const struct wti_recent_tensor *slice = NULL;
	const struct wti_value_row *value = NULL;
	uint32_t whole = 0;

	while ((value = wti_call_next_tensor(call, false, value))) {
		slice = wti_recent_find(&tokens->slices, value);
		if (slice && whole && slice->note != whole)
			return;
		whole = slice ? slice->note : whole;
	}
	if (slice)
		wti_recent_add(&tokens->batches, call, wti_call_tensor(call, true, 0), whole);
}

/* A slice, or a batch of them; NULL: it is neither. */
static const struct wti_recent_tensor *find_tokens(const struct tokens *tokens,
						   const struct wti_value_row *value)
{
	const struct wti_recent_tensor *slice = wti_recent_find(&tokens->slices, value);

	return slice ? slice : wti_recent_find(&tokens->batches, value);
}

static void note_model(struct tokens *tokens, const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	const struct wti_recent_tensor *slice = find_tokens(tokens, input);

	tokens->input = slice && call->flags & WT_CALL_GRAD ? slice->hash : 0;
	tokens->whole = slice ? slice->note : 0;
	tokens->count = slice ? input->digest.count : 0;
	tokens->has_attention = tokens->has_mask = false;
}

/* A mask of positions, not of padding. */
static void note_attention(struct tokens *tokens, const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;

	if (!strstr(wti_moment_text(moment, moment->call->callee), "Attention") &&
	    !strstr(wti_moment_text(moment, moment->call->callee), "Transformer"))
		return;
	tokens->has_attention = true;
	while ((value = wti_call_next_tensor(moment->call, false, value))) {
		const char *name = wti_moment_text(moment, value->name);

		tokens->has_mask |= strstr(name, "mask") && !strstr(name, "padding");
	}
}

static enum wti_answer judge_sight(struct wti_case *account, const struct tokens *tokens,
				   const struct wti_moment *moment)
{
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	const struct wti_recent_tensor *slice = find_tokens(tokens, target);

	if (!slice || !tokens->input || !tokens->has_attention || slice->note != tokens->whole ||
	    slice->hash == tokens->input || target->digest.count != tokens->count)
		return WTI_RULE_NO_CASE;
	if (tokens->has_mask)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, moment->call->callee,
			    "input and targets, %llu each, are cut from the same tokens, and "
			    "attention was given no mask",
			    (unsigned long long)tokens->count);
}

static enum wti_answer see_sight(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_MODULE) {
		if (is_of_torch(moment))
			note_attention(kept, moment);
		else if (moment->call->flags & WT_CALL_OUTERMOST)
			note_model(kept, moment->call);
	} else if (moment->call->what == WTI_CALLEE_INDEX) {
		note_slice(kept, moment->call);
	} else if (moment->call->what == WTI_CALLEE_STACK) {
		note_stack(kept, moment->call);
	} else {
		return judge_sight(account, kept, moment);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_mask_002 = {
	.code = "WT-MASK-002",
	.severity = WT_WARNING,
	.title = "a model that should predict the next token can see it",
	.means = "attention looks at all positions, later ones included: the model learns to copy, "
		 "and has nothing to copy from when it generates",
	.hint = "give the layers a causal mask: "
		"nn.Transformer.generate_square_subsequent_mask(length)",
	.definition =
		"If the tokens that a model is given and the targets of the loss that follows are "
		"two different parts, of the same length, of one tensor, or stacks of such parts, "
		"torch's own attention "
		"modules in that model are given a mask other than one for padding. Three losses "
		"in a row without one are a violation. A case is such a loss.",
	.innocent = "Input and targets that are parts of one tensor without being shifted, such as "
		    "questions and answers of one length.",
	.needs = "no model with torch's own attention was trained on parts of one tensor",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_INDEX) | WTI_CALLEE_SET(WTI_CALLEE_STACK) |
		   WTI_CALLEE_SET(WTI_CALLEE_CROSS_ENTROPY) | WTI_CALLEE_SET(WTI_CALLEE_NLL),
	.keeps = {{WTI_PER_PROCESS, sizeof(struct tokens)}},
	.see = see_sight,
	.thresholds = {{WTI_IN_A_ROW, 3,
			"parts of one tensor may be compared once or twice without being a text "
			"and its continuation"}},
};
