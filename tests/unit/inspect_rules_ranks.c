/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare ranks, each with a run of two ranks that violates it and one that does not. */
#include "rules_world.h"

/* Both ranks have a model and an optimizer; `differ` says what to change on the second. */
static void ranks(struct world *w, uint64_t steps, void (*change)(struct world *w, uint64_t i))
{
	w->scope.world = STREAMS;
	for (w->stream = 0; w->stream < STREAMS; w->stream++) {
		optimizer(w, "Adam", "Adam")->lr_known = 1;
		parameter(w, "Net", "weight", find(w, "Adam"));
	}
	for (uint64_t i = 0; i < steps; i++) {
		for (w->stream = 0; w->stream < STREAMS; w->stream++) {
			struct made_parameter *of = find_parameter(w, "Net", "weight");

			of->grad = WTI_GRAD_NONZERO;
			of->hash = 10 + i;
			of->grad_hash = of->grad_statistics.hash = 20 + i;
			of->has_grad_statistics = true;
			of->grad_statistics.count = 16;
			of->grad_statistics.min = -1;
			of->grad_statistics.max = 2;
			of->grad_statistics.mean = 0.3;
			find(w, "Adam")->lr[0] = 0.1;
			if (w->stream == 1)
				change(w, i);
			w->scope.step = (int64_t)i;
			step(w, "Adam");
		}
	}
	w->stream = 0;
}

static struct made_parameter *second(struct world *w)
{
	return find_parameter(w, "Net", "weight");
}

static void change_nothing(struct world *w, uint64_t i)
{
}

static void change_value(struct world *w, uint64_t i)
{
	second(w)->hash += i >= 2 ? 100 : 0;
}

static void change_gradient(struct world *w, uint64_t i)
{
	second(w)->grad_hash += i >= 2 ? 100 : 0;
}

static void change_start(struct world *w, uint64_t i)
{
	second(w)->hash += 100;
}

static void change_rate(struct world *w, uint64_t i)
{
	find(w, "Adam")->lr[0] = i >= 2 ? 0.2 : 0.1;
}

static void change_scale(struct world *w, uint64_t i)
{
	struct made_parameter *of = second(w);

	of->grad_hash = of->grad_statistics.hash = 500 + i;
	of->grad_statistics.min *= 0.5;
	of->grad_statistics.max *= 0.5;
	of->grad_statistics.mean *= 0.5;
}

static void replicas(struct world *w, bool is_wrong)
{
	ranks(w, 4, is_wrong ? change_value : change_nothing);
}

static void gradients(struct world *w, bool is_wrong)
{
	ranks(w, 4, is_wrong ? change_gradient : change_nothing);
}

static void starts(struct world *w, bool is_wrong)
{
	ranks(w, 4, is_wrong ? change_start : change_nothing);
}

static void rates(struct world *w, bool is_wrong)
{
	ranks(w, 4, is_wrong ? change_rate : change_nothing);
}

static void scales(struct world *w, bool is_wrong)
{
	ranks(w, 4, is_wrong ? change_scale : change_nothing);
}

/* A wrapped model on two ranks: each has its own part of the data, or both have the same. */
static void same_data(struct world *w, bool is_wrong)
{
	w->scope.world = STREAMS;
	for (uint64_t i = 1; i <= 4; i++) {
		for (w->stream = 0; w->stream < STREAMS; w->stream++) {
			struct made_object *of = object(w, "DDP(Net)", "DistributedDataParallel",
							WT_OBJECT_TYPE_WRAPPER);

			of->of = word(w, "Net");
			call(w, "DistributedDataParallel.forward")->object = of->name;
			w->call.flags = WT_CALL_MODE_KNOWN | WT_CALL_OUTERMOST | WT_CALL_TRAIN |
					WT_CALL_GRAD;
			tensor(w, 0, is_wrong ? i : 10 * i + w->stream, "8x4");
			tell_module(w, WTI_MOMENT_MODULE);
		}
	}
	w->stream = 0;
}

/* A module on both ranks: what each makes of its input in a step. */
static void compute(struct world *w, const char *name, uint32_t type, uint32_t flags,
		    uint64_t input, uint64_t difference)
{
	w->scope.world = STREAMS;
	for (w->stream = 0; w->stream < STREAMS; w->stream++) {
		struct made_object *of = object(w, name, "DistributedDataParallel", type);

		call(w, "Net.forward")->object = of->name;
		w->call.flags = WT_CALL_MODE_KNOWN | flags;
		tensor(w, 0, input, "8x4");
		tensor(w, -1, input + 1000 + w->stream * difference, "8x2");
		tell_module(w, WTI_MOMENT_MODULE_END);
	}
	w->stream = 0;
	w->scope.step++;
}

static void buffers_diverge(struct world *w, bool is_wrong)
{
	for (uint64_t i = 1; i <= 3; i++)
		compute(w, "DDP(Net)", WT_OBJECT_TYPE_WRAPPER, WT_CALL_OUTERMOST, i, is_wrong);
}

/* Replicated at first: both compute the same, until one does not. */
static void layers_diverge(struct world *w, bool is_wrong)
{
	for (uint64_t i = 1; i <= 3; i++)
		compute(w, "Net.norm", WT_OBJECT_TYPE_MODULE, WT_CALL_TRAIN | WT_CALL_GRAD, i,
			is_wrong && i > 1);
}

/* A layer that is sharded has never computed the same. */
static void test_sharded(void)
{
	struct world w;

	begin(&w);
	for (uint64_t i = 1; i <= 3; i++)
		compute(&w, "Net.shard", WT_OBJECT_TYPE_MODULE, WT_CALL_TRAIN | WT_CALL_GRAD, i, 1);
	CHECK_INT(case_of(&w, "WT-RANK-006")->violation_count, 0);
	end(&w);
}

/* Of what was gathered, each rank takes the first rows. */
static void unequal_parts(struct world *w, bool is_wrong)
{
	w->scope.world = STREAMS;
	for (int i = 0; i < 3; i++) {
		for (w->stream = 0; w->stream < STREAMS; w->stream++) {
			call(w, "all_gather");
			tensor(w, 0, 1, "64x4");
			tell_call(w);
			call(w, "Tensor.__getitem__");
			tensor(w, 0, 1, "64x4");
			w->values[w->call.value_count++] =
				(struct wti_value_row){.position = 1, .text = word(w, "<slice>")};
			tensor(w, -1, 2, is_wrong && w->stream ? "24x4" : "32x4");
			tell_call(w);
		}
		w->scope.step++;
	}
	w->stream = 0;
}

static void change_all(struct world *w, uint64_t i)
{
	second(w)->hash += 100;
	second(w)->grad_hash += 100;
}

static void share_data(struct world *w)
{
	for (w->stream = 0; w->stream < STREAMS; w->stream++)
		object(w, "Sampler", "DistributedSampler", WT_OBJECT_TYPE_SAMPLER);
	w->stream = 0;
}

static void models_of_their_own(struct world *w, bool is_wrong)
{
	share_data(w);
	ranks(w, 10, is_wrong ? change_all : change_nothing);
}

/* What they send one another: figures, much of anything, or weights. */
static enum { FIGURES, MUCH, WEIGHTS, SENDINGS } sent;

static void send(struct world *w, uint64_t i)
{
	change_all(w, i);
	call(w, "all_reduce")->module = word(w, "torch.distributed");
	tensor(w, 0, i == 6 && sent == WEIGHTS ? second(w)->hash : 9999, "2");
	if (i == 6 && sent == MUCH)
		w->values[0].digest.count = 65;
	tell_call(w);
}

/* Ranks that send one another weights, or much of anything, are not alone; figures are little. */
static void test_traffic(void)
{
	for (sent = FIGURES; sent < SENDINGS; sent++) {
		struct wt_result result;
		struct world w;

		begin(&w);
		share_data(&w);
		ranks(&w, 10, send);
		wt_result_init(&result, "test");
		finish(&w, &result);
		CHECK_INT(case_of(&w, "WT-RANK-010")->violation_count, sent == FIGURES);
		wt_result_release(&result);
		end(&w);
	}
}

static void test_twins(void)
{
	static const struct {
		const char *code;
		void (*act)(struct world *w, bool is_wrong);
	} all_twins[] = {
		{"WT-RANK-001", replicas},        {"WT-RANK-002", gradients},
		{"WT-RANK-004", starts},          {"WT-RANK-007", rates},
		{"WT-RANK-009", scales},          {"WT-RANK-003", same_data},
		{"WT-RANK-005", buffers_diverge}, {"WT-RANK-006", layers_diverge},
		{"WT-RANK-008", unequal_parts},   {"WT-RANK-010", models_of_their_own},
	};

	for (size_t i = 0; i < sizeof(all_twins) / sizeof(all_twins[0]); i++)
		twins(all_twins[i].code, all_twins[i].act);
}

/* A rank that is behind comes after one that is ahead. */
static void test_steps(void)
{
	static const int64_t steps[] = {5, 3, 9, 7, -1};
	struct wti_case *account;
	struct world w;

	begin(&w);
	account = &w.judge.cases[0];
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct wti_moment moment = {.training = &w.training,
					    .process = wti_process_at(&w.training, i % 2),
					    .scope = {.step = steps[i], .rank = (int32_t)(i % 2)}};

		wti_violated(account, &moment, 0, "it is so");
	}
	CHECK_INT(account->first_step, 3);
	CHECK_INT(account->last_step, 9);
	end(&w);
}

/* Each rank evaluates for itself, and the steps of one are not those of the other. */
static void test_evaluated_on_each(void)
{
	struct world w;

	begin(&w);
	w.scope.world = STREAMS;
	for (w.stream = 0; w.stream < STREAMS; w.stream++) {
		optimizer(&w, "Adam", "Adam");
		parameter(&w, "Net", "weight", find(&w, "Adam"));
		for (w.scope.step = 0; w.scope.step < 8;)
			step(&w, "Adam");
	}
	for (w.stream = 0; w.stream < STREAMS; w.stream++) {
		module(&w, "Net.forward", "Net", WT_CALL_OUTERMOST | WT_CALL_TRAIN);
		tell_module(&w, WTI_MOMENT_MODULE);
		module(&w, "Dropout.forward", "Net.drop", WT_CALL_TRAIN);
		tell_module(&w, WTI_MOMENT_MODULE);
	}
	w.stream = 0;
	CHECK_INT(case_of(&w, "WT-MODE-003")->violation_count, STREAMS);
	end(&w);
}

static const struct test tests[] = {
	{"evaluated on each", test_evaluated_on_each},
	{"steps", test_steps},
	{"twins", test_twins},
	{"sharded", test_sharded},
	{"traffic", test_traffic},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
