/* SPDX-License-Identifier: Apache-2.0 */
/* A summary as JSON, for where it has to outlive its run: written, and read back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"

/* ---- Out ------------------------------------------------------------------------------------- */

static void put_text(struct wti_json *json, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	wti_json_key(json, key);
	wti_json_text(json, text);
}

static void put_metric(struct wti_json *json, const struct wti_run_metric *metric)
{
	wti_json_object(json);
	put_text(json, "name", metric->name);
	put_text(json, "unit", metric->unit);
	for (int i = 0; i < WTI_STATISTICS; i++) {
		wti_json_key(json, wti_statistic_word((enum wti_statistic)i));
		if (isinf(metric->values[i])) /* JSON has none: a text says which */
			wti_json_text(json, metric->values[i] > 0 ? "inf" : "-inf");
		else
			wti_json_f64(json, metric->values[i]);
	}
	wti_json_object_end(json);
}

static void put_finding(struct wti_json *json, const struct wti_run_finding *finding)
{
	wti_json_object(json);
	put_text(json, "code", finding->code);
	put_text(json, "severity", wti_severity_word(finding->severity));
	put_text(json, "title", finding->title);
	put_text(json, "file", finding->file);
	wti_json_key(json, "line");
	wti_json_i64(json, finding->line);
	wti_json_key(json, "step");
	wti_json_i64(json, finding->step);
	wti_json_key(json, "count");
	wti_json_u64(json, finding->count);
	wti_json_object_end(json);
}

static void put_test(struct wti_json *json, const struct wti_test *test)
{
	wti_json_object(json);
	put_text(json, "name", test->name);
	put_text(json, "status", wti_test_status_word(test->status));
	put_text(json, "comparator", wti_comparator_word(test->comparator));
	put_text(json, "expected", test->expected);
	put_text(json, "actual", test->actual);
	put_text(json, "detail", test->detail);
	put_text(json, "unit", test->unit);
	put_text(json, "file", test->file);
	wti_json_key(json, "line");
	wti_json_u64(json, test->line);
	wti_json_key(json, "tolerance");
	wti_json_f64(json, test->tolerance);
	wti_json_key(json, "n");
	wti_json_u64(json, test->n);
	wti_json_key(json, "duration_ns");
	wti_json_i64(json, test->duration_ns);
	wti_json_object_end(json);
}

static void put_configured(struct wti_json *json, const struct wti_configured *item)
{
	wti_json_object(json);
	put_text(json, "key", item->key);
	put_text(json, "value", item->value);
	put_text(json, "source", item->source);
	wti_json_key(json, "type");
	wti_json_u64(json, item->type);
	wti_json_key(json, "default");
	wti_json_bool(json, item->is_default);
	wti_json_key(json, "changes");
	wti_json_u64(json, item->change_count);
	wti_json_object_end(json);
}

/* Digests as text: a double does not hold them. */
static void put_saved(struct wti_json *json, const struct wti_run_saved *saved)
{
	char digest[20], anchor[20];

	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)saved->digest);
	snprintf(anchor, sizeof(anchor), "%016llx", (unsigned long long)saved->anchor);
	wti_json_object(json);
	wti_json_key(json, "path");
	wti_json_text(json, saved->path);
	wti_json_key(json, "step");
	wti_json_i64(json, saved->step);
	wti_json_key(json, "tensors");
	wti_json_u64(json, saved->tensors);
	wti_json_key(json, "digest");
	wti_json_text(json, digest);
	wti_json_key(json, "anchor");
	wti_json_text(json, anchor);
	wti_json_object_end(json);
}

void wti_summary_write(struct wti_json *json, const struct wti_run_summary *summary)
{
	wti_json_object(json);
	wti_json_key(json, "metrics");
	wti_json_array(json);
	for (size_t i = 0; i < summary->metric_count; i++)
		put_metric(json, &summary->metrics[i]);
	wti_json_array_end(json);
	wti_json_key(json, "findings");
	wti_json_array(json);
	for (size_t i = 0; i < summary->finding_count; i++)
		put_finding(json, &summary->findings[i]);
	wti_json_array_end(json);
	wti_json_key(json, "tests");
	wti_json_array(json);
	for (size_t i = 0; i < summary->tests.count; i++)
		put_test(json, &summary->tests.items[i]);
	wti_json_array_end(json);
	wti_json_key(json, "configuration");
	wti_json_array(json);
	for (size_t i = 0; i < summary->configuration.count; i++)
		put_configured(json, &summary->configuration.items[i]);
	wti_json_array_end(json);
	wti_json_key(json, "saved");
	wti_json_array(json);
	for (size_t i = 0; i < summary->saved_count; i++)
		put_saved(json, &summary->saved[i]);
	wti_json_array_end(json);
	wti_json_object_end(json);
}

/* ---- In -------------------------------------------------------------------------------------- */

static double number_at(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	switch (value ? value->type : WTI_DOC_NULL) {
	case WTI_DOC_INT:
		return (double)value->integer;
	case WTI_DOC_FLOAT:
		return value->number;
	case WTI_DOC_STRING:
		return !strcmp(value->string.data, "inf")    ? INFINITY
		       : !strcmp(value->string.data, "-inf") ? -INFINITY
							     : NAN;
	default:
		return NAN;
	}
}

static const char *text_at(const struct wti_doc *table, const char *key)
{
	const char *text = wti_doc_text(table, key);

	return text ? text : "";
}

static const struct wti_doc *first_of(const struct wti_doc *doc, const char *key)
{
	const struct wti_doc *list = wti_doc_get(doc, key);

	return list && list->type == WTI_DOC_ARRAY ? list->first : NULL;
}

static int parse_metric(struct wti_run_summary *summary, const struct wti_doc *it)
{
	struct wti_run_metric metric = {.name = text_at(it, "name"), .unit = text_at(it, "unit")};

	for (int i = 0; i < WTI_STATISTICS; i++)
		metric.values[i] = number_at(it, wti_statistic_word((enum wti_statistic)i));
	return *metric.name ? wti_summary_add_metric(summary, &metric) : 0;
}

static int parse_finding(struct wti_run_summary *summary, const struct wti_doc *it)
{
	const char *word = text_at(it, "severity");
	struct wti_run_finding finding = {.code = text_at(it, "code"),
					  .title = text_at(it, "title"),
					  .file = text_at(it, "file"),
					  .severity = !strcmp(word, "error")     ? WT_ERROR
						      : !strcmp(word, "warning") ? WT_WARNING
										 : WT_NOTE,
					  .line = wti_doc_count(it, "line"),
					  .step = wti_doc_count(it, "step")};
	int64_t count = wti_doc_count(it, "count");

	finding.count = count > 0 ? (uint64_t)count : 0;
	return *finding.code ? wti_summary_add_finding(summary, &finding) : 0;
}

static int parse_test(struct wti_run_summary *summary, const struct wti_doc *it)
{
	int status = wti_test_status_number(text_at(it, "status"));
	int comparator = wti_comparator_number(text_at(it, "comparator"));
	int64_t line = wti_doc_count(it, "line"), n = wti_doc_count(it, "n");
	struct wti_test test = {.name = text_at(it, "name"),
				.unit = text_at(it, "unit"),
				.file = text_at(it, "file"),
				.expected = text_at(it, "expected"),
				.actual = text_at(it, "actual"),
				.detail = text_at(it, "detail"),
				.status = (uint32_t)status,
				.comparator =
					comparator < 0 ? WT_COMPARATOR_NONE : (uint32_t)comparator,
				.line = line > 0 ? (uint32_t)line : 0,
				.tolerance = number_at(it, "tolerance"),
				.n = n > 0 ? (uint64_t)n : 0,
				.duration_ns = wti_doc_count(it, "duration_ns")};

	return *test.name && status >= 0 ? wti_tests_add(&summary->tests, &test) : 0;
}

static int parse_configured(struct wti_run_summary *summary, const struct wti_doc *it)
{
	const struct wti_doc *is_default = wti_doc_get(it, "default");
	int64_t type = wti_doc_count(it, "type"), changes = wti_doc_count(it, "changes");
	struct wti_configured item = {
		.key = text_at(it, "key"),
		.value = text_at(it, "value"),
		.source = text_at(it, "source"),
		.type = type > 0 && type <= WT_VALUE_TYPE_TEXT ? (uint32_t)type : 0,
		.is_default = is_default && is_default->type == WTI_DOC_BOOL && is_default->boolean,
		.change_count = changes > 0 ? (uint64_t)changes : 0};

	return *item.key ? wti_configuration_add(&summary->configuration, &item) : 0;
}

static int parse_saved(struct wti_run_summary *summary, const struct wti_doc *it)
{
	int64_t tensors = wti_doc_count(it, "tensors");

	return wti_summary_add_saved(
		summary,
		&(struct wti_run_saved){.path = text_at(it, "path"),
					.step = wti_doc_count(it, "step"),
					.tensors = tensors > 0 ? (uint64_t)tensors : 0,
					.digest = strtoull(text_at(it, "digest"), NULL, 16),
					.anchor = strtoull(text_at(it, "anchor"), NULL, 16)});
}

int wti_summary_parse(const struct wti_doc *doc, struct wti_run_summary *ret_summary)
{
	struct wti_run_summary summary;
	int r = 0;

	wti_summary_init(&summary);
	for (const struct wti_doc *it = first_of(doc, "metrics"); it && !r; it = it->next)
		r = it->type == WTI_DOC_TABLE ? parse_metric(&summary, it) : 0;
	for (const struct wti_doc *it = first_of(doc, "findings"); it && !r; it = it->next)
		r = it->type == WTI_DOC_TABLE ? parse_finding(&summary, it) : 0;
	for (const struct wti_doc *it = first_of(doc, "tests"); it && !r; it = it->next)
		r = it->type == WTI_DOC_TABLE ? parse_test(&summary, it) : 0;
	for (const struct wti_doc *it = first_of(doc, "configuration"); it && !r; it = it->next)
		r = it->type == WTI_DOC_TABLE ? parse_configured(&summary, it) : 0;
	for (const struct wti_doc *it = first_of(doc, "saved"); it && !r; it = it->next)
		r = it->type == WTI_DOC_TABLE ? parse_saved(&summary, it) : 0;
	if (r)
		wti_summary_release(&summary);
	else
		*ret_summary = summary;
	return r;
}
