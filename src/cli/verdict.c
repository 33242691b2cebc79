/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of a judgement: how many rules were violated, held, not measured. */
#include <string.h>

#include "verdict.h"

#define REASONS_SHOWN 2u

static uint64_t fact(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->fact_count; i++)
		if (!strcmp(result->facts[i].key, key))
			return result->facts[i].value.count;
	return 0;
}

static const struct wt_table *rules_of(const struct wt_result *result)
{
	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, "rules"))
			return result->tables[i];
	return NULL;
}

static size_t column_of(const struct wt_table *table, const char *key)
{
	size_t i = 0;

	while (i < table->column_count && strcmp(table->columns[i].key, key))
		i++;
	return i;
}

/* " (WT-RANK-001: one rank; ...; 4 more: --all)" */
static void add_reasons(struct wti_buf *out, const struct wt_table *table, uint64_t count)
{
	size_t code = column_of(table, "code"), why = column_of(table, "why");
	uint64_t shown = 0;

	for (size_t row = 0; row < table->row_count && shown < REASONS_SHOWN; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		if (!cells[why].text_bytes)
			continue;
		wti_buf_printf(out, "%s%s: %s", shown++ ? "; " : " (", cells[code].text,
			       cells[why].text);
	}
	if (count > shown)
		wti_buf_printf(out, "; %llu more: --all", (unsigned long long)(count - shown));
	if (shown)
		wti_buf_byte(out, ')');
}

static void add_closing(struct wti_buf *out, const struct wt_result *result)
{
	const struct wt_table *table = rules_of(result);
	uint64_t violated = fact(result, "rules_violated");
	uint64_t held = fact(result, "rules_held");
	uint64_t unmeasured = fact(result, "rules_not_measured");

	if (violated)
		wti_buf_printf(out, "%llu rules: %llu violated, %llu held, %llu not measured",
			       (unsigned long long)(violated + held + unmeasured),
			       (unsigned long long)violated, (unsigned long long)held,
			       (unsigned long long)unmeasured);
	else if (held)
		wti_buf_printf(out, "clean: %llu rules held, %llu not measured",
			       (unsigned long long)held, (unsigned long long)unmeasured);
	else
		wti_buf_printf(out, "not measured: none of %llu rules found anything to judge",
			       (unsigned long long)unmeasured);
	if (table && unmeasured)
		add_reasons(out, table, unmeasured);
	wti_buf_byte(out, '\n');
}

void wti_verdict_text(struct wti_buf *out, const struct wt_result *result,
		      const struct wti_style *style)
{
	wti_show_findings(out, result, style);
	add_closing(out, result);
}

void wti_verdict_text_all(struct wti_buf *out, const struct wt_result *result,
			  const struct wti_style *style)
{
	const struct wt_table *table = rules_of(result);

	wti_show_findings(out, result, style);
	if (table)
		wti_show_table(out, table, style);
	add_closing(out, result);
}
