/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted is what is judged: runs of occasions that chance makes, packs of every subset of
 * them, and each run held against each pack that was learned from it. Nothing is violated, and each
 * invariant holds exactly as often as its support says.
 */
#include <stdio.h>
#include <string.h>

#include "inspect/learn/checker.h"
#include "inspect/learn/example.h"
#include "inspect/learn/fields.h"
#include "inspect/learn/partial.h"
#include "inspect/training/compare.h"
#include "test.h"

#define RUNS 3u
#define OCCASIONS 2500u
#define TRIALS 2u

static const char *const subjects[] = {"torch.Tensor.__add__", "Optimizer.step", "loss"};
static const char *const seconds[] = {WTI_SIGNATURE_NONE, "argument 1", "argument 1, argument 2"};
static const char *const words[] = {"x", "y", "z", "w"};

struct chance {
	uint64_t state;
};

static uint32_t draw(struct chance *chance, uint32_t below)
{
	chance->state = chance->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(chance->state >> 33) % below;
}

static const char *one_of(struct chance *chance, const char *const *from, uint32_t count)
{
	return from[draw(chance, count)];
}

/* Facts that always hold, that hold in some circumstances, and that hold now and then. */
static void make_facts(struct wti_occasion *occasion, struct wti_symbols *symbols,
		       struct chance *chance)
{
	uint32_t kind = occasion->vector.values[WTI_FEATURE_STAGE];

	for (uint32_t form = WTI_FORM_TRUE; form < WTI_FORM_RANGE; form++)
		for (uint32_t i = 0; i < 4; i++) {
			bool holds = i == 0 || (i == 1 && kind) || (i > 1 && draw(chance, 8));

			if (holds)
				occasion->facts[occasion->fact_count++] = (struct wti_fact){
					form, wti_symbol_word(symbols, words[i]),
					form >= WTI_FORM_BEFORE && form <= WTI_FORM_SAME
						? wti_symbol_word(symbols, words[(i + 1) % 4])
						: 0};
		}
	/* Twice is once. */
	occasion->facts[occasion->fact_count] = occasion->facts[0];
	occasion->fact_count++;
	if (draw(chance, 2))
		occasion->measures[occasion->measure_count++] =
			(struct wti_measure){wti_symbol_word(symbols, "count"), 0.1 + 0.2};
}

static uint32_t relation_count(void)
{
	uint32_t count = 0;

	while (wti_relations[count])
		count++;
	return count;
}

static void make_occasion(struct wti_occasion *occasion, struct wti_symbols *symbols,
			  struct chance *chance, const struct wti_moment *moment)
{
	const struct wti_relation *relation;

	memset(occasion, 0, sizeof(*occasion));
	do { /* of those that are learned, not only imported */
		occasion->relation = draw(chance, relation_count());
		relation = wti_relations[occasion->relation];
	} while (!relation->moments);
	occasion->subject[0] = wti_symbol_word(symbols, one_of(chance, subjects, 3));
	if (relation->is_by_signature || draw(chance, 2))
		occasion->subject[1] = wti_symbol_word(symbols, one_of(chance, seconds, 3));
	if (draw(chance, 2))
		occasion->vector.values[WTI_FEATURE_STAGE] =
			wti_symbol_word(symbols, one_of(chance, words, 4));
	occasion->vector.values[WTI_FEATURE_NDIM] = draw(chance, 3);
	occasion->moment = moment;
	make_facts(occasion, symbols, chance);
}

/* The same number makes the same run, for whoever takes it. */
static void play(uint32_t number, struct wti_symbols *symbols, struct wti_sink_of_occasions sink)
{
	static struct wti_occasion occasion;
	static struct wti_training training;
	struct chance chance = {number * 7919u + 1};

	training.symbols = symbols;
	for (uint32_t i = 0; i < OCCASIONS; i++) {
		struct wti_moment moment = {.training = &training, .scope = {.step = i / 4}};

		make_occasion(&occasion, symbols, &chance, &moment);
		sink.take(sink.self, &occasion);
	}
}

static void count(void *tables, const struct wti_occasion *occasion)
{
	wti_tables_take(tables, occasion);
}

static struct wti_pack *learn(uint32_t first, uint32_t subset)
{
	struct wti_demand demand = {.examples = 10, .steps = 5, .programs = 1};
	struct wti_symbols symbols;
	struct wti_tables all;
	struct wti_pack *pack = NULL;

	wti_symbols_init(&symbols);
	CHECK_INT(wti_tables_init(&all, &symbols, NULL), 0);
	for (uint32_t i = 0; i < RUNS; i++) {
		struct wti_symbols names;
		struct wti_tables one;

		if (!(subset >> i & 1))
			continue;
		wti_symbols_init(&names);
		CHECK_INT(wti_tables_init(&one, &names, NULL), 0);
		play(first + i, &names, (struct wti_sink_of_occasions){&one, count});
		wti_tables_source(&one, i * 7, 1);
		CHECK_INT(wti_tables_merge(&all, &one, NULL), 0);
		wti_tables_release(&one);
		wti_symbols_release(&names);
	}
	CHECK_INT(wti_pack_new(&pack, NULL), 0);
	CHECK_INT(wti_pack_learn(pack, &all, &demand, NULL), 0);
	wti_tables_release(&all);
	wti_symbols_release(&symbols);
	return pack;
}

/* As it is when it has been a file. */
static struct wti_pack *write_and_read(struct wti_pack *pack)
{
	struct wti_pack *back = NULL;
	struct wti_buf text;

	wti_buf_init(&text, 1u << 26);
	wti_pack_write(&text, pack);
	CHECK_INT(wti_pack_read("p", (const char *)text.data, text.bytes, &back, NULL), 0);
	wti_buf_release(&text);
	wti_pack_free(pack);
	return back;
}

static void hold_against(const struct wti_pack *pack, uint32_t number, uint64_t *held)
{
	struct wti_symbols symbols;
	struct wti_checker checker;

	wti_symbols_init(&symbols);
	CHECK_INT(wti_checker_init(&checker, pack, &symbols, "", NULL), 0);
	play(number, &symbols, (struct wti_sink_of_occasions){&checker, wti_checker_take});
	for (size_t i = 0; i < pack->count; i++) {
		if (checker.accounts[i].violation_count)
			test_fail(__FILE__, __LINE__, "run %u: %s is violated %llu times", number,
				  pack->invariants[i].id,
				  (unsigned long long)checker.accounts[i].violation_count);
		held[i] += checker.accounts[i].held_count;
	}
	wti_checker_release(&checker);
	wti_symbols_release(&symbols);
}

static void try_subset(uint32_t first, uint32_t subset)
{
	static uint64_t held[WTI_INVARIANTS_MAX];
	struct wti_pack *pack = write_and_read(learn(first, subset));
	uint32_t conditional = 0;

	CHECK(pack->count > 50);
	memset(held, 0, sizeof(held));
	for (uint32_t i = 0; i < RUNS; i++)
		if (subset >> i & 1)
			hold_against(pack, first + i, held);
	for (size_t i = 0; i < pack->count; i++) {
		conditional += pack->invariants[i].when.count;
		if (held[i] != pack->invariants[i].support.for_count)
			test_fail(__FILE__, __LINE__, "%s: counted %llu times, held %llu times",
				  pack->invariants[i].id,
				  (unsigned long long)pack->invariants[i].support.for_count,
				  (unsigned long long)held[i]);
	}
	CHECK(conditional);
	wti_pack_free(pack);
}

static void counted_is_judged(void)
{
	for (uint32_t trial = 0; trial < TRIALS; trial++)
		for (uint32_t subset = 1; subset < 1u << RUNS; subset++)
			try_subset(trial * 100, subset);
}

/* ---- The parts ------------------------------------------------------------------------------ */

struct heard {
	uint32_t begun, general, said, ended;
};

static bool hear_begin(void *self, const struct wti_entry_key *subject)
{
	struct heard *heard = self;

	heard->begun++;
	heard->general += !subject->subject[1];
	return true;
}

static void hear_said(void *self, const struct wti_entry_key *key, double measure)
{
	((struct heard *)self)->said++;
}

static void hear_end(void *self, const struct wti_entry_key *subject)
{
	((struct heard *)self)->ended++;
}

/* A call is an occasion of its function whatever it is given for those alone who ask for that. */
static void general_is_asked_for(void)
{
	static struct wti_occasion occasion;
	struct heard own = {0}, both = {0};

	memset(&occasion, 0, sizeof(occasion));
	occasion.relation = (uint32_t)wti_relation_by_name("argument");
	occasion.subject[0] = 7;
	occasion.subject[1] = 8;
	occasion.fact_count = 2;
	occasion.measure_count = 1;
	wti_examples(&occasion, &(struct wti_example_taker){&own, hear_begin, hear_said, hear_end});
	wti_examples(&occasion, &(struct wti_example_taker){&both, hear_begin, hear_said, hear_end,
							    .with_general = true});
	CHECK_INT(own.begun, 1);
	CHECK_INT(own.general, 0);
	CHECK_INT(own.said, 3);
	CHECK_INT(own.ended, 1);
	CHECK_INT(both.begun, 2);
	CHECK_INT(both.general, 1);
	CHECK_INT(both.said, 6);
	CHECK_INT(both.ended, 2);
}

/* One by one and in sum the same: with every form, said or not. */
static void outcomes_add_up(void)
{
	for (uint32_t form = 0; form < WTI_FORM_COUNT; form++) {
		bool is_measure = form == WTI_FORM_RANGE;

		CHECK_INT(wti_outcome_of(form, true, true), WTI_OUTCOME_FOR);
		CHECK_INT(wti_outcome_of(form, false, false),
			  is_measure ? WTI_OUTCOME_NONE : WTI_OUTCOME_AGAINST);
		CHECK_INT(wti_outcome_of(form, true, false),
			  is_measure ? WTI_OUTCOME_AGAINST : WTI_OUTCOME_FOR);
		CHECK_INT(wti_against_count(form, 10, 7), is_measure ? 0 : 3);
		CHECK_INT(wti_against_count(form, 7, 7), 0);
	}
}

/* A few of many are chance, many are not; the more runs had none, the fewer are. */
static void chance_has_bounds(void)
{
	CHECK(!wti_is_beyond_chance(0, 100, 1));
	CHECK(!wti_is_beyond_chance(37, 180, 1));
	CHECK(!wti_is_beyond_chance(1, 1, 1));
	CHECK(!wti_is_beyond_chance(11, 60, 2));
	CHECK(wti_is_beyond_chance(60, 60, 1));
	CHECK(wti_is_beyond_chance(40, 60, 2));
	CHECK(!wti_is_beyond_chance(11, 60, 5));
	CHECK(wti_is_beyond_chance(11, 60, 20));
	CHECK(!wti_is_sure_of_next(7));
	CHECK(wti_is_sure_of_next(8));
	CHECK_INT(wti_units_of_support(3, 1), 3);
	CHECK_INT(wti_units_of_support(40, 20), 20);
}

/* ---- Calls that come more or less often ----------------------------------------------------- */

static void take_call(struct wti_tables *tables, int64_t step, uint32_t times)
{
	static struct wti_occasion occasion;
	struct wti_moment moment = {.scope = {.step = step}};

	memset(&occasion, 0, sizeof(occasion));
	occasion.relation = (uint32_t)wti_relation_by_name("contain");
	occasion.subject[0] = wti_symbol_word(tables->symbols, "Loader.__next__");
	occasion.moment = &moment;
	occasion.facts[occasion.fact_count++] = (struct wti_fact){
		WTI_FORM_CALLS, wti_symbol_word(tables->symbols, "torch.flip"), .times = times};
	wti_tables_take(tables, &occasion);
}

/* What is learned of a call that came so often, after its counts have been a partial result. */
static bool is_of_chance(uint32_t low, uint32_t high)
{
	struct wti_demand demand = {.examples = 10, .steps = 5, .programs = 1};
	struct wti_symbols symbols, names;
	struct wti_tables tables, back;
	struct wti_pack *pack = NULL;
	struct wti_buf text;
	bool result;

	wti_symbols_init(&symbols);
	wti_symbols_init(&names);
	CHECK_INT(wti_tables_init(&tables, &symbols, NULL), 0);
	CHECK_INT(wti_tables_init(&back, &names, NULL), 0);
	for (uint32_t i = 0; i < 40; i++)
		take_call(&tables, i, i % 2 ? low : high);
	wti_tables_source(&tables, 1, 1);
	wti_buf_init(&text, 1u << 20);
	CHECK_INT(wti_partial_write(&text, &tables, NULL), 0);
	CHECK_INT(wti_partial_read("p", (const char *)text.data, text.bytes, &back, NULL), 0);
	CHECK_INT(wti_pack_new(&pack, NULL), 0);
	CHECK_INT(wti_pack_learn(pack, &back, &demand, NULL), 0);
	pack = write_and_read(pack);
	CHECK_INT(pack->count, 1);
	result = pack->count && wti_invariant_is_of_chance(pack, &pack->invariants[0]);
	wti_buf_release(&text);
	wti_pack_free(pack);
	wti_tables_release(&tables);
	wti_tables_release(&back);
	wti_symbols_release(&symbols);
	wti_symbols_release(&names);
	return result;
}

static void calls_may_reach_zero(void)
{
	CHECK(!is_of_chance(1, 1));
	CHECK(!is_of_chance(16, 16));
	CHECK(is_of_chance(1, 2));
	CHECK(is_of_chance(1, 9));
	CHECK(is_of_chance(2, 6));
	CHECK(!is_of_chance(12, 16));
}

/* ---- Ranks ---------------------------------------------------------------------------------- */

/* The n-th call of a function in a step is compared with that of another rank and with no other,
 * whatever the numbers of their names are. */
static void ranks_meet_in_pairs(void)
{
	static struct wti_trained_process processes[2];
	struct wti_keep counts, values;
	struct wti_repeated_value other;
	uint64_t met = 0, wrong = 0;

	wti_keep_init(&counts, (struct wti_keeps){WTI_PER_KEY, sizeof(struct wti_repeated_count)});
	wti_keep_init(&values, (struct wti_keeps){WTI_PER_KEY, sizeof(struct wti_repeated_value)});
	processes[1].stream = 1;
	for (int64_t step = 0; step < 100; step++)
		for (uint32_t rank = 0; rank < 2; rank++)
			for (uint64_t subject = 1000; subject < 1300; subject++) {
				struct wti_moment moment = {
					.process = &processes[rank],
					.scope = {.step = step, .rank = (int32_t)rank, .world = 2}};

				if (!wti_repeated_compare(&counts, &values, &moment, subject,
							  subject, (uint64_t)step, &other))
					continue;
				met++;
				wrong += other.first != subject || other.second != (uint64_t)step;
			}
	CHECK_INT(met, 30000);
	CHECK_INT(wrong, 0);
	wti_keep_release(&counts);
	wti_keep_release(&values);
}

/* ---- Names that find no room ---------------------------------------------------------------- */

static void ignore(void *self, const struct wti_occasion *occasion)
{
}

/* Very many numbers: those that a pack names are still known, the others are one and no constant.
 */
static void numbers_without_room(void)
{
	static struct wti_training training;
	struct wti_symbols symbols;
	struct wti_scene scene;
	uint32_t known;

	wti_symbols_init(&symbols);
	training.symbols = &symbols;
	wti_scene_init(&scene, &training, (struct wti_sink_of_occasions){NULL, ignore});
	known = wti_symbol_word(&symbols, "123456789");
	for (uint64_t i = 0; i < 100000; i++)
		wti_scene_number(&scene, WT_VALUE_TYPE_INT, i);
	CHECK_INT(wti_scene_number(&scene, WT_VALUE_TYPE_INT, 123456789), known);
	CHECK_INT(wti_scene_number(&scene, WT_VALUE_TYPE_INT, 987654321), WTI_SYMBOL_OTHER);
	CHECK(wti_scene_number(&scene, WT_VALUE_TYPE_INT, 17) != WTI_SYMBOL_OTHER);
	wti_scene_release(&scene);
	wti_symbols_release(&symbols);
}

static void nameless_is_not_learned(void)
{
	struct wti_demand demand = {.examples = 10, .steps = 5, .programs = 1};
	static struct wti_occasion occasion;
	struct wti_symbols symbols;
	struct wti_tables tables;
	struct wti_pack *pack = NULL;

	wti_symbols_init(&symbols);
	CHECK_INT(wti_tables_init(&tables, &symbols, NULL), 0);
	for (int64_t i = 0; i < 40; i++) {
		struct wti_moment moment = {.scope = {.step = i}};

		memset(&occasion, 0, sizeof(occasion));
		occasion.relation = (uint32_t)wti_relation_by_name("argument");
		occasion.subject[0] = wti_symbol_word(&symbols, "f");
		occasion.subject[1] = wti_symbol_word(&symbols, WTI_SIGNATURE_NONE);
		occasion.moment = &moment;
		occasion.facts[occasion.fact_count++] = (struct wti_fact){
			WTI_FORM_IS, wti_symbol_word(&symbols, "argument 0"), WTI_SYMBOL_OTHER};
		wti_tables_take(&tables, &occasion);
	}
	wti_tables_source(&tables, 1, 1);
	CHECK_INT(wti_pack_new(&pack, NULL), 0);
	CHECK_INT(wti_pack_learn(pack, &tables, &demand, NULL), 0);
	CHECK_INT(pack->count, 0);
	wti_pack_free(pack);
	wti_tables_release(&tables);
	wti_symbols_release(&symbols);
}

static const struct test tests[] = {
	{"counted_is_judged", counted_is_judged},
	{"general_is_asked_for", general_is_asked_for},
	{"outcomes_add_up", outcomes_add_up},
	{"chance_has_bounds", chance_has_bounds},
	{"calls_may_reach_zero", calls_may_reach_zero},
	{"ranks_meet_in_pairs", ranks_meet_in_pairs},
	{"numbers_without_room", numbers_without_room},
	{"nameless_is_not_learned", nameless_is_not_learned},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
