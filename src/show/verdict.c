/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a judgement: findings, then how many there are and how many rules, and invariants,
 * applied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verdict.h"

bool wti_verdict_fails(enum wt_severity severity, const char *fail_on)
{
	static const char *const severities[] = {"note", "warning", "error"};

	for (int at = (int)severity; at >= WT_NOTE; at--)
		if (!strcmp(severities[at], fail_on))
			return true;
	return false;
}

bool wti_verdict_any_fails(const struct wt_result *result, const char *fail_on)
{
	for (size_t i = 0; i < result->finding_count; i++)
		if (wti_verdict_fails(result->findings[i].severity, fail_on))
			return true;
	return false;
}

/* ---- Findings ------------------------------------------------------------------------------- */

/* "WT-GRAD-001, shown above: steps 2-1200, to the end; 1,199 of 1,199 checks failed" */
static void add_printed(struct wti_buf *out, const struct wt_finding *finding)
{
	wti_textf(out, "%s, shown above", finding->code);
	if (finding->first_step >= 0) {
		wti_buf_text(out, ": ");
		wti_show_when(out, finding);
	}
	wti_buf_byte(out, '\n');
}

size_t wti_verdict_key(char out[WTI_VERDICT_KEY_BYTES], const struct wt_finding *finding)
{
	int bytes = snprintf(out, WTI_VERDICT_KEY_BYTES, "%s %s", finding->code, finding->title);

	return bytes < 0                       ? 0
	       : bytes < WTI_VERDICT_KEY_BYTES ? (size_t)bytes
					       : WTI_VERDICT_KEY_BYTES - 1;
}

static bool is_emitted(const struct wti_map *emitted, const struct wt_finding *finding)
{
	char key[WTI_VERDICT_KEY_BYTES];

	return wti_map_find_text(emitted, key, wti_verdict_key(key, finding));
}

static void add_findings(struct wti_buf *out, const struct wt_result *result,
			 const struct wti_map *emitted, const struct wti_style *style)
{
	struct wt_result rest = *result;
	size_t printed_count = 0;

	for (size_t i = 0; i < result->finding_count; i++) {
		rest.findings = &result->findings[i];
		rest.finding_count = 1;
		if (!is_emitted(emitted, &result->findings[i]))
			wti_show_findings(out, &rest, style);
	}
	for (size_t i = 0; i < result->finding_count; i++) {
		if (!is_emitted(emitted, &result->findings[i]))
			continue;
		printed_count++;
		add_printed(out, &result->findings[i]);
	}
	if (printed_count)
		wti_buf_byte(out, '\n');
}

/* ---- The closing line ----------------------------------------------------------------------- */

/* What is counted: rules, invariants. */
struct counted {
	const struct wt_table *table;
	const char *word;
	uint64_t violated, held, unmeasured;
};

static uint64_t fact(const struct wt_result *result, const char *word, const char *outcome)
{
	const struct wt_fact *found;
	char key[64];

	snprintf(key, sizeof(key), "%s_%s", word, outcome);
	found = wt_result_fact(result, key);
	return found ? found->value.count : 0;
}

/* False: there is nothing of the kind in this result. */
static bool count(struct counted *counted, const struct wt_result *result, const char *word)
{
	*counted = (struct counted){
		.word = word,
		.violated = fact(result, word, "violated"),
		.held = fact(result, word, "held"),
		.unmeasured = fact(result, word, "not_measured"),
	};
	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, word))
			counted->table = result->tables[i];
	return counted->table;
}

/* "25 of 126 rules"; "and 7 of 13 invariants" */
static void add_applied(struct wti_buf *out, const struct counted *counted, bool is_first)
{
	wti_textf(out, "%s%llu of %llu %s", is_first ? "" : " and ",
		  (unsigned long long)(counted->violated + counted->held),
		  (unsigned long long)(counted->violated + counted->held + counted->unmeasured),
		  counted->word);
}

enum { REASONS_SHOWN = 5, REASONS_MAX = 64 };

struct reason {
	const char *text;
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct reason *left = a, *right = b;

	return (left->count < right->count) - (left->count > right->count);
}

static size_t column_of(const struct wt_table *table, const char *key)
{
	size_t column = 0;

	while (column < table->column_count && strcmp(table->columns[column].key, key))
		column++;
	return column;
}

/* Why rules, or invariants, were not measured, by how many of them; how many reasons. */
static size_t gather_reasons(const struct wt_table *table, struct reason reasons[REASONS_MAX])
{
	size_t why = column_of(table, "why"), count = 0;

	if (why == table->column_count)
		return 0;
	for (size_t row = 0; row < table->row_count; row++) {
		const struct wt_cell *cell = &table->cells[row * table->column_count + why];
		size_t at = 0;

		while (at < count && strcmp(reasons[at].text, cell->text))
			at++;
		if (at == REASONS_MAX)
			continue;
		if (at == count)
			reasons[count++] = (struct reason){cell->text};
		reasons[at].count++;
	}
	qsort(reasons, count, sizeof(*reasons), by_count);
	return count;
}

/* A run without a training step, held against the rules: no rule's own reason says more than that.
 */
static bool is_untrained(const struct wt_result *result)
{
	return wt_result_fact(result, "rules_held") && !wt_result_fact(result, "steps");
}

/* Where nothing applied, that is all there is to say. */
static void add_reasons(struct wti_buf *out, const struct counted *counted)
{
	struct reason reasons[REASONS_MAX];
	size_t count = gather_reasons(counted->table, reasons);

	if (!count)
		wti_textf(out, "There are no %s.\n", counted->word);
	else
		wti_textf(out, "Why %s were not measured:\n", counted->word);
	for (size_t i = 0; i < count && i < REASONS_SHOWN; i++)
		wti_textf(out, "  %5llu  %s\n", (unsigned long long)reasons[i].count,
			  reasons[i].text);
	if (count > REASONS_SHOWN)
		wti_textf(out, "         and %zu more reasons\n", count - REASONS_SHOWN);
}

/* What was found, and how much was there to find it by. */
static void add_line(struct wti_buf *out, const struct counted *all, size_t count,
		     const struct wt_result *result, bool is_brief)
{
	const char *status = result->status ? result->status : "";
	size_t finding_count = result->finding_count;
	uint64_t applied = 0, unmeasured = 0;
	bool is_bare = is_brief || is_untrained(result);

	for (size_t i = 0; i < count; i++) {
		applied += all[i].violated + all[i].held;
		unmeasured += all[i].unmeasured;
	}
	for (size_t i = 0; i < count && !applied && !is_bare; i++)
		add_reasons(out, &all[i]);
	if (!applied)
		wti_textf(out, "Nothing could be judged: %s",
			  !is_untrained(result)        ? ""
			  : !strcmp(status, "damaged") ? "no training step could be read; "
						       : "no training step was recorded; ");
	else if (!finding_count)
		wti_buf_text(out, !strcmp(status, "damaged")
					  ? "No problems found in what could be read. "
				  : !strcmp(status, "not_measured")
					  ? "No problems found before it ended. "
					  : "No problems found. ");
	else
		wti_textf(out, "%zu problem%s found. ", finding_count,
			  finding_count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++)
		add_applied(out, &all[i], !i);
	wti_textf(out, " applied%s%s%s\n", applied && !unmeasured ? "" : "; ",
		  applied && !unmeasured ? ""
		  : is_brief             ? "`wheeltap doctor --all` "
					 : "--all ",
		  !applied     ? "shows why."
		  : unmeasured ? "lists the rest."
			       : ".");
}

static void add_closing(struct wti_buf *out, const struct wt_result *result,
			const struct wti_style *style, bool all, bool is_brief)
{
	static const char *const words[] = {"rules", "invariants"};
	struct counted counted[2];
	size_t kinds = 0;

	for (size_t i = 0; i < 2; i++)
		kinds += count(&counted[kinds], result, words[i]);
	for (size_t i = 0; i < kinds && all; i++)
		wti_show_table(out, counted[i].table, style);
	if (kinds)
		add_line(out, counted, kinds, result, is_brief);
}

void wti_verdict_text(struct wti_buf *out, const struct wt_result *result,
		      const struct wti_style *style)
{
	wti_show_findings(out, result, style);
	add_closing(out, result, style, false, false);
}

void wti_verdict_text_printed(struct wti_buf *out, const struct wt_result *result,
			      const struct wti_map *emitted, const struct wti_style *style)
{
	add_findings(out, result, emitted, style);
	add_closing(out, result, style, false, true);
}

void wti_verdict_text_all(struct wti_buf *out, const struct wt_result *result,
			  const struct wti_style *style)
{
	wti_show_findings(out, result, style);
	add_closing(out, result, style, true, false);
}
