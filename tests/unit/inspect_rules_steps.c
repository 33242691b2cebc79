/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about gradients, optimizers, clipping and schedules, each with a run in a few lines that
 * violates it and one that does not. One file, though a long one: a list of short cases about one
 * model of one matrix.
 */
#include "rules_world.h"

/* A model of one matrix, used, with gradients, in an optimizer with a learning rate. */
static struct made_parameter *model(struct world *w)
{
	struct made_object *adam = optimizer(w, "Adam", "Adam");
	struct made_parameter *weight;

	adam->lr_known = 1;
	adam->lr[0] = 0.1;
	weight = parameter(w, "Net", "weight", adam);
	use(w, weight, "Net", WTI_USE_GRAD);
	weight->grad = WTI_GRAD_NONZERO;
	weight->moved = true;
	weight->has_statistics = weight->has_grad_statistics = true;
	weight->statistics = weight->grad_statistics =
		(struct wti_digest_row){.count = 16, .min = -1, .max = 1, .mean = 0.25, .m2 = 16};
	weight->grad_hash = weight->grad_statistics.hash = 5;
	return weight;
}

static void go_backward(struct world *w, uint32_t site)
{
	call(w, "Tensor.backward")->site = site;
	backward(w);
}

static void zero_grad(struct world *w)
{
	call(w, "Adam.zero_grad");
	tell(w, WTI_MOMENT_ZERO_GRAD, find(w, "Adam"));
}

/* Backward passes of one model; gradients that were there before are kept or cleared. */
static void go_backward_often(struct world *w, int count, uint32_t flags, bool is_cleared)
{
	model(w);
	for (int i = 0; i < count; i++) {
		module(w, "Net.forward", "Net", flags | WT_CALL_OUTERMOST | WT_CALL_GRAD);
		tell_module(w, WTI_MOMENT_MODULE_END);
		if (is_cleared)
			tell_gradients(w, find(w, "Adam"), WT_MOMENT_CLEAR, 0, i > 0);
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_BACKWARD, 0, !is_cleared && i);
		go_backward(w, 7);
	}
}

/* After an epoch, whatever is accumulated. */
static void never_steps(struct world *w, bool is_wrong)
{
	w->scope.epoch = 1;
	go_backward_often(w, 20, WT_CALL_TRAIN, false);
	if (!is_wrong)
		step(w, "Adam");
}

/* A first accumulation, gradients that are looked at, and those that are cleared again and again.
 */
static void test_never_steps(void)
{
	static const struct {
		int passes;
		uint32_t flags;
		bool is_cleared, is_found;
	} runs[] = {{100, WT_CALL_TRAIN, false, false},
		    {300, WT_CALL_TRAIN, false, true},
		    {300, 0, true, false},
		    {20, WT_CALL_TRAIN, true, true},
		    {10, WT_CALL_TRAIN, true, false}};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		go_backward_often(&w, runs[i].passes, runs[i].flags, runs[i].is_cleared);
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-OPT-015")->violation_count, runs[i].is_found);
		CHECK_INT(case_of(&w, "WT-OPT-015")->held_count, 0);
		wt_result_release(&result);
		end(&w);
	}
}

/* ---- Gradients ------------------------------------------------------------------------------ */

static void never_cleared(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 3; i++) {
		if (!is_wrong)
			zero_grad(w);
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_BACKWARD, 0, is_wrong && i);
		go_backward(w, 7);
		step(w, "Adam");
	}
}

/* Two micro-batches, the second in the closure of the step. */
static void never_cleared_before_closure(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 3; i++) {
		if (!is_wrong)
			zero_grad(w);
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_BACKWARD, 0, is_wrong && i);
		go_backward(w, 7);
		begin_step(w, "Adam");
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_BACKWARD, 0, 1);
		go_backward(w, 7);
		end_step(w);
	}
	CHECK(case_of(w, "WT-GRAD-001")->first_step != 0);
}

/* The closure finds no gradients in the first step, which says nothing about the second. */
static void never_cleared_in_closure(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 3; i++) {
		begin_step(w, "Adam");
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_BACKWARD, 0, is_wrong && i);
		go_backward(w, 7);
		end_step(w);
	}
	CHECK_INT(case_of(w, "WT-GRAD-001")->violation_count, is_wrong ? 2 : 0);
}

static void cleared_late(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 2; i++) {
		go_backward(w, 7);
		if (is_wrong)
			zero_grad(w);
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_STEP, is_wrong, !is_wrong);
		step(w, "Adam");
	}
}

static void never_a_gradient(struct world *w, bool is_wrong)
{
	if (is_wrong)
		model(w)->grad = WTI_GRAD_NONE;
	else
		model(w);
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
}

static void detached_loss(struct world *w, bool is_wrong)
{
	call(w, "Tensor.backward")->flags = is_wrong ? WT_CALL_LEAF : 0;
	backward(w);
}

static void zero_gradients(struct world *w, bool is_wrong)
{
	struct made_parameter *other;

	model(w);
	other = parameter(w, "Net", "dead.weight", find(w, "Adam"));
	use(w, other, "Net.dead", WTI_USE_GRAD);
	other->grad = is_wrong ? WTI_GRAD_ZERO : WTI_GRAD_NONZERO;
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
}

/* Behind a factor of zero; the right one moves in its third step, after a warm-up from nothing. */
static void zero_while_nothing_moves(struct world *w, bool is_wrong)
{
	struct made_parameter *behind;

	model(w)->moved = is_wrong;
	behind = parameter(w, "Net", "down.weight", find(w, "Adam"));
	use(w, behind, "Net.down", WTI_USE_GRAD);
	behind->grad = WTI_GRAD_ZERO;
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
	behind->grad = WTI_GRAD_NONZERO;
	step(w, "Adam");
}

static void all_zero(struct world *w, bool is_wrong)
{
	model(w)->grad = is_wrong ? WTI_GRAD_ZERO : WTI_GRAD_NONZERO;
	for (int i = 0; i < 9; i++)
		step(w, "Adam");
}

static void shut_off(struct world *w, bool is_wrong)
{
	struct made_parameter *body;

	model(w);
	body = parameter(w, "Net", "body.weight", find(w, "Adam"));
	body->grad = is_wrong ? WTI_GRAD_NONE : WTI_GRAD_NONZERO;
	use(w, body, "Net.body", is_wrong ? WTI_USE_SHUT_OFF : WTI_USE_GRAD);
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
}

/* They are counted when zero_grad() begins. */
static void clear_gradients(struct world *w)
{
	tell_gradients(w, find(w, "Adam"), WT_MOMENT_CLEAR, 0, 1);
	zero_grad(w);
}

/* Two losses of different lines, and a clearing between them. */
static void cleared_between_losses(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 3; i++) {
		go_backward(w, 7);
		if (is_wrong)
			clear_gradients(w);
		go_backward(w, 8);
		step(w, "Adam");
	}
}

static void see_call_of(struct world *w, const char *shape)
{
	call(w, "Tensor.__mul__");
	tensor(w, 0, 99, shape);
	tell_call(w);
}

/* Micro-batches of one line; in the right twin gradients are taken before they are cleared. */
static void cleared_between_parts(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 8; i++) {
		for (int part = 0; part < 3; part++) {
			go_backward(w, 7);
			see_call_of(w, is_wrong ? "8x3" : "4x4");
			if (part < 2)
				tell_gradients(w, find(w, "Adam"), WT_MOMENT_CLEAR, 0, 1);
		}
		step(w, "Adam");
	}
}

/* ---- Optimizers ----------------------------------------------------------------------------- */

/* The first step has moved it. */
static void does_not_move(struct world *w, bool is_wrong)
{
	struct made_parameter *weight = model(w);

	for (int i = 0; i < 4; i++) {
		weight->moved = !is_wrong || !i;
		step(w, "Adam");
	}
}

/* An optimizer that runs backward() itself has converged, or has never moved anything. */
static void test_converged(void)
{
	for (int has_moved = 0; has_moved < 2; has_moved++) {
		struct made_parameter *weight;
		struct world w;

		begin(&w);
		weight = model(&w);
		for (int i = 0; i < 4; i++) {
			weight->moved = has_moved && !i;
			begin_step(&w, "Adam");
			call(&w, "Tensor.backward");
			backward(&w);
			end_step(&w);
		}
		CHECK_INT(case_of(&w, "WT-OPT-001")->violation_count > 0, !has_moved);
		end(&w);
	}
}

static void left_outside(struct world *w, bool is_wrong)
{
	struct made_parameter *other;

	model(w);
	other = parameter(w, "Net", "head.weight", is_wrong ? NULL : find(w, "Adam"));
	use(w, other, "Net.head", WTI_USE_GRAD);
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
}

static void nothing_to_train(struct world *w, bool is_wrong)
{
	model(w)->requires_grad = !is_wrong;
	step(w, "Adam");
}

static void no_rate(struct world *w, bool is_wrong)
{
	model(w);
	find(w, "Adam")->lr[0] = is_wrong ? 0 : 0.1;
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
}

static void replaced(struct world *w, bool is_wrong)
{
	struct made_parameter *weight = model(w);

	if (is_wrong) { /* the module has a larger one since */
		weight->optimizer = NULL;
		weight->shape = word(w, "8x4");
	}
	for (int i = 0; i < 3; i++)
		step(w, "Adam");
}

/* Found in the first steps, and so until the last: it is dated from there to the end. */
static void test_lasts(void)
{
	static const struct {
		const char *code;
		void (*act)(struct world *w, bool is_wrong);
	} rules[] = {{"WT-GRAD-003", never_a_gradient}, {"WT-OPT-005", replaced}};

	for (size_t i = 0; i < 2; i++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		w.scope.step = 0;
		rules[i].act(&w, true);
		for (int j = 0; j < 20; j++)
			step(&w, "Adam");
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, rules[i].code)->first_step, 1);
		CHECK_INT(case_of(&w, rules[i].code)->last_step >= 22, 1);
		wt_result_release(&result);
		end(&w);
	}
}

/* Inside of the model a product with a tensor that nobody made, always the same or trained. */
/* A model is called that was made before the optimizer of another one, and known after it. */
static void test_other_model(void)
{
	struct made_parameter *loose;
	struct world w;

	begin(&w);
	optimizer(&w, "Adam", "Adam");
	loose = parameter(&w, "Adam", "group0.0", find(&w, "Adam"));
	loose->is_loose = true;
	loose->grad = WTI_GRAD_NONE;
	use(&w, parameter(&w, "Net", "weight", NULL), "Net", WTI_USE_GRAD);
	step(&w, "Adam");
	step(&w, "Adam");
	CHECK_INT(case_of(&w, "WT-OPT-005")->violation_count, 1);
	CHECK_TEXT(case_of(&w, "WT-OPT-005")->evidence,
		   "no model that was called has it, and no gradient ever reached it; weight of "
		   "Net is used in training, and no optimizer has it");
	end(&w);
}

static void unregistered(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 12; i++) {
		module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD);
		tensor(w, 0, 100 + i, "8x4");
		tell_module(w, WTI_MOMENT_MODULE);
		call(w, "Tensor.__mul__");
		tensor(w, 0, 100 + i, "8x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, 1, is_wrong ? 33 : 33 + i, "4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
		step(w, "Adam");
	}
}

/* A module that another runs: one of its own, or one from a plain list. */
static void stranger(struct world *w, bool is_wrong)
{
	model(w);
	if (is_wrong)
		parameter(w, "Linear", "weight", NULL);
	for (int i = 0; i < 4; i++) {
		module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD);
		tell_module(w, WTI_MOMENT_MODULE);
		module(w, "Linear.forward", is_wrong ? "Linear" : "Net.fc",
		       WT_CALL_TRAIN | WT_CALL_GRAD);
		tell_module(w, WTI_MOMENT_MODULE);
		step(w, "Adam");
	}
}

/* A model that was called by itself before it became part of another. */
static void wrapped_later(struct world *w, bool is_wrong)
{
	const struct made_parameter *part = parameter(w, "Linear", "weight", NULL);

	flush(w);
	if (!is_wrong)
		emit_member(w, part, word(w, "Net"), word(w, "0.weight"), WT_ROLE_PARAMETER);
	stranger(w, true);
}

static void lost_in_half(struct world *w, bool is_wrong)
{
	struct made_parameter *weight = model(w);

	weight->dtype = WT_DTYPE_BF16;
	weight->moved = !is_wrong;
	for (int i = 0; i < 4; i++)
		step(w, "Adam");
}

/* ---- Clipping ------------------------------------------------------------------------------- */

static void clip(struct world *w, double total)
{
	call(w, "clip_grad_norm_");
	number(w, "max_norm", 1, 1);
	tensor(w, -1, 50, "")->mean = total;
	tell_call(w);
}

/* A norm of 100 is clipped to 1; of the model's gradients, or of something else. */
static void clipped_elsewhere(struct world *w, bool is_wrong)
{
	struct made_parameter *weight = model(w);

	weight->grad_statistics.m2 = is_wrong ? 1e-4 : 0.9;
	weight->grad_statistics.mean = 0;
	for (int i = 0; i < 3; i++) {
		go_backward(w, 7);
		clip(w, 100);
		step(w, "Adam");
	}
}

static void clipped_nothing(struct world *w, bool is_wrong)
{
	model(w);
	for (int i = 0; i < 3; i++) {
		go_backward(w, 7);
		clip(w, is_wrong ? 0 : 3);
		tell_gradients(w, find(w, "Adam"), WT_MOMENT_STEP, 0, 1);
		step(w, "Adam");
	}
}

/* ---- Schedules ------------------------------------------------------------------------------ */

static struct made_object *scheduler(struct world *w)
{
	object(w, "StepLR", "StepLR", WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	return find(w, "StepLR");
}

static void scheduled_first(struct world *w, bool is_wrong)
{
	model(w);
	if (!is_wrong)
		step(w, "Adam");
	call(w, "StepLR.step");
	tell(w, WTI_MOMENT_SCHEDULER, scheduler(w));
}

/* The scheduler knows a wrapper, and what it wraps steps. */
static void scheduled_wrapper(struct world *w, bool is_wrong)
{
	model(w);
	optimizer(w, "Accelerated", "Accelerated");
	scheduler(w)->of = word(w, "Accelerated");
	if (!is_wrong)
		step(w, "Adam");
	call(w, "StepLR.step");
	tell(w, WTI_MOMENT_SCHEDULER, find(w, "StepLR"));
}

/* Made before anything was recorded: the optimizer may have stepped before. */
static void test_scheduled_before_recording(void)
{
	for (int is_scheduler = 0; is_scheduler < 2; is_scheduler++) {
		struct world w;

		begin(&w);
		model(&w);
		scheduler(&w)->how = is_scheduler ? WT_FOUND_WALKED : WT_FOUND_MADE;
		find(&w, "Adam")->how = is_scheduler ? WT_FOUND_MADE : WT_FOUND_WALKED;
		call(&w, "StepLR.step");
		tell(&w, WTI_MOMENT_SCHEDULER, find(&w, "StepLR"));
		CHECK_INT(case_of(&w, "WT-SCHED-001")->violation_count, 0);
		CHECK_INT(case_of(&w, "WT-SCHED-001")->held_count, 0);
		CHECK(case_of(&w, "WT-SCHED-001")->why_not);
		end(&w);
	}
}

static void never_scheduled(struct world *w, bool is_wrong)
{
	model(w);
	scheduler(w);
	w->scope.epoch = 3;
	for (int i = 0; i < 4; i++) {
		step(w, "Adam");
		call(w, "StepLR.step");
		if (!is_wrong)
			tell(w, WTI_MOMENT_SCHEDULER, find(w, "StepLR"));
	}
}

/* The second of a sequence, in a run that ends with the first. */
static void test_part_of_schedule(void)
{
	for (int is_part = 0; is_part < 2; is_part++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		model(&w);
		scheduler(&w);
		if (is_part)
			tell_fact(&w, find(&w, "StepLR"), "part_of", 0);
		w.scope.epoch = 3;
		for (int i = 0; i < 4; i++)
			step(&w, "Adam");
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-SCHED-002")->violation_count, !is_part);
		wt_result_release(&result);
		end(&w);
	}
}

/* A part that is added in step 5: between the steps in which all parameters are counted. */
static void test_late_part(void)
{
	struct world w;

	begin(&w);
	model(&w);
	for (int i = 0; i < 7; i++) {
		if (i == 5)
			use(&w, parameter(&w, "Net", "late.weight", NULL), "Net.late",
			    WTI_USE_GRAD);
		step(&w, "Adam");
	}
	CHECK_INT(case_of(&w, "WT-OPT-002")->violation_count, 1);
	CHECK_INT(case_of(&w, "WT-OPT-002")->first_step, 5);
	end(&w);
}

/* Where a rule waits, it reports the first case, and counts it. */
static void test_since(void)
{
	static const struct {
		const char *code;
		void (*act)(struct world *w, bool is_wrong);
		int64_t step;
	} cases[] = {
		{"WT-OPT-001", does_not_move, 1}, /* it moves in step 0 */
		{"WT-OPT-004", no_rate, 0},
		{"WT-GRAD-007", cleared_between_losses, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		begin(&w);
		cases[i].act(&w, true);
		CHECK_INT(case_of(&w, cases[i].code)->first_step, cases[i].step);
		end(&w);
	}
}

/* The line is that of the call that did it, not of the step that suffers from it. */
static void test_places(void)
{
	struct world w;

	begin(&w);
	cleared_late(&w, true);
	CHECK_TEXT(case_of(&w, "WT-GRAD-002")->where.op, "Adam.zero_grad");
	end(&w);
	begin(&w);
	cleared_between_losses(&w, true);
	CHECK_TEXT(case_of(&w, "WT-GRAD-007")->where.op, "Adam.zero_grad");
	end(&w);
	begin(&w);
	clipped_nothing(&w, true);
	CHECK_TEXT(case_of(&w, "WT-CLIP-003")->where.op, "clip_grad_norm_");
	end(&w);
	begin(&w);
	shut_off(&w, true);
	CHECK_TEXT(case_of(&w, "WT-GRAD-006")->where.op, "Net.body");
	end(&w);
}

static const struct {
	const char *code;
	void (*act)(struct world *w, bool is_wrong);
} all_twins[] = {
	{"WT-GRAD-001", never_cleared},
	{"WT-GRAD-001", never_cleared_before_closure},
	{"WT-GRAD-001", never_cleared_in_closure},
	{"WT-GRAD-002", cleared_late},
	{"WT-GRAD-003", never_a_gradient},
	{"WT-GRAD-004", detached_loss},
	{"WT-GRAD-005", zero_gradients},
	{"WT-GRAD-005", zero_while_nothing_moves},
	{"WT-GRAD-005", all_zero},
	{"WT-GRAD-006", shut_off},
	{"WT-GRAD-007", cleared_between_losses},
	{"WT-GRAD-007", cleared_between_parts},
	{"WT-OPT-001", does_not_move},
	{"WT-OPT-002", left_outside},
	{"WT-OPT-003", nothing_to_train},
	{"WT-OPT-004", no_rate},
	{"WT-OPT-005", replaced},
	{"WT-NUM-002", lost_in_half},
	{"WT-CLIP-002", clipped_elsewhere},
	{"WT-CLIP-003", clipped_nothing},
	{"WT-OPT-015", never_steps},
	{"WT-SCHED-001", scheduled_first},
	{"WT-SCHED-001", scheduled_wrapper},
	{"WT-SCHED-002", never_scheduled},
	{"WT-OPT-012", unregistered},
	{"WT-OPT-010", stranger},
	{"WT-OPT-010", wrapped_later},
};

static void test_twins(void)
{
	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

static const struct test tests[] = {
	{"twins", test_twins},
	{"part_of_schedule", test_part_of_schedule},
	{"never steps", test_never_steps},
	{"lasts", test_lasts},
	{"scheduled before recording", test_scheduled_before_recording},
	{"converged", test_converged},
	{"late_part", test_late_part},
	{"since", test_since},
	{"places", test_places},
	{"other_model", test_other_model},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
