/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about axes and orders, about values that leave their range, and about what runs beside a
 * model, each with a run in a few lines that violates it and one that does not.
 */
#include "rules_world.h"

enum { TRAINING = WTI_CALL_OUTERMOST | WTI_CALL_TRAINING | WTI_CALL_GRAD };

/* A model that is given one tensor and returns one. */
static void returns(struct world *w, const char *input, uint64_t hash, const char *shape)
{
	module(w, "Net.forward", "Net", TRAINING);
	tensor(w, 0, 1000 + hash, input);
	tell_module(w, WTI_MOMENT_MODULE);
	tensor(w, -1, hash, shape)->flags = WTI_TENSOR_REQUIRES_GRAD;
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
	struct wti_object *of = object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);

	w->owner = word(w, "Net.rnn");
	tell_fact(w, of, "batch_first", 0);
	w->owner = 0;
	for (uint64_t i = 0; i < 2; i++) {
		call(w, "LSTM.forward")->object = word(w, "Net.rnn");
		w->call.flags = WTI_CALL_TRAINING | WTI_CALL_GRAD;
		tensor(w, 0, 10 + i, is_wrong ? "32x7x5" : "7x32x5");
		tell(w, WTI_MOMENT_MODULE, NULL);
		classes(w, 20 + i, "32x2", 30 + i, "32");
	}
}

/* ---- Targets -------------------------------------------------------------------------------- */

static void not_shifted(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 3; i++) {
		module(w, "Net.forward", "Net", TRAINING);
		tensor(w, 0, 10 + i, "4x8")->dtype = WT_DTYPE_I64;
		tell_module(w, WTI_MOMENT_MODULE);
		classes(w, 20 + i, "32x9", is_wrong ? 10 + i : 40 + i, "32");
	}
}

static void padding(struct world *w, bool is_wrong)
{
	struct wti_object *of = object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	struct wti_parameter *table = parameter(w, "Net", "emb.weight", NULL);

	table->module = word(w, "Net.emb");
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
		tell(w, WTI_MOMENT_MODULE, NULL);
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
	tell_module(w, WTI_MOMENT_MODULE);
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

/* ---- Numbers -------------------------------------------------------------------------------- */

static void wraps(struct world *w, bool is_wrong)
{
	struct wti_digest_row *digest;

	call(w, "Tensor.__sub__");
	digest = tensor(w, 0, 1, "100");
	digest->dtype = WT_DTYPE_U8;
	digest->min = is_wrong ? 60 : 130;
	digest->max = 200;
	digest->mean = 150;
	number(w, "", 1, 128);
	digest = tensor(w, -1, 2, "100");
	digest->dtype = WT_DTYPE_U8;
	digest->mean = is_wrong ? 22 + 256 * 0.1 : 22;
	tell_call(w);
}

static void equal_units(struct world *w, bool is_wrong)
{
	struct wti_parameter *bias;

	optimizer(w, "Adam", "Adam");
	bias = parameter(w, "Net", "fc.bias", find(w, "Adam"));
	bias->shape = word(w, "32");
	bias->moved = bias->has_statistics = bias->has_grad_statistics = true;
	bias->grad = WTI_GRAD_NONZERO;
	bias->statistics = (struct wti_digest_row){.count = 32, .min = 0.5, .max = 0.5};
	bias->grad_statistics =
		(struct wti_digest_row){.count = 32, .min = is_wrong ? 0.1 : -0.1, .max = 0.1};
	for (int i = 0; i < 4; i++)
		step(w, "Adam");
}

/* ---- Copies --------------------------------------------------------------------------------- */

static void own_state(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	object(w, "Net#1", "Net", WT_OBJECT_TYPE_MODULE);
	for (int i = 0; i < 2; i++) {
		call(w, "Net.state_dict")->object = word(w, "Net");
		tell_call(w);
		call(w, "Net.load_state_dict")->object = word(w, is_wrong ? "Net" : "Net#1");
		tell_call(w);
		step(w, "Adam");
	}
}

static void change(struct world *w, struct wti_parameter *of)
{
	w->event.kind = wt_kind_builtin(WT_KIND_STATE);
	w->event.batch = &w->batch;
	for (int i = 0; i < w->event.kind->field_count; i++) {
		w->fields[i] = 0;
		w->batch.values[i] = &w->fields[i];
	}
	w->parameter = of;
	tell(w, WTI_MOMENT_STATE, NULL);
	w->parameter = NULL;
	w->event.kind = NULL;
}

static struct wti_parameter *running_mean(struct world *w, const char *owner, const char *module_of)
{
	struct wti_parameter *made = parameter(w, owner, "bn.running_mean", NULL);

	made->is_buffer = true;
	made->module = word(w, module_of);
	return made;
}

static void stale_statistics(struct world *w, bool is_wrong)
{
	struct wti_object *copy;

	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	copy = object(w, "Net#1", "Net", WT_OBJECT_TYPE_MODULE);
	copy->of = word(w, "Net");
	copy->how = WT_FOUND_COPIED;
	change(w, running_mean(w, "Net", "Net.bn"));
	change(w, parameter(w, "Net#1", "fc.weight", NULL));
	running_mean(w, "Net#1", "Net#1.bn");
	if (!is_wrong)
		change(w, running_mean(w, "Net#1", "Net#1.bn"));
	call(w, "BatchNorm1d.forward")->object = word(w, "Net#1.bn");
	w->call.flags = WTI_CALL_SAYS_TRAINING;
	tell(w, WTI_MOMENT_MODULE, NULL);
}

/* ---- Learning rates ------------------------------------------------------------------------- */

static void rates(struct world *w, const char *class_name, const double *rates, size_t count)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1;
	object(w, class_name, class_name, WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	for (size_t i = 0; i < count; i++) {
		find(w, "Adam")->lr[0] = rates[i];
		step(w, "Adam");
	}
}

static void up_again(struct world *w, bool is_wrong)
{
	static const double swing[] = {0.1, 0.05, 0.01, 0.05, 0.1},
			    once[] = {0.1, 0.08, 0.05, 0.01};

	rates(w, "CosineAnnealingLR", is_wrong ? swing : once, is_wrong ? 5 : 4);
}

static void only_up(struct world *w, bool is_wrong)
{
	double course[24];

	for (size_t i = 0; i < 24; i++)
		course[i] =
			is_wrong || i < 12 ? 0.01 * (double)(i / 4 + 1) : 0.03 - 0.001 * (double)i;
	rates(w, "OneCycleLR", course, 24);
}

/* ---- Several optimizers, and one's own ------------------------------------------------------ */

static void called(struct world *w, const char *name)
{
	module(w, "Net.forward", name, TRAINING);
	tell_module(w, WTI_MOMENT_MODULE);
}

static void turns(struct world *w, bool is_wrong)
{
	optimizer(w, "Of D", "Adam");
	optimizer(w, "Of G", "Adam");
	parameter(w, "D", "weight", find(w, "Of D"))->module = word(w, "D");
	parameter(w, "G", "weight", find(w, "Of G"))->module = word(w, "G");
	for (int i = 0; i < 3; i++) {
		called(w, "D");
		tell_gradients(w, find(w, "Of D"), WT_MOMENT_BACKWARD, 1, 0);
		tell_gradients(w, find(w, "Of G"), WT_MOMENT_BACKWARD, 1, 0);
		call(w, "Tensor.backward")->site = 1;
		backward(w);
		step(w, "Of D");
		called(w, "G");
		called(w, "D");
		tell_gradients(w, find(w, "Of D"), WT_MOMENT_BACKWARD, 0, 1);
		tell_gradients(w, find(w, "Of G"), WT_MOMENT_BACKWARD, !is_wrong, is_wrong);
		call(w, "Tensor.backward")->site = 2;
		backward(w);
		step(w, "Of G");
	}
}

/* A trunk that two losses share, each with a head and an optimizer of its own. */
static void test_shared_trunk(void)
{
	struct world w;

	begin(&w);
	for (int i = 0; i < 2; i++)
		parameter(&w, i ? "B" : "A", "weight", optimizer(&w, i ? "Of B" : "Of A", "Adam"))
			->module = word(&w, i ? "B" : "A");
	parameter(&w, "T", "weight", optimizer(&w, "Of T", "Adam"))->module = word(&w, "T");
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 2; k++) {
			called(&w, "T");
			called(&w, k ? "B" : "A");
			tell_gradients(&w, find(&w, "Of T"), WT_MOMENT_BACKWARD, !k, k);
			call(&w, "Tensor.backward")->site = 1 + (uint32_t)k;
			backward(&w);
			step(&w, k ? "Of B" : "Of A");
		}
		step(&w, "Of T");
	}
	CHECK_INT(case_of(&w, "WT-GRAD-008")->violation_count, 0);
	end(&w);
}

static void add_gradient(struct world *w, uint64_t before, uint64_t gradient, uint64_t after)
{
	call(w, "Tensor.add_");
	tensor(w, 0, before, "4x4");
	tensor(w, 1, gradient, "4x4");
	tensor(w, -1, after, "4x4");
	w->parent.tag = WTI_MOMENT_STEP;
	tell_call(w);
	w->parent.tag = 0;
}

static void shared_buffer(struct world *w, bool is_wrong)
{
	optimizer(w, "Mine", "Mine");
	for (int i = 0; i < 2; i++) {
		struct wti_parameter *made =
			parameter(w, "Net", i ? "b.weight" : "a.weight", find(w, "Mine"));

		made->grad = WTI_GRAD_NONZERO;
		made->grad_hash = 50 + (uint64_t)i;
	}
	for (int i = 0; i < 2; i++) {
		call(w, "Mine.step");
		tell(w, WTI_MOMENT_STEP, find(w, "Mine"));
		add_gradient(w, 10, 50, 11);
		add_gradient(w, is_wrong ? 11 : 20, 51, 21);
	}
}

/* ---- What leaves torch ---------------------------------------------------------------------- */

static void through_numpy(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++) {
		w->parent = (struct wti_call){
			.tag = WTI_MOMENT_MODULE, .ordinal = i, .flags = TRAINING};
		call(w, "Tensor.detach");
		tensor(w, 0, 10 + i, "8x4")->flags = WTI_TENSOR_REQUIRES_GRAD;
		tensor(w, -1, 10 + i, "8x4");
		tell_call(w);
		call(w, "Tensor.numpy");
		tensor(w, 0, 10 + i, "8x4");
		tell_call(w);
		call(w, "from_numpy");
		tensor(w, -1, 20 + i, "8x4");
		tell_call(w);
		module(w, "Linear.forward", "Net", WTI_CALL_TRAINING | WTI_CALL_GRAD);
		tensor(w, 0, is_wrong ? 20 + i : 30 + i, "8x4");
		tell_module(w, WTI_MOMENT_MODULE);
		w->scope.step++;
	}
	w->parent = (struct wti_call){0};
}

static void same_noise(struct world *w, bool is_wrong)
{
	for (w->stream = 0; w->stream < STREAMS; w->stream++) {
		w->owner = word(w, "worker");
		tell_fact(w, NULL, "id", (double)w->stream);
		w->owner = 0;
		for (uint64_t i = 0; i < 8; i++) {
			call(w, "from_numpy");
			tensor(w, -1, 10 + i + (is_wrong ? 0 : 100 * w->stream), "6");
			tell_call(w);
		}
	}
	w->stream = 0;
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
	{"WT-TARGET-004", padding},
	{"WT-MASK-001", hidden_content},
	{"WT-MASK-001", negated_mask},
	{"WT-NUM-005", wraps},
	{"WT-INIT-003", equal_units},
	{"WT-EMA-004", own_state},
	{"WT-MODE-009", stale_statistics},
	{"WT-SCHED-006", up_again},
	{"WT-SCHED-007", only_up},
	{"WT-GRAD-008", turns},
	{"WT-OPT-013", shared_buffer},
	{"WT-GRAPH-004", through_numpy},
	{"WT-RNG-002", same_noise},
};

static void test_twins(void)
{
	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

static const struct test tests[] = {
	{"twins", test_twins},
	{"ambiguous_axes", test_ambiguous_axes},
	{"shared_trunk", test_shared_trunk},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
