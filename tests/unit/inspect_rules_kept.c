/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about what models and losses are given, their modes, copies of them, and checkpoints, each
 * with a run in a few lines that violates it and one that does not. One file, though a long one: a
 * list of short cases about one model, which all of them begin with.
 */
#include "rules_world.h"

enum { TRAINING = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD };

/* A model of two matrices. */
static void new_model(struct world *w)
{
	optimizer(w, "Adam", "Adam");
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	for (int i = 0; i < 2; i++) {
		struct made_parameter *made =
			parameter(w, "Net", i ? "b.weight" : "a.weight", find(w, "Adam"));

		made->hash = 100 + (uint64_t)i;
		made->moved = true;
		made->grad = WTI_GRAD_NONZERO;
	}
}

/* An optimizer has moved it. */
static void model(struct world *w)
{
	new_model(w);
	step(w, "Adam");
}

static void forward(struct world *w, uint64_t input, uint32_t flags)
{
	module(w, "Net.forward", "Net", flags);
	tensor(w, 0, input, "8x4");
	tell_module(w, WTI_MOMENT_MODULE);
	tell_module(w, WTI_MOMENT_MODULE_END);
}

static void give(struct world *w, uint64_t hash, const char *shape)
{
	call(w, "DataLoader.__next__");
	tensor(w, -1, hash, shape);
	tell(w, WTI_MOMENT_BATCH, find(w, "DataLoader"));
}

/* ---- Data ----------------------------------------------------------------------------------- */

static void small_batches(struct world *w, bool is_wrong)
{
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	call(w, "DataLoader.__init__");
	tell_fact(w, find(w, "DataLoader"), "batch_size", 32);
	for (uint64_t i = 1; i <= 3; i++)
		give(w, i, is_wrong ? "1x4" : "32x4");
}

/* The loader gives another batch before each step; the model is given the first one. */
static void batch_unused(struct world *w, bool is_wrong)
{
	model(w);
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	give(w, 1, "8x4");
	for (uint64_t i = 2; i < 10; i++) {
		give(w, i, "8x4");
		forward(w, is_wrong ? 1 : i, TRAINING);
		step(w, "Adam");
	}
}

/* One batch again and again is a test, as long as nothing else is drawn. */
static void test_one_batch(void)
{
	struct world w;

	begin(&w);
	model(&w);
	object(&w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	object(&w, "Other", "DataLoader", WT_OBJECT_TYPE_LOADER);
	give(&w, 1, "8x4");
	for (uint64_t i = 2; i < 10; i++) {
		forward(&w, 1, TRAINING);
		step(&w, "Adam");
		call(&w, "DataLoader.__next__");
		tensor(&w, -1, i, "8x4");
		tell(&w, WTI_MOMENT_BATCH, find(&w, "Other")); /* an evaluation */
	}
	CHECK_INT(case_of(&w, "WT-DATA-006")->violation_count, 0);
	CHECK(case_of(&w, "WT-DATA-006")->held_count);
	end(&w);
}

/* A loader whose first batch is all it has may be begun anew in every step. */
static void test_one_batch_in_all(void)
{
	for (int known = 0; known < 2; known++) {
		struct world w;

		begin(&w);
		model(&w);
		object(&w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
		call(&w, "DataLoader.__init__");
		tell_fact(&w, find(&w, "DataLoader"), "rows", known ? 8 : 80);
		for (int i = 0; i < 5; i++) {
			call(&w, "DataLoader.__iter__");
			tell(&w, WTI_MOMENT_BATCH, find(&w, "DataLoader"));
			give(&w, 1, "8x4");
			call(&w, "Tensor.backward");
			backward(&w);
		}
		CHECK_INT(case_of(&w, "WT-DATA-002")->violation_count > 0, !known);
		end(&w);
	}
}

/* ---- Losses --------------------------------------------------------------------------------- */

static void no_logarithms(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 3; i++) {
		struct wti_digest_row *input;

		call(w, "nll_loss");
		input = tensor(w, 0, 1, "8x4");
		input->max = is_wrong ? 2 : -0.1;
		input->mean = -1;
		tell_call(w);
	}
}

static void divergence(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 2; i++) {
		struct wti_digest_row *input;

		call(w, "KLDivLoss.forward");
		input = tensor(w, 0, 1, "8x3x4");
		input->min = is_wrong ? 0.1 : -3;
		input->max = is_wrong ? 0.7 : -0.1;
		input->mean = is_wrong ? 0.25 : -1.5;
		tell_call(w);
	}
}

/* Another loss on the same line, which is given what it expects. */
static void divergence_beside(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 4; i++) {
		struct wti_digest_row *input;

		call(w, i % 2 ? "cross_entropy" : "kl_div");
		input = tensor(w, 0, 1, "8x4");
		input->min = is_wrong && i % 2 == 0 ? 0.1 : -3;
		input->max = is_wrong && i % 2 == 0 ? 0.7 : -0.1;
		input->mean = is_wrong && i % 2 == 0 ? 0.25 : -1.5;
		tell_call(w);
	}
}

static void over_rows(struct world *w, bool is_wrong)
{
	for (uint64_t i = 1; i <= 3; i++) {
		call(w, "log_softmax");
		tensor(w, 0, 10 * i, "8x4");
		number(w, "dim", 1, is_wrong ? 0 : 1);
		tensor(w, -1, 10 * i + 1, "8x4");
		tell_call(w);
		call(w, "nll_loss");
		tensor(w, 0, 10 * i + 1, "8x4");
		tell_call(w);
	}
}

static void sigmoid_twice(struct world *w, bool is_wrong)
{
	for (uint64_t i = 1; i <= 3; i++) {
		call(w, "Sigmoid.forward");
		tensor(w, 0, 10 * i, "8x4");
		tensor(w, -1, 10 * i + 1, "8x4");
		tell_call(w);
		call(w, "BCEWithLogitsLoss.forward");
		tensor(w, 0, is_wrong ? 10 * i + 1 : 10 * i, "8x4");
		tell_call(w);
	}
}

static void unequal_parts(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (uint64_t i = 1; i <= 8; i++) {
		call(w, "mse_loss");
		tensor(w, 0, 10 * i, "8x1");
		tensor(w, 1, 10 * i + 1, is_wrong && i % 2 ? "64x1" : "8x1");
		tensor(w, -1, 10 * i + 2, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
		call(w, "Tensor.backward");
		tensor(w, 0, 10 * i + 2, "");
		backward(w);
		if (i % 2 == 0)
			step(w, "Adam");
	}
}

/* A loss times 65536 goes backward; the scaler finds no step that it could make. */
static void skipped_steps(struct world *w, bool is_wrong)
{
	model(w);
	object(w, "GradScaler", "GradScaler", WT_OBJECT_TYPE_SCALER);
	for (uint64_t i = 0; i < 20; i++) {
		call(w, "GradScaler.scale");
		tensor(w, -1, 10 * i + 1, "");
		tell(w, WTI_MOMENT_SCALER, find(w, "GradScaler"));
		call(w, "Tensor.backward");
		backward(w);
		if (!is_wrong)
			step(w, "Adam");
		call(w, "Adam.zero_grad");
		tell(w, WTI_MOMENT_ZERO_GRAD, find(w, "Adam"));
	}
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void nan_appears(struct world *w, bool is_wrong)
{
	call(w, "log");
	tensor(w, 0, 1, "8");
	tensor(w, -1, 2, "8")->nan = is_wrong;
	tell_call(w);
}

/* A fill with NaN was asked for; a function whose name begins alike computes it. */
static void nan_asked_for(struct world *w, bool is_wrong)
{
	nan_appears(w, false);
	call(w, is_wrong ? "fully_connected" : "full_like");
	tensor(w, 0, 1, "8");
	tensor(w, -1, 2, "8")->nan = 8;
	tell_call(w);
}

/* Inside of a module: the wrong one passes it on, the right one was read too early, or masks it. */
static void nan_inside(struct world *w, bool is_wrong)
{
	module(w, "Block.forward", "Block", TRAINING);
	tensor(w, 0, 1, "8x8");
	enter(w);
	module(w, "Attention.forward", "Block.attention", WT_CALL_TRAIN | WT_CALL_GRAD);
	tensor(w, 0, 1, "8x8");
	tensor(w, -1, 2, "8x8")->nan = 64;
	tell_call(w);
	back(w);
	tensor(w, -1, 3, "8x8")->nan = is_wrong ? 64 : 0;
	leave(w);
}

static void not_cast(struct world *w, bool is_wrong)
{
	model(w);
	parameter(w, "Net", "c.weight", NULL);
	module(w, "Own.forward", "Net.c", WT_CALL_AUTOCAST);
	tensor(w, 0, 1, "8x4")->dtype = WT_DTYPE_BF16;
	tensor(w, -1, 2, "8x4")->dtype = is_wrong ? WT_DTYPE_F32 : WT_DTYPE_BF16;
	tell_module(w, WTI_MOMENT_MODULE_END);
}

/* Two layers of different kinds begin with the same bytes, and part ways or stay one. */
static void untied(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "Net.out" : "Net.in";
		struct made_parameter *made =
			parameter(w, "Net", i ? "out.weight" : "in.weight", find(w, "Adam"));

		made->hash = 77;
		made->has_statistics = made->moved = true;
		made->statistics = (struct wti_digest_row){.min = -1, .max = 1};
		module(w, i ? "Linear.forward" : "Embedding.forward", name, WT_CALL_GRAD);
		tell_module(w, WTI_MOMENT_MODULE);
	}
	step(w, "Adam");
	for (int i = 0; i < 2; i++)
		find_parameter(w, "Net", i ? "out.weight" : "in.weight")->hash =
			is_wrong ? 80 + (uint64_t)i : 80;
	step(w, "Adam");
}

/* ---- Modes ---------------------------------------------------------------------------------- */

static void call_part(struct world *w, const char *callee, const char *name, uint32_t flags)
{
	forward(w, 1 + w->call.ordinal, flags);
	module(w, callee, name, flags & ~(uint32_t)WT_CALL_OUTERMOST);
	tell_module(w, WTI_MOMENT_MODULE);
}

static void left_in_evaluation(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 6; i++) {
		uint32_t mode = is_wrong && i >= 3 ? 0 : WT_CALL_TRAIN;

		call_part(w, "Dropout.forward", "Net.drop",
			  WT_CALL_OUTERMOST | WT_CALL_GRAD | mode);
		step(w, "Adam");
	}
}

/* What was trained goes on in evaluation mode under something else that is trained. */
static void test_probe(void)
{
	struct world w;

	begin(&w);
	model(&w);
	optimizer(&w, "SGD", "SGD");
	parameter(&w, "Probe", "weight", find(&w, "SGD"));
	for (int i = 0; i < 6; i++) {
		call_part(&w, "Dropout.forward", "Net.drop",
			  WT_CALL_OUTERMOST | WT_CALL_GRAD | (i < 3 ? WT_CALL_TRAIN : 0));
		step(&w, i < 3 ? "Adam" : "SGD");
	}
	CHECK_INT(case_of(&w, "WT-MODE-001")->violation_count, 0);
	CHECK(case_of(&w, "WT-MODE-001")->held_count);
	end(&w);
}

static void never_in_training(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 10; i++) {
		uint32_t mode = is_wrong ? 0 : WT_CALL_TRAIN;

		call_part(w, "Dropout.forward", "Net.drop",
			  WT_CALL_OUTERMOST | WT_CALL_GRAD | mode);
		step(w, "Adam");
	}
}

/* Without gradients, on another input each time, and nothing is ever trained. */
static void asked_in_training(struct world *w, bool is_wrong)
{
	for (uint64_t i = 1; i <= 6; i++) {
		uint32_t flags = is_wrong ? WT_CALL_TRAIN : 0;

		forward(w, i, WT_CALL_OUTERMOST | flags);
		module(w, "BatchNorm2d.forward", "Net.norm", flags);
		tell_module(w, WTI_MOMENT_MODULE);
	}
}

/* ---- Copies --------------------------------------------------------------------------------- */

static void blend(struct world *w, uint64_t to, uint64_t from, uint64_t after)
{
	call(w, "Tensor.lerp_");
	tensor(w, 0, to, "4x4");
	tensor(w, 1, from, "4x4");
	tensor(w, -1, after, "4x4");
	tell_call(w);
}

static struct made_parameter *first(struct world *w)
{
	return find_parameter(w, "Net", "a.weight");
}

static void no_longer_follows(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 24; i++) {
		first(w)->hash = 1000 + i;
		step(w, "Adam");
		if (!is_wrong || i < 20)
			blend(w, i, 1000 + i, i + 1);
	}
}

static void follows_in_vain(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 24; i++) {
		first(w)->hash = 1000 + i;
		step(w, "Adam");
		blend(w, is_wrong ? 1 : i, 1000 + i, is_wrong ? 1 : i + 1);
	}
}

static void copy_is_the_model(struct world *w, bool is_wrong)
{
	model(w);
	step(w, "Adam");
	for (uint64_t i = 0; i < 2; i++)
		blend(w, is_wrong ? 100 + i : 7 + i, 100 + i, 50 + i);
}

/* ---- Checkpoints ---------------------------------------------------------------------------- */

static void named(struct world *w, int32_t position, const char *name, uint64_t hash)
{
	tensor(w, position, hash, "4x4");
	w->values[w->call.value_count - 1].name = word(w, name);
}

static void save(struct world *w, uint64_t a, uint64_t b)
{
	call(w, "save");
	named(w, 0, "model.a.weight", a);
	if (b)
		named(w, 0, "model.b.weight", b);
	tell(w, WTI_MOMENT_SAVE, NULL);
}

static void saved_mixed(struct world *w, bool is_wrong)
{
	model(w);
	save(w, 100, is_wrong ? 55 : 101);
}

/* `c.weight` is saved under that name, or not at all. */
static void save_third(struct world *w, const char *name, uint64_t hash)
{
	struct made_parameter *more;

	model(w);
	more = parameter(w, "Net", "c.weight", find(w, "Adam"));
	more->hash = 102;
	more->moved = true;
	step(w, "Adam");
	call(w, "save");
	named(w, 0, "a.weight", 100);
	named(w, 0, "b.weight", 101);
	if (name)
		named(w, 0, name, hash);
	tell(w, WTI_MOMENT_SAVE, NULL);
}

static void saved_in_part(struct world *w, bool is_wrong)
{
	save_third(w, is_wrong ? NULL : "c.weight", 102);
}

/* It has another name by now, as a parameter that is pruned. */
static void saved_renamed(struct world *w, bool is_wrong)
{
	save_third(w, "c.weight_orig", is_wrong ? 55 : 102);
}

static void take_state(struct world *w)
{
	call(w, "Net.state_dict")->object = word(w, "Net");
	tell(w, WTI_MOMENT_CALL, find(w, "Net"));
}

/* The best state is loaded again; if it was not copied it is what the model holds. */
static void restored_alias(struct world *w, bool is_wrong)
{
	model(w);
	take_state(w);
	step(w, "Adam");
	call(w, "Net.load_state_dict")->object = word(w, "Net");
	named(w, 1, "a.weight", is_wrong ? 100 : 90);
	named(w, 1, "b.weight", is_wrong ? 101 : 91);
	tell(w, WTI_MOMENT_CALL, find(w, "Net"));
}

static void saved_later(struct world *w, bool is_wrong)
{
	model(w);
	take_state(w);
	if (is_wrong)
		step(w, "Adam");
	save(w, 100, 101);
}

/* What an optimizer keeps for a parameter, under whichever name, and its groups. */
static void load(struct world *w)
{
	call(w, "load");
	named(w, -1, "solver.state.0.step", 1);
	w->values[0].digest.shape = 0;
	named(w, -1, "solver.state.0.sum", 1);
	named(w, -1, "solver.state.1.sum", 2);
	named(w, -1, "solver.param_groups.0.lr", 0);
	tell(w, WTI_MOMENT_LOAD, NULL);
}

/* A part of a model may be called so, too. */
static void load_model_with_state(struct world *w)
{
	call(w, "load");
	named(w, -1, "model.state.0.weight", 1);
	named(w, -1, "model.state.0.exp_avg", 1);
	tell(w, WTI_MOMENT_LOAD, NULL);
}

static void load_into(struct world *w, const char *callee, const char *name)
{
	call(w, callee)->object = word(w, name);
	tell(w, WTI_MOMENT_CALL, find(w, name));
}

/* The saved optimizer had a parameter of another shape: this one trains something else. */
static void test_transfer(void)
{
	for (int other = 0; other < 2; other++) {
		struct world w;

		begin(&w);
		new_model(&w);
		call(&w, "load");
		named(&w, -1, "optimizer.state.0.exp_avg", 1);
		named(&w, -1, "optimizer.state.1.exp_avg", 2);
		named(&w, -1, "optimizer.state.1.exp_avg_sq", 2);
		named(&w, -1, "optimizer.param_groups.0.lr", 0);
		w.values[1].digest.shape = word(&w, other ? "9x9" : "4x4");
		tell(&w, WTI_MOMENT_LOAD, NULL);
		load_into(&w, "Net.load_state_dict", "Net");
		step(&w, "Adam");
		CHECK_INT(case_of(&w, "WT-RESUME-001")->violation_count, !other);
		end(&w);
	}
}

/* decay * copy + (1 - decay) * live, assigned to a name or written into the copy. */
static void left_behind(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t copy = is_wrong ? 7 : 500 + i;

		first(w)->hash = 1000 + i;
		step(w, "Adam");
		call(w, "Tensor.__mul__");
		tensor(w, 0, copy, "4x4");
		tensor(w, -1, 2000 + i, "4x4");
		tell_call(w);
		call(w, "Tensor.__mul__");
		tensor(w, 0, 1000 + i, "4x4");
		tensor(w, -1, 3000 + i, "4x4");
		tell_call(w);
		call(w, "Tensor.__add__");
		tensor(w, 0, 2000 + i, "4x4");
		tensor(w, 1, 3000 + i, "4x4");
		tensor(w, -1, 4000 + i, "4x4");
		tell_call(w);
	}
}

/* A result that a call is given is used, though the other side stays: an anchor. */
static void anchor(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 10; i++) {
		first(w)->hash = 1000 + i;
		step(w, "Adam");
		call(w, "Tensor.lerp");
		tensor(w, 0, 7, "4x4");
		tensor(w, 1, 1000 + i, "4x4");
		tensor(w, -1, 4000 + i, "4x4");
		tell_call(w);
		call(w, "linear");
		tensor(w, 0, 5000 + i, "8x4");
		tensor(w, 1, is_wrong ? 6000 + i : 4000 + i, "4x4");
		tell_call(w);
	}
}

static void test_state_of_a_model(void)
{
	struct world w;

	begin(&w);
	new_model(&w);
	load_model_with_state(&w);
	load_into(&w, "Net.load_state_dict", "Net");
	step(&w, "Adam");
	CHECK_INT(case_of(&w, "WT-RESUME-001")->violation_count, 0);
	end(&w);
}

/* A copy follows one model; another model is trained after that, and the first one rests. */
static void test_copy_may_rest(void)
{
	struct world w;

	begin(&w);
	model(&w);
	for (uint64_t i = 1; i <= 20; i++) {
		first(&w)->hash = 1000 + i;
		step(&w, "Adam");
		blend(&w, i, 1000 + i, i + 1);
	}
	optimizer(&w, "SGD", "SGD");
	parameter(&w, "Head", "weight", find(&w, "SGD"))->moved = true;
	for (int i = 0; i < 8; i++)
		step(&w, "SGD");
	CHECK_INT(case_of(&w, "WT-EMA-001")->violation_count, 0);
	CHECK(case_of(&w, "WT-EMA-001")->held_count);
	end(&w);
}

/* Ranks do the same at the same time: what one does is not forgotten for another. */
static void test_ranks_at_once(void)
{
	struct world w;

	begin(&w);
	for (w.stream = 0; w.stream < STREAMS; w.stream++) {
		new_model(&w);
		load(&w);
		load_into(&w, "Net.load_state_dict", "Net");
	}
	for (uint64_t i = 1; i <= 20; i++) {
		for (w.stream = 0; w.stream < STREAMS; w.stream++) {
			first(&w)->hash = 1000 + i;
			step(&w, "Adam");
		}
		for (w.stream = 0; w.stream < STREAMS; w.stream++)
			blend(&w, i, 1000 + i, i + 1);
	}
	w.stream = 0;
	CHECK_INT(case_of(&w, "WT-EMA-001")->held_count, 19 * STREAMS);
	CHECK_INT(case_of(&w, "WT-RESUME-001")->violation_count, STREAMS);
	end(&w);
}

static void resumed_without(struct world *w, bool is_wrong)
{
	new_model(w);
	load(w);
	load_into(w, "Net.load_state_dict", "Net");
	if (!is_wrong)
		load_into(w, "Adam.load_state_dict", "Adam");
	step(w, "Adam");
}

/* Another optimizer over the same two parameters. */
static void take_over(struct world *w, const char *name)
{
	struct made_object *made = optimizer(w, name, name);

	for (size_t i = 0; i < w->parameter_count; i++)
		hold(w, made, &w->parameters[i]);
}

/* Another optimizer goes on with the parameters that a restored one has stepped. */
static void test_second_phase(void)
{
	for (int is_restored = 0; is_restored < 2; is_restored++) {
		struct world w;

		begin(&w);
		new_model(&w);
		load(&w);
		load_into(&w, "Net.load_state_dict", "Net");
		if (is_restored)
			load_into(&w, "Adam.load_state_dict", "Adam");
		step(&w, "Adam");
		take_over(&w, "SGD");
		step(&w, "SGD");
		CHECK_INT(case_of(&w, "WT-RESUME-001")->violation_count, !is_restored);
		load(&w); /* and another resume */
		step(&w, "SGD");
		take_over(&w, "Lion");
		step(&w, "Lion");
		CHECK_INT(case_of(&w, "WT-RESUME-001")->violation_count, !is_restored + 1);
		end(&w);
	}
}

static void schedule_anew(struct world *w, bool is_wrong)
{
	model(w);
	find(w, "Adam")->lr_known = 1;
	find(w, "Adam")->lr[0] = 0.01;
	object(w, "StepLR", "StepLR", WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	load_into(w, "Adam.load_state_dict", "Adam");
	step(w, "Adam");
	find(w, "Adam")->lr[0] = is_wrong ? 0.1 : 0.0099;
	step(w, "Adam");
}

static void data_again(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 10; i++)
		forward(w, i, TRAINING);
	load(w);
	for (uint64_t i = 1; i <= 4; i++)
		forward(w, is_wrong ? i : 10 + i, TRAINING);
}

/* Rows are drawn with replacement: single batches come again, not their order. */
static void drawn_again(struct world *w, bool is_wrong)
{
	static const uint64_t by_chance[] = {3, 11, 7, 2, 12}, replayed[] = {3, 4, 5, 11, 12};

	model(w);
	for (uint64_t i = 1; i <= 10; i++)
		forward(w, i, TRAINING);
	load(w);
	for (size_t i = 0; i < 5; i++)
		forward(w, is_wrong ? replayed[i] : by_chance[i], TRAINING);
}

/* An average that was copied from the model; what it holds is known. */
static void average_of(struct world *w)
{
	object(w, "Net#1", "Net", WT_OBJECT_TYPE_MODULE)->of = word(w, "Net");
	find(w, "Net#1")->how = WT_FOUND_COPIED;
	for (uint64_t i = 0; i < 2; i++)
		parameter(w, "Net#1", i ? "b.weight" : "a.weight", NULL)->hash = 100 + i;
	flush(w);
	for (uint64_t i = 0; i < 2; i++)
		find_parameter(w, "Net#1", i ? "b.weight" : "a.weight")->hash = 200 + i;
}

/* Both are saved, and of the model one tensor is of another moment. */
static void saved_mixed_beside_average(struct world *w, bool is_wrong)
{
	model(w);
	average_of(w);
	call(w, "save");
	named(w, 0, "model.a.weight", 100);
	named(w, 0, "model.b.weight", is_wrong ? 55 : 101);
	named(w, 0, "average.a.weight", 200);
	named(w, 0, "average.b.weight", 201);
	tell(w, WTI_MOMENT_SAVE, NULL);
}

/* Of the average, which alone is saved, one tensor is the model's. */
static void saved_average_mixed(struct world *w, bool is_wrong)
{
	model(w);
	average_of(w);
	parameter(w, "Net#1", "c.weight", NULL)->hash = 102;
	flush(w);
	find_parameter(w, "Net#1", "c.weight")->hash = 202;
	call(w, "save");
	named(w, 0, "a.weight", 200);
	named(w, 0, "b.weight", is_wrong ? 101 : 201);
	named(w, 0, "c.weight", 202);
	tell(w, WTI_MOMENT_SAVE, NULL);
}

/* What the trace does not have may be in the file. */
static void test_saved_more(void)
{
	static const char *const keys[] = {"b.weight", "encoder.<7>"};

	for (int i = 0; i < 2; i++) {
		struct world w;

		begin(&w);
		saved_in_part(&w, false);
		parameter(&w, "Net", "d.weight", find(&w, "Adam"))->moved = true;
		step(&w, "Adam");
		call(&w, "save");
		named(&w, 0, "a.weight", 100);
		named(&w, 0, "b.weight", 101);
		named(&w, 0, keys[i], 101);
		w.call.is_cut = !i;
		tell(&w, WTI_MOMENT_SAVE, NULL);
		CHECK_INT(case_of(&w, "WT-CKPT-002")->violation_count, 0);
		CHECK(case_of(&w, "WT-CKPT-002")->why_not);
		end(&w);
	}
}

/* Of an average that was copied from the model, one parameter is the model's. */
static void test_saved_average(void)
{
	for (int has_average = 0; has_average < 2; has_average++) {
		struct world w;

		begin(&w);
		if (has_average) {
			object(&w, "Net#1", "Net", WT_OBJECT_TYPE_MODULE)->of = word(&w, "Net");
			find(&w, "Net#1")->how = WT_FOUND_COPIED;
		}
		saved_mixed(&w, true);
		CHECK_INT(case_of(&w, "WT-CKPT-001")->violation_count > 0, !has_average);
		end(&w);
	}
}

static const struct {
	const char *code;
	void (*act)(struct world *w, bool is_wrong);
} all_twins[] = {
	{"WT-DATA-004", small_batches},
	{"WT-DATA-006", batch_unused},
	{"WT-LOSS-004", no_logarithms},
	{"WT-LOSS-005", sigmoid_twice},
	{"WT-ACC-002", unequal_parts},
	{"WT-SCALE-001", skipped_steps},
	{"WT-NUM-001", nan_appears},
	{"WT-NUM-001", nan_asked_for},
	{"WT-NUM-001", nan_inside},
	{"WT-NUM-003", not_cast},
	{"WT-MODE-001", left_in_evaluation},
	{"WT-MODE-007", asked_in_training},
	{"WT-EMA-001", no_longer_follows},
	{"WT-EMA-001", follows_in_vain},
	{"WT-EMA-002", copy_is_the_model},
	{"WT-CKPT-001", saved_mixed},
	{"WT-CKPT-002", saved_in_part},
	{"WT-CKPT-002", saved_renamed},
	{"WT-CKPT-001", saved_average_mixed},
	{"WT-CKPT-001", saved_mixed_beside_average},
	{"WT-CKPT-003", restored_alias},
	{"WT-CKPT-005", saved_later},
	{"WT-RESUME-001", resumed_without},
	{"WT-RESUME-003", drawn_again},
	{"WT-RESUME-002", schedule_anew},
	{"WT-RESUME-003", data_again},
	{"WT-LOSS-001", divergence},
	{"WT-LOSS-001", divergence_beside},
	{"WT-LOSS-006", over_rows},
	{"WT-MODE-008", never_in_training},
	{"WT-INIT-001", untied},
	{"WT-EMA-006", left_behind},
	{"WT-EMA-006", anchor},
};

static void test_twins(void)
{
	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

static const struct test tests[] = {
	{"copy_may_rest", test_copy_may_rest},
	{"ranks_at_once", test_ranks_at_once},
	{"transfer", test_transfer},
	{"second_phase", test_second_phase},
	{"probe", test_probe},
	{"state_of_a_model", test_state_of_a_model},
	{"twins", test_twins},
	{"one_batch", test_one_batch},
	{"saved_average", test_saved_average},
	{"saved_more", test_saved_more},
	{"one_batch_in_all", test_one_batch_in_all},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
