/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `stat`. */
#include <string.h>

#include "base/err.h"
#include "inspect/device/device.h"
#include "inspect/time/path.h"
#include "inspect/time/stat.h"
#include "inspect/time/syscalls.h"
#include "cli/inspect.h"
#include "runs/finder.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "select.h"

struct stat_options {
	bool syscalls;
	bool critical_path;
	bool device;
	const char *under;
	const char *what_if;
	bool dependencies;
	bool dot;
	bool percentiles;
	const char *time;
	const char *by;
	const char *sort;
	const char *name;
	const char *track;
	struct wti_time_window window;
	uint64_t limit;
	bool csv;
	bool markdown;
	bool json;
};

static const struct stat_options defaults = {
	.by = "name", .sort = "total", .time = "wall", .window = WTI_WHOLE_RUN, .limit = 40};

/* The position of `word` in "a|b|c"; the parser has made sure that it is there. */
static unsigned choice(const char *choices, const char *word)
{
	size_t bytes = strcspn(word, "=");
	unsigned at = 0;

	for (; strncmp(choices, word, bytes); at++)
		choices += strcspn(choices, "|") + 1;
	return at;
}

static void csv(struct wti_buf *out, const struct wt_result *result)
{
	if (result->table_count)
		wti_show_csv(out, result->tables[0]);
}

#define BY "name|kind|track|step|module|function|site|process|thread"
/* `time` is what strace -S calls it; what comes after it has no place in wti_profile_order. */
#define SORT "total|self|count|mean|max|name|bytes|tensors|errors|time"

struct word {
	const char *text;
	unsigned value;
};

/* -1 if the word is none of these. */
static int value_of(const struct word *words, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i].text, text))
			return (int)words[i].value;
	return -1;
}

static int misplaced(const struct stat_options *o, const char *option, const char *word)
{
	struct wt_err err = {.offset = -1};

	wti_err(&err, WT_E_ARG, "'--%s%s%s' %s '--syscalls'", option, *word ? " " : "", word,
		o->syscalls ? "does not go with" : "is only for");
	return wti_report_error("stat", o->json, &err);
}

static bool locate(void *opaque, const struct wt_reader *reader, uint32_t stack, char *ret_file,
		   size_t file_bytes, uint32_t *ret_line)
{
	return wti_finder_locate(opaque, reader, stack, ret_file, file_bytes, ret_line);
}

static int syscalls(const struct stat_options *o, char **runs, size_t count)
{
	static const struct word by[] = {
		{"name", WTI_SYSCALLS_BY_NAME},     {"process", WTI_SYSCALLS_BY_PROCESS},
		{"thread", WTI_SYSCALLS_BY_THREAD}, {"track", WTI_SYSCALLS_BY_THREAD},
		{"step", WTI_SYSCALLS_BY_STEP},     {"site", WTI_SYSCALLS_BY_SITE}};
	static const struct word sort[] = {
		{"total", WTI_SYSCALLS_SORT_TIME},    {"count", WTI_SYSCALLS_SORT_CALLS},
		{"errors", WTI_SYSCALLS_SORT_ERRORS}, {"mean", WTI_SYSCALLS_SORT_MEAN},
		{"max", WTI_SYSCALLS_SORT_MAX},       {"name", WTI_SYSCALLS_SORT_NAME},
		{"time", WTI_SYSCALLS_SORT_TIME}};
	int by_what = value_of(by, sizeof(by) / sizeof(by[0]), o->by);
	int order = value_of(sort, sizeof(sort) / sizeof(sort[0]), o->sort);
	struct wti_syscalls_view view = {.by = (enum wti_syscalls_by)by_what,
					 .order = (enum wti_syscalls_order)order,
					 .limit = o->limit == defaults.limit ? 0 : o->limit,
					 .percentiles = o->percentiles,
					 .system = !strcmp(o->time, "system"),
					 .name = o->name,
					 .locate = locate};
	struct wti_finder *finder;
	struct wt_query query;
	int code;
	struct wti_inspection in = {.inspector = "syscalls",
				    .verb = "stat",
				    .text = wti_show_syscalls,
				    .is_fixed = true,
				    .query = &query,
				    .options = &view,
				    .json = o->json,
				    .other = o->csv        ? csv
					     : o->markdown ? wti_show_markdown
							   : NULL};

	if (by_what < 0)
		return misplaced(o, "by", o->by);
	if (order < 0)
		return misplaced(o, "sort", o->sort);
	wt_query_init(&query);
	query.from_ns = o->window.from_ns;
	query.to_ns = o->window.to_ns;
	query.track = o->track;
	finder = by_what == WTI_SYSCALLS_BY_SITE ? wti_finder_new() : NULL;
	view.opaque = finder;
	if (!finder)
		view.locate = NULL;
	code = wti_inspect_runs(&in, runs, count);
	wti_finder_free(finder);
	return code;
}

static int critical_path(const struct stat_options *o, char **runs, size_t count)
{
	struct wti_path_view view = {
		.limit = (o->json || o->csv) && o->limit == defaults.limit ? 0 : o->limit};
	struct wti_inspection in = {.inspector = "path",
				    .verb = "stat",
				    .options = &view,
				    .json = o->json,
				    .other = o->csv        ? csv
					     : o->markdown ? wti_show_markdown
							   : NULL};

	return wti_inspect_runs(&in, runs, count);
}

/* Rows of a table of names: there are several tables. */
#define DEVICE_ROWS 15u
/* Points of a series: enough for a picture, few enough for a page of JSON. */
#define SERIES_POINTS 200u

static int device(const struct stat_options *o, char **runs, size_t count)
{
	bool whole = o->json || o->csv || o->dot;
	struct wti_device_options view = {.limit = o->limit != defaults.limit ? o->limit
						   : whole                    ? 0
									      : DEVICE_ROWS,
					  .columns = o->json ? SERIES_POINTS : 0,
					  .critical_path = o->critical_path || o->what_if,
					  .dependencies = o->dependencies || o->dot,
					  .what_if = o->what_if,
					  .under = o->under};
	struct wt_query query;
	struct wti_inspection in = {.inspector = "device",
				    .verb = "stat",
				    .query = &query,
				    .options = &view,
				    .json = o->json,
				    .other = o->dot        ? wti_show_dot
					     : o->csv      ? csv
					     : o->markdown ? wti_show_markdown
							   : NULL};

	wt_query_init(&query);
	query.from_ns = o->window.from_ns;
	query.to_ns = o->window.to_ns;
	return wti_inspect_runs(&in, runs, count);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct stat_options *o = opaque;
	bool whole = o->json || o->csv;
	struct wti_stat_options inspector = {
		.by = (enum wti_stat_by)choice(BY, o->by),
		.order = (enum wti_profile_order)choice(
			SORT, strcmp(o->sort, "time") ? o->sort : defaults.sort),
		.limit = whole && o->limit == defaults.limit ? 0 : o->limit,
		.until_ns = o->window.to_ns,
		/* CSV is one table, and that of names is what programs expect in it. */
		.phases = !strcmp(o->by, defaults.by) && !o->name && !o->track && !o->csv,
	};
	/* Rows that are weighed need every event; the name then chooses among them. */
	bool weighs = wti_stat_weighs(inspector.by);
	struct wt_query query;
	struct wti_inspection in = {.inspector = "stat",
				    .query = &query,
				    .options = &inspector,
				    .json = o->json,
				    .other = o->csv        ? csv
					     : o->markdown ? wti_show_markdown
							   : NULL};

	if (o->csv && count > 1) {
		struct wt_err err = {.offset = -1};

		wti_err(&err, WT_E_ARG, "CSV is one table: give one run, or --json");
		return wti_report_error("stat", o->json, &err);
	}
	if (o->device && !o->syscalls)
		return device(o, arguments, count);
	if (o->critical_path && o->syscalls)
		return misplaced(o, "critical-path", "");
	if (o->critical_path)
		return critical_path(o, arguments, count);
	if (o->syscalls)
		return syscalls(o, arguments, count);
	if (strcmp(o->time, defaults.time))
		return misplaced(o, "time", o->time);
	if (inspector.by > WTI_STAT_BY_SITE)
		return misplaced(o, "by", o->by);
	if (inspector.order > WTI_PROFILE_BY_TENSORS)
		return misplaced(o, "sort", o->sort);
	wt_query_init(&query);
	query.from_ns = o->window.from_ns;
	query.to_ns = o->window.to_ns;
	query.name = weighs ? NULL : o->name;
	inspector.rows = weighs ? o->name : NULL;
	query.track = o->track;
	return wti_inspect_runs(&in, arguments, count);
}

static const struct wti_option options[] = {
	{"syscalls", 0, WTI_OPT_FLAG, NULL, NULL,
	 "only system calls, as strace -c counts them: % of the time, seconds, usecs/call, calls, "
	 "errors",
	 offsetof(struct stat_options, syscalls)},
	{"device", 0, WTI_OPT_FLAG, NULL, NULL,
	 "only devices: idle and compute time, why queues were idle, operations by name, "
	 "launches, copies, memory, sequences that operators launch (docs/devices.md)",
	 offsetof(struct stat_options, device)},
	{"under", 0, WTI_OPT_TEXT, "GLOB", NULL,
	 "with --device: sequences under operators whose names match, instead of the outermost",
	 offsetof(struct stat_options, under)},
	{"what-if", 0, WTI_OPT_TEXT, "NAME=SHARE", NULL,
	 "with --device: the critical path, also if all operations and calls whose names match "
	 "took "
	 "that share of their time",
	 offsetof(struct stat_options, what_if)},
	{"dependencies", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with --device: which operation had to come before which, and why",
	 offsetof(struct stat_options, dependencies)},
	{"dot", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with --device: the dependencies as a graph for Graphviz (dot)",
	 offsetof(struct stat_options, dot)},
	{"percentiles", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with --syscalls, also the minimum, 50th, 90th and 99th percentile and maximum time",
	 offsetof(struct stat_options, percentiles)},
	{"time", 0, WTI_OPT_CHOICE, "WHICH", "wall|system",
	 "with --syscalls: wall time of the calls (the default), or only the time in which the "
	 "thread had a processor, as in strace -c",
	 offsetof(struct stat_options, time)},
	{"critical-path", 0, WTI_OPT_FLAG, NULL, NULL,
	 "show the path from the end of the run back to its beginning, always through the thread "
	 "that the others waited for; needs system calls; with --device: through calls of the host "
	 "and operations of devices",
	 offsetof(struct stat_options, critical_path)},
	{"by", 0, WTI_OPT_CHOICE, "WHAT", BY,
	 "one row for each name (the default), kind, track or step; for calls also each module, "
	 "function or calling line; with --syscalls, for each name in each process, thread or step",
	 offsetof(struct stat_options, by)},
	{"sort", 0, WTI_OPT_CHOICE, "COLUMN", SORT,
	 "the column to sort by; total if not given, which is also called time",
	 offsetof(struct stat_options, sort)},
	{"name", 0, WTI_OPT_TEXT, "GLOB", NULL, "only what has a matching name",
	 offsetof(struct stat_options, name)},
	{"track", 0, WTI_OPT_TEXT, "GLOB", NULL, "only tracks whose name matches, or STREAM:TRACK",
	 offsetof(struct stat_options, track)},
	WTI_OPTIONS_WINDOW(struct stat_options, "only from this time of the run on",
			   "only before this time of the run"),
	{"limit", 'n', WTI_OPT_COUNT, "N", NULL,
	 "show at most N rows of a table; 0 shows all, and is the default of --json and --csv",
	 offsetof(struct stat_options, limit)},
	{"top", 0, WTI_OPT_COUNT, "N", NULL, "the same as --limit",
	 offsetof(struct stat_options, limit)},
	{"csv", 0, WTI_OPT_FLAG, NULL, NULL, "print the profile as CSV",
	 offsetof(struct stat_options, csv)},
	{"markdown", 0, WTI_OPT_FLAG, NULL, NULL, "print the tables as Markdown",
	 offsetof(struct stat_options, markdown)},
	WTI_OPTION_JSON(struct stat_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_stat = {
	.name = "stat",
	.arguments = "[RUN...]",
	.summary = "show where the time went, as a flat profile",
	.description =
		"Sums up spans, calls, device operations and system calls by name: their number, "
		"total time, time without the calls inside (self), mean, percentiles and "
		"extremes. Counters and marks have separate tables. For a training run the first "
		"table shows where the time of a step goes, by process or rank: data wait (calls "
		"of a DataLoader), forward (modules and torch.nn.functional), backward, "
		"optimizer (and clipping), other; what an optimizer's closure computes is "
		"forward and backward; the first step begins with its first batch or call of a "
		"model. The second table shows how fast it trains: samples are the rows of "
		"DataLoader batches that a model is called with while gradients are on, or of "
		"the model's input if there is no DataLoader; if the trace has neither, they are "
		"not measured. The time in which DataLoader workers wait for something to load "
		"does not count as work, and is shown in a note.\n\n"
		"Total counts a span that calls itself once. Self is the time that is not spent "
		"in spans directly inside; the share is self divided by that of all threads or "
		"all devices. Percentiles are off by at most 0.8 % of their value; below 64 ns "
		"they are exact.\n\n"
		"By step, module, function and site there are also the bytes that they take in "
		"the trace (using the mean of each kind of event, because events are compressed "
		"together) and the number of recorded tensors. Each call counts separately: the "
		"bytes of a module do not include calls to other modules.\n\n"
		"Several runs are shown one after the other.\n\n"
		"On a narrow terminal some columns are left out; --json and --csv have them all.",
	.examples = "wheeltap stat --by step --sort name\thow long each step took\n"
		    "wheeltap stat --name 'conv*' --sort self\tthe convolutions\n"
		    "wheeltap stat --by function --sort bytes\twhat fills the trace\n"
		    "wheeltap stat --syscalls --by process\twhat each process asks the kernel for\n"
		    "wheeltap stat --critical-path\twhich processes made the run as long as it is\n"
		    "wheeltap stat --by site --sort self\tthe lines that cost most",
	.options = options,
	.options_bytes = sizeof(struct stat_options),
	.arguments_max = WTI_INSPECT_RUNS_MAX,
	.group = "look",
	.run = run,
	.defaults = &defaults,
};
