/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules, each with a run in a few lines that violates it and one that does not. One file, though a
 * long one: a list of short cases, each read by itself; rules that need a setting of their own have
 * their own files.
 */
#include "rules_world.h"

static void clip_late(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (int i = 0; i < 2; i++) {
		call(w, "Adam.zero_grad");
		tell(w, WTI_MOMENT_ZERO_GRAD, find(w, "Adam"));
		call(w, "Tensor.backward");
		backward(w);
		if (is_wrong)
			step(w, "Adam");
		call(w, "clip_grad_norm_");
		tell_call(w);
		if (!is_wrong)
			step(w, "Adam");
	}
}

static void micro_batches(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (uint64_t i = 1; i <= 8; i++) {
		call(w, "mse_loss");
		tensor(w, 0, 10 * i, "8x1");
		tensor(w, 1, 10 * i + 1, "8x1");
		tensor(w, -1, 10 * i + 2, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
		if (!is_wrong) {
			call(w, "Tensor.__truediv__");
			tensor(w, 0, 10 * i + 2, "")->flags = WT_TENSOR_REQUIRES_GRAD;
			tensor(w, -1, 10 * i + 3, "")->flags = WT_TENSOR_REQUIRES_GRAD;
			tell_call(w);
		}
		call(w, "Tensor.backward");
		tensor(w, 0, 10 * i + (is_wrong ? 2 : 3), "");
		backward(w);
		if (i % 4 == 0)
			step(w, "Adam");
	}
}

static void carried_graph(struct world *w, bool is_wrong)
{
	for (uint64_t i = 1; i <= 4; i++) {
		module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD);
		tensor(w, 1, i, "4x4")->flags = is_wrong ? WT_TENSOR_REQUIRES_GRAD : 0;
		tell_module(w, WTI_MOMENT_MODULE);
		tensor(w, -1, i + 1, "4x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_module(w, WTI_MOMENT_MODULE_END);
		call(w, "Tensor.backward");
		backward(w);
	}
}

static void running_sum(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (uint64_t i = 1; i <= 4; i++) {
		call(w, "Tensor.backward");
		backward(w);
		step(w, "Adam");
		call(w, "Tensor.__add__");
		tensor(w, 0, is_wrong ? i : 100 + i, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, -1, i + 1, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
	}
}

/* The sum is written in place; a parameter is written in place, too, and has no graph. */
static void running_sum_in_place(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (uint64_t i = 1; i <= 4; i++) {
		call(w, "Tensor.backward");
		backward(w);
		step(w, "Adam");
		call(w, "Tensor.__iadd__");
		tensor(w, 0, is_wrong ? i : 100 + i, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, 1, 200 + i, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, -1, i + 1, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
		call(w, "Tensor.add_")->site = 8;
		tensor(w, 0, 300 + i, "4x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, 1, 400 + i, "4x4");
		tensor(w, -1, 301 + i, "4x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
	}
}

static void loss_twice(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (uint64_t i = 1; i <= 2; i++) {
		call(w, "add");
		tensor(w, 0, 10 * i, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, 1, 10 * i + 1, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, -1, 10 * i + 2, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
		call(w, "Tensor.backward");
		tensor(w, 0, is_wrong ? 10 * i + 1 : 10 * i + 5, "");
		backward(w);
		call(w, "Tensor.backward");
		tensor(w, 0, 10 * i + 2, "");
		backward(w);
		step(w, "Adam");
	}
}

static void probabilities(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 2; i++) {
		struct wti_digest_row *input;

		call(w, "CrossEntropyLoss.forward");
		input = tensor(w, 1, 1, "8x4");
		input->min = is_wrong ? 0.1 : -2;
		input->max = is_wrong ? 0.7 : 2;
		input->mean = 0.25;
		tell_call(w);
	}
}

static void broadcast_loss(struct world *w, bool is_wrong)
{
	module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD);
	tensor(w, -1, 5, "8x1")->flags = WT_TENSOR_REQUIRES_GRAD;
	tell_module(w, WTI_MOMENT_MODULE_END);
	call(w, "Tensor.__sub__");
	tensor(w, 0, 5, "8x1")->flags = WT_TENSOR_REQUIRES_GRAD;
	tensor(w, 1, 6, is_wrong ? "8" : "8x1");
	tell_call(w);
}

/* What was predicted went through other calls, and the target was broadcast before. */
static void broadcast_target(struct world *w, bool is_wrong)
{
	call(w, "smooth_l1_loss");
	tensor(w, 0, 5, "8x1")->flags = WT_TENSOR_REQUIRES_GRAD;
	tensor(w, 1, 6, is_wrong ? "8x8" : "8x1");
	tell_call(w);
}

static void half_loss(struct world *w, bool is_wrong)
{
	call(w, "Tensor.backward");
	tensor(w, 0, 1, "")->dtype = is_wrong ? WT_DTYPE_BF16 : WT_DTYPE_F32;
	backward(w);
}

static void one_class(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 3; i++) {
		struct wti_digest_row *target;

		call(w, "cross_entropy");
		tensor(w, 0, 10 + i, "64x5");
		target = tensor(w, 1, 20 + i, "64");
		target->dtype = WT_DTYPE_I64;
		target->min = 0;
		target->max = is_wrong ? 0 : 4;
		tell_call(w);
	}
}

static void ignored_targets(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 4; i++) {
		struct wti_digest_row *target;

		call(w, "cross_entropy");
		tensor(w, 0, 1, "8x5");
		target = tensor(w, 1, 2, "8");
		target->dtype = WT_DTYPE_I64;
		target->min = -100;
		target->max = is_wrong && i == 3 ? -100 : 3;
		tell_call(w);
	}
}

static void other_range(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 6; i++) {
		struct wti_digest_row *input;

		module(w, "Net.forward", "Net",
		       WT_CALL_OUTERMOST | (i < 5 ? WT_CALL_TRAIN | WT_CALL_GRAD : 0));
		input = tensor(w, 1, 1, "4x4");
		input->mean = i == 5 && is_wrong ? 128 : 0;
		input->m2 = 16;
		tell_module(w, WTI_MOMENT_MODULE);
	}
}

static void zeros_appear(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 12; i++) {
		module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD);
		tensor(w, 1, 1, "4x4")->zeros = is_wrong && i >= 9 ? 8 : 0;
		tell_module(w, WTI_MOMENT_MODULE);
	}
}

static void floor_division(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 2; i++) {
		call(w, "Tensor.__floordiv__");
		tensor(w, 0, 1, "8x8");
		tensor(w, -1, 2, "8x8")->zeros = is_wrong ? 63 : 4;
		tell_call(w);
	}
}

static void batch(struct world *w, uint64_t hash, const char *shape)
{
	call(w, "DataLoader.__next__")->object = word(w, "DataLoader");
	tensor(w, -1, hash, shape);
	tell(w, WTI_MOMENT_BATCH, find(w, "DataLoader"));
}

static void begin_epoch(struct world *w)
{
	call(w, "DataLoader.__iter__")->object = word(w, "DataLoader");
	tell(w, WTI_MOMENT_BATCH, find(w, "DataLoader"));
}

static void repeated_batches(struct world *w, bool is_wrong)
{
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	begin_epoch(w);
	for (uint64_t i = 0; i < 6; i++)
		batch(w, is_wrong ? i / 2 + 1 : i + 1, "8x4");
}

static void first_batch_only(struct world *w, bool is_wrong)
{
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	for (uint64_t i = 0; i < 4; i++) {
		begin_epoch(w);
		batch(w, is_wrong ? 1 : i + 1, "8x4");
		call(w, "Tensor.backward");
		backward(w);
	}
}

static void same_order(struct world *w, bool is_wrong)
{
	struct made_object *sampler;

	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	sampler = object(w, "S", "DistributedSampler", WT_OBJECT_TYPE_SAMPLER);
	sampler->of = word(w, "DataLoader");
	for (uint64_t epoch = 0; epoch < 2; epoch++) {
		begin_epoch(w);
		for (uint64_t i = 1; i <= 3; i++) {
			batch(w, is_wrong ? i : 10 * epoch + i, "8x4");
			call(w, "Tensor.backward");
			backward(w);
		}
	}
}

static void written_rows(struct world *w, bool is_wrong)
{
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	for (uint64_t epoch = 0; epoch < 3; epoch++) {
		begin_epoch(w);
		call(w, "DataLoader.__next__")->object = word(w, "DataLoader");
		enter(w);
		for (uint64_t i = 1; i <= 4; i++) {
			call(w, "Tensor.__iadd__");
			tensor(w, 0, is_wrong ? 10 * i + epoch : 10 * i, "4");
			tensor(w, -1, is_wrong ? 10 * i + epoch + 1 : 1000 * i + epoch, "4");
			tell_call(w);
		}
		leave(w);
	}
}

static void drawn_again(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 4; i++) {
		call(w, "Tensor.normal_");
		tensor(w, 0, is_wrong ? i : 100 + i, "4x4");
		tensor(w, -1, i + 1, "4x4");
		tell_call(w);
	}
}

static void seeded(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (int i = 0; i < 4; i++) {
		call(w, "manual_seed");
		number(w, "seed", 0, is_wrong ? 1 : i);
		tell_call(w);
		step(w, "Adam");
	}
}

static void dropout_in_evaluation(struct world *w, bool is_wrong)
{
	module(w, "Net.forward", "Net", WT_CALL_OUTERMOST);
	tell_module(w, WTI_MOMENT_MODULE);
	call(w, "dropout");
	tensor(w, 0, 1, "4x4");
	tensor(w, -1, is_wrong ? 2 : 1, "4x4");
	tell_call(w);
}

static void evaluated_in_training(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "fc.weight", find(w, "Adam"));
	for (int i = 0; i < 8; i++)
		step(w, "Adam");
	module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | (is_wrong ? WT_CALL_TRAIN : 0));
	tell_module(w, WTI_MOMENT_MODULE);
	module(w, "Dropout.forward", "Net.drop", is_wrong ? WT_CALL_TRAIN : 0);
	tell_module(w, WTI_MOMENT_MODULE);
}

/* A part of what is trained is called: generate() of an adapter calls the model inside of it. */
static void part_evaluated_in_training(struct world *w, bool is_wrong)
{
	uint32_t mode = is_wrong ? WT_CALL_TRAIN : 0;

	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "body.fc.weight", find(w, "Adam"));
	for (int i = 0; i < 8; i++)
		step(w, "Adam");
	module(w, "Body.forward", "Net.body", WT_CALL_OUTERMOST | mode);
	tell_module(w, WTI_MOMENT_MODULE);
	module(w, "Dropout.forward", "Net.body.drop", mode);
	tell_module(w, WTI_MOMENT_MODULE);
}

/* The evaluation is where the program calls the model, not where the model calls its parts. */
static void test_evaluated_where(void)
{
	struct world w;

	begin(&w);
	evaluated_in_training(&w, true);
	CHECK_TEXT(case_of(&w, "WT-MODE-003")->where.op, "Net.forward");
	CHECK(strstr(case_of(&w, "WT-MODE-003")->evidence, "after 8 steps"));
	end(&w);
}

static void frozen_norm(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "bn.weight", NULL)->requires_grad = !is_wrong;
	for (int i = 0; i < 3; i++) {
		module(w, "BatchNorm1d.forward", "Net.bn", WT_CALL_TRAIN | WT_CALL_GRAD);
		tell_module(w, WTI_MOMENT_MODULE);
		step(w, "Adam");
	}
}

/* Two models have a parameter of one name: evidence says whose it is. */
static void test_subjects(void)
{
	static const char *const expected[] = {"weight: ", "Linear.weight, Linear#1.weight: "};

	for (int several = 0; several < 2; several++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		optimizer(&w, "Adam", "Adam");
		for (int i = 0; i < 1 + several; i++) {
			const char *owner = i ? "Linear#1" : "Linear";
			struct made_parameter *weight =
				parameter(&w, owner, "weight", find(&w, "Adam"));

			weight->grad = WTI_GRAD_NONE;
			use(&w, weight, owner, WTI_USE_GRAD);
		}
		for (int i = 0; i < 8; i++)
			step(&w, "Adam");
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(result.finding_count, 1);
		CHECK_TEXT(result.findings[0].code, "WT-GRAD-003");
		CHECK(!strncmp(result.findings[0].evidence, expected[several],
			       strlen(expected[several])));
		wt_result_release(&result);
		end(&w);
	}
}

/* What is said of a part that was frozen, returned nothing to be trained, and now does. */
static void test_unfrozen_norm(void)
{
	struct made_parameter *weight;
	struct world w;

	begin(&w);
	optimizer(&w, "Adam", "Adam");
	weight = parameter(&w, "Net", "bn.weight", NULL);
	weight->requires_grad = false;
	for (int i = 0; i < 14; i++) {
		module(&w, "BatchNorm1d.forward", "Net.bn",
		       WT_CALL_GRAD | (i < 4 ? 0 : WT_CALL_TRAIN));
		tell_module(&w, WTI_MOMENT_MODULE);
		tensor(&w, -1, 100 + (uint64_t)i, "8x4")->flags =
			i < 4 ? 0 : WT_TENSOR_REQUIRES_GRAD;
		tell_module(&w, WTI_MOMENT_MODULE_END);
		step(&w, "Adam");
		CHECK_INT(case_of(&w, "WT-MODE-004")->violation_count, i == 13 ? 2 : 0);
	}
	/* It has stayed frozen, which is certain in the second step and began in the first. */
	CHECK_INT(case_of(&w, "WT-MODE-004")->first_step, 12);
	CHECK_INT(case_of(&w, "WT-MODE-004")->last_step, 13);
	end(&w);
}

static void old_scheduler(struct world *w, bool is_wrong)
{
	struct made_object *scheduler;

	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "weight", find(w, "Adam"));
	scheduler = object(w, "StepLR", "StepLR", WT_OBJECT_TYPE_SCHEDULER);
	scheduler->of = word(w, "Adam");
	step(w, "Adam");
	if (is_wrong) /* another optimizer takes the parameter over */
		hold(w, optimizer(w, "SGD", "SGD"), find_parameter(w, "Net", "weight"));
	for (int i = 0; i < 4; i++) {
		step(w, is_wrong ? "SGD" : "Adam");
		call(w, "StepLR.step");
		tell(w, WTI_MOMENT_SCHEDULER, find(w, "StepLR"));
	}
}

static void vanished_rate(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	for (int i = 0; i < 60; i++) {
		find(w, "Adam")->lr[0] = is_wrong && i > 20 ? 1e-9 : 1e-2;
		step(w, "Adam");
	}
}

/* A schedule that says how long it is ends where it says, whatever the rate is there. */
static void planned_end(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	object(w, "LinearLR", "LinearLR", WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	tell_fact(w, find(w, "LinearLR"), "total_iters", is_wrong ? 60 : 30);
	for (int i = 0; i < 30; i++) {
		find(w, "Adam")->lr[0] = 1 - i / 60.0;
		step(w, "Adam");
		tell_fact(w, find(w, "LinearLR"), "last_epoch", i + 1);
	}
}

static void cut_short(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	for (int i = 0; i < (is_wrong ? 20 : 30); i++) {
		find(w, "Adam")->lr[0] = 1 - i / 30.0;
		step(w, "Adam");
	}
}

static void rebuilt(struct world *w, bool is_wrong)
{
	static const char *const names[] = {"Adam", "Adam#1", "Adam#2", "Adam#3"};

	for (int i = 0; i < 4; i++) {
		const char *name = names[is_wrong ? i : 0];

		if (is_wrong || !i) {
			struct made_object *made = optimizer(w, name, "Adam");

			if (!i)
				parameter(w, "Net", "weight", made);
			else
				hold(w, made, find_parameter(w, "Net", "weight"));
		}
		step(w, name);
	}
}

static void stepped_twice(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "weight", find(w, "Adam"))->grad = WTI_GRAD_NONZERO;
	for (int i = 0; i < 4; i++) {
		call(w, "Tensor.backward");
		if (!is_wrong || i % 2 == 0)
			backward(w);
		step(w, "Adam");
	}
}

static void frozen_moves(struct world *w, bool is_wrong)
{
	struct made_parameter *frozen;

	optimizer(w, "Adam", "Adam");
	frozen = parameter(w, "Net", "weight", find(w, "Adam"));
	frozen->requires_grad = false;
	frozen->grad = WTI_GRAD_ZERO;
	frozen->moved = is_wrong;
	step(w, "Adam");
}

static void resting_group(struct world *w, bool is_wrong)
{
	struct made_object *adam = optimizer(w, "Adam", "Adam");

	adam->lr_known = 3;
	adam->lr[0] = 0.1;
	adam->lr[1] = is_wrong ? 0 : 0.01;
	parameter(w, "Net", "a", find(w, "Adam"))->grad = WTI_GRAD_NONZERO;
	parameter(w, "Net", "b", find(w, "Adam"))->grad = WTI_GRAD_NONZERO;
	find_parameter(w, "Net", "b")->group = 1;
	step(w, "Adam");
	step(w, "Adam");
}

/* ---- Others --------------------------------------------------------------------------------- */

static void generated(struct world *w, bool is_wrong)
{
	call(w, "Net.generate")->object = word(w, "Net");
	tensor(w, 1, 1, "2x20");
	number(w, "max_new_tokens", 2, 5);
	tensor(w, -1, 2, is_wrong ? "2x13" : "2x25");
	tell_call(w);
}

static void unmatched(struct world *w, bool is_wrong)
{
	struct wti_value_row *value;

	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	parameter(w, "Net", "fc.weight", NULL);
	call(w, "Net.load_state_dict")->object = word(w, "Net");
	value = &w->values[w->call.value_count];
	tensor(w, 1, 1, "4x4");
	value->name = word(w, is_wrong ? "module.fc.weight" : "fc.weight");
	tell(w, WTI_MOMENT_CALL, find(w, "Net"));
}

static void small_additions(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 2; i++) {
		struct wti_digest_row *to, *what;

		call(w, "Tensor.sub_");
		to = tensor(w, 0, 1, "4x4");
		to->dtype = WT_DTYPE_BF16;
		to->mean = 1;
		to->m2 = 0;
		what = tensor(w, 1, 2, "4x4");
		what->mean = is_wrong ? 1e-4 : 0.1;
		what->m2 = 0;
		tell_call(w);
	}
}

/* A wrapper and the optimizer inside of it step the same parameters in turns. */
static void test_wrapped_optimizer(void)
{
	struct made_object *inner;
	struct world w;

	begin(&w);
	inner = optimizer(&w, "Adam", "Adam");
	parameter(&w, "Net", "weight", inner);
	hold(&w, optimizer(&w, "Lookahead", "Lookahead"), find_parameter(&w, "Net", "weight"));
	for (int i = 0; i < 4; i++) {
		step(&w, "Adam");
		step(&w, "Lookahead");
	}
	CHECK_INT(case_of(&w, "WT-OPT-006")->violation_count, 0);
	end(&w);
}

static const struct {
	const char *code;
	void (*act)(struct world *w, bool is_wrong);
} all_twins[] = {
	{"WT-CLIP-001", clip_late},
	{"WT-ACC-001", micro_batches},
	{"WT-GRAPH-001", carried_graph},
	{"WT-GRAPH-002", running_sum},
	{"WT-GRAPH-002", running_sum_in_place},
	{"WT-GRAPH-003", loss_twice},
	{"WT-LOSS-001", probabilities},
	{"WT-LOSS-002", broadcast_loss},
	{"WT-LOSS-002", broadcast_target},
	{"WT-LOSS-003", half_loss},
	{"WT-TARGET-001", one_class},
	{"WT-TARGET-002", ignored_targets},
	{"WT-INPUT-001", other_range},
	{"WT-INPUT-002", zeros_appear},
	{"WT-INPUT-003", floor_division},
	{"WT-DATA-001", repeated_batches},
	{"WT-DATA-002", first_batch_only},
	{"WT-DATA-003", same_order},
	{"WT-DATA-005", written_rows},
	{"WT-INIT-002", drawn_again},
	{"WT-RNG-001", seeded},
	{"WT-MODE-002", dropout_in_evaluation},
	{"WT-MODE-003", evaluated_in_training},
	{"WT-MODE-003", part_evaluated_in_training},
	{"WT-MODE-004", frozen_norm},
	{"WT-SCHED-003", old_scheduler},
	{"WT-SCHED-004", vanished_rate},
	{"WT-SCHED-005", cut_short},
	{"WT-SCHED-005", planned_end},
	{"WT-OPT-006", rebuilt},
	{"WT-OPT-007", stepped_twice},
	{"WT-OPT-008", frozen_moves},
	{"WT-OPT-011", resting_group},
	{"WT-OUT-001", generated},
	{"WT-CKPT-004", unmatched},
	{"WT-NUM-004", small_additions},
};

static void test_twins(void)
{
	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

/* ---- What they rest on ---------------------------------------------------------------------- */

static void test_callees(void)
{
	static const struct {
		const char *callee;
		enum wti_callee what;
		bool is_in_place;
	} cases[] = {
		{"clip_grad_norm_", WTI_CALLEE_CLIP_NORM, true},
		{"Tensor.__iadd__", WTI_CALLEE_ADD_IN_PLACE, true},
		{"Tensor.lerp_", WTI_CALLEE_BLEND, true},
		{"Tensor.__add__", WTI_CALLEE_ADD, false},
		{"Tensor.__int__", WTI_CALLEE_OTHER, false},
		{"CrossEntropyLoss.forward", WTI_CALLEE_CROSS_ENTROPY, false},
		{"Net.forward", WTI_CALLEE_OTHER, false},
		{"manual_seed", WTI_CALLEE_SEED, false},
		{"Generator.manual_seed", WTI_CALLEE_OTHER, false},
	};
	struct world w;

	begin(&w);
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]);
	     i++) { /* again, from the cache */
		size_t at = i % (sizeof(cases) / sizeof(cases[0]));
		bool is_in_place = false;

		CHECK_INT(wti_callee_of(&w.training.callees, w.training.symbols,
					word(&w, cases[at].callee), &is_in_place),
			  cases[at].what);
		CHECK_INT(is_in_place, cases[at].is_in_place);
	}
	end(&w);
}

static void test_shapes(void)
{
	CHECK_INT(wti_shape_read("").rank, 0);
	CHECK_INT(wti_shape_read("12").rank, 1);
	CHECK_INT(wti_shape_read("12x3x4").extents[2], 4);
	CHECK_INT(wti_shape_read("2x").rank, 1);
	CHECK_INT(wti_shape_read("1x1x1x1x1x1x1x1x1x1").rank, WTI_EXTENTS_MAX);
}

/* Each code once, and everything that `explain` prints. */
static void test_rows(void)
{
	for (size_t i = 0; wti_rules[i]; i++) {
		const struct wti_rule *rule = wti_rules[i];

		CHECK(wti_rule_by_code(rule->code) == rule);
		CHECK(rule->title && rule->means && rule->hint && rule->definition);
		CHECK(rule->innocent && rule->needs);
		CHECK(rule->see || rule->audit || rule->survey);
		CHECK((!rule->audit && !rule->survey) || rule->thresholds[0].name);
		CHECK(!rule->see == !rule->moments);
		for (const char *const *code = rule->explains; code && *code; code++)
			CHECK(wti_rule_by_code(*code));
	}
}

static const struct test tests[] = {
	{"evaluated_where", test_evaluated_where},
	{"unfrozen_norm", test_unfrozen_norm},
	{"subjects", test_subjects},
	{"twins", test_twins},
	{"wrapped_optimizer", test_wrapped_optimizer},
	{"callees", test_callees},
	{"shapes", test_shapes},
	{"rows", test_rows},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
