/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about rows, about what was learned, and about parts of models: frozen, copied, normalised,
 * grouped. Each with a run in a few lines that violates it and one that does not. One file, though
 * a long one: a list of short cases about the same model and its rows.
 */
#include <math.h>
#include <stdio.h>

#include "rules_world.h"

enum {
	TRAINING = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD,
	EVALUATION = WT_CALL_OUTERMOST,
	ROWS = 20,
};

static void tell_row(struct world *w, const char *input, uint64_t hash)
{
	if (!is_open(w))
		enter(w);
	begin_event(w, w->stream, WT_KIND_ROW);
	set_symbol(w, WT_ROW_FIELD_OWNER, word(w, "Net"));
	set_symbol(w, WT_ROW_FIELD_NAME, word(w, input));
	set(w, WT_ROW_FIELD_HASH, hash);
	set(w, WT_ROW_FIELD_CALL, w->call.seq);
	emit(w);
}

/* A model is given rows of which the trace keeps the hashes `first` and following. */
static void give_rows(struct world *w, uint32_t flags, uint64_t first, uint64_t count)
{
	module(w, "Net.forward", "Net", flags);
	tensor(w, 0, first, "64x4");
	tell_module(w, WTI_MOMENT_MODULE);
	for (uint64_t i = 0; i < count; i++)
		tell_row(w, "x", first + i);
	tell_module(w, WTI_MOMENT_MODULE_END);
}

/* Of the evaluation's rows, a quarter was trained on. */
static void overlap(struct world *w, bool is_wrong)
{
	give_rows(w, TRAINING, 100, ROWS);
	give_rows(w, EVALUATION, is_wrong ? 115 : 200, ROWS);
}

/* A batch of two inputs: tokens, and a mask that has one of three contents. */
static void give_tokens(struct world *w, uint32_t flags, uint64_t first, uint64_t count)
{
	module(w, "Net.forward", "Net", flags | WT_CALL_OUTERMOST);
	for (uint64_t i = 0; i < count; i++) {
		tell_row(w, "tokens", first + i);
		tell_row(w, "mask", 10 + i % 3);
	}
	tell_module(w, WTI_MOMENT_MODULE_END);
}

static void overlap_of_all_inputs(struct world *w, bool is_wrong)
{
	give_tokens(w, TRAINING, 100, ROWS);
	give_tokens(w, EVALUATION, is_wrong ? 115 : 200, ROWS);
}

static void tokens_given_away(struct world *w, bool is_wrong)
{
	give_tokens(w, TRAINING, 100, ROWS);
	give_tokens(w, EVALUATION, 200, ROWS);
	give_tokens(w, TRAINING, is_wrong ? 210 : 100, ROWS);
	give_tokens(w, EVALUATION, 105, ROWS);
}

static void no_tokens_held_out(struct world *w, bool is_wrong)
{
	give_tokens(w, TRAINING, 100, ROWS);
	give_tokens(w, EVALUATION, is_wrong ? 101 : 201, ROWS / 2);
	give_tokens(w, EVALUATION, is_wrong ? 105 : 205, ROWS / 2);
}

/* Short names: half of those in training have an equal there, and half of those in evaluation. */
static void give_names(struct world *w, uint32_t flags, uint64_t own)
{
	module(w, "Net.forward", "Net", flags | WT_CALL_OUTERMOST);
	for (uint64_t i = 0; i < ROWS; i++)
		tell_row(w, "names", i % 2 ? own + i : 10 + i % 8);
	tell_module(w, WTI_MOMENT_MODULE_END);
}

static void repeated_by_themselves(struct world *w, bool is_wrong)
{
	if (is_wrong)
		give_tokens(w, TRAINING, 10, ROWS);
	else
		give_names(w, TRAINING, 100);
	w->scope.epoch++;
	give_names(w, EVALUATION, 200);
}

/* Integers of which some were copied, before or after others were held out. */
static void copied_then_split(struct world *w, bool is_wrong)
{
	w->scope.epoch = 0;
	module(w, "Net.forward", "Net", TRAINING | WT_CALL_OUTERMOST);
	for (uint64_t i = 0; i < 60; i++)
		tell_row(w, "codes", 1000 + i);
	for (uint64_t i = 0; i < 12 * 8; i++)
		tell_row(w, "codes", 2000 + i % 12);
	tell_module(w, WTI_MOMENT_MODULE_END);
	module(w, "Net.forward", "Net", EVALUATION);
	for (uint64_t i = 0; i < 40; i++)
		tell_row(w, "codes", is_wrong && i < 24 ? 2000 + i % 12 : 3000 + i);
	tell_module(w, WTI_MOMENT_MODULE_END);
}

/* The same repetitions, of numbers that are none by themselves: copies were made of rows. */
static void test_copies_of_numbers(void)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	give_names(&w, TRAINING, 100);
	module(&w, "Net.forward", "Net", TRAINING | WT_CALL_OUTERMOST);
	tensor(&w, 0, 1, "20x8")->mean = 0.123;
	w.values[0].name = word(&w, "names");
	tell_module(&w, WTI_MOMENT_MODULE_END);
	give_names(&w, EVALUATION, 200);
	wt_result_init(&result, "test");
	finish(&w, &result);
	CHECK_INT(case_of(&w, "WT-ROWS-001")->violation_count, 1);
	wt_result_release(&result);
	end(&w);
}

static void take_from(struct world *w, const char *loader)
{
	object(w, loader, "DataLoader", WT_OBJECT_TYPE_LOADER);
	call(w, "DataLoader.__next__");
	tell(w, WTI_MOMENT_BATCH, find(w, loader));
}

/* One loader has the rows that have leaked first, and the others after them. */
static void leaked_first(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 2; i++) {
		take_from(w, "train");
		give_rows(w, TRAINING, 100 + (uint64_t)i * ROWS, ROWS);
	}
	take_from(w, "held_out");
	give_rows(w, EVALUATION, is_wrong ? 100 : 300, ROWS);
	if (!is_wrong)
		take_from(w, "train"); /* to see how well it fits */
	else
		take_from(w, "held_out");
	give_rows(w, EVALUATION, is_wrong ? 300 : 100, ROWS);
}

/* An epoch of 60 rows, of which every third comes augmented, another third in each epoch. */
static void train_augmented(struct world *w)
{
	take_from(w, "train");
	module(w, "Net.forward", "Net", TRAINING);
	tensor(w, 0, 1, "64x4");
	tell_module(w, WTI_MOMENT_MODULE);
	for (uint64_t i = 0; i < 3 * ROWS; i++)
		tell_row(w, "x", (i + (uint64_t)w->scope.epoch) % 3 ? 100 + i : 10000 + i);
	tell_module(w, WTI_MOMENT_MODULE_END);
}

static void evaluate(struct world *w, const char *loader, uint64_t first, uint64_t count)
{
	take_from(w, loader);
	give_rows(w, EVALUATION, first, count);
}

/* Rows of the training as they are, and of those held out: accuracies of both are printed. The
 * first alone is what the evaluation is. */
static void fit_of_augmented(struct world *w, bool is_wrong)
{
	for (w->scope.epoch = 0; w->scope.epoch < 3; w->scope.epoch++) {
		train_augmented(w);
		evaluate(w, "plain", 100, 3 * ROWS);
		if (!is_wrong)
			evaluate(w, "held_out", 300, ROWS);
	}
}

/* A third of what is held out has leaked; a test set beside it has not. */
static void leaked_beside_test(struct world *w, bool is_wrong)
{
	for (w->scope.epoch = 0; w->scope.epoch < 3; w->scope.epoch++) {
		train_augmented(w);
		evaluate(w, "held_out", is_wrong ? 150 : 300, ROWS);
		evaluate(w, "test", 400, ROWS);
	}
}

/* Another split in each epoch, or the same rows in both, of which more and more were trained on. */
static void split_anew(struct world *w, bool is_wrong)
{
	for (w->scope.epoch = 0; w->scope.epoch < 3; w->scope.epoch++) {
		give_rows(w, TRAINING, 500, ROWS);
		train_augmented(w);
		if (is_wrong)
			give_rows(w, TRAINING, w->scope.epoch % 2 ? 200 : 300, ROWS);
		evaluate(w, "plain", 100, 3 * ROWS);
		evaluate(w, "held_out", is_wrong && !(w->scope.epoch % 2) ? 200 : 300, ROWS);
	}
}

/* A loader of its own that gives a part of what was trained on; all of it is a look at the fit. */
static void test_split_inside(void)
{
	for (int all = 0; all < 2; all++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		for (uint64_t i = 0; i < 4; i++) {
			take_from(&w, "train");
			give_rows(&w, TRAINING, 100 + i * ROWS, ROWS);
		}
		for (uint64_t i = 0; i < (all ? 4 : 1); i++) {
			take_from(&w, "held_out");
			give_rows(&w, EVALUATION, 101 + i * ROWS, ROWS - 1);
		}
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-ROWS-003")->violation_count, 1);
		CHECK_INT(case_of(&w, "WT-ROWS-003")->severity, all ? WT_NOTE : WT_WARNING);
		wt_result_release(&result);
		end(&w);
	}
}

/* The training set and then the held-out rows: what is evaluated together is judged apart. */
static void test_both_sets(void)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	give_tokens(&w, TRAINING, 100, ROWS);
	give_tokens(&w, EVALUATION, 100, ROWS);
	give_tokens(&w, EVALUATION, 200, ROWS);
	wt_result_init(&result, "test");
	finish(&w, &result);
	CHECK_INT(case_of(&w, "WT-ROWS-001")->violation_count, 0);
	CHECK_INT(case_of(&w, "WT-ROWS-001")->held_count, 1);
	wt_result_release(&result);
	end(&w);
}

/* The whole training set, evaluated: not a leak, and nothing that holds. */
static void test_training_set(void)
{
	struct world w;

	begin(&w);
	give_rows(&w, TRAINING, 100, ROWS);
	give_rows(&w, EVALUATION, 100, ROWS);
	CHECK_INT(case_of(&w, "WT-ROWS-001")->violation_count, 0);
	CHECK_INT(case_of(&w, "WT-ROWS-001")->held_count, 0);
	end(&w);
}

static void given_away(struct world *w, bool is_wrong)
{
	give_rows(w, TRAINING, 100, ROWS);
	give_rows(w, EVALUATION, 200, ROWS);
	give_rows(w, TRAINING, is_wrong ? 210 : 120, ROWS);
	give_rows(w, EVALUATION, 105, ROWS);
}

/* In two parts, as other batches than those of training. */
static void nothing_held_out(struct world *w, bool is_wrong)
{
	give_rows(w, TRAINING, 100, ROWS);
	give_rows(w, EVALUATION, is_wrong ? 101 : 201, ROWS / 2);
	give_rows(w, EVALUATION, is_wrong ? 105 : 205, ROWS / 2);
}

/* A gradient of what was computed in evaluation mode: of an adversary, or how much a weight
 * matters. */
static void test_gradients_in_evaluation(void)
{
	for (int is_asked = 0; is_asked < 2; is_asked++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		give_rows(&w, TRAINING, 100, ROWS);
		for (uint64_t i = 0; i < 4; i++) {
			give_rows(&w, EVALUATION | WT_CALL_GRAD, 101 + i, ROWS - 4);
			if (!is_asked)
				continue;
			call(&w, "Tensor.backward");
			backward(&w);
		}
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-ROWS-003")->violation_count, !is_asked);
		wt_result_release(&result);
		end(&w);
	}
}

/* What such a call was given is forgotten as a whole: that it was all of the last training input
 * excuses no other evaluation. */
static void test_gradients_of_whole(void)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	give_rows(&w, TRAINING, 100, ROWS);
	give_rows(&w, EVALUATION | WT_CALL_GRAD, 100, ROWS);
	call(&w, "Tensor.backward");
	backward(&w);
	give_rows(&w, EVALUATION, 101, ROWS - 1);
	wt_result_init(&result, "test");
	finish(&w, &result);
	CHECK_INT(case_of(&w, "WT-ROWS-003")->violation_count, 1);
	wt_result_release(&result);
	end(&w);
}

/* A gradient is of the model that was called last, through its criterion. */
static void test_gradients_of_another(void)
{
	static const char *const between[] = {NULL, "Criterion", "Other"};

	for (int i = 0; i < 3; i++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		optimizer(&w, "Adam", "Adam");
		parameter(&w, "Other", "weight", find(&w, "Adam"));
		step(&w, "Adam");
		give_rows(&w, TRAINING, 100, ROWS);
		give_rows(&w, EVALUATION | WT_CALL_GRAD, 101, ROWS - 1);
		if (between[i]) {
			module(&w, "It.forward", between[i], TRAINING);
			tell_module(&w, WTI_MOMENT_MODULE_END);
		}
		call(&w, "Tensor.backward");
		backward(&w);
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-ROWS-003")->violation_count, i == 2);
		wt_result_release(&result);
		end(&w);
	}
}

/* After its own training a model is given each batch of another one's. */
static void test_teacher(void)
{
	for (int has_student = 0; has_student < 2; has_student++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		optimizer(&w, "Adam", "Adam");
		for (uint64_t i = 0; i < 4; i++) {
			give_rows(&w, TRAINING, 100 + i * ROWS, ROWS);
			step(&w, "Adam");
		}
		for (uint64_t i = 0; i < 4; i++) {
			give_rows(&w, EVALUATION, 101 + i * ROWS, ROWS - 1);
			if (!has_student)
				continue;
			if (!i)
				parameter(&w, "Student", "weight", find(&w, "Adam"));
			module(&w, "Student.forward", "Student", TRAINING);
			tell_module(&w, WTI_MOMENT_MODULE_END);
			step(&w, "Adam");
		}
		wt_result_init(&result, "test");
		wti_judge_finish(&w.judge, &result);
		CHECK_INT(case_of(&w, "WT-ROWS-003")->violation_count, !has_student);
		wt_result_release(&result);
		end(&w);
	}
}

/* A part of what it is given it was trained on: an evaluation, unless another one learns from it.
 */
static void test_teacher_of_mixed_rows(void)
{
	for (int has_student = 0; has_student < 2; has_student++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		optimizer(&w, "Adam", "Adam");
		for (uint64_t i = 0; i < 4; i++) {
			give_rows(&w, TRAINING, 100 + i * 2 * ROWS, ROWS);
			step(&w, "Adam");
		}
		for (uint64_t i = 0; i < 4; i++) {
			give_rows(&w, EVALUATION, 110 + i * 2 * ROWS, ROWS);
			if (has_student && !i)
				parameter(&w, "Student", "weight", find(&w, "Adam"));
			if (has_student) {
				module(&w, "Student.forward", "Student", TRAINING);
				tell_module(&w, WTI_MOMENT_MODULE_END);
				step(&w, "Adam");
			}
		}
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-ROWS-001")->violation_count, !has_student);
		wt_result_release(&result);
		end(&w);
	}
}

/* ---- What was learned ----------------------------------------------------------------------- */

static void guesses(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 60; i++) {
		call(w, "cross_entropy");
		tensor(w, 0, 1000 + i, "8x5");
		tensor(w, 1, 2000 + i, "8");
		tensor(w, -1, 3000 + i, "")->mean = is_wrong ? log(5) : log(5) / 2;
		tell_call(w);
	}
}

/* That most of the model is frozen is said beside it. */
static void test_guesses_frozen(void)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	optimizer(&w, "Adam", "Adam");
	parameter(&w, "Net", "fc.weight", find(&w, "Adam"));
	parameter(&w, "Net", "conv.weight", NULL)->requires_grad = false;
	parameter(&w, "Net", "conv.bias", NULL)->requires_grad = false;
	step(&w, "Adam");
	guesses(&w, true);
	wt_result_init(&result, "test");
	finish(&w, &result);
	CHECK(strstr(case_of(&w, "WT-LEARN-001")->evidence, "only 1 of 3 parameters are trained"));
	wt_result_release(&result);
	end(&w);
}

/* ---- Parts of models ------------------------------------------------------------------------ */

static void saved(struct world *w, const char *name, uint64_t hash)
{
	tensor(w, 0, hash, "4x4");
	w->values[w->call.value_count - 1].name = word(w, name);
}

static void frozen_is_not_saved(struct world *w, bool is_wrong)
{
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	parameter(w, "Net", "a.weight", NULL);
	parameter(w, "Net", "b.weight", NULL);
	parameter(w, "Net", "c.weight", NULL)->requires_grad = false;
	call(w, "save");
	saved(w, "a.weight", 1);
	saved(w, "b.weight", 2);
	if (!is_wrong)
		saved(w, "c.weight", 3);
	tell(w, WTI_MOMENT_SAVE, NULL);
}

/* A target network in training mode, without gradients; the right one is refreshed. */
static void copy_refreshed_at(struct world *w, int refreshed)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "weight", find(w, "Adam"));
	object(w, "Target", "Net", WT_OBJECT_TYPE_MODULE)->of = word(w, "Net");
	find(w, "Target")->how = WT_FOUND_COPIED;
	parameter(w, "Target", "weight", NULL);
	for (int i = 0; i < 140; i++) {
		call(w, "Net.forward")->object = word(w, "Target");
		w->call.flags = WT_CALL_MODE_KNOWN | WT_CALL_OUTERMOST | WT_CALL_TRAIN;
		tell(w, WTI_MOMENT_MODULE_END, find(w, "Target"));
		if (i == refreshed) {
			call(w, "Net.load_state_dict")->object = word(w, "Target");
			tell(w, WTI_MOMENT_CALL, find(w, "Target"));
		}
		step(w, "Adam");
	}
}

static void stale_copy(struct world *w, bool is_wrong)
{
	copy_refreshed_at(w, is_wrong ? -1 : 10);
}

/* Long after the first steps, as a DQN does: never means until the end. */
static void stale_for_long(struct world *w, bool is_wrong)
{
	copy_refreshed_at(w, is_wrong ? -1 : 120);
}

/* One that is frozen may be meant to stay: that is why, and not that there was none. */
static void test_frozen_copy(void)
{
	for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		if (is_frozen)
			parameter(&w, "Target", "bias", NULL)->requires_grad = false;
		stale_copy(&w, true);
		CHECK_INT(case_of(&w, "WT-EMA-003")->violation_count, 0); /* not known yet */
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-EMA-003")->violation_count, !is_frozen);
		CHECK_INT(case_of(&w, "WT-EMA-003")->why_not != NULL, is_frozen);
		wt_result_release(&result);
		end(&w);
	}
}

static void never_iterated(struct world *w, bool is_wrong)
{
	struct made_parameter *direction;

	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	direction = parameter(w, "Net", "fc.weight_u", NULL);
	direction->is_buffer = true;
	module(w, "Linear.forward", "Net.fc", is_wrong ? 0 : WT_CALL_TRAIN);
	tell_module(w, WTI_MOMENT_MODULE);
}

/* Two layers, of which the names begin alike: one has a spectral norm. */
static void iterated_beside(struct world *w, bool is_wrong)
{
	struct made_parameter *direction;

	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	direction = parameter(w, "Net", "fc10.weight_u", NULL);
	direction->is_buffer = true;
	module(w, "Linear.forward", "Net.fc10", is_wrong ? 0 : WT_CALL_TRAIN);
	tell_module(w, WTI_MOMENT_MODULE);
	module(w, "Linear.forward", "Net.fc1", 0);
	tell_module(w, WTI_MOMENT_MODULE);
}

/* ---- Contents that are lost ----------------------------------------------------------------- */

static void give_batch(struct world *w, uint64_t hash)
{
	call(w, "DataLoader.__next__");
	tensor(w, -1, hash, "8x4");
	tell(w, WTI_MOMENT_BATCH, find(w, "DataLoader"));
}

static void train_on(struct world *w, uint64_t hash, uint64_t zeros)
{
	module(w, "Net.forward", "Net", TRAINING);
	tensor(w, 0, hash, "8x4")->zeros = zeros;
	tell_module(w, WTI_MOMENT_MODULE);
	step(w, "Adam");
}

static void lost_model(struct world *w)
{
	optimizer(w, "Adam", "Adam");
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
}

/* All of a batch, and then the half of one, does not arrive. */
static void lost_batch(struct world *w, bool is_wrong)
{
	lost_model(w);
	for (uint64_t i = 1; i < 12; i++) {
		give_batch(w, i);
		train_on(w, is_wrong && i == 6 ? 99 : i, is_wrong && i == 6 ? 32 : 0);
	}
}

static void lost_half(struct world *w, bool is_wrong)
{
	lost_model(w);
	for (uint64_t i = 1; i < 16; i++) {
		bool is_lost = is_wrong && i > 10 && i % 3 == 0;

		give_batch(w, i);
		train_on(w, is_lost ? 99 : i, is_lost ? 16 : 0);
	}
}

/* Without a loader. */
static void lost_by_hand(struct world *w, bool is_wrong)
{
	lost_model(w);
	for (uint64_t i = 1; i < 12; i++)
		train_on(w, i, is_wrong && i == 8 ? 32 : 0);
	give_batch(w, 1); /* so that there is a case */
	train_on(w, 1, 0);
}

static void lost_copy(struct world *w, bool is_wrong)
{
	for (int i = 0; i < 3; i++) {
		call(w, "Tensor.to");
		tensor(w, 0, 7, "8x4");
		tensor(w, -1, is_wrong ? 8 : 7, "8x4");
		tell_call(w);
	}
}

/* A mask in every other step, a model that is called with zeros first: both are meant. */
static void test_zeros_on_purpose(void)
{
	struct world w;

	begin(&w);
	lost_model(&w);
	for (uint64_t i = 1; i < 40; i++) {
		give_batch(&w, i);
		train_on(&w, i % 2 ? i : 100 + i, i % 2 ? 0 : 12);
	}
	CHECK_INT(case_of(&w, "WT-DATA-007")->violation_count, 0);
	end(&w);
	begin(&w);
	lost_model(&w);
	for (uint64_t i = 1; i < 40; i++) {
		module(&w, "Net.forward", "Net", TRAINING);
		tensor(&w, 0, 9, "8x4")->zeros = 32;
		tell_module(&w, WTI_MOMENT_MODULE);
		train_on(&w, i, 0);
	}
	CHECK_INT(case_of(&w, "WT-DATA-007")->violation_count, 0);
	end(&w);
}

static void begin_epoch(struct world *w)
{
	call(w, "DataLoader.__iter__");
	tell(w, WTI_MOMENT_BATCH, find(w, "DataLoader"));
}

static void give_of_shape(struct world *w, uint64_t hash, const char *shape)
{
	call(w, "DataLoader.__next__");
	tensor(w, -1, hash, shape);
	tell(w, WTI_MOMENT_BATCH, find(w, "DataLoader"));
}

/* What is left over at the end of two epochs is not two small batches in a row. */
static void test_left_over(void)
{
	struct world w;

	begin(&w);
	object(&w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	call(&w, "DataLoader.__init__");
	tell_fact(&w, find(&w, "DataLoader"), "batch_size", 32);
	for (uint64_t epoch = 0; epoch < 4; epoch++) {
		begin_epoch(&w);
		give_of_shape(&w, epoch + 1, "3x4");
	}
	CHECK_INT(case_of(&w, "WT-DATA-004")->violation_count, 0);
	end(&w);
}

/* The same batches in another order are another order. */
static void test_batches_swapped(void)
{
	struct world w;

	begin(&w);
	object(&w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	object(&w, "S", "RandomSampler", WT_OBJECT_TYPE_SAMPLER)->of = word(&w, "DataLoader");
	for (uint64_t epoch = 0; epoch < 4; epoch++) {
		begin_epoch(&w);
		give_of_shape(&w, 1 + epoch % 2, "8x4");
		give_of_shape(&w, 2 - epoch % 2, "8x4");
		call(&w, "Tensor.backward");
		backward(&w);
	}
	CHECK_INT(case_of(&w, "WT-DATA-003")->violation_count, 0);
	CHECK_INT(case_of(&w, "WT-DATA-003")->held_count, 3);
	end(&w);
}

/* A model that freezes something in a train() of its own. */
static void train_not_called(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	parameter(w, "Net", "weight", find(w, "Adam"));
	flush(w);
	begin_state(w, w->stream, word(w, "Net"), word(w, "overrides_train"), WT_VALUE_TYPE_TEXT);
	set_symbol(w, WT_STATE_FIELD_TEXT, word(w, "Backbone"));
	emit(w);
	if (!is_wrong) {
		call(w, "Backbone.train");
		tell_call(w);
	}
	for (int i = 0; i < 4; i++)
		step(w, "Adam");
}

static void empty_group(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "weight", find(w, "Adam"));
	parameter(w, "Net", "bias", find(w, "Adam"))->group = is_wrong ? 0 : 1;
	tell_fact(w, find(w, "Adam"), "lr", 0.1);
	tell_fact(w, find(w, "Adam"), "group1.lr", 0.01);
	step(w, "Adam");
}

/* Settings that differ in weight decay alone; adapters are matrices, so that none is spared. */
static void nothing_to_spare(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	parameter(w, "Net", "weight", find(w, "Adam"));
	parameter(w, "Net", "bias", find(w, "Adam"))->shape = word(w, is_wrong ? "4" : "4x2");
	tell_fact(w, find(w, "Adam"), "lr", 0.1);
	tell_fact(w, find(w, "Adam"), "weight_decay", 0.01);
	tell_fact(w, find(w, "Adam"), "group1.lr", 0.1);
	tell_fact(w, find(w, "Adam"), "group1.weight_decay", 0);
	step(w, "Adam");
}

/* A model that has an average of itself in it, which nothing trains and which moves. */
static void average_is_not_saved(struct world *w, bool is_wrong)
{
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	parameter(w, "Net", "a.weight", NULL);
	parameter(w, "Net", "b.weight", NULL);
	parameter(w, "Net", "average.weight", NULL)->requires_grad = false;
	flush(w);
	find_parameter(w, "Net", "average.weight")->hash += !is_wrong;
	call(w, "save");
	saved(w, "a.weight", 1);
	saved(w, "b.weight", 2);
	tell(w, WTI_MOMENT_SAVE, NULL);
}

static void test_twins(void)
{
	static const struct {
		const char *code;
		void (*act)(struct world *w, bool is_wrong);
	} all_twins[] = {
		{"WT-ROWS-001", leaked_first},
		{"WT-ROWS-001", overlap},
		{"WT-ROWS-001", fit_of_augmented},
		{"WT-ROWS-001", leaked_beside_test},
		{"WT-ROWS-002", split_anew},
		{"WT-ROWS-001", overlap_of_all_inputs},
		{"WT-ROWS-001", repeated_by_themselves},
		{"WT-ROWS-001", copied_then_split},
		{"WT-ROWS-002", given_away},
		{"WT-ROWS-002", tokens_given_away},
		{"WT-ROWS-003", no_tokens_held_out},
		{"WT-ROWS-003", nothing_held_out},
		{"WT-DATA-007", lost_batch},
		{"WT-DATA-007", lost_half},
		{"WT-DATA-007", lost_by_hand},
		{"WT-DATA-008", lost_copy},
		{"WT-LEARN-001", guesses},
		{"WT-CKPT-006", frozen_is_not_saved},
		{"WT-EMA-003", stale_copy},
		{"WT-EMA-003", stale_for_long},
		{"WT-MODE-005", never_iterated},
		{"WT-MODE-005", iterated_beside},
		{"WT-MODE-006", train_not_called},
		{"WT-CKPT-006", average_is_not_saved},
		{"WT-OPT-009", empty_group},
		{"WT-OPT-009", nothing_to_spare},
	};

	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

static const struct test tests[] = {
	{"split_inside", test_split_inside},
	{"teacher", test_teacher},
	{"teacher of mixed rows", test_teacher_of_mixed_rows},
	{"guesses_frozen", test_guesses_frozen},
	{"frozen_copy", test_frozen_copy},
	{"zeros_on_purpose", test_zeros_on_purpose},
	{"left_over", test_left_over},
	{"batches_swapped", test_batches_swapped},
	{"twins", test_twins},
	{"training set", test_training_set},
	{"copies of numbers", test_copies_of_numbers},
	{"both sets", test_both_sets},
	{"gradients in evaluation", test_gradients_in_evaluation},
	{"gradients of a whole", test_gradients_of_whole},
	{"gradients of another", test_gradients_of_another},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
