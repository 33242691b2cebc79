/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on executions made by hand: who is the origin, who inherits, what is not known. */
#include "replay/verdict.h"
#include "replay_world.h"

/* a writes x, b reads it and writes y, a read returns y; c on z has nothing to do with it. */
enum { A, B, READ, C, OPS };

struct scene {
	struct world world;
	uint32_t x, y, z;
	struct wti_replay_outcome outcomes[OPS], others[OPS];
	struct wti_replay_pass_found founds[1];
	struct wti_replay_pass serial, other;
	uint8_t uses[OPS];
	uint32_t found_of[OPS];
	struct wti_replay_races races;
	struct wti_replay_race race[1];
	struct wti_replay_uninitialised uninitialised;
	struct wti_replay_verdicts verdicts;
};

static void begin(struct scene *s)
{
	struct world *w = &s->world;
	struct wt_err err = {0};
	uint32_t queue;

	memset(s, 0, sizeof(*s));
	world_begin(w);
	queue = add_queue(w, true);
	s->x = add_buffer(w);
	s->y = add_buffer(w);
	s->z = add_buffer(w);
	add_writer(w, "a", queue, s->x);
	add_reader(w, "b", queue, s->x);
	add_access(w, WT_ACCESS_MODE_WRITE, s->y, 0, BYTES);
	add_op(w, WTI_CALL_READ_BUFFER, "read", queue);
	add_access(w, WT_ACCESS_MODE_READ, s->y, 0, BYTES);
	add_writer(w, "c", queue, s->z);
	CHECK(!wti_replay_plan_order(&w->plan, &err));
	for (int i = 0; i < OPS; i++)
		s->outcomes[i] = s->others[i] = (struct wti_replay_outcome){
			.state = WTI_OUTCOME_EXECUTED, .in = 1, .out = 2, .distinct = 1};
	s->outcomes[READ].recorded = WTI_RECORDED_SAME;
	s->serial = (struct wti_replay_pass){.outcomes = s->outcomes, .founds = s->founds};
	s->other = (struct wti_replay_pass){.outcomes = s->others, .founds = s->founds};
	s->races.all = s->race;
}

static const struct wti_replay_judged *judge(struct scene *s, const char *words)
{
	static const char letters[WTI_VERDICTS + 1] = "-soimu";
	char got[OPS + 1] = "";
	struct wt_err err = {0};

	wti_replay_verdicts_release(&s->verdicts);
	CHECK(!wti_replay_verdicts_judge(&s->world.plan, &s->races, &s->serial, &s->other,
					 &s->uninitialised, &s->verdicts, &err));
	for (int i = 0; i < OPS; i++)
		got[i] = letters[s->verdicts.ops[i].verdict];
	CHECK_TEXT(got, words);
	return s->verdicts.ops;
}

static void end(struct scene *s)
{
	wti_replay_verdicts_release(&s->verdicts);
	world_end(&s->world);
}

static void test_same(void)
{
	struct scene s;

	begin(&s);
	judge(&s, "ssss");
	CHECK_INT(s.verdicts.counts[WTI_VERDICT_SAME], OPS);
	CHECK(s.verdicts.first_origin == WTI_PLAN_NONE);
	end(&s);
}

/* It differs from itself: what reads it inherits, what does not is the same. */
static void test_intrinsic(void)
{
	const struct wti_replay_judged *ops;
	struct scene s;

	begin(&s);
	s.outcomes[A].distinct = 2;
	s.outcomes[READ].recorded = WTI_RECORDED_DIFFERS;
	ops = judge(&s, "oiis");
	CHECK_INT(ops[A].reason, WTI_ORIGIN_INTRINSIC);
	CHECK_INT(ops[B].cause, A);
	CHECK_INT(ops[READ].cause, A);
	CHECK_INT(s.verdicts.first_origin, A);
	CHECK_INT(s.verdicts.counts[WTI_VERDICT_INHERITED], 2);
	end(&s);
}

/* With the same input it gave something else in another order; with another input it only inherits.
 */
static void test_other_order(void)
{
	struct scene s;

	begin(&s);
	s.others[B].out = 3;
	CHECK_INT(judge(&s, "soss")[B].reason, WTI_ORIGIN_INTRINSIC);
	s.others[B].in = 9;
	judge(&s, "ssss");
	end(&s);
}

/* A result is not the recorded one: the last that wrote it is named, and that there are two. */
static void test_not_as_recorded(void)
{
	const struct wti_replay_judged *ops;
	struct scene s;

	begin(&s);
	s.outcomes[READ] = (struct wti_replay_outcome){.state = WTI_OUTCOME_EXECUTED,
						       .recorded = WTI_RECORDED_DIFFERS,
						       .distinct = 1,
						       .found = 1};
	s.founds[0] = (struct wti_replay_pass_found){.op = READ, .object = WTI_PLAN_NONE};
	ops = judge(&s, "sois");
	CHECK_INT(ops[B].reason, WTI_ORIGIN_RECORDING);
	CHECK_INT(ops[B].candidates, 2);
	CHECK(ops[B].found == &s.founds[0]);
	s.races.count = 1;
	s.race[0].object = s.y;
	CHECK_INT(judge(&s, "sois")[B].reason, WTI_ORIGIN_ORDER);
	s.race[0].object = s.z;
	CHECK_INT(judge(&s, "sois")[B].reason, WTI_ORIGIN_RECORDING);
	end(&s);
}

/* Differs only when all queues ran at once. */
static void test_not_as_recorded_at_once(void)
{
	struct scene s;

	begin(&s);
	s.others[READ].recorded = WTI_RECORDED_DIFFERS;
	judge(&s, "sois");
	end(&s);
}

static void test_missing(void)
{
	const struct wti_replay_judged *ops;
	struct scene s;

	begin(&s);
	s.outcomes[A].state = WTI_OUTCOME_MISSING;
	ops = judge(&s, "muus");
	CHECK_INT(ops[READ].cause, A);
	CHECK_INT(s.verdicts.counts[WTI_VERDICT_UNKNOWN], 2);
	end(&s);
}

/* What is missing is not blamed on anybody, even if the result is not the recorded one. */
static void test_missing_is_no_origin(void)
{
	struct scene s;

	begin(&s);
	s.outcomes[B].state = WTI_OUTCOME_MISSING;
	s.outcomes[READ].recorded = WTI_RECORDED_DIFFERS;
	judge(&s, "smus");
	CHECK_INT(s.verdicts.counts[WTI_VERDICT_ORIGIN], 0);
	end(&s);
}

/* What was not asked for has no verdict. */
static void test_not_selected(void)
{
	struct scene s;

	begin(&s);
	s.outcomes[C] = (struct wti_replay_outcome){0};
	judge(&s, "sss-");
	CHECK_INT(s.verdicts.counts[WTI_VERDICT_SAME], 3);
	end(&s);
}

static void test_uninitialised(void)
{
	const struct wti_replay_judged *ops;
	struct scene s;

	begin(&s);
	s.uninitialised.uses = s.uses;
	s.uninitialised.found_of = s.found_of;
	s.uses[A] = s.uses[B] = WTI_UNINITIALISED_DEPENDS;
	s.outcomes[READ].recorded = WTI_RECORDED_DIFFERS;
	ops = judge(&s, "oiis");
	CHECK_INT(ops[A].reason, WTI_ORIGIN_UNINITIALISED);
	/* Only in bytes that nothing wrote. */
	s.uses[A] = s.uses[B] = WTI_UNINITIALISED_NONE;
	s.uses[READ] = WTI_UNINITIALISED_UNWRITTEN;
	judge(&s, "ssss");
	s.uses[READ] = WTI_UNINITIALISED_NONE;
	judge(&s, "sois");
	end(&s);
}

static const struct test tests[] = {
	{"same", test_same},
	{"intrinsic", test_intrinsic},
	{"other_order", test_other_order},
	{"not_as_recorded", test_not_as_recorded},
	{"not_as_recorded_at_once", test_not_as_recorded_at_once},
	{"missing", test_missing},
	{"missing_is_no_origin", test_missing_is_no_origin},
	{"not_selected", test_not_selected},
	{"uninitialised", test_uninitialised},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
