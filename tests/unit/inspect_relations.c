/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What relations tell, each with a run in a few lines of which a fact is always true and one of
 * which it is not. How occasions become invariants is tested in inspect_learn.c. One file, though a
 * long one: it is a list of cases that share a dozen lines of setting and nothing else.
 */
#include <stdio.h>

#include "inspect/learn/observer.h"
#include "inspect/learn/phrases.h"
#include "inspect/learn/relation.h"
#include "rules_world.h"

enum { TRAINING = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD };

/* A fact about a subject: how often it was true, of how many. */
struct asked {
	struct wti_observer observer;
	struct wti_symbols *symbols;
	const char *relation, *subject, *fact;
	uint32_t count, true_count;
};

static void take(void *self, const struct wti_occasion *occasion)
{
	struct asked *asked = self;
	const char *second = wti_symbol_text(asked->symbols, occasion->subject[1]);
	char subject[128];

	snprintf(subject, sizeof(subject), "%s%s%s",
		 wti_symbol_text(asked->symbols, occasion->subject[0]), *second ? ", " : "",
		 second);
	if (strcmp(subject, asked->subject) ||
	    strcmp(wti_relations[occasion->relation]->name, asked->relation))
		return;
	for (uint32_t i = 0; i < occasion->fact_count; i++)
		if (!strcmp(wti_symbol_text(asked->symbols, occasion->facts[i].a), asked->fact))
			asked->true_count++;
	asked->count++;
}

static void listen(void *self, const struct wti_moment *moment)
{
	struct asked *asked = self;

	wti_observer_moment(&asked->observer, moment);
}

static struct asked ask(const char *relation, const char *subject, const char *fact,
			void (*act)(struct world *w, bool is_wrong), bool is_wrong)
{
	struct asked asked = {.relation = relation, .subject = subject, .fact = fact};
	struct wti_sink_of_occasions sink = {&asked, take};
	struct world w;

	begin(&w);
	asked.symbols = w.training.symbols;
	CHECK_INT(wti_observer_init(&asked.observer, &w.training, sink, UINT32_MAX, NULL), 0);
	w.listen = listen;
	w.listener = &asked;
	act(&w, is_wrong);
	finish_training(&w);
	wti_observer_finish(&asked.observer);
	wti_observer_release(&asked.observer);
	end(&w);
	return asked;
}

/* Always true in the right one, not always in the wrong one; occasions there are in both. */
static void differ(const char *relation, const char *subject, const char *fact,
		   void (*act)(struct world *w, bool is_wrong))
{
	struct asked right = ask(relation, subject, fact, act, false);
	struct asked wrong = ask(relation, subject, fact, act, true);

	if (!right.count || right.true_count != right.count)
		test_fail(__FILE__, __LINE__, "'%s' %s: %u of %u in the right run", subject, fact,
			  right.true_count, right.count);
	if (!wrong.count || wrong.true_count == wrong.count)
		test_fail(__FILE__, __LINE__, "'%s' %s: %u of %u in the wrong run", subject, fact,
			  wrong.true_count, wrong.count);
}

static void never(const char *relation, const char *subject,
		  void (*act)(struct world *w, bool is_wrong), bool is_wrong)
{
	if (ask(relation, subject, "", act, is_wrong).count)
		test_fail(__FILE__, __LINE__, "'%s' is told of", subject);
}

static void model(struct world *w)
{
	optimizer(w, "Adam", "Adam");
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	parameter(w, "Net", "a.weight", find(w, "Adam"));
}

/* ---- Parts ---------------------------------------------------------------------------------- */

static void zero_grad(struct world *w)
{
	call(w, "Adam.zero_grad");
	tell(w, WTI_MOMENT_ZERO_GRAD, find(w, "Adam"));
}

/* One number with a graph. */
static void scalar(struct world *w, int32_t position, uint64_t hash)
{
	tensor(w, position, hash, "")->flags = WT_TENSOR_REQUIRES_GRAD;
}

/* A loss over so many targets, divided if so, goes backward. */
static void micro_batch(struct world *w, uint64_t hash, const char *targets, bool is_divided)
{
	call(w, "mse_loss");
	tensor(w, 0, hash + 1000, targets);
	tensor(w, 1, hash + 2000, targets);
	scalar(w, -1, hash);
	tell_call(w);
	if (is_divided) {
		call(w, "Tensor.__truediv__");
		scalar(w, 0, hash);
		scalar(w, -1, ++hash);
		tell_call(w);
	}
	call(w, "Tensor.backward");
	scalar(w, 0, hash);
	backward(w);
}

static void undivided(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 4; i++) {
		micro_batch(w, 100 * i, "8x1", !is_wrong);
		micro_batch(w, 100 * i + 50, "8x1", !is_wrong);
		step(w, "Adam");
		zero_grad(w);
	}
}

static void unequal(struct world *w, bool is_wrong)
{
	model(w);
	micro_batch(w, 100, "8x1", false);
	micro_batch(w, 200, is_wrong ? "2x1" : "8x1", false);
	step(w, "Adam");
}

static void one_pass_a_step(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 4; i++) {
		micro_batch(w, 100 * i, "8x1", false);
		step(w, "Adam");
		zero_grad(w);
	}
}

static void thrown_away(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 4; i++) {
		micro_batch(w, 100 * i, "8x1", false);
		if (is_wrong)
			zero_grad(w);
		micro_batch(w, 100 * i + 50, "8x1", false);
		step(w, "Adam");
		zero_grad(w);
	}
}

/* A closure goes backward as often as its optimizer likes. */
static void closure(struct world *w, bool is_wrong)
{
	model(w);
	begin_step(w, "Adam");
	for (uint64_t i = 1; i <= 4; i++) {
		zero_grad(w);
		micro_batch(w, 100 * i, "8x1", false);
	}
	end_step(w);
}

/* ---- Arguments and results ------------------------------------------------------------------ */

static void softmax(struct world *w, const char *callee, const char *name, double dim,
		    const char *shape)
{
	call(w, callee);
	tensor(w, 0, 1, shape);
	number(w, name, 1, dim);
	tensor(w, -1, 2, shape);
	tell_call(w);
}

/* However it is called, and however the dimension is counted. */
static void over_rows(struct world *w, bool is_wrong)
{
	softmax(w, "softmax", "dim", 1, "8x4");
	softmax(w, "Tensor.log_softmax", "", -1, "8x4");
	softmax(w, "softmax", "dim", is_wrong ? 0 : 2, "8x4x3");
}

static void over_rows_from_the_end(struct world *w, bool is_wrong)
{
	softmax(w, "softmax", "dim", is_wrong ? -3 : -2, "8x4x3");
}

static void of_a_vector(struct world *w, bool is_wrong)
{
	softmax(w, "softmax", "dim", 0, "8");
}

static void add(struct world *w, const char *callee, double before, double added, double after)
{
	call(w, callee);
	tensor(w, 0, 1, "8")->mean = before;
	tensor(w, 1, 2, "8")->mean = added;
	w->values[1].digest.m2 = 0;
	tensor(w, -1, 3, "8")->mean = after;
	tell_call(w);
}

static void rounded_away(struct world *w, bool is_wrong)
{
	add(w, "Tensor.add_", 1, 0.001, 1.001);
	add(w, "Tensor.sub_", 1, 0.001, is_wrong ? 1 : 0.999);
}

/* alpha=0.5 */
static void added_in_part(struct world *w, bool is_wrong)
{
	call(w, "Tensor.add_");
	tensor(w, 0, 1, "8")->mean = 1;
	tensor(w, 1, 2, "8")->mean = 0.5;
	number(w, "alpha", 2, 0.5);
	tensor(w, -1, 3, "8")->mean = is_wrong ? 1.5 : 1.25;
	tell_call(w);
}

static void clip(struct world *w, double norm)
{
	call(w, "clip_grad_norm_")->module = word(w, "torch.nn.utils");
	number(w, "max_norm", 1, 1);
	tensor(w, -1, 5, "")->mean = norm;
	tell_call(w);
}

static void clipped_scaled(struct world *w, bool is_wrong)
{
	clip(w, 3);
	clip(w, is_wrong ? 3 * 1024 : 99);
}

/* ---- Data ----------------------------------------------------------------------------------- */

static void loader(struct world *w, const char *name)
{
	uint32_t of = object(w, name, "DataLoader", WT_OBJECT_TYPE_LOADER)->name;
	char sampler[32];

	find(w, name)->site = 5;
	snprintf(sampler, sizeof(sampler), "Sampler of %s", name);
	object(w, sampler, "RandomSampler", WT_OBJECT_TYPE_SAMPLER)->of = of;
}

static void iterate(struct world *w, const char *name, uint64_t first)
{
	call(w, "DataLoader.__iter__");
	tell(w, WTI_MOMENT_BATCH, find(w, name));
	for (uint64_t i = 0; i < 3; i++) {
		call(w, "DataLoader.__next__");
		tensor(w, -1, first + i, "8x4");
		tell(w, WTI_MOMENT_BATCH, find(w, name));
	}
}

/* A loader for each epoch, made in the same line. */
static void shuffled_alike(struct world *w, bool is_wrong)
{
	loader(w, "Loader 1");
	iterate(w, "Loader 1", 100);
	loader(w, "Loader 2");
	iterate(w, "Loader 2", is_wrong ? 100 : 200);
	loader(w, "Loader 3");
	iterate(w, "Loader 3", 300);
}

static void train(struct world *w, uint64_t input)
{
	module(w, "Net.forward", "Net", TRAINING);
	tensor(w, 0, input, "8x4");
	tell_module(w, WTI_MOMENT_CALL);
	w->scope.step++;
}

static void come_again(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 12; i++)
		train(w, i);
	train(w, is_wrong ? 3 : 13);
}

/* The same batch twice in a step is one way to train; it says nothing about the next. */
static void twice_in_a_step(struct world *w, bool is_wrong)
{
	model(w);
	for (uint64_t i = 1; i <= 12; i++) {
		train(w, i);
		w->scope.step--;
		train(w, i);
	}
}

static void read_row(struct world *w, uint64_t contents)
{
	call(w, "DataLoader.__next__")->object = find(w, "DataLoader")->name;
	enter(w);
	call(w, "Tensor.__getitem__")->module = word(w, "torch");
	tensor(w, 0, contents, "64x4");
	tensor(w, -1, 1, "4");
	tell_call(w);
	leave(w);
}

static void written_into(struct world *w, bool is_wrong)
{
	object(w, "DataLoader", "DataLoader", WT_OBJECT_TYPE_LOADER);
	read_row(w, 1);
	read_row(w, is_wrong ? 2 : 1);
}

/* ---- Checkpoints ---------------------------------------------------------------------------- */

static void collect(struct world *w)
{
	call(w, "Net.state_dict");
	tell(w, WTI_MOMENT_CALL, find(w, "Net"));
}

static void save(struct world *w, uint64_t contents)
{
	call(w, "save");
	tensor(w, 0, contents, "4x4");
	w->values[0].name = word(w, "model.a.weight");
	tell(w, WTI_MOMENT_SAVE, NULL);
}

/* What was collected of one step is written after the next. */
static void saved_late(struct world *w, bool is_wrong)
{
	struct made_parameter *weight;

	model(w);
	parameter(w, "Net", "b.weight", NULL); /* not in the checkpoint */
	weight = parameter(w, "Net", "a.weight", NULL);
	weight->hash = 1;
	collect(w);
	weight->hash = 2;
	save(w, is_wrong ? 2 : 1);
}

static void never_collected(struct world *w, bool is_wrong)
{
	model(w);
	save(w, parameter(w, "Net", "a.weight", NULL)->hash);
}

/* A run is resumed: the first model has the same names, and is not what is saved. */
static void saved_by_the_second(struct world *w, bool is_wrong)
{
	model(w);
	parameter(w, "Net", "a.weight", NULL)->hash = 1;
	object(w, "Net 2", "Net", WT_OBJECT_TYPE_MODULE);
	parameter(w, "Net 2", "a.weight", NULL)->hash = 2;
	save(w, is_wrong ? 3 : 2);
}

static void load(struct world *w)
{
	call(w, "load");
	tensor(w, -1, 1, "4x4");
	w->values[0].name = word(w, "optimizer.state.0.exp_avg");
	tell(w, WTI_MOMENT_LOAD, NULL);
}

static void give_back(struct world *w, const char *callee, const char *name)
{
	call(w, callee)->object = find(w, name)->name;
	tell(w, WTI_MOMENT_CALL, find(w, name));
}

static void resumed_in_part(struct world *w, bool is_wrong)
{
	model(w);
	load(w);
	give_back(w, "Module.load_state_dict", "Net");
	if (!is_wrong)
		give_back(w, "Optimizer.load_state_dict", "Adam");
	step(w, "Adam");
}

/* The rate comes with the optimizer's state; a schedule that was not restored moves it away. */
static void schedule_begins_anew(struct world *w, bool is_wrong)
{
	model(w);
	find(w, "Adam")->lr_known = 1;
	load(w);
	for (int i = 0; i < 8; i++) {
		find(w, "Adam")->lr[0] = is_wrong && i > 1 ? 0.01 : 0.1 - 0.005 * i;
		step(w, "Adam");
	}
}

/* ---- Modes and losses ----------------------------------------------------------------------- */

static void norm(struct world *w, uint32_t flags, bool is_shut_off)
{
	if (is_shut_off) {
		module(w, "Net.forward", "Net", TRAINING);
		enter(w);
	}
	module(w, "BatchNorm1d.forward", "Net.body.1", flags);
	w->call.module = word(w, "torch.nn.modules.batchnorm");
	tell_module(w, WTI_MOMENT_MODULE_END);
	leave_modules(w);
}

static void part(struct world *w, const char *name, bool is_trained)
{
	parameter(w, "Net", name, NULL)->requires_grad = is_trained;
}

static void frozen_norm_trains(struct world *w, bool is_wrong)
{
	model(w);
	part(w, "body.1.weight", false);
	for (int i = 0; i < 3; i++)
		norm(w, (is_wrong ? WT_CALL_TRAIN : 0) | WT_CALL_GRAD, false);
}

/* An average moves with the part that it is the average of, its norms too. */
static void norm_of_an_average(struct world *w, bool is_wrong)
{
	model(w);
	part(w, "body.1.weight", false);
	part(w, "live.1.weight", true);
	norm(w, WT_CALL_TRAIN, true);
}

static void trained_norm(struct world *w, bool is_wrong)
{
	model(w);
	part(w, "body.1.weight", true);
	norm(w, WT_CALL_TRAIN | WT_CALL_GRAD, false);
}

/* The layer and the function in turns: both are one. */
static void squashed(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 40; i++) {
		bool is_layer = i % 2;

		call(w, is_layer ? "BCEWithLogitsLoss.forward" : "binary_cross_entropy_with_logits")
			->module =
			word(w, is_layer ? "torch.nn.modules.loss" : "torch.nn.functional");
		tensor(w, 0, 100 + i, "8x1")->min = is_wrong || i % 8 ? 0.2 : -1;
		tensor(w, 1, 200 + i, "8x1");
		scalar(w, -1, 300 + i);
		tell_call(w);
	}
}

/* ---- Ranks ---------------------------------------------------------------------------------- */

/* Both ranks call it, with a number of which they may have their own. */
static void unlike(struct world *w, bool is_wrong)
{
	w->scope.world = STREAMS;
	for (int i = 0; i < 3; i++) {
		for (w->stream = 0; w->stream < STREAMS; w->stream++) {
			bool differs = is_wrong && w->stream && i == 2;

			call(w, "topk")->module = word(w, "torch");
			tensor(w, 0, 10 + w->stream, "8x4");
			number(w, "k", 1, differs ? 3 : 2);
			tensor(w, -1, 20 + w->stream, differs ? "8x3" : "8x2");
			tell_call(w);
		}
		w->scope.step++;
	}
	w->stream = 0;
}

/* A module that is given the same on both ranks, and, now and then, something else. */
static void drifted(struct world *w, bool is_wrong)
{
	w->scope.world = STREAMS;
	for (uint64_t i = 0; i < 4; i++) {
		for (w->stream = 0; w->stream < STREAMS; w->stream++) {
			uint64_t own = i % 2 ? w->stream : 0;

			module(w, "Net.forward", "Net", WT_CALL_OUTERMOST);
			tensor(w, 0, 10 * i + own + 1, "8x4");
			tensor(w, -1, 10 * i + own + 100 + (is_wrong && i == 2) * w->stream, "8x2");
			tell_module(w, WTI_MOMENT_CALL);
		}
		w->scope.step++;
	}
	w->stream = 0;
}

static void alone(struct world *w, bool is_wrong)
{
	module(w, "Net.forward", "Net", WT_CALL_OUTERMOST);
	tensor(w, 0, 1, "8x4");
	tensor(w, -1, 2, "8x2");
	tell_module(w, WTI_MOMENT_CALL);
	tell_module(w, WTI_MOMENT_CALL);
}

static void test_ranks(void)
{
	differ("ranks", "torch.topk", "is_given_same_numbers", unlike);
	differ("ranks", "torch.topk", "returns_same_shape", unlike);
	differ("ranks", "module", "makes_same_of_same", drifted);
	never("ranks", "module", alone, false);
}

static void test_parts(void)
{
	differ("parts", "microbatch_loss", "is_part_of_mean", undivided);
	differ("parts", "microbatch", "has_as_many_targets", unequal);
	differ("parts", "backward_pass", "is_used_by_step", thrown_away);
	never("parts", "microbatch_loss", one_pass_a_step, false);
	never("parts", "backward_pass", closure, false);
}

static void test_calls(void)
{
	const char *rows = "does_not_go_over_first_dimension";

	differ("argument", "softmax", rows, over_rows);
	differ("argument", "softmax", rows, over_rows_from_the_end);
	never("argument", "softmax", of_a_vector, false);
	differ("output", "addition_in_place", "adds_what_it_is_given", rounded_away);
	differ("output", "addition_in_place", "adds_what_it_is_given", added_in_part);
	differ("loss", "clipping", "finds_gradients_near_limit", clipped_scaled);
}

/* A batch is fetched in the stage before the one that it is for. */
static void fetch_and_call(struct world *w, const char *stage, bool is_training)
{
	call(w, "DataLoader.__next__");
	tensor(w, -1, 1, "8x4");
	tell(w, WTI_MOMENT_BATCH, find(w, "Loader"));
	w->scope.stage = word(w, stage);
	module(w, "Net.forward", "Net", is_training ? TRAINING : WT_CALL_OUTERMOST);
	tell_module(w, WTI_MOMENT_MODULE);
	if (is_training)
		step(w, "Adam");
}

static void epochs_with_evaluations(struct world *w, bool is_wrong)
{
	model(w);
	loader(w, "Loader");
	for (w->scope.epoch = 0; w->scope.epoch < 4; w->scope.epoch++) {
		call(w, "DataLoader.__iter__");
		tell(w, WTI_MOMENT_BATCH, find(w, "Loader"));
		for (int i = is_wrong && w->scope.epoch == 2; i < 3; i++)
			fetch_and_call(w, "train", true);
		for (int i = 0; i < 2; i++)
			fetch_and_call(w, "eval", false);
	}
}

/* Measures of a relation: the first is kept, and whether all were equal. */
struct counting {
	struct wti_observer observer;
	struct wti_symbols *symbols;
	double value;
	uint32_t count, equal_count;
};

static void take_count(void *self, const struct wti_occasion *occasion)
{
	struct counting *counting = self;

	if (strcmp(wti_relations[occasion->relation]->name, "count") ||
	    strcmp(wti_symbol_text(counting->symbols, occasion->subject[0]), "epoch"))
		return;
	for (uint32_t i = 0; i < occasion->measure_count; i++) {
		if (strcmp(wti_symbol_text(counting->symbols, occasion->measures[i].name),
			   "batches"))
			continue;
		if (!counting->count++)
			counting->value = occasion->measures[i].value;
		counting->equal_count += occasion->measures[i].value == counting->value;
	}
}

static void listen_to_counts(void *self, const struct wti_moment *moment)
{
	wti_observer_moment(&((struct counting *)self)->observer, moment);
}

static void test_counts(void)
{
	for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
		struct counting counting = {0};
		struct wti_sink_of_occasions sink = {&counting, take_count};
		struct world w;

		begin(&w);
		counting.symbols = w.training.symbols;
		CHECK_INT(
			wti_observer_init(&counting.observer, &w.training, sink, UINT32_MAX, NULL),
			0);
		w.listen = listen_to_counts;
		w.listener = &counting;
		epochs_with_evaluations(&w, is_wrong);
		finish_training(&w);
		wti_observer_finish(&counting.observer);
		wti_observer_release(&counting.observer);
		end(&w);
		CHECK_INT((int)counting.value, 3);
		CHECK_INT(counting.count, 3);
		CHECK_INT(counting.equal_count, is_wrong ? 2 : 3);
	}
}

static void test_data(void)
{
	const char *is_new = "is_new_like_all_before";
	struct asked asked;

	differ("data", "batch, epochs", "differs_from_epoch_before", shuffled_alike);
	differ("data", "trained_input, those_before", is_new, come_again);
	asked = ask("data", "trained_input, those_before", is_new, twice_in_a_step, false);
	CHECK(asked.count);
	CHECK_INT(asked.true_count, asked.count);
	differ("data", "dataset", "stays_while_rows_are_read", written_into);
}

static void test_checkpoints(void)
{
	differ("saved", "checkpoint, collected", "holds_what_state_dict_gave", saved_late);
	never("saved", "checkpoint, collected", never_collected, false);
	differ("saved", "checkpoint", "holds_what_is_live", saved_by_the_second);
	differ("saved", "resume, optimizer_state", "restores_optimizer", resumed_in_part);
	differ("schedule", "learning_rate_after_load", "goes_on_from_where_it_was",
	       schedule_begins_anew);
}

static void test_modes(void)
{
	differ("mode", "layer_with_modes, frozen", "evaluates", frozen_norm_trains);
	never("mode", "layer_with_modes, frozen", norm_of_an_average, false);
	never("mode", "layer_with_modes, frozen", trained_norm, false);
	differ("loss", "nn.binary_cross_entropy_with_logits", "argument_1_leaves_0_and_1",
	       squashed);
}

/* ---- Terms ---------------------------------------------------------------------------------- */

static bool is_identifier(const char *word)
{
	return *word && word[0] >= 'a' && word[0] <= 'z' &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Each term is found by its word, and by the phrase that it had in 0.1. */
static void terms_are_identifiers(void)
{
	struct wti_symbols symbols;

	wti_symbols_init(&symbols);
	for (size_t i = 0; wti_relations[i]; i++) {
		const struct wti_relation *relation = wti_relations[i];

		for (int j = 0; relation->terms && relation->terms[j].word; j++) {
			const struct wti_term *term = &relation->terms[j];
			char word[64], text[128];
			const char *phrase;

			CHECK(j < WTI_TERMS_MAX);
			CHECK(is_identifier(term->word));
			snprintf(word, sizeof(word), "%s%s", term->word,
				 term->is_numbered ? ".12" : "");
			CHECK_INT(wti_term_by_word(relation, word), j);
			phrase = wti_phrase_of_word(relation->name, word, text, sizeof(text));
			CHECK_TEXT(wti_symbol_text(
					   &symbols,
					   wti_symbol_of_phrase(&symbols, relation->name, phrase)),
				   word);
		}
	}
	wti_symbols_release(&symbols);
}

/* A layer is what torch.nn.functional calls the same. */
static void layers_are_functions(void)
{
	static const char *const layers[][3] = {
		{"activation", "ReLU", "nn.relu"},
		{"activation", "ReLU6", "nn.relu6"},
		{"activation", "LeakyReLU", "nn.leaky_relu"},
		{"activation", "PReLU", "nn.prelu"},
		{"activation", "RReLU", "nn.rrelu"},
		{"activation", "SiLU", "nn.silu"},
		{"activation", "GELU", "nn.gelu"},
		{"activation", "SELU", "nn.selu"},
		{"activation", "LogSigmoid", "nn.logsigmoid"},
		{"activation", "LogSoftmax", "nn.log_softmax"},
		{"activation", "Hardswish", "nn.hardswish"},
		{"batchnorm", "BatchNorm2d", "nn.batch_norm"},
		{"conv", "ConvTranspose2d", "nn.conv_transpose"},
		{"loss", "BCEWithLogitsLoss", "nn.binary_cross_entropy_with_logits"},
		{"loss", "KLDivLoss", "nn.kl_div"},
		{"loss", "MultiLabelMarginLoss", "nn.multilabel_margin"},
		{"loss", "SmoothL1Loss", "nn.smooth_l1"},
		{"padding", "ZeroPad2d", "nn.pad"},
	};
	char module[64], callee[64], name[128];

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		snprintf(module, sizeof(module), "torch.nn.modules.%s", layers[i][0]);
		snprintf(callee, sizeof(callee), "%s.forward", layers[i][1]);
		wti_name_function(name, sizeof(name), module, callee, WT_OBJECT_TYPE_MODULE);
		CHECK_TEXT(name, layers[i][2]);
	}
	wti_name_function(name, sizeof(name), "torch.nn.functional", "leaky_relu", 0);
	CHECK_TEXT(name, "nn.leaky_relu");
	wti_name_function(name, sizeof(name), "torch.nn.functional", "smooth_l1_loss", 0);
	CHECK_TEXT(name, "nn.smooth_l1");
}

static const struct test tests[] = {
	{"parts of a step", test_parts},
	{"arguments and results", test_calls},
	{"data", test_data},
	{"counts", test_counts},
	{"checkpoints and resumes", test_checkpoints},
	{"modes and losses", test_modes},
	{"ranks", test_ranks},
	{"terms", terms_are_identifiers},
	{"layers", layers_are_functions},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
