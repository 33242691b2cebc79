/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about system calls say where some calls were lost or not recorded. */
#include "inspect/habits/habits.h"
#include "rules_world.h"

/* One process that drew so many random numbers, one by one, in a tenth of a second. */
static const char *outcome_of(uint64_t count, uint64_t lost_count, bool is_whole, const char *code,
			      char out[32])
{
	struct wti_training training;
	struct wti_judge judge;
	struct wti_ledger_process process = {.pid = 1, .command = "draw", .step = -1};
	struct wti_ledger_thread thread = {.tid = 1};
	struct wti_posting posting = {.matter = WTI_MATTER_RANDOM,
				      .count = count,
				      .bytes = 8 * count,
				      .last_ns = 100000000,
				      .first_step = -1};
	struct wti_ledger ledger = {.postings = &posting,
				    .posting_count = 1,
				    .processes = &process,
				    .process_count = 1,
				    .threads = &thread,
				    .thread_count = 1,
				    .call_count = count,
				    .lost_count = lost_count};
	struct wt_result result;

	out[0] = 0;
	wt_result_init(&result, "doctor");
	CHECK(!wti_training_init(&training, ignore, NULL, NULL));
	CHECK(!wti_judge_init(&judge, &training, NULL));
	wti_habits_audit(&judge, &ledger, is_whole);
	wti_judge_finish(&judge, &result);
	for (size_t i = 0; i < result.tables[0]->row_count; i++) {
		const struct wt_cell *row =
			&result.tables[0]->cells[i * result.tables[0]->column_count];

		if (!strcmp(row[0].text, code))
			snprintf(out, 32, "%s", row[1].text);
	}
	wti_judge_release(&judge);
	wti_training_release(&training);
	wt_result_release(&result);
	return out;
}

/* More were made than are known: too many remain too many, few may have been many. */
static void losses(void)
{
	char out[32];

	CHECK(!strcmp(outcome_of(20000, 0, true, "WT-SYS-008", out), "violated"));
	CHECK(!strcmp(outcome_of(20, 0, true, "WT-SYS-008", out), "held"));
	CHECK(!strcmp(outcome_of(20000, 5, true, "WT-SYS-008", out), "violated"));
	CHECK(!strcmp(outcome_of(20, 5, true, "WT-SYS-008", out), "not measured"));
	CHECK(!strcmp(outcome_of(20, 0, true, "WT-SYS-001", out), "held"));
	CHECK(!strcmp(outcome_of(20, 5, true, "WT-SYS-001", out), "not measured"));
}

static void some_calls(void)
{
	char out[32];

	CHECK(!strcmp(outcome_of(20, 0, false, "WT-SYS-001", out), "not measured"));
	CHECK(!strcmp(outcome_of(20, 0, false, "WT-SYS-008", out), "held"));
}

static const struct test tests[] = {{"losses", losses}, {"some_calls", some_calls}, {NULL, NULL}};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
