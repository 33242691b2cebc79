/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about numbers that leave their range, and about what runs beside a model: copies,
 * schedules, other models and optimizers, workers. Each with a run in a few lines that violates it
 * and one that does not.
 */
#include "rules_world.h"

enum { TRAINING = WT_CALL_OUTERMOST | WT_CALL_TRAIN | WT_CALL_GRAD };

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
	struct made_parameter *bias;

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

static void change(struct world *w, struct made_parameter *of)
{
	flush(w);
	of->hash++;
	flush(w);
}

static struct made_parameter *running_mean(struct world *w, const char *owner)
{
	struct made_parameter *made = parameter(w, owner, "bn.running_mean", NULL);

	made->is_buffer = true;
	return made;
}

static void stale_statistics(struct world *w, bool is_wrong)
{
	struct made_object *copy;

	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	copy = object(w, "Net#1", "Net", WT_OBJECT_TYPE_MODULE);
	copy->of = word(w, "Net");
	copy->how = WT_FOUND_COPIED;
	change(w, running_mean(w, "Net"));
	change(w, parameter(w, "Net#1", "fc.weight", NULL));
	running_mean(w, "Net#1");
	if (!is_wrong)
		change(w, running_mean(w, "Net#1"));
	call(w, "Whitening.forward")->object = word(w, "Net#1.bn"); /* a class of one's own */
	w->call.flags = WT_CALL_MODE_KNOWN;
	tell(w, WTI_MOMENT_MODULE, NULL);
}

/* The average takes over the statistics of the model with each update, and averages nothing. */
static void statistics_of_the_model(struct world *w, bool is_wrong)
{
	struct made_object *copy;

	object(w, "SWALR", "SWALR", WT_OBJECT_TYPE_SCHEDULER);
	object(w, "Net", "Net", WT_OBJECT_TYPE_MODULE);
	copy = object(w, "Net#1", "Net", WT_OBJECT_TYPE_MODULE);
	copy->of = word(w, "Net");
	copy->how = WT_FOUND_COPIED;
	change(w, running_mean(w, "Net"));
	change(w, parameter(w, "Net#1", "fc.weight", NULL));
	running_mean(w, "Net#1")->hash += !is_wrong;
	change(w, running_mean(w, "Net#1"));
	call(w, "BatchNorm1d.forward")->object = word(w, "Net#1.bn");
	w->call.flags = WT_CALL_MODE_KNOWN;
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

/* The first group rests, as a frozen one does: the others show it. */
static void up_again_in_a_group(struct world *w, bool is_wrong)
{
	static const double swing[] = {0.1, 0.05, 0.01, 0.05, 0.1},
			    once[] = {0.1, 0.08, 0.05, 0.03, 0.01};

	optimizer(w, "Adam", "Adam")->lr_known = 1 | 1 << 1;
	object(w, "CosineAnnealingLR", "CosineAnnealingLR", WT_OBJECT_TYPE_SCHEDULER)->of =
		word(w, "Adam");
	for (size_t i = 0; i < 5; i++) {
		find(w, "Adam")->lr[1] = is_wrong ? swing[i] : once[i];
		step(w, "Adam");
	}
}

static void only_up(struct world *w, bool is_wrong)
{
	double course[24];

	for (size_t i = 0; i < 24; i++)
		course[i] =
			is_wrong || i < 12 ? 0.01 * (double)(i / 4 + 1) : 0.03 - 0.001 * (double)i;
	rates(w, "OneCycleLR", course, 24);
}

/* The first group rests, as a frozen one does: the second shows what the schedule does. */
static void rates_beside(struct world *w, const char *class_name, const double *rates, size_t count)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1 | 1 << 1;
	object(w, class_name, class_name, WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	for (size_t i = 0; i < count; i++) {
		find(w, "Adam")->lr[1] = rates[i];
		step(w, "Adam");
	}
}

static void cut_short_in_a_group(struct world *w, bool is_wrong)
{
	double course[30];

	for (size_t i = 0; i < 30; i++)
		course[i] = 1 - (double)i / 30;
	rates_beside(w, "LambdaLR", course, is_wrong ? 20 : 30);
}

static void only_up_in_a_group(struct world *w, bool is_wrong)
{
	double course[24];

	for (size_t i = 0; i < 24; i++)
		course[i] =
			is_wrong || i < 12 ? 0.01 * (double)(i / 4 + 1) : 0.03 - 0.001 * (double)i;
	rates_beside(w, "OneCycleLR", course, 24);
}

/* Two groups, each with a schedule of its own: the first says where it ends. */
static void group_of_its_own(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1 | 1 << 1;
	object(w, "LambdaLR", "LambdaLR", WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	for (size_t i = 0; i < 20; i++) {
		find(w, "Adam")->lr[0] = 1 - (double)i / (is_wrong ? 30 : 20);
		find(w, "Adam")->lr[1] = 1 - (double)i / 30;
		step(w, "Adam");
	}
}

/* Stepped once in four steps; its rate comes to zero after as many steps as the optimizer makes, or
 * as it is stepped itself. */
static void planned_for_steps(struct world *w, bool is_wrong, uint32_t group)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1 | 1 << group;
	object(w, "LambdaLR", "LambdaLR", WT_OBJECT_TYPE_SCHEDULER)->of = word(w, "Adam");
	tell_fact(w, find(w, "LambdaLR"), "last_epoch", 0);
	for (int i = 0; i < 40; i++) {
		find(w, "Adam")->lr[group] = 1 - (i / 4) / (is_wrong ? 40.0 : 10.0);
		step(w, "Adam");
		if (i % 4 < 3)
			continue;
		call(w, "LambdaLR.step")->object = word(w, "LambdaLR");
		tell(w, WTI_MOMENT_SCHEDULER, find(w, "LambdaLR"));
		tell_fact(w, find(w, "LambdaLR"), "last_epoch", i / 4 + 1);
	}
}

static void planned_for_steps_alone(struct world *w, bool is_wrong)
{
	planned_for_steps(w, is_wrong, 0);
}

static void planned_for_steps_in_a_group(struct world *w, bool is_wrong)
{
	planned_for_steps(w, is_wrong, 1);
}

/* The right one warms up and then stays. */
static void warms_up(struct world *w, bool is_wrong)
{
	double course[24];

	for (size_t i = 0; i < 24; i++)
		course[i] = 0.01 * (double)((is_wrong || i < 16 ? i : 16) / 4 + 1);
	rates(w, "LambdaLR", course, 24);
}

/* Stepped with the optimizer, in a run that is shorter than its warm-up. */
static void short_run(struct world *w, bool is_wrong)
{
	double course[24];

	for (size_t i = 0; i < 24; i++)
		course[i] = 0.01 * (double)((is_wrong ? i / 3 : i) + 1);
	rates(w, "LambdaLR", course, 24);
}

static void cut_at_best_in(struct world *w, bool is_wrong, uint32_t group)
{
	optimizer(w, "Adam", "Adam")->lr_known = 1 | 1 << group;
	object(w, "ReduceLROnPlateau", "ReduceLROnPlateau", WT_OBJECT_TYPE_SCHEDULER)->of =
		word(w, "Adam");
	for (int i = 0; i < 6; i++) {
		tell_loss(w, 10 - i);
		find(w, "Adam")->lr[group] = 0.1 / (1 + i / 2);
		step(w, "Adam");
		call(w, "ReduceLROnPlateau.step");
		number(w, "metrics", 1, is_wrong ? 8 - i : i < 2 ? 8 - i : 7);
		tell(w, WTI_MOMENT_SCHEDULER, find(w, "ReduceLROnPlateau"));
	}
}

static void cut_at_best(struct world *w, bool is_wrong)
{
	cut_at_best_in(w, is_wrong, 0);
}

static void cut_at_best_in_a_group(struct world *w, bool is_wrong)
{
	cut_at_best_in(w, is_wrong, 1);
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
	parameter(w, "D", "weight", find(w, "Of D"));
	parameter(w, "G", "weight", find(w, "Of G"));
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
		parameter(&w, i ? "B" : "A", "weight", optimizer(&w, i ? "Of B" : "Of A", "Adam"));
	parameter(&w, "T", "weight", optimizer(&w, "Of T", "Adam"));
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
	tell_call(w);
}

static void shared_buffer(struct world *w, bool is_wrong)
{
	optimizer(w, "Mine", "Mine");
	for (int i = 0; i < 2; i++) {
		struct made_parameter *made =
			parameter(w, "Net", i ? "b.weight" : "a.weight", find(w, "Mine"));

		made->grad = WTI_GRAD_NONZERO;
		made->grad_hash = 50 + (uint64_t)i;
	}
	for (int i = 0; i < 2; i++) {
		begin_step(w, "Mine");
		add_gradient(w, 10, 50, 11);
		add_gradient(w, is_wrong ? 11 : 20, 51, 21);
		end_step(w);
	}
}

static void forgotten(struct world *w, bool is_wrong)
{
	optimizer(w, "Adam", "Adam");
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "Net#1" : "Net";
		struct made_parameter *made;

		object(w, name, "Net", WT_OBJECT_TYPE_MODULE);
		made = parameter(w, name, "weight", i && is_wrong ? NULL : find(w, "Adam"));
		use(w, made, name, WTI_USE_GRAD);
	}
	for (int i = 0; i < 4; i++)
		step(w, "Adam");
}

/* An average of it that the program keeps up, with gradients on. */
static void test_average(void)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	forgotten(&w, true);
	change(&w, find_parameter(&w, "Net#1", "weight"));
	wt_result_init(&result, "test");
	finish(&w, &result);
	CHECK_INT(case_of(&w, "WT-OPT-014")->violation_count, 0);
	wt_result_release(&result);
	end(&w);
}

static void test_short_run(void)
{
	for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		short_run(&w, is_wrong);
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-SCHED-007")->violation_count, is_wrong);
		wt_result_release(&result);
		end(&w);
	}
}

/* A target network of the same build gets its state from the other. */
static void test_loaded_sibling(void)
{
	struct wt_result result;
	struct world w;

	begin(&w);
	forgotten(&w, true);
	call(&w, "Net.load_state_dict")->object = word(&w, "Net#1");
	tell_call(&w);
	wt_result_init(&result, "test");
	finish(&w, &result);
	CHECK_INT(case_of(&w, "WT-OPT-014")->violation_count, 0);
	wt_result_release(&result);
	end(&w);
}

static void dropped(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 4; i++) {
		call(w, "Dropout.forward")->object = word(w, "Net.drop");
		tensor(w, 0, 10 + i, "32x16");
		tensor(w, -1, 20 + i, "32x16")->zeros = is_wrong ? 460 : 52;
		tell_call(w);
	}
}

/* ---- What leaves torch ---------------------------------------------------------------------- */

static void through_numpy(struct world *w, bool is_wrong)
{
	for (uint64_t i = 0; i < 2; i++) {
		module(w, "Net.forward", "Net", TRAINING);
		tell_module(w, WTI_MOMENT_MODULE);
		call(w, "Tensor.detach");
		tensor(w, 0, 10 + i, "8x4")->flags = WT_TENSOR_REQUIRES_GRAD;
		tensor(w, -1, 10 + i, "8x4");
		tell_call(w);
		call(w, "Tensor.numpy");
		tensor(w, 0, 10 + i, "8x4");
		tell_call(w);
		call(w, "from_numpy");
		tensor(w, -1, 20 + i, "8x4");
		tell_call(w);
		module(w, "Linear.forward", "Net.fc", WT_CALL_TRAIN | WT_CALL_GRAD);
		tensor(w, 0, is_wrong ? 20 + i : 30 + i, "8x4");
		tell_module(w, WTI_MOMENT_MODULE_END);
		leave(w);
		w->scope.step++;
	}
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
	{"WT-NUM-005", wraps},
	{"WT-INIT-003", equal_units},
	{"WT-EMA-004", own_state},
	{"WT-MODE-009", stale_statistics},
	{"WT-MODE-009", statistics_of_the_model},
	{"WT-SCHED-006", up_again},
	{"WT-SCHED-006", up_again_in_a_group},
	{"WT-SCHED-005", cut_short_in_a_group},
	{"WT-SCHED-005", group_of_its_own},
	{"WT-SCHED-007", only_up},
	{"WT-SCHED-007", only_up_in_a_group},
	{"WT-SCHED-007", warms_up},
	{"WT-GRAD-008", turns},
	{"WT-OPT-013", shared_buffer},
	{"WT-GRAPH-004", through_numpy},
	{"WT-RNG-002", same_noise},
	{"WT-SCHED-008", cut_at_best},
	{"WT-SCHED-008", cut_at_best_in_a_group},
	{"WT-SCHED-009", planned_for_steps_alone},
	{"WT-SCHED-009", planned_for_steps_in_a_group},
	{"WT-OPT-014", forgotten},
	{"WT-MODE-010", dropped},
};

static void test_twins(void)
{
	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

static const struct test tests[] = {
	{"twins", test_twins},
	{"shared_trunk", test_shared_trunk},
	{"loaded_sibling", test_loaded_sibling},
	{"average", test_average},
	{"short_run", test_short_run},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
