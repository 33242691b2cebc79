/* SPDX-License-Identifier: Apache-2.0 */
/* What had to come before what, orders that are allowed, and races, in plans made by hand. */
#include "replay/races.h"
#include "replay_world.h"

/* Whether `first` has to come before `second`: no order that is allowed has it later. */
static bool is_before(const struct world *w, uint32_t first, uint32_t second)
{
	const struct wti_replay_order order = {.type = WTI_ORDER_FIRST, .first = second};
	struct wt_err err = {0};
	uint32_t ops[ROOM];
	size_t count = 0;

	CHECK(!wti_replay_plan_arrange(&w->plan, &order, ops, &count, &err));
	for (size_t i = 0; i < count; i++) {
		if (ops[i] == first)
			return true;
		if (ops[i] == second)
			return false;
	}
	return false;
}

static void order(struct world *w)
{
	struct wt_err err = {0};

	CHECK(!wti_replay_plan_order(&w->plan, &err));
	CHECK_INT(w->plan.serial_count, w->plan.op_count);
}

/* How many races there are; the first of them. */
static size_t race(struct world *w, struct wti_replay_race *ret_first)
{
	struct wti_replay_races races;
	struct wt_err err = {0};
	size_t count;

	order(w);
	if (!CHECK(!wti_replay_races_find(&w->plan, &races, &err)))
		return SIZE_MAX;
	CHECK(!races.is_unjudged);
	CHECK_INT(races.unjudged_count, 0);
	count = races.count;
	if (count && ret_first)
		*ret_first = races.all[0];
	wti_replay_races_release(&races);
	return count;
}

/* ---- What comes before what ------------------------------------------------------------------ */

static void test_ordered_queue(void)
{
	struct world w;
	uint32_t queue, a, b;

	world_begin(&w);
	queue = add_queue(&w, true);
	a = add_op(&w, WTI_CALL_KERNEL, "a", queue);
	b = add_op(&w, WTI_CALL_KERNEL, "b", queue);
	order(&w);
	CHECK(is_before(&w, a, b));
	CHECK(!is_before(&w, b, a));
	world_end(&w);
}

static void test_queue_without_order(void)
{
	struct world w;
	uint32_t queue, a, b, c;

	world_begin(&w);
	queue = add_queue(&w, false);
	a = add_op(&w, WTI_CALL_KERNEL, "a", queue);
	b = add_op(&w, WTI_CALL_KERNEL, "b", queue);
	c = add_op(&w, WTI_CALL_KERNEL, "c", queue);
	add_wait(&w, a);
	order(&w);
	CHECK(!is_before(&w, a, b));
	CHECK(is_before(&w, a, c));
	CHECK(!is_before(&w, b, c));
	world_end(&w);
}

/* A barrier waits for all and holds all back; a marker only waits; with a list only for that. */
static void test_barriers(void)
{
	struct world w;
	uint32_t queue, a, b, mark, c, barrier, d;

	world_begin(&w);
	queue = add_queue(&w, false);
	a = add_op(&w, WTI_CALL_KERNEL, "a", queue);
	b = add_op(&w, WTI_CALL_KERNEL, "b", queue);
	mark = add_op(&w, WTI_CALL_MARKER, "mark", queue);
	c = add_op(&w, WTI_CALL_KERNEL, "c", queue);
	barrier = add_op(&w, WTI_CALL_BARRIER, "barrier", queue);
	add_wait(&w, a);
	d = add_op(&w, WTI_CALL_KERNEL, "d", queue);
	order(&w);
	CHECK(is_before(&w, a, mark) && is_before(&w, b, mark));
	CHECK(!is_before(&w, mark, c) && !is_before(&w, b, c));
	CHECK(is_before(&w, a, barrier) && !is_before(&w, c, barrier));
	CHECK(is_before(&w, barrier, d) && is_before(&w, a, d));
	CHECK(!is_before(&w, b, d) && !is_before(&w, c, d));
	world_end(&w);
}

static void test_barrier_without_list(void)
{
	struct world w;
	uint32_t queue, other, a, b, barrier, c, elsewhere;

	world_begin(&w);
	queue = add_queue(&w, false);
	other = add_queue(&w, true);
	a = add_op(&w, WTI_CALL_KERNEL, "a", queue);
	b = add_op(&w, WTI_CALL_KERNEL, "b", queue);
	barrier = add_op(&w, WTI_CALL_BARRIER, "barrier", queue);
	c = add_op(&w, WTI_CALL_KERNEL, "c", queue);
	elsewhere = add_op(&w, WTI_CALL_KERNEL, "elsewhere", other);
	order(&w);
	CHECK(is_before(&w, a, c) && is_before(&w, b, c) && is_before(&w, barrier, c));
	CHECK(!is_before(&w, barrier, elsewhere));
	world_end(&w);
}

/* clFinish() of one queue orders all that is enqueued later, but nothing of another queue before.
 */
static void test_host_waits(void)
{
	struct world w;
	uint32_t queue, other, a, b, finish, c;

	world_begin(&w);
	queue = add_queue(&w, true);
	other = add_queue(&w, true);
	a = add_op(&w, WTI_CALL_KERNEL, "a", queue);
	b = add_op(&w, WTI_CALL_KERNEL, "b", other);
	finish = add_op(&w, WTI_CALL_SYNC, "clFinish", queue);
	c = add_op(&w, WTI_CALL_KERNEL, "c", other);
	order(&w);
	CHECK(is_before(&w, a, finish) && is_before(&w, finish, c) && is_before(&w, a, c));
	CHECK(!is_before(&w, b, finish));
	world_end(&w);
}

/* clWaitForEvents() waits for what its list has, not for its queue. */
static void test_host_waits_for_events(void)
{
	struct world w;
	uint32_t queue, a, b, wait, c;

	world_begin(&w);
	queue = add_queue(&w, false);
	a = add_op(&w, WTI_CALL_KERNEL, "a", queue);
	b = add_op(&w, WTI_CALL_KERNEL, "b", queue);
	wait = add_op(&w, WTI_CALL_SYNC, "clWaitForEvents", queue);
	add_wait(&w, b);
	c = add_op(&w, WTI_CALL_KERNEL, "c", queue);
	order(&w);
	CHECK(is_before(&w, b, wait) && is_before(&w, b, c));
	CHECK(!is_before(&w, a, c));
	world_end(&w);
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static void arranged(const struct world *w, enum wti_replay_order_type type, uint64_t seed,
		     char out[ROOM])
{
	const struct wti_replay_order order = {.type = type, .seed = seed};
	struct wt_err err = {0};
	uint32_t ops[ROOM];
	size_t count = 0;

	CHECK(!wti_replay_plan_arrange(&w->plan, &order, ops, &count, &err));
	for (size_t i = 0; i < count; i++)
		out[i] = *w->plan.ops[ops[i]].name;
	out[count] = 0;
}

static void test_orders(void)
{
	struct world w;
	uint32_t queue, other;
	char text[ROOM], again[ROOM];
	bool differs = false;

	world_begin(&w);
	queue = add_queue(&w, true);
	other = add_queue(&w, true);
	add_op(&w, WTI_CALL_KERNEL, "a", queue);
	add_op(&w, WTI_CALL_KERNEL, "b", queue);
	add_op(&w, WTI_CALL_KERNEL, "x", other);
	add_op(&w, WTI_CALL_KERNEL, "y", other);
	order(&w);
	arranged(&w, WTI_ORDER_SERIAL, 0, text);
	CHECK_TEXT(text, "abxy");
	arranged(&w, WTI_ORDER_REVERSED, 0, text);
	CHECK_TEXT(text, "xyab");
	for (uint64_t seed = 1; seed < 20; seed++) {
		arranged(&w, WTI_ORDER_RANDOM, seed, text);
		arranged(&w, WTI_ORDER_RANDOM, seed, again);
		CHECK_TEXT(text, again);
		CHECK(strchr(text, 'a') < strchr(text, 'b'));
		CHECK(strchr(text, 'x') < strchr(text, 'y'));
		differs |= strcmp(text, "abxy") != 0;
	}
	CHECK(differs);
	world_end(&w);
}

/* Operations that wait for one another have no order; the others do. */
static void test_circle(void)
{
	struct world w;
	struct wt_err err = {0};
	uint32_t queue, other;

	world_begin(&w);
	queue = add_queue(&w, true);
	other = add_queue(&w, true);
	add_op(&w, WTI_CALL_KERNEL, "a", queue);
	add_wait(&w, 1);
	add_op(&w, WTI_CALL_KERNEL, "b", other);
	add_wait(&w, 0);
	add_op(&w, WTI_CALL_KERNEL, "c", add_queue(&w, true));
	CHECK(!wti_replay_plan_order(&w.plan, &err));
	CHECK_INT(w.plan.serial_count, 1);
	CHECK_INT(w.plan.serial[0], 2);
	world_end(&w);
}

/* ---- Races ----------------------------------------------------------------------------------- */

static void test_race_of_two_queues(void)
{
	struct wti_replay_race found = {0};
	struct world w;
	uint32_t buffer, a, b;

	world_begin(&w);
	buffer = add_buffer(&w);
	a = add_writer(&w, "a", add_queue(&w, true), buffer);
	b = add_writer(&w, "b", add_queue(&w, true), buffer);
	CHECK_INT(race(&w, &found), 1);
	CHECK(found.first == a && found.second == b && found.object == buffer);
	CHECK(found.both_write);
	CHECK(found.from == 0 && found.to == BYTES && found.count == 1);
	world_end(&w);
}

static void test_race_needs_a_writer(void)
{
	struct wti_replay_race found = {0};
	struct world w;
	uint32_t buffer;

	world_begin(&w);
	buffer = add_buffer(&w);
	add_reader(&w, "a", add_queue(&w, true), buffer);
	add_reader(&w, "b", add_queue(&w, true), buffer);
	CHECK_INT(race(&w, NULL), 0);
	world_end(&w);
	world_begin(&w);
	buffer = add_buffer(&w);
	add_reader(&w, "a", add_queue(&w, true), buffer);
	add_writer(&w, "b", add_queue(&w, true), buffer);
	CHECK_INT(race(&w, &found), 1);
	CHECK(!found.both_write);
	world_end(&w);
}

/* Neighbours that do not overlap; one byte that does. */
static void test_race_needs_the_same_bytes(void)
{
	for (uint64_t from = 50; from >= 49; from--) {
		struct wti_replay_race found = {0};
		struct world w;
		uint32_t buffer;

		world_begin(&w);
		buffer = add_buffer(&w);
		add_op(&w, WTI_CALL_KERNEL, "a", add_queue(&w, true));
		add_access(&w, WT_ACCESS_MODE_WRITE, buffer, 0, 50);
		add_op(&w, WTI_CALL_KERNEL, "b", add_queue(&w, true));
		add_access(&w, WT_ACCESS_MODE_WRITE, buffer, from, BYTES);
		CHECK_INT(race(&w, &found), from == 49);
		if (from == 49)
			CHECK(found.from == 49 && found.to == 50);
		world_end(&w);
	}
}

static void test_no_race_with_an_event(void)
{
	struct world w;
	uint32_t buffer, a;

	world_begin(&w);
	buffer = add_buffer(&w);
	a = add_writer(&w, "a", add_queue(&w, true), buffer);
	add_writer(&w, "b", add_queue(&w, true), buffer);
	add_wait(&w, a);
	CHECK_INT(race(&w, NULL), 0);
	world_end(&w);
}

/* Through a third queue: a, then m, then b. */
static void test_no_race_by_way_of_another(void)
{
	struct world w;
	uint32_t buffer, a, m;

	world_begin(&w);
	buffer = add_buffer(&w);
	a = add_writer(&w, "a", add_queue(&w, true), buffer);
	m = add_op(&w, WTI_CALL_KERNEL, "m", add_queue(&w, true));
	add_wait(&w, a);
	add_writer(&w, "b", add_queue(&w, true), buffer);
	add_wait(&w, m);
	CHECK_INT(race(&w, NULL), 0);
	world_end(&w);
}

static void test_no_race_after_the_host_waited(void)
{
	struct world w;
	uint32_t buffer, queue;

	world_begin(&w);
	buffer = add_buffer(&w);
	queue = add_queue(&w, true);
	add_writer(&w, "a", queue, buffer);
	add_op(&w, WTI_CALL_SYNC, "clFinish", queue);
	add_writer(&w, "b", add_queue(&w, true), buffer);
	CHECK_INT(race(&w, NULL), 0);
	world_end(&w);
}

/* The host waited for the wrong queue. */
static void test_race_after_a_wait_for_another(void)
{
	struct world w;
	uint32_t buffer, other;

	world_begin(&w);
	buffer = add_buffer(&w);
	add_writer(&w, "a", add_queue(&w, true), buffer);
	other = add_queue(&w, true);
	add_op(&w, WTI_CALL_SYNC, "clFinish", other);
	add_writer(&w, "b", other, buffer);
	CHECK_INT(race(&w, NULL), 1);
	world_end(&w);
}

static void test_race_without_order(void)
{
	for (int has_barrier = 0; has_barrier < 2; has_barrier++) {
		struct world w;
		uint32_t buffer, queue;

		world_begin(&w);
		buffer = add_buffer(&w);
		queue = add_queue(&w, false);
		add_writer(&w, "a", queue, buffer);
		if (has_barrier)
			add_op(&w, WTI_CALL_BARRIER, "barrier", queue);
		add_writer(&w, "b", queue, buffer);
		CHECK_INT(race(&w, NULL), !has_barrier);
		world_end(&w);
	}
}

/* An older one that a newer one has followed is not forgotten where only part was written. */
static void test_race_with_an_older_one(void)
{
	struct wti_replay_race found = {0};
	struct world w;
	uint32_t buffer, queue, a;

	world_begin(&w);
	buffer = add_buffer(&w);
	queue = add_queue(&w, true);
	a = add_writer(&w, "a", queue, buffer);
	add_op(&w, WTI_CALL_KERNEL, "part", queue);
	add_access(&w, WT_ACCESS_MODE_WRITE, buffer, 0, 10);
	add_op(&w, WTI_CALL_KERNEL, "b", add_queue(&w, true));
	add_access(&w, WT_ACCESS_MODE_READ, buffer, 50, 60);
	CHECK_INT(race(&w, &found), 1);
	CHECK_INT(found.first, a);
	world_end(&w);
}

/* The same pair of names on the same memory is one race, however often. */
static void test_pairs_are_counted(void)
{
	struct wti_replay_race found = {0};
	struct world w;
	uint32_t buffer, left, right;

	world_begin(&w);
	buffer = add_buffer(&w);
	left = add_queue(&w, true);
	right = add_queue(&w, true);
	add_writer(&w, "a", left, buffer);
	for (int i = 0; i < 3; i++)
		add_writer(&w, "b", right, buffer);
	CHECK_INT(race(&w, &found), 1);
	CHECK_INT(found.count, 3);
	world_end(&w);
}

static const struct test tests[] = {
	{"ordered_queue", test_ordered_queue},
	{"queue_without_order", test_queue_without_order},
	{"barriers", test_barriers},
	{"barrier_without_list", test_barrier_without_list},
	{"host_waits", test_host_waits},
	{"host_waits_for_events", test_host_waits_for_events},
	{"orders", test_orders},
	{"circle", test_circle},
	{"race_of_two_queues", test_race_of_two_queues},
	{"race_needs_a_writer", test_race_needs_a_writer},
	{"race_needs_the_same_bytes", test_race_needs_the_same_bytes},
	{"no_race_with_an_event", test_no_race_with_an_event},
	{"no_race_by_way_of_another", test_no_race_by_way_of_another},
	{"no_race_after_the_host_waited", test_no_race_after_the_host_waited},
	{"race_after_a_wait_for_another", test_race_after_a_wait_for_another},
	{"race_without_order", test_race_without_order},
	{"race_with_an_older_one", test_race_with_an_older_one},
	{"pairs_are_counted", test_pairs_are_counted},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
