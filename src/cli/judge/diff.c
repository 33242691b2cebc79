/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `diff`: two runs, what a person changed, where values differ, what they did. */
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/text.h"
#include "runs/diff_setup.h"
#include "runs/seen.h"
#include "inspect/device/device.h"
#include "inspect/diff/diff.h"
#include "inspect/digits/digits.h"
#include "inspect/diff/parting.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "tensors.h"
#include "values.h"

struct diff_options {
	bool json;
	bool raw;
	bool all;
	bool device;
	bool tensors;
	uint64_t context;
	const char *tolerances;
};

static const struct diff_options defaults = {.context = 2};

/* ---- As a patch ------------------------------------------------------------------------------ */

static const struct wt_table *table_of(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	return NULL;
}

static void begin_line(struct wti_buf *out, const struct wti_style *style, const char *sign)
{
	if (*sign == '+')
		wti_ink(out, style, WTI_INK_GREEN);
	else if (*sign == '-')
		wti_ink(out, style, WTI_INK_RED);
}

static void end_line(struct wti_buf *out, const struct wti_style *style, const char *sign)
{
	if (*sign == '+' || *sign == '-')
		wti_ink(out, style, WTI_INK_END);
	wti_buf_byte(out, '\n');
}

/* "~ file  $CWD/model.bin  written_bytes 32768 -> 36864, a step 0..8192 -> 0..9216" */
static void print_counts(struct wti_buf *out, const struct wt_table *table,
			 const struct wti_style *style)
{
	char a[32], b[32];

	for (size_t row = 0; row < table->row_count; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		begin_line(out, style, cells[0].text);
		wti_textf(out, "%s %-8s ", cells[0].text, cells[1].text);
		wti_printable(out, cells[2].text, cells[2].text_bytes);
		wti_textf(out, "  %s %s -> %s", cells[3].text, wti_format_count(a, cells[4].count),
			  wti_format_count(b, cells[5].count));
		if (cells[6].text_bytes || cells[7].text_bytes)
			wti_textf(out, ", a step %s -> %s",
				  cells[6].text_bytes ? cells[6].text : "0",
				  cells[7].text_bytes ? cells[7].text : "0");
		end_line(out, style, cells[0].text);
	}
}

static void print_place(struct wti_buf *out, const struct wt_cell *cells)
{
	if (cells[4].count > 1)
		wti_textf(out, "  (%llu times)", (unsigned long long)cells[4].count);
	if (cells[5].text_bytes)
		wti_textf(out, "  %s:%llu", cells[5].text, (unsigned long long)cells[6].count);
}

static bool same_hunk(const struct wt_cell *a, const struct wt_cell *b)
{
	return !strcmp(a[0].text, b[0].text) && !strcmp(a[1].text, b[1].text);
}

static void print_order(struct wti_buf *out, const struct wt_table *table,
			const struct wti_style *style)
{
	for (size_t row = 0; row < table->row_count; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		if (!row || !same_hunk(cells, cells - table->column_count))
			wti_textf(out, "@@ %s: %s @@\n", cells[0].text, cells[1].text);
		begin_line(out, style, cells[2].text);
		wti_textf(out, "%s ", *cells[2].text == '@' ? " " : cells[2].text);
		wti_printable(out, cells[3].text, cells[3].text_bytes);
		print_place(out, cells);
		end_line(out, style, cells[2].text);
	}
}

static void print_title(struct wti_buf *out, const struct wti_style *style, const char *title)
{
	wti_buf_text(out, out->bytes ? "\n" : "");
	wti_ink(out, style, WTI_INK_BOLD);
	wti_buf_text(out, title);
	wti_ink(out, style, WTI_INK_END);
	wti_buf_byte(out, '\n');
}

/* "~ argument    --lr  0.1 -> 0.2" */
static void print_setup(struct wti_buf *out, const struct wt_table *table,
			const struct wti_style *style)
{
	if (!table || !table->row_count)
		return;
	print_title(out, style, "setup");
	for (size_t row = 0; row < table->row_count; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		begin_line(out, style, cells[0].text);
		wti_textf(out, "%s %-11s %s%s%s%s%s", cells[0].text, cells[1].text, cells[2].text,
			  cells[2].text_bytes ? "  " : "", cells[3].text,
			  *cells[0].text == '~' ? " -> " : "", cells[4].text);
		end_line(out, style, cells[0].text);
	}
}

static void print_parting(struct wti_buf *out, const struct wt_table *table,
			  const struct wti_parting *parting, const struct wti_style *style)
{
	if (!table || !parting->is_parted)
		return;
	print_title(out, style, "values differ");
	if (parting->step == WTI_PART_BEFORE)
		wti_buf_text(out, "before the first step: ");
	else
		wti_textf(out, "at step %lld: ", (long long)parting->step);
	wti_textf(out, "%llu of its values differ\n", (unsigned long long)parting->count);
	for (size_t row = 0; row < table->row_count; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		wti_textf(out, "~ %s  %s -> %s\n", cells[1].text, cells[2].text, cells[3].text);
	}
	if (parting->count > table->row_count)
		wti_textf(out, "  and %llu more\n",
			  (unsigned long long)(parting->count - table->row_count));
}

static void print_tables(struct wti_buf *out, const struct wt_result *result, bool all,
			 const struct wti_parting *parting, const struct wti_style *style)
{
	static const char *const counts[] = {"effects", "counts", "noise"};
	const struct wt_table *order = table_of(result, "order");
	const struct wt_table *values = table_of(result, "values");
	const struct wt_table *outside = table_of(result, "outside");
	const struct wt_table *missing = table_of(result, "not_compared");

	print_setup(out, table_of(result, "setup"), style);
	if (!outside)
		print_parting(out, table_of(result, "parting"), parting, style);
	if (outside && outside->row_count) {
		print_title(out, style, "values outside the tolerances");
		wti_show_table(out, outside, style);
	}
	if (missing && missing->row_count) {
		print_title(out, style, "results that only one run has");
		wti_show_table(out, missing, style);
	}
	for (size_t i = 0; i < (all ? 3 : 2); i++) {
		const struct wt_table *table = table_of(result, counts[i]);

		if (!table || !table->row_count)
			continue;
		print_title(out, style, counts[i]);
		print_counts(out, table, style);
	}
	if (values && values->row_count) {
		wti_buf_text(out, out->bytes ? "\n" : "");
		wti_show_table(out, values, style);
	}
	if (order && order->row_count) {
		print_title(out, style, "order");
		print_order(out, order, style);
	}
}

/* The same folder or file, whatever it was called. */
static bool is_one_run(const struct wti_seen_run *runs)
{
	struct stat a, b;

	return !stat(runs[0].opened.run.path, &a) && !stat(runs[1].opened.run.path, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* "1 effect", ", 3 counts" */
static void print_count(struct wti_buf *out, bool is_first, uint64_t count, const char *one,
			const char *many)
{
	wti_textf(out, "%s%llu %s", is_first ? "" : ", ", (unsigned long long)count,
		  count == 1 ? one : many);
}

/* ", 3 values from step 4 on" */
static void print_parted(struct wti_buf *out, const struct wti_parting *parting)
{
	if (!parting->is_parted)
		return;
	print_count(out, false, parting->count, "value", "values");
	if (parting->step == WTI_PART_BEFORE)
		wti_buf_text(out, " before the first step");
	else
		wti_textf(out, " at step %lld, where values first differ",
			  (long long)parting->step);
}

static void print_end(struct wti_buf *out, const struct wt_result *result, bool all,
		      const struct wti_difference *d, const struct wti_parting *parting,
		      const struct wti_seen_run *runs)
{
	const struct wt_table *noise = table_of(result, "noise");
	const struct wt_fact *outside = wt_result_fact(result, "values_outside");

	if (out->bytes)
		wti_buf_byte(out, '\n');
	if (is_one_run(runs)) {
		wti_textf(out, "nothing is compared: both are the run '%s'\n",
			  runs[0].opened.run.name);
		return;
	}
	if (d->effects || d->counts || d->order || d->values) {
		wti_textf(out, "'%s' and '%s' differ: ", runs[0].opened.run.name,
			  runs[1].opened.run.name);
		print_count(out, true, d->effects, "effect", "effects");
		print_count(out, false, d->counts, "count", "counts");
		print_count(out, false, d->order, "place in the order", "places in the order");
		print_count(out, false, d->values, "counter or setting", "counters or settings");
		if (outside)
			print_count(out, false, outside->value.count,
				    "value outside the tolerances",
				    "values outside the tolerances");
		else
			print_parted(out, parting);
		wti_buf_byte(out, '\n');
	} else if (parting->is_parted)
		wti_textf(out, "'%s' and '%s' differ only in their values\n",
			  runs[0].opened.run.name, runs[1].opened.run.name);
	else
		wti_textf(out, "'%s' and '%s' did the same%s\n", runs[0].opened.run.name,
			  runs[1].opened.run.name,
			  strcmp(result->status, "not_measured") ? ""
								 : ", as far as could be seen");
	if (d->effects || d->counts || d->order || d->values || parting->is_parted)
		wti_buf_text(out, "only some environment variables are recorded and compared "
				  "(docs/private.md)\n");
	if (noise && noise->row_count && !all)
		wti_textf(out, "%zu counts that depend on timing also differ (--all shows them)\n",
			  noise->row_count);
}

/* ---- The verb -------------------------------------------------------------------------------- */

/* What was recorded of one and not of the other is not compared, and said. */
static int comparable(const struct wti_seen_run *runs, bool has_tolerances,
		      struct wt_result *result, struct wt_err *err)
{
	bool a = runs[0].effects.syscall_count, b = runs[1].effects.syscall_count;

	/* A program that only computes has values, which tolerances judge. */
	if (!a && !b && !runs[0].effects.thing_count && !runs[0].effects.value_count &&
	    !has_tolerances)
		return wti_err(
			err, WT_E_FORMAT,
			"'%s' has nothing to compare: record it with `wheeltap record --syscalls`",
			runs[0].opened.run.name);
	if (a != b)
		return wti_err(err, WT_E_FORMAT,
			       "'%s' has no system calls and '%s' has: record both with --syscalls",
			       runs[a].opened.run.name, runs[!a].opened.run.name);
	if (strcmp(runs[0].recorded, runs[1].recorded))
		return wti_err(
			err, WT_E_FORMAT,
			"'%s' was recorded with --syscalls=%s and '%s' with %s: record both in the "
			"same way",
			runs[0].opened.run.name, runs[0].recorded, runs[1].opened.run.name,
			runs[1].recorded);
	if (!a)
		wt_result_note(
			result,
			"no system calls were recorded: only what agents emitted is compared");
	for (size_t i = 0; i < 2; i++)
		if (runs[i].effects.lost_count)
			wt_result_note(
				result,
				"'%s' lost %llu events: it may have done more than was recorded",
				runs[i].opened.run.name,
				(unsigned long long)runs[i].effects.lost_count);
	return 0;
}

static int print(const struct diff_options *options, const struct wt_result *result,
		 const struct wti_difference *difference, const struct wti_parting *parting,
		 const struct wti_seen_run *runs, int code)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	if (options->json || wt_result_status(result))
		return wti_report_result(result, options->json, code);
	wti_buf_init(&out, 1u << 30);
	print_tables(&out, result, options->all, parting, &style);
	print_end(&out, result, options->all, difference, parting, runs);
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

static int compare(const struct diff_options *options, const struct wti_seen_run *runs,
		   struct wt_result *result, int *ret_code, struct wt_err *err)
{
	struct wti_locator a = wti_seen_locator(&runs[0]), b = wti_seen_locator(&runs[1]);
	struct wti_diff_options how = {
		.raw = options->raw, .context = options->context, .a = &a, .b = &b};
	struct wti_difference d = {0};
	struct wti_parting parting = {0};
	struct wti_within within = {0};
	bool is_whole = runs[0].is_whole && runs[1].is_whole, differs;
	bool is_doubtful[2];
	int r = comparable(runs, options->tolerances, result, err);

	r = r ? r : wti_diff_setup(&runs[0].opened.run, &runs[1].opened.run, result, err);
	r = r ? r : wti_part(runs[0].opened.trace, runs[1].opened.trace, result, &parting, err);
	r = r ? r : wti_diff(&runs[0].effects, &runs[1].effects, &how, result, &d, err);
	if (!r && options->tolerances) {
		r = wti_judge_values(
			options->tolerances,
			(const struct wti_opened_run *[]){&runs[0].opened, &runs[1].opened}, result,
			&within, err);
		parting.is_parted = within.outside > 0;
		is_whole &= within.compared > 0 && !within.unsampled && !within.not_compared;
		/* Counters are among the values: what is inside is no difference. */
		d.values = within.compared && !within.outside ? 0 : d.values;
	}
	if (r)
		return r;
	differs = d.effects || d.counts || d.order || d.values || parting.is_parted;
	for (size_t i = 0; i < 2; i++)
		is_doubtful[i] = wti_seen_doubt(&runs[i], result);
	is_whole &= !is_doubtful[0] && !is_doubtful[1];
	if (parting.is_parted)
		wt_result_fact_number(result, "parting_step", "", WT_CELL_NUMBER,
				      (double)parting.step);
	if (options->json && is_one_run(runs))
		wt_result_note(result, "nothing is compared: both are the run '%s'",
			       runs[0].opened.run.name);
	wt_result_fact_text(result, "a", "", runs[0].opened.run.path);
	wt_result_fact_text(result, "b", "", runs[1].opened.run.path);
	wt_result_set_status(result, differs ? "different" : is_whole ? "same" : "not_measured");
	*ret_code = print(options, result, &d, &parting, runs,
			  differs    ? WTI_EXIT_FINDINGS
			  : is_whole ? WTI_EXIT_CLEAN
				     : WTI_EXIT_TRACE);
	return 0;
}

/* Names shown without --all: those that changed most come first. */
#define DEVICE_ROWS 40u

/* What devices did in the two runs. */
static int device(const struct diff_options *options, char **arguments)
{
	struct wti_opened_run runs[2];
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	size_t open = 0;
	int code = WTI_EXIT_TRACE, r = 0;

	wt_result_init(&result, "diff");
	for (; !r && open < 2; open += !r)
		r = wti_open(&front, arguments[open], &runs[open], &err);
	if (!r)
		r = wti_device_compare(runs[0].trace, runs[1].trace,
				       options->all || options->json ? 0 : DEVICE_ROWS, &result,
				       &err);
	while (open)
		wti_close(&runs[--open]);
	if (r < 0)
		code = wti_report_error("diff", options->json, &err);
	else
		code = wti_report_result(&result, options->json, r);
	wt_result_release(&result);
	return code;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct diff_options *options = opaque;
	struct wti_seen_run runs[2] = {{.is_whole = false}, {.is_whole = false}};
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code = WTI_EXIT_TRACE, r;

	(void)count;
	if (options->device)
		return device(options, arguments);
	if (options->tensors)
		return wti_tensors_diff("diff", (const char *const *)arguments, options->tolerances,
					options->json);
	wt_result_init(&result, "diff");
	r = wti_seen_open(&front, arguments[0], &runs[0], &result, &err);
	if (!r) {
		r = wti_seen_open(&front, arguments[1], &runs[1], &result, &err);
		r = r ? r : compare(options, runs, &result, &code, &err);
		wti_seen_close(&runs[0]);
		if (runs[1].opened.trace)
			wti_seen_close(&runs[1]);
	}
	if (r)
		code = wti_report_error("diff", options->json, &err);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"context", 'U', WTI_OPT_COUNT, "N", NULL,
	 "acts shown before and after those that differ; default 2",
	 offsetof(struct diff_options, context)},
	{"tolerances", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "judge values by how far correct runs may differ (`wheeltap digits --tolerances`)",
	 offsetof(struct diff_options, tolerances)},
	{"tensors", 0, WTI_OPT_FLAG, NULL, NULL,
	 "compare operation by operation: the first whose inputs were equal and whose outputs "
	 "differ (docs/rerun.md)",
	 offsetof(struct diff_options, tensors)},
	{"raw", 0, WTI_OPT_FLAG, NULL, NULL,
	 "show the original names of each run instead of the common ones",
	 offsetof(struct diff_options, raw)},
	{"all", 'a', WTI_OPT_FLAG, NULL, NULL,
	 "also show counts that depend on timing: memory, waiting, pipes",
	 offsetof(struct diff_options, all)},
	{"device", 0, WTI_OPT_FLAG, NULL, NULL,
	 "compare what devices did: counts and times of operations, operators and API calls by "
	 "name",
	 offsetof(struct diff_options, device)},
	WTI_OPTION_JSON(struct diff_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_diff = {
	.name = "diff",
	.arguments = "RUN RUN",
	.summary = "show how two runs differ",
	.description =
		"Compares two runs by their events ('wheeltap compare' compares many by their "
		"summaries), with the most likely questions first: the setup (arguments, "
		"environment, seeds, commit, versions, machine), the first step at which values "
		"differ (counters, settings, hashes of parameters and gradients), then what the "
		"runs did: effects (files created, changed, renamed and removed, bytes by file, "
		"programs executed, peers contacted, libraries loaded), then counts (system calls "
		"by file and peer, in total and by step; calls of functions that an agent "
		"emitted), then values (counters and settings), then the order, thread by thread "
		"and step by step, as a patch: - only in the first run, + only in the second.\n\n"
		"For this, everything gets a name that is the same in every run: processes by "
		"their place in the spawn tree, descriptors by what they refer to, temporary "
		"names, process numbers and dates by their class, folders as $CWD, $HOME, $TMP, "
		"$LIB. What was not recorded is reported as such, not guessed.\n\n"
		"Exit status: 0 the same, 1 different, 3 a run cannot be read or the two cannot be "
		"compared.",
	.examples = "wheeltap diff runs/before runs/after\twhat has changed\n"
		    "wheeltap diff --tensors a b\twhich operation made them differ\n"
		    "wheeltap diff --json a b\tfor other programs",
	.options = options,
	.options_bytes = sizeof(struct diff_options),
	.arguments_min = 2,
	.arguments_max = 2,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
