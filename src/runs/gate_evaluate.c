/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which assertions are about one run, and which about several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gate_evaluate.h"

struct evaluation {
	const struct wti_front *front;
	const struct wti_gate_question *asked;
	struct wti_judged *judged;
	size_t judged_count;
};

/* ---- Runs ------------------------------------------------------------------------------------ */

int wti_gate_add_run(const struct wti_front *front, const struct wti_gate *gate, const char *word,
		     struct wti_gate_runs *runs, struct wt_result *result, struct wt_err *err)
{
	int r;

	if (runs->count == WTI_GATE_RUNS_MAX)
		return wti_err(err, WT_E_ARG, "more than %d runs", WTI_GATE_RUNS_MAX);
	if (!runs->items)
		runs->items = calloc(WTI_GATE_RUNS_MAX, sizeof(*runs->items));
	if (!runs->items)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_gate_measure(front, word, gate, &runs->items[runs->count], result, err);
	runs->count += !r;
	return r;
}

void wti_gate_runs_release(struct wti_gate_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		wti_measured_release(&runs->items[i]);
	free(runs->items);
}

/* ---- Judging --------------------------------------------------------------------------------- */

static struct wti_judged *next_judged(struct evaluation *all, size_t i, const char *run)
{
	struct wti_judged *judged = &all->judged[all->judged_count++];

	*judged = (struct wti_judged){.assertion = &all->asked->gate->assertions[i], .run = run};
	return judged;
}

static int judge_slower(struct evaluation *all, size_t i, struct wt_err *err)
{
	struct wti_judged *judged =
		next_judged(all, i, all->asked->now->items[0].seen.opened.run.name);
	size_t now = all->asked->now->count, before = all->asked->before->count;
	struct wti_gate_run *runs = calloc(now + before, sizeof(*runs));

	if (!runs)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t j = 0; j < now + before; j++)
		runs[j] = j < now ? all->asked->now->items[j].run
				  : all->asked->before->items[j - now].run;
	wti_gate_slower(judged->assertion, runs, now, runs + now, before, &judged->outcome);
	free(runs);
	return 0;
}

static int judge_each(struct evaluation *all, size_t i, struct wt_err *err)
{
	int r = 0;

	for (size_t j = 0; j < all->asked->now->count && !r; j++) {
		const struct wti_measured *measured = &all->asked->now->items[j];
		struct wti_assertion assertion =
			wti_measured_assertion(measured, all->asked->gate, i);
		struct wti_judged *judged = next_judged(all, i, measured->seen.opened.run.name);

		if (assertion.type == WTI_GATE_GOLDEN)
			r = wti_gate_golden(all->front, &assertion, measured, &judged->outcome,
					    err);
		else
			r = wti_gate_judge(&assertion, &measured->run, &judged->outcome, err);
	}
	return r;
}

int wti_gate_evaluate(const struct wti_front *front, const struct wti_gate_question *question,
		      struct wti_judged **ret_judged, size_t *ret_count, struct wt_err *err)
{
	const struct wti_gate *gate = question->gate;
	struct evaluation all = {.front = front, .asked = question};
	int r = 0;

	all.judged = calloc(gate->count * question->now->count + 1, sizeof(*all.judged));
	if (!all.judged)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < gate->count && !r; i++)
		r = gate->assertions[i].type == WTI_GATE_SLOWER ? judge_slower(&all, i, err)
								: judge_each(&all, i, err);
	if (r) {
		free(all.judged);
		return r;
	}
	*ret_judged = all.judged;
	*ret_count = all.judged_count;
	return 0;
}

/* ---- What came out --------------------------------------------------------------------------- */

static const char *const words[] = {"held", "violated", "not_measured", "disabled"};

static void put(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

static void add_finding(const struct wti_judged *judged, struct wt_result *result)
{
	const struct wti_code *code = &wti_gate_codes[judged->assertion->type];
	struct wti_buf title;

	wti_buf_init(&title, 4096);
	wti_buf_printf(&title, "%s: %s instead of %s", judged->assertion->name,
		       judged->outcome.actual, judged->outcome.expected);
	wt_result_finding(result, &(struct wt_finding){.code = code->code,
						       .severity = judged->assertion->severity,
						       .title = wti_buf_cstr(&title),
						       .step = -1,
						       .rank = -1,
						       .line = -1,
						       .first_step = -1,
						       .last_step = -1,
						       .expected = judged->outcome.expected,
						       .actual = judged->outcome.actual,
						       .count = 1,
						       .means = code->means,
						       .hint = code->hint});
	wti_buf_release(&title);
}

static void fill_table(const struct wti_judged *all, size_t count, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "assertions", "");

	wt_table_column(table, "name", "assertion", WT_CELL_TEXT);
	wt_table_column(table, "type", "type", WT_CELL_TEXT);
	wt_table_column(table, "run", "run", WT_CELL_TEXT);
	wt_table_column(table, "outcome", "outcome", WT_CELL_TEXT);
	wt_table_column(table, "expected", "expected", WT_CELL_TEXT);
	wt_table_column(table, "actual", "actual", WT_CELL_TEXT);
	wt_table_column(table, "why", "why not measured", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	for (size_t i = 0; i < count; i++) {
		const struct wti_judged *judged = &all[i];

		wt_table_row(table);
		put(table, judged->assertion->name);
		put(table, wti_gate_word(judged->assertion->type));
		put(table, judged->run);
		put(table, words[judged->outcome.verdict]);
		put(table, judged->outcome.expected);
		put(table, judged->outcome.actual);
		put(table, judged->outcome.why);
		wt_table_count(table, judged->assertion->line);
	}
}

void wti_gate_result(const struct wti_judged *judged, size_t count, size_t ret_counts[4],
		     struct wt_result *result)
{
	size_t counts[4] = {0};
	bool is_measured;

	for (size_t i = 0; i < count; i++) {
		counts[judged[i].outcome.verdict]++;
		if (judged[i].outcome.verdict == WTI_VIOLATED)
			add_finding(&judged[i], result);
	}
	for (size_t i = 0; i < 4; i++) {
		char key[32];

		snprintf(key, sizeof(key), "assertions_%s", words[i]);
		wt_result_fact_count(result, key, "", WT_CELL_COUNT, counts[i]);
	}
	is_measured = !counts[WTI_NOT_MEASURED] && counts[WTI_HELD] + counts[WTI_VIOLATED];
	wt_result_set_status(result, counts[WTI_VIOLATED] ? "findings"
				     : is_measured        ? "clean"
							  : "not_measured");
	fill_table(judged, count, result);
	memcpy(ret_counts, counts, sizeof(counts));
}
