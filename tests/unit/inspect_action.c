/* SPDX-License-Identifier: Apache-2.0 */
/* What a call is to a training run: as it was recorded, and derived from a run of 0.1 that is kept.
 */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "inspect/training/members.h"

/* ---- Moments of a run ------------------------------------------------------------------------ */

struct seen {
	uint32_t counts[WTI_MOMENT_TYPES];
	uint64_t moved_count; /* of parameters at the ends of steps */
	bool has_actions;
	struct wti_training training;
};

static void see(void *self, const struct wti_moment *moment)
{
	struct seen *seen = self;

	seen->counts[__builtin_ctz(moment->type)]++;
	if (moment->type == WTI_MOMENT_STEPPED)
		for (uint32_t i = 0; i < moment->object->member_count; i++)
			seen->moved_count +=
				wti_object_member(moment->training, moment->object, i)->moved;
}

static uint32_t count(const struct seen *seen, enum wti_moment_type type)
{
	return seen->counts[__builtin_ctz(type)];
}

static void read_run(struct seen *seen, const char *path)
{
	struct wt_cursor *cursor = NULL;
	struct wt_trace *trace = NULL;
	struct wt_query query;
	struct wt_event event;

	*seen = (struct seen){0};
	wt_query_init(&query);
	REQUIRE(!wt_trace_open(path, &trace, NULL));
	REQUIRE(!wt_cursor_open(trace, &query, &cursor, NULL));
	REQUIRE(!wti_training_init(&seen->training, see, seen, NULL));
	while (wt_cursor_next(cursor, &event, NULL) > 0) {
		if (event.kind->number == WT_KIND_CALL_BEGIN)
			seen->has_actions |= wti_action_is_recorded(&event);
		CHECK(!wti_training_event(&seen->training, &event, NULL));
	}
	wti_training_finish(&seen->training);
	wti_training_release(&seen->training);
	wt_cursor_free(cursor);
	wt_trace_free(trace);
}

/* ---- A run of 0.1 ---------------------------------------------------------------------------- */

static void test_kept(void)
{
	struct seen seen;

	read_run(&seen, KEPT_RUN);
	CHECK(!seen.has_actions);
	CHECK_INT(count(&seen, WTI_MOMENT_MODULE), 60);
	CHECK_INT(count(&seen, WTI_MOMENT_BACKWARD), 8);
	CHECK_INT(count(&seen, WTI_MOMENT_STEP), 8);
	CHECK_INT(count(&seen, WTI_MOMENT_STEPPED), 8);
	CHECK_INT(count(&seen, WTI_MOMENT_ZERO_GRAD), 8);
	CHECK_INT(count(&seen, WTI_MOMENT_SCHEDULER), 4);
	CHECK_INT(count(&seen, WTI_MOMENT_BATCH), 16); /* and rounds */
	CHECK_INT(count(&seen, WTI_MOMENT_SAVE), 2);
	CHECK_INT((int64_t)seen.moved_count, 40);
}

static enum wt_action derived(const char *callee, uint32_t type)
{
	return wti_action_derived((struct wt_text){callee, strlen(callee)}, type);
}

static void test_derived(void)
{
	CHECK_INT(derived("Net.forward", WTI_OBJECT_UNKNOWN), WT_ACTION_FORWARD);
	CHECK_INT(derived("Net.forward", WT_OBJECT_TYPE_WRAPPER), WT_ACTION_FORWARD);
	CHECK_INT(derived("Net.forward", WT_OBJECT_TYPE_OPTIMIZER), WT_ACTION_NONE);
	CHECK_INT(derived("Tensor.backward", WTI_OBJECT_UNKNOWN), WT_ACTION_BACKWARD);
	CHECK_INT(derived("backward", WTI_OBJECT_UNKNOWN), WT_ACTION_NONE);
	CHECK_INT(derived("Adam.step", WT_OBJECT_TYPE_OPTIMIZER), WT_ACTION_STEP);
	CHECK_INT(derived("Adam.step", WTI_OBJECT_UNKNOWN), WT_ACTION_NONE);
	CHECK_INT(derived("StepLR.step", WT_OBJECT_TYPE_SCHEDULER), WT_ACTION_SCHEDULER_STEP);
	CHECK_INT(derived("Adam.zero_grad", WT_OBJECT_TYPE_OPTIMIZER), WT_ACTION_ZERO_GRAD);
	CHECK_INT(derived("Net.zero_grad", WT_OBJECT_TYPE_MODULE), WT_ACTION_ZERO_GRAD);
	CHECK_INT(derived("GradScaler.update", WT_OBJECT_TYPE_SCALER), WT_ACTION_SCALER);
	CHECK_INT(derived("DataLoader.__iter__", WT_OBJECT_TYPE_LOADER), WT_ACTION_ROUND);
	CHECK_INT(derived("DataLoader.__next__", WT_OBJECT_TYPE_LOADER), WT_ACTION_BATCH);
	CHECK_INT(derived("save", WTI_OBJECT_UNKNOWN), WT_ACTION_SAVE);
	CHECK_INT(derived("load", WTI_OBJECT_UNKNOWN), WT_ACTION_LOAD);
	CHECK_INT(derived("", WTI_OBJECT_UNKNOWN), WT_ACTION_NONE);
}

/* ---- A run of today -------------------------------------------------------------------------- */

static const char *const names[] = {"",     "Adam", "SGD.step", "Net",    "fc.weight",
				    "load", "loss", "step",     "StepLR", "backward"};

enum name { NONE, ADAM, STEP, NET, WEIGHT, LOAD, LOSS, CONTEXT_STEP, STEPLR, BACKWARD };

static char folder[64], path[80];
static struct wt_writer *writer;
static uint64_t seq;

static void put(uint16_t kind, const uint64_t *values)
{
	struct wt_text texts[2] = {{"", 0}, {"", 0}};

	CHECK(!wt_writer_append(writer, kind, 1, seq, seq * 1000, values, WT_FIELDS_MAX, texts));
	seq++;
}

static void begin_run(void)
{
	struct wt_writer_options options;

	snprintf(folder, sizeof(folder), "/tmp/wheeltap-unit-XXXXXX");
	REQUIRE(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/0001.wt", folder);
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 1;
	REQUIRE(!wt_writer_create(path, &options, &writer, NULL));
	CHECK(!wt_writer_track(writer, &(struct wt_track){1, WT_TRACK_THREAD, 1, 0, "t", 1}));
	for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(!wt_writer_string(writer, i, names[i], strlen(names[i])));
	seq = 0;
	put(WT_KIND_OBJECT, (uint64_t[WT_FIELDS_MAX]){ADAM, WT_OBJECT_TYPE_OPTIMIZER, ADAM});
	put(WT_KIND_MEMBER, (uint64_t[WT_FIELDS_MAX]){NET, WEIGHT, NET, WEIGHT, WT_ROLE_PARAMETER});
	put(WT_KIND_MEMBER,
	    (uint64_t[WT_FIELDS_MAX]){ADAM, WEIGHT, NET, WEIGHT, WT_ROLE_OPTIMIZED});
}

static void end_run(struct seen *seen)
{
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
	read_run(seen, path);
	unlink(path);
	rmdir(folder);
}

static void call(enum name callee, enum name object, enum wt_action action)
{
	put(WT_KIND_CALL_BEGIN, (uint64_t[WT_FIELDS_MAX]){[WT_CALL_BEGIN_FIELD_CALLEE] = callee,
							  [WT_CALL_BEGIN_FIELD_OBJECT] = object,
							  [WT_CALL_BEGIN_FIELD_ACTION] = action});
	put(WT_KIND_CALL_END, (uint64_t[WT_FIELDS_MAX]){callee});
}

static void change(uint64_t value)
{
	put(WT_KIND_STATE, (uint64_t[WT_FIELDS_MAX]){[WT_STATE_FIELD_OWNER] = NET,
						     [WT_STATE_FIELD_ATTRIBUTE] = WEIGHT,
						     [WT_STATE_FIELD_TYPE] = WT_VALUE_TYPE_HASH,
						     [WT_STATE_FIELD_NEW] = value});
}

/* The names say nothing: what counts is the action, and that there is an object where one has to
 * be. */
static void test_recorded(void)
{
	struct seen seen;

	begin_run();
	call(LOAD, NONE, WT_ACTION_NONE); /* numpy's */
	call(LOAD, NONE, WT_ACTION_LOAD);
	call(BACKWARD, NONE, WT_ACTION_BACKWARD);
	call(STEP, NONE, WT_ACTION_STEP);
	call(STEP, ADAM, WT_ACTION_SCHEDULER_STEP);
	call(STEP, ADAM, (enum wt_action)1000); /* of a later version */
	end_run(&seen);
	CHECK(seen.has_actions);
	CHECK_INT(count(&seen, WTI_MOMENT_LOAD), 1);
	CHECK_INT(count(&seen, WTI_MOMENT_BACKWARD), 1);
	CHECK_INT(count(&seen, WTI_MOMENT_STEP), 0);
	CHECK_INT(count(&seen, WTI_MOMENT_SCHEDULER), 0);
	CHECK_INT(count(&seen, WTI_MOMENT_CALL), 6);
}

/* Whatever comes between the states of a step does not end its outcome. */
static void test_step_end(void)
{
	struct seen seen;

	begin_run();
	change(1);
	call(STEP, ADAM, WT_ACTION_STEP);
	put(WT_KIND_COUNTER, (uint64_t[WT_FIELDS_MAX]){LOSS});
	put(WT_KIND_THINNED, (uint64_t[WT_FIELDS_MAX]){0});
	change(2);
	put(WT_KIND_STEP_END, (uint64_t[WT_FIELDS_MAX]){ADAM});
	change(3); /* the program's own doing */
	end_run(&seen);
	CHECK_INT(count(&seen, WTI_MOMENT_STEPPED), 1);
	CHECK_INT((int64_t)seen.moved_count, 1);
}

static void test_step_end_lost(void)
{
	struct seen seen;

	begin_run();
	change(1);
	for (uint64_t i = 0; i < 3; i++) {
		call(STEP, ADAM, WT_ACTION_STEP);
		change(2 + i);
	}
	end_run(&seen);
	CHECK_INT(count(&seen, WTI_MOMENT_STEP), 3);
	CHECK_INT(count(&seen, WTI_MOMENT_STEPPED), 3);
	CHECK_INT((int64_t)seen.moved_count, 3);
}

static const struct test tests[] = {{"kept", test_kept},
				    {"derived", test_derived},
				    {"recorded", test_recorded},
				    {"step_end", test_step_end},
				    {"step_end_lost", test_step_end_lost},
				    {NULL, NULL}};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
