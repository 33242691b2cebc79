/* SPDX-License-Identifier: Apache-2.0 */
/* Puts verdicts into words. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

enum { ROWS_MAX = 1000, TEXT_MAX = 4096, FINDINGS_MAX = 32 };

void wti_replay_name(const struct wti_replay_plan *plan, uint32_t op, char *out, size_t bytes)
{
	const struct wti_replay_plan_op *about = &plan->ops[op];

	snprintf(out, bytes, "operation %u, %s'%.200s'", op,
		 about->call == WTI_CALL_KERNEL ? "kernel " : "", about->name);
}

static const char *queue_name(const struct wti_replay_plan *plan,
			      const struct wti_replay_plan_op *op)
{
	return op->queue == WTI_PLAN_NONE ? "" : plan->objects[op->queue].name;
}

static void text(struct wt_table *table, const char *value)
{
	wt_table_text(table, value, strlen(value));
}

/* ---- The plan -------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
			 bool written)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access = &plan->accesses[op->access_first + i];

		if (written ? wti_replay_plan_writes(plan, access)
			    : wti_replay_plan_reads(plan, access))
			bytes += access->bytes;
	}
	return bytes;
}

void wti_replay_report_plan(const struct wti_replayed *r, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "plan", "operations, as enqueued");

	wt_table_column(table, "operation", "operation", WT_CELL_ID);
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "queue", "queue", WT_CELL_TEXT);
	wt_table_column(table, "reads", "reads", WT_CELL_BYTES);
	wt_table_column(table, "writes", "writes", WT_CELL_BYTES);
	wt_table_column(table, "after", "after", WT_CELL_TEXT);
	wt_table_column(table, "remark", "remark", WT_CELL_TEXT);
	for (uint32_t i = 0; i < r->plan->op_count; i++) {
		const struct wti_replay_plan_op *op = &r->plan->ops[i];
		struct wti_buf after;

		if (!r->selection->is_selected[i] || !wti_replay_plan_is_command(op))
			continue;
		wti_buf_init(&after, TEXT_MAX);
		for (uint32_t k = 0; k < op->before_count && k < 8; k++)
			wti_buf_printf(&after, "%s%u", k ? ", " : "",
				       r->plan->befores[op->before_first + k]);
		wt_table_row(table);
		wt_table_count(table, i);
		text(table, op->name);
		text(table, queue_name(r->plan, op));
		wt_table_count(table, bytes_of(r->plan, op, false));
		wt_table_count(table, bytes_of(r->plan, op, true));
		text(table, wti_buf_cstr(&after));
		text(table, op->refusal                 ? op->refusal
			    : r->selection->is_asked[i] ? ""
							: "needed by what was asked for");
		wti_buf_release(&after);
	}
}

/* ---- Differences in words -------------------------------------------------------------------- */

static void describe_difference(struct wti_buf *out, const struct wti_replay_plan *plan,
				const struct wti_replay_pass_found *found)
{
	const struct wti_replay_difference *d = &found->difference;

	if (found->argument >= 0)
		wti_textf(out, "argument %d (%s), ", found->argument,
			  *found->type ? found->type : "type not known");
	if (found->object != WTI_PLAN_NONE)
		wti_textf(out, "object %" PRIu64 ": ", plan->objects[found->object].id);
	else
		wti_textf(out, "what it returned to the host: ");
	wti_textf(out,
		  "%" PRIu64 " of %" PRIu64 " elements (%s) differ, bytes %" PRIu64 " to %" PRIu64
		  "; first at index %" PRIu64 ": %s and %s",
		  d->differing_count, d->element_count, wti_replay_element_word(d->type),
		  d->from_byte, d->to_byte, d->first, d->left, d->right);
	if (d->type.element != WTI_ELEMENT_BYTE && d->type.element != WTI_ELEMENT_INT)
		wti_textf(out,
			  "; ULP at most %" PRIu64
			  ", %.3g on average; relative at most %.3g; %" PRIu64
			  " NaN on one side, %" PRIu64 " with another sign",
			  d->ulp_max, d->ulp_mean, d->relative_max, d->nan_count, d->sign_count);
}

static uint64_t count_inherited(const struct wti_replayed *r, uint32_t origin)
{
	uint64_t count = 0;

	for (size_t i = 0; i < r->plan->op_count; i++)
		count += r->verdicts->ops[i].verdict == WTI_VERDICT_INHERITED &&
			 r->verdicts->ops[i].cause == origin;
	return count;
}

static const char *reason_words(const struct wti_replayed *r, uint32_t op)
{
	switch (r->verdicts->ops[op].reason) {
	case WTI_ORIGIN_INTRINSIC:
		return "intrinsic: repeating it from the same content gives another result";
	case WTI_ORIGIN_UNINITIALISED:
		return "uninitialised: with other content of memory that nothing has written it "
		       "gives another result";
	case WTI_ORIGIN_ORDER:
		return "order: it races with another operation";
	default:
		return r->verdicts->ops[op].candidates > 1
			       ? "the last of several that wrote it: contents in between were not "
				 "recorded"
			       : "its inputs are the recorded ones";
	}
}

static enum wti_replay_code code_of(uint8_t reason)
{
	return reason == WTI_ORIGIN_INTRINSIC       ? WTI_REPLAY_INTRINSIC
	       : reason == WTI_ORIGIN_UNINITIALISED ? WTI_REPLAY_UNINITIALISED
						    : WTI_REPLAY_DIVERGED;
}

static void add_origin(const struct wti_replayed *r, uint32_t op, struct wt_result *result)
{
	const struct wti_replay_judged *judged = &r->verdicts->ops[op];
	const struct wti_code *code = &wti_replay_codes[code_of(judged->reason)];
	struct wti_buf title, evidence;
	char name[256];

	wti_replay_name(r->plan, op, name, sizeof(name));
	wti_buf_init(&title, TEXT_MAX);
	wti_buf_init(&evidence, TEXT_MAX);
	wti_textf(&title, "ORIGIN: %s, on %s: %s", name, queue_name(r->plan, &r->plan->ops[op]),
		  reason_words(r, op));
	if (judged->found)
		describe_difference(&evidence, r->plan, judged->found);
	wti_textf(&evidence, "%s%" PRIu64 " operations inherit it", judged->found ? "; " : "",
		  count_inherited(r, op));
	wt_result_finding(result, &(struct wt_finding){.code = code->code,
						       .severity = WT_ERROR,
						       .title = wti_buf_cstr(&title),
						       .step = -1,
						       .rank = -1,
						       .line = -1,
						       .first_step = -1,
						       .last_step = -1,
						       .op = r->plan->ops[op].name,
						       .evidence = wti_buf_cstr(&evidence),
						       .count = 1,
						       .means = code->means,
						       .hint = code->hint});
	wti_buf_release(&title);
	wti_buf_release(&evidence);
}

static void add_race(const struct wti_replayed *r, const struct wti_replay_race *race,
		     struct wt_result *result)
{
	const struct wti_code *code = &wti_replay_codes[WTI_REPLAY_RACE];
	const struct wti_replay_plan_op *first = &r->plan->ops[race->first];
	const struct wti_replay_plan_op *second = &r->plan->ops[race->second];
	struct wti_buf title, evidence;

	wti_buf_init(&title, TEXT_MAX);
	wti_buf_init(&evidence, TEXT_MAX);
	wti_textf(&title,
		  "race: '%s' on %s and '%s' on %s touch the same memory, and nothing orders them",
		  first->name, queue_name(r->plan, first), second->name,
		  queue_name(r->plan, second));
	wti_textf(&evidence,
		  "operations %u and %u, object %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64
		  ", %s; %" PRIu64 " such pairs; %s",
		  race->first, race->second, r->plan->objects[race->object].id, race->from,
		  race->to, race->both_write ? "both write" : "one writes", race->count,
		  !race->is_tried      ? "not confirmed: nothing was executed"
		  : race->is_confirmed ? "confirmed: the two orders leave different contents"
				       : "both orders left the same contents");
	wt_result_finding(result,
			  &(struct wt_finding){.code = code->code,
					       .severity = race->is_tried && !race->is_confirmed
								   ? WT_NOTE
								   : WT_ERROR,
					       .title = wti_buf_cstr(&title),
					       .step = -1,
					       .rank = -1,
					       .line = -1,
					       .first_step = -1,
					       .last_step = -1,
					       .op = second->name,
					       .evidence = wti_buf_cstr(&evidence),
					       .count = race->count,
					       .means = code->means,
					       .hint = code->hint});
	wti_buf_release(&title);
	wti_buf_release(&evidence);
}

/* ---- Operations that are not the same -------------------------------------------------------- */

static const char *why_of(const struct wti_replayed *r, uint32_t op)
{
	const struct wti_replay_outcome *outcome = &r->serial->outcomes[op];

	if (outcome->why)
		return outcome->why;
	return r->other && r->other->outcomes[op].why ? r->other->outcomes[op].why : "";
}

static void add_row(const struct wti_replayed *r, struct wt_table *table, uint32_t i)
{
	const struct wti_replay_judged *judged = &r->verdicts->ops[i];
	const struct wti_replay_difference *d = judged->found ? &judged->found->difference : NULL;
	struct wti_buf cause;

	wti_buf_init(&cause, TEXT_MAX);
	if (judged->verdict == WTI_VERDICT_INHERITED || judged->verdict == WTI_VERDICT_UNKNOWN)
		wti_textf(&cause, "from operation %u", judged->cause);
	else if (judged->verdict == WTI_VERDICT_ORIGIN)
		wti_textf(&cause, "%s", reason_words(r, i));
	else
		wti_textf(&cause, "%s", why_of(r, i));
	wt_table_row(table);
	wt_table_count(table, i);
	text(table, r->plan->ops[i].name);
	text(table, queue_name(r->plan, &r->plan->ops[i]));
	text(table, wti_replay_verdict_word(judged->verdict));
	if (d)
		wt_table_count(table, d->differing_count);
	else
		wt_table_empty(table);
	if (d && d->type.element >= WTI_ELEMENT_F16 && d->type.element <= WTI_ELEMENT_F64)
		wt_table_count(table, d->ulp_max);
	else
		wt_table_empty(table);
	text(table, wti_buf_cstr(&cause));
	wti_buf_release(&cause);
}

static void add_operations(const struct wti_replayed *r, struct wt_result *result)
{
	struct wt_table *table = NULL;
	size_t rows = 0;

	for (size_t i = 0; i < r->plan->serial_count; i++) {
		uint32_t op = r->plan->serial[i];
		uint8_t verdict = r->verdicts->ops[op].verdict;

		if (verdict <= WTI_VERDICT_SAME || rows == ROWS_MAX)
			continue;
		if (!rows++) {
			table = wt_result_table(result, "operations",
						"operations that are not the same");
			wt_table_column(table, "operation", "operation", WT_CELL_ID);
			wt_table_column(table, "name", "name", WT_CELL_TEXT);
			wt_table_column(table, "queue", "queue", WT_CELL_TEXT);
			wt_table_column(table, "verdict", "verdict", WT_CELL_TEXT);
			wt_table_column(table, "differing", "elements", WT_CELL_COUNT);
			wt_table_column(table, "ulp", "ULP", WT_CELL_COUNT);
			wt_table_column(table, "why", "why", WT_CELL_TEXT);
		}
		add_row(r, table, op);
	}
	if (rows == ROWS_MAX)
		wt_result_note(result,
			       "only the first %d operations that are not the same are "
			       "listed",
			       ROWS_MAX);
}

void wti_replay_report_total(const struct wti_replay_total *total, struct wt_result *result)
{
	static const struct {
		const char *key, *title;
		enum wti_replay_verdict verdict;
	} counts[] = {
		{"same", "same", WTI_VERDICT_SAME},
		{"origins", "ORIGIN", WTI_VERDICT_ORIGIN},
		{"inherited", "inherited", WTI_VERDICT_INHERITED},
		{"missing", "missing", WTI_VERDICT_MISSING},
		{"unknown", "unknown", WTI_VERDICT_UNKNOWN},
	};

	wt_result_fact_count(result, "operations", "operations", WT_CELL_COUNT, total->operations);
	wt_result_fact_count(result, "races", "races", WT_CELL_COUNT, total->races);
	if (!total->executed && !total->counts[WTI_VERDICT_MISSING])
		return;
	wt_result_fact_count(result, "executed", "executed", WT_CELL_COUNT, total->executed);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		wt_result_fact_count(result, counts[i].key, counts[i].title, WT_CELL_COUNT,
				     total->counts[counts[i].verdict]);
	wt_result_fact_count(result, "extra", "extra", WT_CELL_COUNT, total->extra);
	wt_result_fact_count(result, "compared", "compared results", WT_CELL_COUNT,
			     total->compared);
	wt_result_fact_count(result, "compared_bytes", "compared bytes", WT_CELL_BYTES,
			     total->compared_bytes);
	if (total->is_all)
		return;
	wt_result_fact_count(result, "needed", "needed besides", WT_CELL_COUNT, total->needed);
	wt_result_fact_count(result, "restored", "restored contents", WT_CELL_COUNT,
			     total->restored);
}

/* Of the execution that kept the recorded pace. */
static void add_duration(const struct wti_replayed *r, struct wt_result *result)
{
	if (r->other && r->options->speed > 0)
		wt_result_fact_number(result, "seconds", "seconds", WT_CELL_NUMBER,
				      (double)r->other->duration_ns / 1e9);
}

static void add_devices(const struct wti_replayed *r, struct wt_result *result)
{
	for (size_t i = 0; i < WTI_SESSION_DEVICES_MAX; i++) {
		const struct wti_replay_session_device *device = &r->session->devices[i];

		if (!device->recorded)
			continue;
		wt_result_fact_text(result, "device", "device",
				    device->name ? device->name : "missing");
		if (device->name && !device->is_same)
			wt_result_note(result,
				       "recorded on '%s', replayed on '%s' (%s): results are "
				       "compared with a tolerance and cannot be bit-exact",
				       device->recorded, device->name, device->driver);
	}
}

static void add_notes(const struct wti_replayed *r, struct wt_result *result)
{
	uint64_t uncompared = (r->serial ? r->serial->uncompared_count : 0) +
			      (r->other ? r->other->uncompared_count : 0);

	if (uncompared)
		wt_result_note(result,
			       "%" PRIu64 " recorded results are missing or damaged in the run's "
			       "folder, and were not compared",
			       uncompared);
	if (r->uninitialised && r->uninitialised->unwritten_count)
		wt_result_note(result,
			       "%" PRIu64 " recorded contents have bytes that no operation wrote: "
			       "the rest of them was compared",
			       r->uninitialised->unwritten_count);
	if (r->plan->lost_count)
		wt_result_note(result,
			       "%" PRIu64 " events were lost when this was recorded: "
			       "operations may be missing",
			       r->plan->lost_count);
	if (r->plan->serial_count < r->plan->op_count)
		wt_result_note(result,
			       "%zu operations wait for one another: they were not replayed",
			       r->plan->op_count - r->plan->serial_count);
	if (r->races->is_unjudged || r->races->unjudged_count)
		wt_result_note(result, "races: NOT MEASURED for all operations, there are too many "
				       "at once");
}

void wti_replay_report_replayed(const struct wti_replayed *r, struct wt_result *result)
{
	size_t findings = 0;

	add_notes(r, result);
	for (size_t i = 0; i < r->races->count && findings < FINDINGS_MAX; i++, findings++)
		add_race(r, &r->races->all[i], result);
	if (!r->session)
		return;
	add_devices(r, result);
	add_duration(r, result);
	for (size_t i = 0; i < r->plan->serial_count && findings < FINDINGS_MAX; i++)
		if (r->verdicts->ops[r->plan->serial[i]].verdict == WTI_VERDICT_ORIGIN) {
			add_origin(r, r->plan->serial[i], result);
			findings++;
		}
	add_operations(r, result);
}
