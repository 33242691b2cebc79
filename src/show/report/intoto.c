/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as in-toto statements, a JSON object a line, two a run: the result of its checks
 * (test-result) and where its artifacts come from (SLSA provenance). They are not signed. Claims
 * are the recorder's own: nobody else has verified them.
 */
#include <string.h>

#include "base/json.h"
#include "report.h"

#define STATEMENT "https://in-toto.io/Statement/v1"
#define TEST_RESULT "https://in-toto.io/attestation/test-result/v0.1"
#define PROVENANCE "https://slsa.dev/provenance/v1"
/* Names of kinds, no addresses: nothing is looked up there. */
#define BUILD_TYPE "urn:wheeltap:record:v1"
#define BUILDER "urn:wheeltap:self-attested"

static const char *fact_of(const struct wti_report *report, const char *part, const char *key)
{
	const struct wti_report_part *found = wti_report_part(report, part);

	return found ? wti_report_text(&found->result, key) : NULL;
}

static const struct wt_table *table_of(const struct wti_report *report, const char *part,
				       const char *key)
{
	const struct wti_report_part *found = wti_report_part(report, part);

	return found ? wti_report_table(&found->result, key) : NULL;
}

/* ---- What it is about ------------------------------------------------------------------------ */

/* Whether a list of files has this one under its full path. */
static bool is_listed(const struct wt_table *table, const char *path)
{
	for (size_t i = 0; table && i < table->row_count; i++) {
		const char *other = wti_report_cell_text(table, i, "path");
		size_t bytes = strlen(path), other_bytes = other ? strlen(other) : 0;

		if (other_bytes >= bytes && !strcmp(other + other_bytes - bytes, path) &&
		    (other_bytes == bytes || other[other_bytes - bytes - 1] == '/'))
			return true;
	}
	return false;
}

/* Files of a table that have a hash and have not changed since the run, as resources, without those
 * that `other` lists (or NULL). */
static void put_files(struct wti_json *json, const struct wt_table *table, const char *name_key,
		      const char *action, const struct wt_table *other)
{
	for (size_t i = 0; table && i < table->row_count; i++) {
		const char *path = wti_report_cell_text(table, i, "path");
		const char *hash = wti_report_cell_text(table, i, "sha256");
		const char *since = wti_report_cell_text(table, i, "since");
		const char *did = wti_report_cell_text(table, i, "action");

		if (!path || !hash || (since && strcmp(since, "not changed") != 0) ||
		    (action && did && strcmp(did, action) != 0) || is_listed(other, path))
			continue;
		wti_json_object(json);
		wti_json_member(json, name_key, path);
		wti_json_key(json, "digest");
		wti_json_object(json);
		wti_json_member(json, "sha256", hash);
		wti_json_object_end(json);
		wti_json_object_end(json);
	}
}

static void begin_statement(struct wti_json *json, struct wti_buf *out,
			    const struct wti_report *report, const char *predicate)
{
	const struct wt_table *written = table_of(report, "artifacts", "written_files");

	wti_json_init(json, out, false);
	wti_json_object(json);
	wti_json_member(json, "_type", STATEMENT);
	wti_json_key(json, "subject");
	wti_json_array(json);
	put_files(json, table_of(report, "artifacts", "checkpoints"), "name", "save", written);
	put_files(json, written, "name", NULL, NULL);
	put_files(json, table_of(report, "artifacts", "trace"), "name", NULL, NULL);
	wti_json_array_end(json);
	wti_json_member(json, "predicateType", predicate);
	wti_json_key(json, "predicate");
	wti_json_object(json);
}

static void end_statement(struct wti_json *json, struct wti_buf *out)
{
	wti_json_object_end(json);
	wti_json_object_end(json);
	wti_buf_byte(out, '\n');
}

/* ---- The result of tests --------------------------------------------------------------------- */

static void put_checks(struct wti_json *json, const struct wti_report *report, const char *verdict,
		       const char * or)
{
	const struct wt_table *table = table_of(report, "checks", "checks");

	for (size_t i = 0; table && i < table->row_count; i++) {
		const char *text = wti_report_cell_text(table, i, "verdict");

		if (text && (!strcmp(text, verdict) || (or &&!strcmp(text, or))))
			wti_json_text(json, wti_report_cell_text(table, i, "name"));
	}
}

static void put_findings(struct wti_json *json, const struct wti_report *report,
			 enum wt_severity severity)
{
	const struct wti_report_part *part = wti_report_part(report, "findings");

	for (size_t i = 0; part && i < part->result.finding_count; i++)
		if (part->result.findings[i].severity == severity)
			wti_json_text(json, part->result.findings[i].code);
}

/* A run that goes on, and one of which nothing was judged, has passed nothing. */
static const char *result_of(const struct wti_report *report)
{
	static const char *const words[] = {"PASSED", "WARNED", "WARNED", "FAILED"};

	return words[report->verdict];
}

static void put_tests(struct wti_json *json, const struct wti_report *report)
{
	wti_json_member(json, "result", result_of(report));
	wti_json_key(json, "configuration");
	wti_json_array(json);
	put_files(json, table_of(report, "data", "read_files"), "name", NULL, NULL);
	wti_json_array_end(json);
	wti_json_key(json, "passedTests");
	wti_json_array(json);
	put_checks(json, report, "passed", NULL);
	wti_json_array_end(json);
	wti_json_key(json, "warnedTests");
	wti_json_array(json);
	put_findings(json, report, WT_WARNING);
	wti_json_array_end(json);
	wti_json_key(json, "failedTests");
	wti_json_array(json);
	put_findings(json, report, WT_ERROR);
	put_checks(json, report, "failed", "error");
	wti_json_array_end(json);
}

/* ---- Provenance ------------------------------------------------------------------------------ */

static void put_dependencies(struct wti_json *json, const struct wti_report *report)
{
	const char *commit = fact_of(report, "code", "commit");

	wti_json_key(json, "resolvedDependencies");
	wti_json_array(json);
	if (commit) {
		wti_json_object(json);
		wti_json_member(json, "name", "git commit");
		wti_json_key(json, "digest");
		wti_json_object(json);
		wti_json_member(json, "gitCommit", commit);
		wti_json_object_end(json);
		wti_json_object_end(json);
	}
	put_files(json, table_of(report, "data", "read_files"), "uri", NULL, NULL);
	wti_json_array_end(json);
}

static void put_definition(struct wti_json *json, const struct wti_report *report)
{
	wti_json_key(json, "buildDefinition");
	wti_json_object(json);
	wti_json_member(json, "buildType", BUILD_TYPE);
	wti_json_key(json, "externalParameters");
	wti_json_object(json);
	wti_json_member(json, "command", fact_of(report, "run", "command"));
	wti_json_member(json, "directory", fact_of(report, "run", "directory"));
	wti_json_object_end(json);
	wti_json_key(json, "internalParameters");
	wti_json_object(json);
	wti_json_member(json, "changedFiles", fact_of(report, "code", "dirty"));
	wti_json_member(json, "diffHash", fact_of(report, "code", "diff_hash"));
	wti_json_member(json, "kernel", fact_of(report, "host", "kernel"));
	wti_json_member(json, "cpu", fact_of(report, "host", "cpu"));
	wti_json_member(json, "python", fact_of(report, "host", "python_version"));
	wti_json_member(json, "torch", fact_of(report, "host", "torch_version"));
	wti_json_object_end(json);
	put_dependencies(json, report);
	wti_json_object_end(json);
}

/* As run.json has it; NULL while it is not known. */
static void put_moment(struct wti_json *json, const char *key, const struct wti_report *report,
		       const char *from)
{
	const char *text = fact_of(report, "run", from);

	if (text)
		wti_json_member(json, key, text);
}

static void put_details(struct wti_json *json, const struct wti_report *report, const char *version)
{
	wti_json_key(json, "runDetails");
	wti_json_object(json);
	wti_json_key(json, "builder");
	wti_json_object(json);
	wti_json_member(json, "id", BUILDER);
	wti_json_key(json, "version");
	wti_json_object(json);
	wti_json_member(json, "wheeltap", version);
	wti_json_object_end(json);
	wti_json_object_end(json);
	wti_json_key(json, "metadata");
	wti_json_object(json);
	wti_json_member(json, "invocationId", report->run);
	put_moment(json, "startedOn", report, "start_utc");
	put_moment(json, "finishedOn", report, "end_utc");
	wti_json_object_end(json);
	wti_json_object_end(json);
}

void wti_report_intoto(struct wti_buf *out, const struct wti_report_list *list)
{
	struct wti_json json;

	for (size_t i = 0; i < list->count; i++) {
		const struct wti_report *report = &list->reports[i];

		begin_statement(&json, out, report, TEST_RESULT);
		put_tests(&json, report);
		end_statement(&json, out);
		begin_statement(&json, out, report, PROVENANCE);
		put_definition(&json, report);
		put_details(&json, report, list->version);
		end_statement(&json, out);
	}
}
