/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a judgement: findings, then how many rules, and invariants, were violated, held, not
 * measured.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "verdict.h"

#define REASONS_SHOWN 2u

bool wti_verdict_fails(enum wt_severity severity, const char *fail_on)
{
	static const char *const severities[] = {"note", "warning", "error"};

	for (int at = (int)severity; at >= WT_NOTE; at--)
		if (!strcmp(severities[at], fail_on))
			return true;
	return false;
}

/* ---- Findings ------------------------------------------------------------------------------- */

void wti_verdict_paths(struct wt_result *result, const char *directory)
{
	size_t bytes = directory ? strlen(directory) : 0;

	for (size_t i = 0; bytes > 1 && i < result->finding_count; i++) {
		char *file = (char *)(uintptr_t)result->findings[i].file; /* the result's own */

		if (file && !strncmp(file, directory, bytes) && file[bytes] == '/')
			memmove(file, file + bytes + 1, strlen(file + bytes + 1) + 1);
	}
}

/* "WT-GRAD-001, told above: since step 2, 1,199 of 1,199" */
static void add_told(struct wti_buf *out, const struct wt_finding *finding)
{
	char count[32], among[32];

	wti_textf(out, "%s, told above", finding->code);
	if (finding->first_step >= 0)
		wti_textf(out, ": since step %lld", (long long)finding->first_step);
	if (finding->last_step > finding->first_step)
		wti_textf(out, ", last in step %lld", (long long)finding->last_step);
	if (finding->case_count)
		wti_textf(out, " (%s of %s)", wti_format_count(count, finding->count),
			  wti_format_count(among, finding->case_count));
	wti_buf_byte(out, '\n');
}

size_t wti_verdict_key(char out[WTI_TOLD_BYTES], const struct wt_finding *finding)
{
	int bytes = snprintf(out, WTI_TOLD_BYTES, "%s %s", finding->code, finding->title);

	return bytes < 0 ? 0 : bytes < WTI_TOLD_BYTES ? (size_t)bytes : WTI_TOLD_BYTES - 1;
}

static bool is_told(const struct wti_map *told, const struct wt_finding *finding)
{
	char key[WTI_TOLD_BYTES];

	return wti_map_find_text(told, key, wti_verdict_key(key, finding));
}

static void add_findings(struct wti_buf *out, const struct wt_result *result,
			 const struct wti_map *told, const struct wti_style *style)
{
	struct wt_result rest = *result;
	size_t told_count = 0;

	for (size_t i = 0; i < result->finding_count; i++) {
		rest.findings = &result->findings[i];
		rest.finding_count = 1;
		if (!is_told(told, &result->findings[i]))
			wti_show_findings(out, &rest, style);
	}
	for (size_t i = 0; i < result->finding_count; i++) {
		if (!is_told(told, &result->findings[i]))
			continue;
		told_count++;
		add_told(out, &result->findings[i]);
	}
	if (told_count)
		wti_buf_byte(out, '\n');
}

/* ---- The closing line ----------------------------------------------------------------------- */

/* What is counted: rules, invariants. */
struct counted {
	const struct wt_table *table;
	const char *word;
	const char *column; /* by which one of them is named */
	uint64_t violated, held, unmeasured;
};

static uint64_t fact(const struct wt_result *result, const char *word, const char *outcome)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s", word, outcome);
	for (size_t i = 0; i < result->fact_count; i++)
		if (!strcmp(result->facts[i].key, key))
			return result->facts[i].value.count;
	return 0;
}

/* False: there is nothing of the kind in this result. */
static bool count(struct counted *counted, const struct wt_result *result, const char *word,
		  const char *column)
{
	*counted = (struct counted){
		.word = word,
		.column = column,
		.violated = fact(result, word, "violated"),
		.held = fact(result, word, "held"),
		.unmeasured = fact(result, word, "not_measured"),
	};
	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, word))
			counted->table = result->tables[i];
	return counted->table;
}

static size_t column_of(const struct wt_table *table, const char *key)
{
	size_t i = 0;

	while (i < table->column_count && strcmp(table->columns[i].key, key))
		i++;
	return i;
}

/* " (WT-RANK-001: one rank; ...; 4 more: --all)" */
static void add_reasons(struct wti_buf *out, const struct counted *counted)
{
	const struct wt_table *table = counted->table;
	size_t code = column_of(table, counted->column), why = column_of(table, "why");
	uint64_t shown = 0;

	for (size_t row = 0; row < table->row_count && shown < REASONS_SHOWN; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		if (!cells[why].text_bytes)
			continue;
		wti_textf(out, "%s%s: %s", shown++ ? "; " : " (", cells[code].text,
			  cells[why].text);
	}
	if (counted->unmeasured > shown)
		wti_textf(out, "; %llu more: --all",
			  (unsigned long long)(counted->unmeasured - shown));
	if (shown)
		wti_buf_byte(out, ')');
}

/* `is_clean`: nothing was found, here or elsewhere. */
static void add_line(struct wti_buf *out, const struct counted *counted, bool is_clean)
{
	unsigned long long violated = counted->violated, held = counted->held;
	unsigned long long unmeasured = counted->unmeasured;

	if (violated)
		wti_textf(out, "%llu %s: %llu violated, %llu held, %llu not measured",
			  violated + held + unmeasured, counted->word, violated, held, unmeasured);
	else if (held)
		wti_textf(out, "%s%llu %.*s held, %llu not measured", is_clean ? "clean: " : "",
			  held, (int)strlen(counted->word) - (held == 1), counted->word,
			  unmeasured);
	else
		wti_textf(out, "not measured: none of %llu %s found anything to judge", unmeasured,
			  counted->word);
	if (unmeasured)
		add_reasons(out, counted);
	wti_buf_byte(out, '\n');
}

static void add_closing(struct wti_buf *out, const struct wt_result *result,
			const struct wti_style *style, bool all)
{
	static const char *const words[][2] = {{"rules", "code"}, {"invariants", "id"}};
	struct counted counted;
	bool is_clean = true;

	for (size_t i = 0; i < 2; i++)
		if (count(&counted, result, words[i][0], words[i][1]))
			is_clean = is_clean && !counted.violated;
	for (size_t i = 0; i < 2; i++)
		if (all && count(&counted, result, words[i][0], words[i][1]))
			wti_show_table(out, counted.table, style);
	for (size_t i = 0; i < 2; i++)
		if (count(&counted, result, words[i][0], words[i][1]))
			add_line(out, &counted, is_clean);
}

void wti_verdict_text(struct wti_buf *out, const struct wt_result *result,
		      const struct wti_style *style)
{
	wti_show_findings(out, result, style);
	add_closing(out, result, style, false);
}

void wti_verdict_text_told(struct wti_buf *out, const struct wt_result *result,
			   const struct wti_map *told, const struct wti_style *style)
{
	add_findings(out, result, told, style);
	add_closing(out, result, style, false);
}

void wti_verdict_text_all(struct wti_buf *out, const struct wt_result *result,
			  const struct wti_style *style)
{
	wti_show_findings(out, result, style);
	add_closing(out, result, style, true);
}
