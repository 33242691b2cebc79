/* SPDX-License-Identifier: Apache-2.0 */
/* What a data set is made of: columns, classes, and what is odd about them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "dataset/codes.h"
#include "dataset/dataset.h"

#define UNBALANCED_RATIO 10u /* between the most frequent and the rarest class: see WT-SET-006 */
#define DISTINCT_MAX 100000u /* values of a column that are counted */

struct column_facts {
	uint64_t missing;
	uint64_t infinite;
	double min, max, mean, deviation;
	bool is_constant;
	bool failed;       /* out of memory while counting */
	uint64_t distinct; /* DISTINCT_MAX: that many, or more */
};

static uint64_t bits_of(double value)
{
	uint64_t bits;

	value = value == 0 ? 0 : isnan(value) ? NAN : value;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t count_distinct(const struct wti_dataset *set, size_t column, bool *ret_failed)
{
	struct wti_map seen;
	uint64_t count;

	wti_map_init(&seen, DISTINCT_MAX);
	for (uint64_t i = 0; i < set->rows && seen.count < DISTINCT_MAX; i++)
		wti_map_number(&seen, bits_of(wti_dataset_row(set, i)[column]));
	count = seen.count;
	*ret_failed = seen.failed;
	wti_map_release(&seen);
	return count;
}

static void measure(const struct wti_dataset *set, size_t column, struct column_facts *ret)
{
	struct column_facts facts = {.min = INFINITY, .max = -INFINITY};
	double m2 = 0;
	uint64_t count = 0;

	for (uint64_t i = 0; i < set->rows; i++) {
		double value = wti_dataset_row(set, i)[column], delta;

		facts.missing += isnan(value);
		facts.infinite += isinf(value) != 0;
		if (!isfinite(value))
			continue;
		facts.min = value < facts.min ? value : facts.min;
		facts.max = value > facts.max ? value : facts.max;
		delta = value - facts.mean;
		facts.mean += delta / (double)++count;
		m2 += delta * (value - facts.mean);
	}
	facts.deviation = count > 1 ? sqrt(m2 / (double)(count - 1)) : 0;
	facts.distinct = count_distinct(set, column, &facts.failed);
	facts.is_constant = facts.distinct == 1 && set->rows > 1;
	*ret = facts;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void text(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

static void number(struct wt_table *table, double value, bool there)
{
	if (there)
		wt_table_number(table, value);
	else
		wt_table_empty(table);
}

static void files_table(const struct wti_dataset *const *sets, size_t count,
			struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "files", "data sets");

	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_column(table, "rows", "rows", WT_CELL_COUNT);
	wt_table_column(table, "columns", "columns", WT_CELL_COUNT);
	wt_table_column(table, "classes", "classes", WT_CELL_COUNT);
	wt_table_column(table, "label", "label", WT_CELL_TEXT);
	wt_table_column(table, "bytes", "size", WT_CELL_BYTES);
	wt_table_column(table, "sha256", "SHA-256", WT_CELL_TEXT);
	for (size_t i = 0; i < count; i++) {
		char hex[2 * WTI_SHA256_BYTES + 1];

		for (size_t j = 0; j < WTI_SHA256_BYTES; j++)
			snprintf(hex + 2 * j, 3, "%02x", sets[i]->sha[j]);
		wt_table_row(table);
		text(table, sets[i]->path);
		wt_table_count(table, sets[i]->rows);
		wt_table_count(table, sets[i]->columns);
		wt_table_count(table, sets[i]->class_count);
		text(table, sets[i]->labels_path  ? sets[i]->labels_path
			    : sets[i]->label_name ? sets[i]->label_name
						  : "");
		wt_table_count(table, sets[i]->bytes);
		text(table, hex);
	}
}

static struct wt_table *columns_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "columns", "columns");

	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_column(table, "column", "column", WT_CELL_TEXT);
	wt_table_column(table, "min", "min", WT_CELL_NUMBER);
	wt_table_column(table, "max", "max", WT_CELL_NUMBER);
	wt_table_column(table, "mean", "mean", WT_CELL_NUMBER);
	wt_table_column(table, "deviation", "deviation", WT_CELL_NUMBER);
	wt_table_column(table, "distinct", "distinct", WT_CELL_COUNT);
	wt_table_column(table, "missing", "missing", WT_CELL_COUNT);
	return table;
}

static void column_row(struct wt_table *table, const struct wti_dataset *set, size_t column,
		       const struct column_facts *facts)
{
	bool there = !set->column[column].is_text && facts->min <= facts->max;

	wt_table_row(table);
	text(table, set->path);
	text(table, set->column[column].name);
	number(table, facts->min, there);
	number(table, facts->max, there);
	number(table, facts->mean, there);
	number(table, facts->deviation, there);
	wt_table_count(table, facts->distinct);
	wt_table_count(table, facts->missing + facts->infinite);
}

/* ---- Findings -------------------------------------------------------------------------------- */

/* Every value goes with one class, and every class with one value. */
static int is_label(const struct wti_dataset *set, size_t column, uint64_t distinct, bool *ret)
{
	struct wti_map class_of;
	int r;
	bool is = set->labels && set->class_count > 1 && distinct == set->class_count &&
		  set->rows > 2 * distinct;

	wti_map_init(&class_of, WTI_DATASET_CLASSES_MAX);
	for (uint64_t i = 0; is && i < set->rows; i++) {
		uint64_t *slot =
			wti_map_number(&class_of, bits_of(wti_dataset_row(set, i)[column]));

		is = slot && (!*slot || *slot == set->labels[i] + 1u);
		if (slot)
			*slot = set->labels[i] + 1u;
	}
	*ret = is;
	r = class_of.failed ? WT_E_NOMEM : 0;
	wti_map_release(&class_of);
	return r;
}

static int report_column(const struct wti_dataset *set, size_t column,
			 const struct column_facts *facts, struct wt_result *result)
{
	const char *name = set->column[column].name;
	char title[256], evidence[128];
	bool is;
	int r;

	if (facts->is_constant) {
		snprintf(title, sizeof(title), "column '%.120s' has the same value in all rows",
			 name);
		snprintf(evidence, sizeof(evidence), "%llu rows; the value is %.9g",
			 (unsigned long long)set->rows, facts->min);
		wti_dataset_report(result, WTI_SET_CONSTANT, WT_WARNING, set, set->rows, title,
				   evidence);
	}
	if (facts->missing || facts->infinite) {
		snprintf(title, sizeof(title), "values of column '%.120s' are missing or infinite",
			 name);
		snprintf(evidence, sizeof(evidence), "%llu missing, %llu infinite of %llu rows",
			 (unsigned long long)facts->missing, (unsigned long long)facts->infinite,
			 (unsigned long long)set->rows);
		wti_dataset_report(result, WTI_SET_MISSING, WT_WARNING, set,
				   facts->missing + facts->infinite, title, evidence);
	}
	r = is_label(set, column, facts->distinct, &is);
	if (is) {
		snprintf(title, sizeof(title), "column '%.120s' is the label itself", name);
		snprintf(evidence, sizeof(evidence), "%llu values, one for each of %zu classes",
			 (unsigned long long)facts->distinct, set->class_count);
		wti_dataset_report(result, WTI_SET_LABEL_INSIDE, WT_ERROR, set, set->rows, title,
				   evidence);
	}
	return facts->failed ? WT_E_NOMEM : r;
}

static void count_classes(const struct wti_dataset *set, uint64_t *counts)
{
	for (uint64_t i = 0; i < set->rows; i++)
		counts[set->labels[i]]++;
}

static void report_balance(const struct wti_dataset *set, const uint64_t *counts,
			   struct wt_result *result)
{
	size_t most = 0, least = 0;
	char evidence[256];

	for (size_t c = 1; c < set->class_count; c++) {
		most = counts[c] > counts[most] ? c : most;
		least = counts[c] < counts[least] ? c : least;
	}
	if (counts[most] < UNBALANCED_RATIO * counts[least])
		return;
	snprintf(evidence, sizeof(evidence), "class '%.40s' has %llu rows, class '%.40s' has %llu",
		 set->classes[most], (unsigned long long)counts[most], set->classes[least],
		 (unsigned long long)counts[least]);
	wti_dataset_report(result, WTI_SET_UNBALANCED, WT_NOTE, set, counts[least],
			   wti_dataset_codes[WTI_SET_UNBALANCED].title, evidence);
}

static int describe_classes(const struct wti_dataset *set, struct wt_table *table,
			    struct wt_result *result)
{
	uint64_t *counts;

	if (!set->labels)
		return 0;
	counts = calloc(set->class_count + 1, sizeof(*counts));
	if (!counts)
		return WT_E_NOMEM;
	count_classes(set, counts);
	for (size_t c = 0; c < set->class_count; c++) {
		wt_table_row(table);
		text(table, set->path);
		text(table, set->classes[c]);
		wt_table_count(table, counts[c]);
		wt_table_number(table, 100 * (double)counts[c] / (double)set->rows);
	}
	report_balance(set, counts, result);
	free(counts);
	return 0;
}

int wti_dataset_describe(const struct wti_dataset *const *sets, size_t count,
			 struct wt_result *result, struct wt_err *err)
{
	struct wt_table *columns, *classes;
	int r = 0;

	files_table(sets, count, result);
	columns = columns_table(result);
	classes = wt_result_table(result, "classes", "classes");
	wt_table_column(classes, "file", "file", WT_CELL_TEXT);
	wt_table_column(classes, "class", "class", WT_CELL_TEXT);
	wt_table_column(classes, "rows", "rows", WT_CELL_COUNT);
	wt_table_column(classes, "percent", "share", WT_CELL_PERCENT);
	for (size_t i = 0; !r && i < count; i++) {
		for (size_t c = 0; !r && c < sets[i]->columns; c++) {
			struct column_facts facts;

			measure(sets[i], c, &facts);
			column_row(columns, sets[i], c, &facts);
			r = report_column(sets[i], c, &facts, result);
		}
		if (!r)
			r = describe_classes(sets[i], classes, result);
	}
	return r ? wti_err(err, r, "out of memory for describing data") : 0;
}
