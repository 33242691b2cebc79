/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about axes, targets, losses and masks, each with a run in a few lines that violates it and
 * one that does not.
 */
#include "rules_world.h"

enum { TRAINING = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD };

/* A model that is given one tensor and returns one. */
static void returns(struct world *w, const char *input, uint64_t hash, const char *shape)
{
	module(w, "Net.forward", "Net", TRAINING);
	tensor(w, 0, 1000 + hash, input);
	tell_module(w, WTI_MOMENT_MODULE);
	tensor(w, -1, hash, shape)->flags = WT_TENSOR_REQUIRES_GRAD;
	tell_module(w, WTI_MOMENT_MODULE_END);
}

static void classes(struct world *w, uint64_t hash, const char *shape, uint64_t target,
		    const char *target_shape)
{
	call(w, "cross_entropy");
	tensor(w, 0, hash, shape);
	tensor(w, 1, target, target_shape)->dtype = WT_DTYPE_I64;
	tensor(w, -1, hash + 7, "");
	tell_call(w);
}

/* ---- Axes ----------------------------------------------------------------------------------- */

static void torn(struct world *w, bool is_wrong)
{
	returns(w, "4x1x8x8", 5, is_wrong ? "4x3x8x8" : "4x64x3");
	classes(w, 5, "256x3", 6, "256");
}

/* One axis of the right length is enough: positions may be as many as classes. */
static void test_ambiguous_axes(void)
{
	struct world w;

	begin(&w);
	returns(&w, "4x1x3x3", 5, "4x3x3x3");
	classes(&w, 5, "36x3", 6, "36");
	CHECK_INT(case_of(&w, "WT-LOSS-007")->violation_count, 0);
	returns(&w, "4x8", 6, "4x24"); /* flat: what its axes mean is the program's to know */
	classes(&w, 6, "32x3", 7, "32");
	CHECK_INT(case_of(&w, "WT-LOSS-007")->violation_count, 0);
	end(&w);
}

static void other_order(struct world *w, bool is_wrong)
{
	returns(w, "6x4", 5, is_wrong ? "6x4x9" : "4x6x9");
	call(w, "Tensor.reshape");
	tensor(w, 0, 6, "4x6")->dtype = WT_DTYPE_I64;
	tensor(w, -1, 6, "24")->dtype = WT_DTYPE_I64;
	tell_call(w);
	classes(w, 5, "24x9", 6, "24");
}

/* 32 rows of 4 probabilities have a mean of 1/4, 4 columns of 32 one of 1/32. */
static void over_batch(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++) {
		struct wti_digest_row *result;

		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 20 + i, "32x5");
		result = tensor(w, -1, 10 + i, "32x4");
		result->min = 0.01;
		result->max = 0.6;
		result->mean = is_wrong ? 1.0 / 32 : 0.25;
		tell_module(w, WTI_MOMENT_MODULE_END);
	}
}

static void unit_columns(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++) {
		struct wti_digest_row *result;

		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 20 + i, "32x5");
		result = tensor(w, -1, 10 + i, "32x16");
		result->mean = 0;
		result->min = -0.9;
		result->max = 0.9;
		result->m2 = is_wrong ? 16 : 32;
		tell_module(w, WTI_MOMENT_MODULE_END);
	}
}

static void time_first(struct world *w, bool is_wrong)
{
	struct made_object *of = object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);

	w->owner = word(w, "Net.rnn");
	tell_fact(w, of, "batch_first", 0);
	w->owner = 0;
	for (uint64_t i = 0; i < 2; i++) {
		call(w, "LSTM.forward")->object = word(w, "Net.rnn");
		w->call.flags = WT_CALL_TRAIN | WT_CALL_GRAD;
		tensor(w, 0, 10 + i, is_wrong ? "32x7x5" : "7x32x5");
		tell(w, WTI_MOMENT_MODULE_END, NULL);
		classes(w, 20 + i, "32x2", 30 + i, "32");
	}
}

/* ---- Targets -------------------------------------------------------------------------------- */

static void not_shifted(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 3; i++) {
		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 10 + i, "4x8")->dtype = WT_DTYPE_I64;
		tell_module(w, WTI_MOMENT_MODULE_END);
		classes(w, 20 + i, "32x9", is_wrong ? 10 + i : 40 + i, "32");
	}
}

/* A text that repeats: its targets were inputs some steps ago. */
static void test_periodic_text(void)
{
	struct world w;

	begin(&w);
	for (uint64_t i = 0; i < 8; i++) {
		module(&w, "Net.forward", "Net", TRAINING);
		tensor(&w, 0, 10 + i % 5, "4x8")->dtype = WT_DTYPE_I64;
		tell_module(&w, WTI_MOMENT_MODULE);
		classes(&w, 20 + i, "32x9", 10 + (i + 1) % 5, "32");
		call(&w, "Tensor.backward");
		backward(&w);
	}
	CHECK_INT(case_of(&w, "WT-TARGET-003")->violation_count, 0);
	CHECK(case_of(&w, "WT-TARGET-003")->held_count);
	end(&w);
}

/* The model computes the loss itself: it is given its targets, too, and first. */
static void given_targets(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 3; i++) {
		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 10 + i, "4x8")->dtype = WT_DTYPE_I64;
		tensor(w, 1, 20 + i, "4x8")->dtype = WT_DTYPE_I64;
		tell_module(w, WTI_MOMENT_MODULE);
		module(w, "Embedding.forward", "Net.emb", WT_CALL_TRAIN | WT_CALL_GRAD);
		tensor(w, 0, 20 + i, "4x8")->dtype = WT_DTYPE_I64;
		tell_module(w, WTI_MOMENT_MODULE_END);
		classes(w, 30 + i, "32x9", is_wrong ? 20 + i : 10 + i, "32");
	}
}

static void padding(struct world *w, bool is_wrong)
{
	struct made_object *of = object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	struct made_parameter *table = parameter(w, "Net", "emb.weight", NULL);

	table->shape = word(w, "13x24");
	w->owner = word(w, "Net.emb");
	tell_fact(w, of, "padding_idx", 0);
	w->owner = 0;
	for (uint64_t i = 0; i < 4; i++) {
		struct wti_digest_row *tokens, *target;

		call(w, "Embedding.forward")->object = word(w, "Net.emb");
		tokens = tensor(w, 0, 10 + i, "4x8");
		tokens->dtype = WT_DTYPE_I64;
		tokens->zeros = 6;
		tell(w, WTI_MOMENT_MODULE_END, NULL);
		call(w, "cross_entropy");
		tensor(w, 0, 20 + i, "32x13");
		target = tensor(w, 1, 30 + i, "32");
		target->dtype = WT_DTYPE_I64;
		target->zeros = 6;
		tensor(w, -1, 40 + i, "");
		if (!is_wrong)
			number(w, "ignore_index", 2, 0);
		tell_call(w);
	}
}

static void sorted_batches(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 8; i++) {
		struct wti_digest_row *target;

		w->scope.stage = word(w, "train");
		call(w, "cross_entropy");
		tensor(w, 0, 20 + i, "16x3");
		target = tensor(w, 1, 30 + i, "16");
		target->dtype = WT_DTYPE_I64;
		target->min = is_wrong ? (double)(i / 3) : 0;
		target->max = is_wrong ? (double)(i / 3) : 2;
		tell_call(w);
	}
}

/* Few of one class: most batches hold the other alone. */
static void test_rare_class(void)
{
	struct world w;

	begin(&w);
	for (uint64_t i = 0; i < 16; i++) {
		struct wti_digest_row *target;

		w.scope.stage = word(&w, "train");
		call(&w, "cross_entropy");
		tensor(&w, 0, 20 + i, "16x2");
		target = tensor(&w, 1, 30 + i, "16");
		target->dtype = WT_DTYPE_I64;
		target->min = 0;
		target->max = i % 8 == 7;
		tell_call(&w);
	}
	CHECK_INT(case_of(&w, "WT-TARGET-005")->violation_count, 0);
	CHECK(case_of(&w, "WT-TARGET-005")->held_count);
	CHECK_INT(case_of(&w, "WT-TARGET-001")->violation_count, 0);
	end(&w);
}

/* ---- Losses --------------------------------------------------------------------------------- */

static void outside(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++) {
		struct wti_digest_row *target;

		call(w, "binary_cross_entropy_with_logits");
		tensor(w, 0, 10 + i, "8");
		target = tensor(w, 1, 20 + i, "8");
		target->min = is_wrong ? -1 : 0;
		tell_call(w);
	}
}

static void cut_logits(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 3; i++) {
		call(w, "relu");
		tensor(w, 0, 10 + i, "8x4");
		tensor(w, -1, 20 + i, "8x4");
		tell_call(w);
		classes(w, is_wrong ? 20 + i : 30 + i, "8x4", 40 + i, "8");
	}
}

static void itself(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 3; i++) {
		call(w, "pairwise_distance");
		tensor(w, 0, 10 + i, "8x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, 1, is_wrong ? 10 + i : 20 + i, "8x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
	}
}

/* exp(new - new.detach()) is one in value, and has a gradient. */
static void test_detached_side(void)
{
	struct world w;

	begin(&w);
	for (uint64_t i = 0; i < 4; i++) {
		call(&w, "Tensor.__sub__");
		tensor(&w, 0, 10 + i, "8x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(&w, 1, 10 + i, "8x4");
		tell_call(&w);
	}
	CHECK_INT(case_of(&w, "WT-LOSS-011")->violation_count, 0);
	end(&w);
}

/* ---- Masks ---------------------------------------------------------------------------------- */

static void mask(struct world *w, const char *compare, uint64_t hash, bool is_negated)
{
	call(w, compare);
	tensor(w, 0, hash, "4x8")->dtype = WT_DTYPE_I64;
	number(w, "", 1, 0);
	tensor(w, -1, hash + 1, "4x8")->dtype = WT_DTYPE_BOOL;
	tell_call(w);
	if (is_negated) {
		call(w, "Tensor.__invert__");
		tensor(w, 0, hash + 1, "4x8")->dtype = WT_DTYPE_BOOL;
		tensor(w, -1, hash + 2, "4x8")->dtype = WT_DTYPE_BOOL;
		tell_call(w);
	}
	module(w, "MultiheadAttention.forward", "Net", TRAINING);
	w->call.module = word(w, "torch.nn.modules.activation");
	tensor(w, 5, hash + 1 + is_negated, "4x8")->dtype = WT_DTYPE_BOOL;
	w->values[w->call.value_count - 1].name = word(w, "key_padding_mask");
	tell_module(w, WTI_MOMENT_MODULE_END);
}

static void hidden_content(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++)
		mask(w, is_wrong ? "Tensor.__ne__" : "Tensor.__eq__", 10 * i + 10, false);
}

static void negated_mask(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++)
		mask(w, is_wrong ? "Tensor.__eq__" : "Tensor.__ne__", 10 * i + 10, true);
}

static void cut_tokens(struct world *w, uint64_t part)
{
	call(w, "Tensor.__getitem__");
	tensor(w, 0, 1, "4x9")->dtype = WT_DTYPE_I64;
	tensor(w, -1, part, "4x8")->dtype = WT_DTYPE_I64;
	tell_call(w);
}

static void next_in_sight(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 3; i++) {
		cut_tokens(w, 10);
		cut_tokens(w, 11);
		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 10, "4x8")->dtype = WT_DTYPE_I64;
		tell_module(w, WTI_MOMENT_MODULE);
		module(w, "MultiheadAttention.forward", "Net.attention",
		       WT_CALL_TRAIN | WT_CALL_GRAD);
		w->call.module = word(w, "torch.nn.modules.activation");
		tensor(w, 0, 15, "4x8x6");
		if (!is_wrong) {
			tensor(w, 5, 16, "8x8");
			w->values[w->call.value_count - 1].name = word(w, "attn_mask");
		}
		tell_module(w, WTI_MOMENT_MODULE_END);
		leave(w);
		classes(w, 20, "32x9", 11, "32");
	}
}

static const struct {
	const char *code;
	void (*act)(struct world *w, bool is_wrong);
} all_twins[] = {
	{"WT-LOSS-007", torn},
	{"WT-LOSS-008", other_order},
	{"WT-OUT-002", over_batch},
	{"WT-OUT-002", unit_columns},
	{"WT-INPUT-004", time_first},
	{"WT-TARGET-003", not_shifted},
	{"WT-TARGET-003", given_targets},
	{"WT-TARGET-004", padding},
	{"WT-MASK-001", hidden_content},
	{"WT-MASK-001", negated_mask},
	{"WT-TARGET-005", sorted_batches},
	{"WT-LOSS-009", outside},
	{"WT-LOSS-010", cut_logits},
	{"WT-LOSS-011", itself},
	{"WT-MASK-002", next_in_sight},
};

static void test_twins(void)
{
	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

static const struct test tests[] = {
	{"periodic_text", test_periodic_text},   {"twins", test_twins},
	{"ambiguous_axes", test_ambiguous_axes}, {"rare_class", test_rare_class},
	{"detached_side", test_detached_side},   {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
