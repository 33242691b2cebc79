/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb `clean`: removes runs. It only ever touches folders directly below the home, or named by
 * the user, that hold a run.json of ours, follows no symbolic link, crosses no file system and
 * leaves running runs alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/consent.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/progress.h"
#include "runs/remove.h"
#include "runs/retire.h"
#include "runs/run_filter.h"
#include "runs/tags.h"

struct clean_options {
	int64_t older_than_ns;
	uint64_t keep;
	struct wti_list where;
	bool keep_tagged;
	bool forget;
	bool elsewhere;
	bool yes;
	bool dry_run;
	bool json;
};

static const struct clean_options defaults = {.older_than_ns = -1, .keep = UINT64_MAX};

static int64_t ended_ns(const struct wti_run *run)
{
	if (!run->start_ns)
		return run->written_ns;
	return run->start_ns + (run->duration_ns > 0 ? run->duration_ns : 0);
}

/* Whether it has a word that somebody gave it. */
static bool is_tagged(const struct wti_run *run)
{
	struct wti_buf tags;
	bool any;

	wti_buf_init(&tags, 1u << 16);
	any = wti_tags_read(run->path, &tags, NULL) || tags.bytes; /* what cannot be read stays */
	wti_buf_release(&tags);
	return any;
}

/* Which of the runs the filters leave, by their place. */
static int filter(const struct clean_options *o, const struct wti_front *front,
		  const struct wti_run *runs, size_t count, bool *wanted, struct wt_err *err)
{
	struct wti_catalogue *c = NULL;
	const struct wti_catalogue_run *rows;
	struct wti_run_filter terms;
	bool *keep = NULL;
	size_t row_count;
	int r = wti_filter_read((char **)o->where.items, o->where.count, &terms, err);

	r = r ? r : wti_catalogue_open(front, &c, NULL, err);
	if (r)
		return r;
	rows = wti_catalogue_runs(c, &row_count);
	keep = calloc(row_count + 1, sizeof(*keep));
	r = keep ? wti_filter_apply(front, c, &terms, keep, err)
		 : wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < count && !r; i++) {
		const struct wti_catalogue_run *row = wti_catalogue_find(c, runs[i].name);

		wanted[i] = row && keep[row - rows];
	}
	free(keep);
	wti_filter_release(&terms);
	wti_catalogue_free(c);
	return r;
}

/* Runs come newest first: of those that are wanted and not running the first `keep` stay. */
static size_t choose(const struct clean_options *o, struct wti_run *runs, size_t count,
		     const bool *wanted, struct wti_run **chosen)
{
	int64_t now_ns = (int64_t)time(NULL) * 1000000000;
	size_t picked = 0;
	uint64_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct wti_run *run = &runs[i];
		struct stat st;

		if (!wanted[i] || !strcmp(run->status, "running") || lstat(run->path, &st) ||
		    !S_ISDIR(st.st_mode) || (o->keep_tagged && is_tagged(run)))
			continue;
		if (o->keep != UINT64_MAX && kept < o->keep) {
			kept++;
			continue;
		}
		if (o->older_than_ns >= 0 && now_ns - ended_ns(run) < o->older_than_ns)
			continue;
		chosen[picked++] = run;
	}
	return picked;
}

static bool confirm(size_t count, uint64_t bytes)
{
	const char *plural = count == 1 ? "" : "s";
	char size[16];
	enum wti_consent answer = wti_consent_ask("remove %zu run%s (%s)?", count, plural,
						  wti_format_bytes(size, bytes));

	if (answer == WTI_CONSENT_NOBODY)
		wti_warn("there is no terminal to ask on: use --yes to remove %zu run%s", count,
			 plural);
	return answer == WTI_CONSENT_GIVEN;
}

static void add_row(struct wt_table *table, const struct wti_run *run, uint64_t bytes)
{
	char moment[32];

	wti_format_moment(moment, run->start_ns);
	wt_table_row(table);
	wt_table_text(table, run->name, strlen(run->name));
	wt_table_text(table, run->status, strlen(run->status));
	wt_table_text(table, moment, strlen(moment));
	wt_table_count(table, bytes);
}

static int remove_all(const struct clean_options *o, struct wti_run **chosen, size_t count,
		      struct wt_result *result)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	size_t removed = wti_retire(&front, chosen, count, o->forget, o->elsewhere, result);

	wt_result_fact_count(result, "removed", "removed", WT_CELL_COUNT, removed);
	return removed == count ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static int clean(const struct clean_options *o, struct wti_run **chosen, size_t count)
{
	struct wt_result result;
	struct wt_table *table;
	uint64_t bytes = 0;
	int code = WTI_EXIT_CLEAN;

	wt_result_init(&result, "clean");
	table = wt_result_table(&result, "runs", "");
	wt_table_column(table, "name", "run", WT_CELL_TEXT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	wt_table_column(table, "start", "started", WT_CELL_TEXT);
	wt_table_column(table, "bytes", "size", WT_CELL_BYTES);
	for (size_t i = 0; i < count; i++) {
		uint64_t size = wti_run_size(chosen[i]->path).disk_bytes;

		add_row(table, chosen[i], size);
		bytes += size;
	}
	/* Nothing is for people to see if there is nothing to remove: the note says so. */
	wt_result_fact_count(&result, "chosen", o->dry_run && count ? "would remove" : "",
			     WT_CELL_COUNT, count);
	wt_result_fact_count(&result, "bytes", count ? "size" : "", WT_CELL_BYTES, bytes);
	if (!count) {
		wt_result_note(&result, "nothing to remove: no run below '%s' matches", wti_home());
	} else if (!o->dry_run && (o->yes || confirm(count, bytes))) {
		code = remove_all(o, chosen, count, &result);
	} else if (!o->dry_run) {
		wt_result_fact_count(&result, "removed", "removed", WT_CELL_COUNT, 0);
		code = WTI_EXIT_USAGE;
	}
	code = wti_report_result(&result, o->json, code);
	wt_result_release(&result);
	return code;
}

/* Exactly those that were named; none if one of them is not a run that may be removed. */
static int clean_named(const struct clean_options *o, char **words, size_t count)
{
	struct wti_run *runs = calloc(count, sizeof(*runs));
	struct wti_run **chosen = calloc(count, sizeof(*chosen));
	struct wti_front front = wti_front_here(NULL);
	struct wt_err err = {.offset = -1};
	size_t found = 0;
	int r = runs && chosen ? 0 : wti_err(&err, WT_E_NOMEM, "out of memory");
	int code;

	while (!r && found < count) {
		r = wti_run_or_set_find(&front, words[found], &runs[found], &err);
		if (r)
			break;
		chosen[found] = &runs[found];
		if (!runs[found].has_json)
			r = wti_err(&err, WT_E_ARG, "'%.200s' is not a wheeltap run", words[found]);
		else
			r = wti_run_holds_only_ours(runs[found].path, &err);
		found++;
	}
	code = r ? wti_report_error("clean", o->json, &err) : clean(o, chosen, found);
	wti_runs_free(runs, runs ? found : 0);
	free(chosen);
	return code;
}

static int run(const void *opaque, char **arguments, size_t argument_count)
{
	const struct clean_options *o = opaque;
	bool selects = o->older_than_ns >= 0 || o->keep != UINT64_MAX || o->where.count;
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wti_run **chosen;
	struct wti_run *runs;
	bool *wanted;
	size_t count;
	int code;

	if (argument_count && (selects || o->keep_tagged))
		wti_err(&err, WT_E_ARG,
			"give runs by name, or --older-than, --keep and --where, not both");
	else if (!argument_count && o->elsewhere)
		wti_err(&err, WT_E_ARG,
			"give the runs for --elsewhere by name: that they have ended cannot be "
			"seen here");
	else if (!argument_count && !selects)
		wti_err(&err, WT_E_ARG,
			"no runs given: use their names, --older-than 7d, --keep 10, --where "
			"status=failed, or --keep 0 for all of them");
	if (err.code)
		return wti_report_error("clean", o->json, &err);
	if (argument_count)
		return clean_named(o, arguments, argument_count);
	if (wti_runs_list(&front, &runs, &count, &err)) {
		wti_report_error("clean", o->json, &err);
		return WTI_EXIT_ENVIRONMENT;
	}
	chosen = calloc(count + 1, sizeof(*chosen));
	wanted = malloc(count + 1);
	if (wanted)
		memset(wanted, true, count + 1);
	if (!chosen || !wanted)
		wti_err(&err, WT_E_NOMEM, "out of memory");
	else if (o->where.count)
		filter(o, &front, runs, count, wanted, &err);
	code = err.code ? wti_report_error("clean", o->json, &err)
			: clean(o, chosen, choose(o, runs, count, wanted, chosen));
	free(wanted);
	free(chosen);
	wti_runs_free(runs, count);
	return code;
}

static const struct wti_option options[] = {
	{"older-than", 0, WTI_OPT_DURATION, "TIME", NULL,
	 "only runs that ended longer ago than this, such as 36h or 7d",
	 offsetof(struct clean_options, older_than_ns)},
	{"keep", 0, WTI_OPT_COUNT, "N", NULL, "keep the N newest runs",
	 offsetof(struct clean_options, keep)},
	{"keep-tagged", 0, WTI_OPT_FLAG, NULL, NULL, "leave runs with tags alone",
	 offsetof(struct clean_options, keep_tagged)},
	{"where", 0, WTI_OPT_LIST, "FILTER", NULL,
	 "only runs that match this filter, as in 'wheeltap ls': status=failed; may be given "
	 "several times",
	 offsetof(struct clean_options, where)},
	{"forget", 0, WTI_OPT_FLAG, NULL, NULL, "keep nothing, not even the summary",
	 offsetof(struct clean_options, forget)},
	{"elsewhere", 0, WTI_OPT_FLAG, NULL, NULL,
	 "the named runs have ended, also those that another host may still record",
	 offsetof(struct clean_options, elsewhere)},
	{"yes", 'y', WTI_OPT_FLAG, NULL, NULL, "do not ask for confirmation",
	 offsetof(struct clean_options, yes)},
	{"dry-run", 0, WTI_OPT_FLAG, NULL, NULL, "only show what would be removed",
	 offsetof(struct clean_options, dry_run)},
	WTI_OPTION_JSON(struct clean_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_clean = {
	.name = "clean",
	.arguments = "[RUN...]",
	.arguments_max = 1000,
	.summary = "remove runs, by name or by age",
	.description = "Removes the given runs, wherever they are, or those below "
		       "$WHEELTAP_HOME, or ./wheeltap-runs, that --older-than and --keep select. "
		       "It asks first. With both --older-than and --keep a run is removed only "
		       "if it is old and not among the newest N; --where and --keep-tagged "
		       "narrow further.\n\n"
		       "The summary of a run below that folder is kept: status, command, commit, "
		       "tags, metrics, findings, tests, and the SHA-256 of each of its files. "
		       "'wheeltap ls --all' lists such runs, 'trend' and 'compare' use them. The "
		       "summaries are stored in the file .kept.jsonl beside the runs. --forget "
		       "keeps nothing.\n\n"
		       "Only folders with a run.json written by wheeltap are removed. Runs that "
		       "are being recorded stay, and symbolic links are not followed. Whether a "
		       "run of another host has ended cannot be seen here if its recorder died, or "
		       "if the host has another name now: it is removed by its name with "
		       "--elsewhere.",
	.examples = "wheeltap clean run1\tone run\n"
		    "wheeltap clean --older-than 7d --keep 5\n"
		    "wheeltap clean --where status=failed --keep-tagged --dry-run\twhat would go\n"
		    "wheeltap clean --keep 0 --yes\tall runs, without asking",
	.options = options,
	.options_bytes = sizeof(struct clean_options),
	.group = "keep",
	.run = run,
	.defaults = &defaults,
};
