/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Habits of correct programs that look like faults, each beside the fault: the rule reports the one
 * and not the other. Where the right one is a case in which nothing can be known, it need not be
 * measured.
 */
#include <math.h>
#include <stdio.h>

#include "rules_world.h"

enum {
	TRAINING = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD,
	EVALUATION = WT_CALL_OUTERMOST,
	ROWS = 20,
};

/* ---- Rows ----------------------------------------------------------------------------------- */

static void give_rows(struct world *w, uint32_t flags, uint64_t first, uint64_t count)
{
	module(w, "Net.forward", "Net", flags);
	tensor(w, 0, first, "64x4");
	enter(w);
	for (uint64_t i = 0; i < count; i++) {
		begin_event(w, w->stream, WT_KIND_ROW);
		set_symbol(w, WT_ROW_FIELD_OWNER, word(w, "Net"));
		set_symbol(w, WT_ROW_FIELD_NAME, word(w, "x"));
		set(w, WT_ROW_FIELD_HASH, first + i);
		set(w, WT_ROW_FIELD_CALL, w->call.seq);
		emit(w);
	}
	leave(w);
}

/* The training set is looked at before the first step; or folds share a model. */
static void looked_at_first(struct world *w, bool is_wrong)
{
	give_rows(w, EVALUATION, 100, 2 * ROWS);
	give_rows(w, TRAINING, 100, ROWS);
	give_rows(w, EVALUATION, is_wrong ? 200 : 100, ROWS);
	give_rows(w, TRAINING, is_wrong ? 200 : 120, ROWS);
	if (is_wrong)
		give_rows(w, TRAINING, 300, ROWS);
	give_rows(w, EVALUATION, is_wrong ? 300 : 100, ROWS);
	give_rows(w, TRAINING, 100, ROWS);
}

/* Each window is predicted, then learned, and not evaluated again. */
static void walk_forward(struct world *w, bool is_wrong)
{
	give_rows(w, TRAINING, 100, ROWS);
	for (uint64_t i = 2; i < 6; i++) {
		give_rows(w, EVALUATION, 100 * i, ROWS);
		give_rows(w, TRAINING, 100 * i, ROWS);
	}
	if (is_wrong) /* a part of what was trained on before */
		give_rows(w, EVALUATION, 110, ROWS);
}

/* The hardest half of all rows, chosen anew in every epoch; or a set that has half of them. */
static void mined(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 4; i++) {
		w->scope.epoch = (int64_t)i;
		if (!is_wrong || i)
			give_rows(w, EVALUATION, 100, 2 * ROWS);
		give_rows(w, TRAINING, is_wrong ? 120 : 100 + 5 * i, ROWS);
		if (is_wrong)
			give_rows(w, TRAINING, 300, ROWS);
	}
}

/* Rows without labels are evaluated, and those that seem certain are trained on. */
static void pseudo_labels(struct world *w, bool is_wrong)
{
	w->scope.epoch = 0;
	give_rows(w, TRAINING, 100, ROWS);
	if (is_wrong)
		give_rows(w, TRAINING, 200, 8);
	for (uint64_t i = 0; i < 3; i++) {
		w->scope.epoch++;
		give_rows(w, EVALUATION, 200, 2 * ROWS);
		give_rows(w, TRAINING, 100, ROWS);
		give_rows(w, TRAINING, 200, 8 + 4 * i);
	}
}

/* ---- Schedules ------------------------------------------------------------------------------ */

/* A line to zero of which steps are missing; or to a fifth, which is reached after the last. */
static void line_to_a_floor(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	for (int i = 0; i < 54; i++) {
		find(w, "Adam")->lr[0] = is_wrong ? 1 - i / 80.0 : 1 - 0.8 * i / 54;
		step(w, "Adam");
	}
}

/* Few steps: the last of the scheduler, after that of the optimizer, comes to zero. */
static void last_is_the_schedulers(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	for (int i = 0; i < 8; i++) {
		find(w, "Adam")->lr[0] = 1 - i / (is_wrong ? 10.0 : 8.0);
		step(w, "Adam");
	}
}

static void step_scheduler(struct world *w, const char *name)
{
	char callee[64];

	snprintf(callee, sizeof(callee), "%s.step", name);
	call(w, callee)->object = find(w, name)->name;
	tell(w, WTI_MOMENT_SCHEDULER, find(w, name));
}

/* Another scheduler takes over when the cosine has come to its end, and raises the rate. */
static void taken_over(struct world *w, bool is_wrong)
{
	static const double course[] = {0.1, 0.05, 0.01, 0, 0.02, 0.04, 0.05, 0.05};

	optimizer(w, "SGD", "SGD")->lr_known = 1;
	object(w, "CosineAnnealingLR", "CosineAnnealingLR", WT_OBJECT_TYPE_SCHEDULER)->of =
		word(w, "SGD");
	object(w, "SWALR", "SWALR", WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "SGD");
	for (size_t i = 0; i < sizeof(course) / sizeof(course[0]); i++) {
		find(w, "SGD")->lr[0] = course[i];
		step(w, "SGD");
		step_scheduler(w, i < 3 || is_wrong ? "CosineAnnealingLR" : "SWALR");
	}
}

/* ---- Modes ---------------------------------------------------------------------------------- */

/* Dropout is put into training mode by itself, in a model that is not. */
static void monte_carlo(struct world *w, bool is_wrong)
{
	uint32_t mode = is_wrong ? WT_CALL_TRAIN : 0;

	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "head.weight", find(w, "Adam"));
	for (int i = 0; i < 8; i++)
		step(w, "Adam");
	module(w, "Net.forward", "Net", EVALUATION);
	tell_module(w, WTI_MOMENT_MODULE);
	module(w, "Head.forward", "Net.head", mode);
	tell_module(w, WTI_MOMENT_MODULE);
	module(w, "Dropout.forward", "Net.head.drop", WT_CALL_TRAIN);
	tell_module(w, WTI_MOMENT_MODULE);
}

/* ---- Accumulation --------------------------------------------------------------------------- */

/* Three losses, each by itself: of three batches, or of three tasks on one. */
static void tasks(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (uint64_t i = 1; i <= 9; i++) {
		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, is_wrong ? i : 1 + (i - 1) / 3, "8x4");
		tell_module(w, WTI_MOMENT_MODULE_END);
		call(w, "mse_loss");
		tensor(w, 0, 10 * i, "8x1");
		tensor(w, 1, 10 * i + 1, "8x1");
		tensor(w, -1, 10 * i + 2, "")->flags = WT_TENSOR_REQUIRES_GRAD;
		tell_call(w);
		call(w, "Tensor.backward");
		tensor(w, 0, 10 * i + 2, "");
		backward(w);
		if (i % 3 == 0)
			step(w, "Adam");
	}
}

/* ---- What is done again --------------------------------------------------------------------- */

/* A loader is made for each epoch; rows are augmented in place, or as copies. */
static void written_by_new_loaders(struct world *w, bool is_wrong)
{
	static const char *const names[] = {"DataLoader", "DataLoader#1", "DataLoader#2"};

	for (uint64_t epoch = 0; epoch < 3; epoch++) {
		object(w, names[epoch], "DataLoader", WT_OBJECT_TYPE_LOADER);
		call(w, "DataLoader.__iter__");
		tell(w, WTI_MOMENT_BATCH, find(w, names[epoch]));
		for (uint64_t row = 0; row < 4; row++) {
			uint64_t before = 100 * row + (is_wrong ? epoch : 0);

			call(w, "DataLoader.__next__")->object = find(w, names[epoch])->name;
			enter(w);
			call(w, "Tensor.add_");
			tensor(w, 0, before + 1, "8");
			tensor(w, -1, is_wrong ? before + 2 : 100 * row + 10 + epoch, "8");
			tell_call(w);
			leave(w);
		}
	}
}

static void seed(struct world *w, double number_of)
{
	call(w, "manual_seed");
	number(w, "seed", 0, number_of);
	tell_call(w);
}

/* The same number before each epoch of a training, or before each evaluation of it. */
static void seeded_epochs(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "weight", find(w, "Adam"));
	for (int epoch = 0; epoch < 4; epoch++) {
		seed(w, 42);
		module(w, "Net.forward", "Net", is_wrong ? TRAINING : EVALUATION);
		tell_module(w, WTI_MOMENT_MODULE_END);
		for (int i = 0; i < 3; i++) {
			module(w, "Net.forward", "Net", TRAINING);
			tell_module(w, WTI_MOMENT_MODULE_END);
			step(w, "Adam");
		}
	}
}

/* Several trainings, each from the same number: each has a model of its own. */
static void seeded_trainings(struct world *w, bool is_wrong)
{
	static const char *const names[] = {"Net", "Net#1", "Net#2", "Net#3"};

	optimizer(w, "Adam", "Adam");
	for (int run = 0; run < 4; run++) {
		seed(w, 42);
		for (int i = 0; i < 3; i++) {
			module(w, "Net.forward", names[is_wrong ? 0 : run], TRAINING);
			tell_module(w, WTI_MOMENT_MODULE_END);
			step(w, "Adam");
		}
	}
}

static void one_backward(struct world *w, uint64_t i)
{
	struct made_parameter *head = find_parameter(w, "Net", "head");

	call(w, "Tensor.backward");
	backward(w);
	head->grad = WTI_GRAD_NONZERO;
	head->grad_hash = 100 + i;
}

static void step_head(struct world *w, const char *name, uint64_t i)
{
	struct made_parameter *head = find_parameter(w, "Net", "head");

	hold(w, find(w, name), head);
	head->moved = true;
	head->hash = 1000 + i;
	step(w, name);
}

/* One parameter in two optimizers: they step in turns, or both with each gradient. */
static void two_optimizers(struct world *w, bool is_wrong)
{
	optimizer(w, "SGD", "SGD");
	optimizer(w, "SGD#1", "SGD");
	parameter(w, "Net", "head", find(w, "SGD"));
	for (uint64_t i = 0; i < 4; i++) {
		one_backward(w, i);
		step_head(w, "SGD", 2 * i);
		if (!is_wrong)
			one_backward(w, 50 + i);
		step_head(w, "SGD#1", 2 * i + 1);
	}
}

/* ---- Metrics and resumes -------------------------------------------------------------------- */

/* A metric rises while the loss falls: an accuracy, or the loss of held-out rows. */
static void rising_metric(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	object(w, "ReduceLROnPlateau", "ReduceLROnPlateau", WT_OBJECT_TYPE_SCHEDULER)->of =
		word(w, "Adam");
	for (int i = 0; i < 6; i++) {
		tell_loss(w, 10 - i);
		find(w, "Adam")->lr[0] = 0.1 / (1 + i / 2);
		step(w, "Adam");
		if (!is_wrong) {
			call(w, "cross_entropy");
			tensor(w, 0, 1, "8x3");
			tensor(w, 1, 2, "8")->dtype = WT_DTYPE_I64;
			tensor(w, -1, 3, "");
			tell_call(w);
		}
		call(w, "ReduceLROnPlateau.step");
		number(w, "metrics", 1, 0.5 + 0.05 * i);
		tell(w, WTI_MOMENT_SCHEDULER, find(w, "ReduceLROnPlateau"));
	}
}

/* The file has a schedule; it is loaded, or the scheduler begins where the file says. */
static void schedule_in_file(struct world *w, bool is_wrong)
{
	optimizer(w, "SGD", "SGD")->lr_known = 1;
	find(w, "SGD")->lr[0] = 0.05;
	object(w, "CosineAnnealingLR", "CosineAnnealingLR", WT_OBJECT_TYPE_SCHEDULER)->of =
		word(w, "SGD");
	tell_fact(w, find(w, "CosineAnnealingLR"), "last_epoch", 0);
	call(w, "load");
	number(w, "s.last_epoch", -1, 4);
	tell(w, WTI_MOMENT_LOAD, NULL);
	call(w, "SGD.load_state_dict")->object = word(w, "SGD");
	tell_call(w);
	for (int i = 0; i < 8; i++)
		step(w, "SGD");
	step_scheduler(w, "CosineAnnealingLR");
	tell_fact(w, find(w, "CosineAnnealingLR"), "last_epoch", is_wrong ? 1 : 5);
}

/* ---- Copies, files and what is asked -------------------------------------------------------- */

static void two_parameters(struct world *w)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "a.weight", find(w, "Adam"))->hash = 11;
	parameter(w, "Net", "b.weight", find(w, "Adam"))->hash = 12;
	flush(w);
}

static void move_parameters(struct world *w, uint64_t i)
{
	find_parameter(w, "Net", "a.weight")->hash = 1000 + 2 * i;
	find_parameter(w, "Net", "b.weight")->hash = 1001 + 2 * i;
	step(w, "Adam");
}

/* A soft update, or one that leaves nothing of the average. */
static void replaced_average(struct world *w, bool is_wrong)
{
	two_parameters(w);
	for (uint64_t i = 1; i <= 24; i++) {
		move_parameters(w, i);
		call(w, "Tensor.add_");
		tensor(w, 0, i, "4x4");
		tensor(w, 1, 1000 + 2 * i, "4x4");
		number(w, "alpha", 2, is_wrong ? 0.999 : 0.001);
		tensor(w, -1, i + 1, "4x4");
		tell_call(w);
	}
}

static void save_two(struct world *w, uint64_t a, uint64_t b)
{
	call(w, "save");
	tensor(w, 0, a, "4x4");
	w->values[0].name = word(w, "model.a.weight");
	tensor(w, 0, b, "4x4");
	w->values[1].name = word(w, "model.b.weight");
	tell(w, WTI_MOMENT_SAVE, NULL);
}

/* What the model was before its training is all that is ever saved, or it is saved beside the
 * result. */
static void saved_before_training(struct world *w, bool is_wrong)
{
	two_parameters(w);
	for (uint64_t i = 1; i <= 8; i++)
		move_parameters(w, i);
	save_two(w, 11, 12);
	if (!is_wrong)
		save_two(w, 1016, 1017);
}

/* One step of each epoch is made in evaluation mode; or there is one such step in all. */
static void some_steps(struct world *w, bool is_wrong)
{
	two_parameters(w);
	for (int i = 0; i < 16; i++) {
		bool is_other = is_wrong ? i % 4 == 3 : i == 3;
		uint32_t mode = WT_CALL_GRAD | (is_other ? 0 : WT_CALL_TRAIN);

		module(w, "Net.forward", "Net", WT_CALL_OUTERMOST | mode);
		tell_module(w, WTI_MOMENT_MODULE);
		module(w, "BatchNorm1d.forward", "Net.norm", mode);
		tell_module(w, WTI_MOMENT_MODULE);
		step(w, "Adam");
	}
}

/* A teacher is loaded and asked in training mode; or a slow copy of what is trained is. */
static void asked_teacher(struct world *w, bool is_wrong)
{
	const char *name = is_wrong ? "fc.weight" : "a.weight";

	two_parameters(w);
	parameter(w, "Teacher", name, NULL);
	call(w, "Teacher.load_state_dict")->object = word(w, "Teacher");
	tensor(w, 0, 77, "4x4");
	tell_call(w);
	for (uint64_t i = 1; i <= 8; i++) {
		module(w, "Teacher.forward", "Teacher", WT_CALL_OUTERMOST | WT_CALL_TRAIN);
		tensor(w, 0, i, "4x4");
		tell_module(w, WTI_MOMENT_MODULE);
		module(w, "Dropout.forward", "Teacher.drop", WT_CALL_TRAIN);
		tell_module(w, WTI_MOMENT_MODULE);
		move_parameters(w, i);
	}
}

/* A line makes an optimizer for each epoch, or one for each of several phases with its own rate. */
static void made_for_each_epoch(struct world *w, bool is_wrong)
{
	static const char *const names[] = {"Adam", "Adam#1", "Adam#2", "Adam#3", "Adam#4"};

	for (int epoch = 0; epoch < 5; epoch++) {
		struct made_object *made = optimizer(w, names[epoch], "Adam");

		made->site = 9;
		made->lr_known = 1;
		made->lr[0] = is_wrong ? 0.1 : 0.1 / (1 + epoch);
		if (epoch)
			hold(w, made, find_parameter(w, "Net", "weight"));
		else
			parameter(w, "Net", "weight", made);
		for (int i = 0; i < 4; i++)
			step(w, names[epoch]);
	}
}

/* ---- Tokens --------------------------------------------------------------------------------- */

static void stacked_tokens(struct world *w, uint64_t part, uint64_t batch)
{
	for (uint64_t i = 0; i < 4; i++) {
		call(w, "Tensor.__getitem__");
		tensor(w, 0, 1, "900")->dtype = WT_DTYPE_I64;
		tensor(w, -1, part + i, "8")->dtype = WT_DTYPE_I64;
		tell_call(w);
	}
	call(w, "stack");
	for (uint64_t i = 0; i < 4; i++)
		tensor(w, 0, part + i, "8")->dtype = WT_DTYPE_I64;
	tensor(w, -1, batch, "4x8")->dtype = WT_DTYPE_I64;
	tell_call(w);
}

/* Input and targets are stacked of slices; attention has a mask, or none. */
static void stacked_in_sight(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 3; i++) {
		stacked_tokens(w, 10, 20);
		stacked_tokens(w, 14, 21);
		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 20, "4x8")->dtype = WT_DTYPE_I64;
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
		call(w, "cross_entropy");
		tensor(w, 0, 30, "32x9");
		tensor(w, 1, 21, "32")->dtype = WT_DTYPE_I64;
		tensor(w, -1, 31, "");
		tell_call(w);
	}
}

/* ---- All of them ---------------------------------------------------------------------------- */

static const struct {
	const char *code;
	void (*act)(struct world *w, bool is_wrong);
} habits[] = {
	{"WT-ROWS-002", looked_at_first},
	{"WT-ROWS-002", walk_forward},
	{"WT-ROWS-001", mined},
	{"WT-ROWS-001", pseudo_labels},
	{"WT-SCHED-005", line_to_a_floor},
	{"WT-SCHED-005", last_is_the_schedulers},
	{"WT-SCHED-006", taken_over},
	{"WT-MODE-003", monte_carlo},
	{"WT-ACC-001", tasks},
	{"WT-DATA-005", written_by_new_loaders},
	{"WT-RNG-001", seeded_epochs},
	{"WT-RNG-001", seeded_trainings},
	{"WT-OPT-007", two_optimizers},
	{"WT-SCHED-008", rising_metric},
	{"WT-RESUME-002", schedule_in_file},
	{"WT-EMA-001", replaced_average},
	{"WT-CKPT-001", saved_before_training},
	{"WT-MODE-001", some_steps},
	{"WT-MODE-007", asked_teacher},
	{"WT-OPT-006", made_for_each_epoch},
	{"WT-MASK-002", stacked_in_sight},
};

static void judge_habit(const char *code, void (*act)(struct world *w, bool is_wrong),
			bool is_wrong)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	act(&w, is_wrong);
	wt_result_init(&result, "test");
	finish(&w, &result);
	if ((case_of(&w, code)->violation_count > 0) != is_wrong)
		test_fail(__FILE__, __LINE__, "%s: the %s", code, is_wrong ? "fault" : "habit");
	wt_result_release(&result);
	end(&w);
}

static void test_habits(void)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
		judge_habit(habits[i].code, habits[i].act, false);
		judge_habit(habits[i].code, habits[i].act, true);
	}
}

/* What chooses rows is neither rule's. */
static void test_choices(void)
{
	judge_habit("WT-ROWS-001", looked_at_first, false);
	judge_habit("WT-ROWS-001", walk_forward, false);
	judge_habit("WT-ROWS-002", mined, false);
	judge_habit("WT-ROWS-002", pseudo_labels, false);
}

/* So is the call that made the infinity, through a call that passed it on. */
static void test_infinity_source(void)
{
	struct world w;

	begin(&w);
	tell_loss(&w, 2);
	call(&w, "Tensor.log");
	tensor(&w, 0, 1, "8x3");
	tensor(&w, -1, 2, "8x3")->inf = 1;
	tell_call(&w);
	call(&w, "Tensor.add");
	tensor(&w, 0, 2, "8x3")->inf = 1;
	tensor(&w, -1, 3, "8x3")->inf = 1;
	tell_call(&w);
	call(&w, "Tensor.exp"); /* of another infinity */
	tensor(&w, 0, 6, "8x3");
	tensor(&w, -1, 7, "8x3")->inf = 1;
	tell_call(&w);
	call(&w, "Linear.forward");
	tensor(&w, 0, 3, "8x3")->inf = 1;
	tensor(&w, -1, 4, "8x3")->nan = 3;
	tell_call(&w);
	tell_loss(&w, NAN);
	CHECK_TEXT(case_of(&w, "WT-NUM-001")->where.op, "Linear.forward");
	CHECK(strstr(case_of(&w, "WT-NUM-001")->evidence,
		     "of arguments with infinity, which Tensor.log had returned; "));
	end(&w);
}

/* The call that makes NaN of infinity is named, and how the loss had gone before. */
static void test_infinity(void)
{
	struct world w;

	begin(&w);
	tell_loss(&w, 2);
	tell_loss(&w, 4000);
	call(&w, "cross_entropy");
	tensor(&w, 0, 1, "8x3")->inf = 2;
	tensor(&w, -1, 2, "")->nan = 1;
	tell_call(&w);
	tell_loss(&w, NAN);
	CHECK_TEXT(case_of(&w, "WT-NUM-001")->where.op, "cross_entropy");
	CHECK_TEXT(case_of(&w, "WT-NUM-001")->evidence,
		   "it returned 1 NaN among 1 elements, of arguments with infinity; the loss had "
		   "grown from 2 to 4e+03 in 2 steps");
	end(&w);
}

static const struct test tests[] = {
	{"infinity", test_infinity},
	{"infinity_source", test_infinity_source},
	{"habits", test_habits},
	{"choices", test_choices},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
