/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `import`: traces and invariants of others. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/lines.h"
#include "convert/traincheck.h"
#include "cli/packs.h"
#include "cli/report.h"
#include "import_tests.h"
#include "import_trace.h"

#define FILES_MAX 10000u
#define PATH_BYTES 4096

struct import_options {
	bool json;
	const char *output;
};

struct files {
	char **paths;
	size_t count, capacity;
};

static void release_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
}

static bool add_file(struct files *files, const char *path)
{
	if (wti_grow(&files->paths, files->count + 1, &files->capacity, FILES_MAX))
		return false;
	files->paths[files->count] = strdup(path);
	return files->paths[files->count++];
}

/* Calls before variables: what a variable is to the program depends on whether there are calls. */
static bool is_of_variables(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "trace_VAR", 9) || !strcmp(name, "proxy_log.json");
}

static int by_path(const void *a, const void *b)
{
	const char *left = *(char *const *)a, *right = *(char *const *)b;
	int order = is_of_variables(left) - is_of_variables(right);

	return order ? order : strcmp(left, right);
}

/* What TrainCheck calls its traces, in a folder of it. */
static bool is_trace_name(const char *name)
{
	return !strncmp(name, "trace_", 6) || !strcmp(name, "proxy_log.json");
}

static int add_folder(struct files *files, const char *path, struct wt_err *err)
{
	DIR *folder = opendir(path);
	size_t before = files->count;
	struct dirent *entry;
	char name[PATH_BYTES];
	bool done = true;

	if (!folder)
		return wti_err_errno(err, "cannot open", path);
	while (done && (entry = readdir(folder))) {
		if (!is_trace_name(entry->d_name))
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		done = add_file(files, name);
	}
	closedir(folder);
	if (files->count > before)
		qsort(files->paths + before, files->count - before, sizeof(*files->paths), by_path);
	if (!done)
		return wti_err(err, WT_E_LIMIT, "too many files");
	return files->count > before
		       ? 0
		       : wti_err(err, WT_E_MISSING, "no TrainCheck trace in '%s'", path);
}

static int gather(struct files *files, char **arguments, size_t count, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		struct stat about;

		if (!strcmp(arguments[i], "-"))
			arguments[i] = "/dev/stdin";
		if (stat(arguments[i], &about))
			r = wti_err_errno(err, "cannot open", arguments[i]);
		else if (S_ISDIR(about.st_mode))
			r = add_folder(files, arguments[i], err);
		else if (!add_file(files, arguments[i]))
			r = wti_err(err, WT_E_LIMIT, "too many files");
	}
	return r;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* A trace or a pack: the first line decides. All in one pass, as a file may be a pipe. */
struct importing {
	const char *path;   /* that is being read */
	const char *output; /* the run that is made of a trace */
	struct wti_traincheck_import *trace;
	struct wti_pack *pack;
	struct wti_traincheck_count count;
};

static int begin(struct importing *importing, const char *text, size_t bytes, struct wt_err *err)
{
	if (wti_traincheck_is_trace(text, bytes))
		return wti_traincheck_begin(importing->output, &importing->trace, err);
	return wti_pack_new(&importing->pack, err);
}

static int take_line(void *self, unsigned line, const char *text, size_t bytes, struct wt_err *err)
{
	struct importing *importing = self;
	int r = importing->trace || importing->pack ? 0 : begin(importing, text, bytes, err);

	if (r)
		return r;
	if (importing->trace)
		return wti_traincheck_add_line(importing->trace, importing->path, line, text, bytes,
					       err);
	return wti_traincheck_read_line(importing->path, line, text, bytes, importing->pack,
					&importing->count, err);
}

static int read_files(struct importing *importing, const struct files *files, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < files->count && !r; i++) {
		importing->path = files->paths[i];
		r = wti_file_lines(importing->path, WTI_DOC_TEXT_MAX, take_line, importing, err);
	}
	if (!r && !importing->trace && !importing->pack) /* not one line: an empty pack */
		r = begin(importing, "", 0, err);
	return r;
}

/* ---- Results -------------------------------------------------------------------------------- */

static void add_reasons(const struct wti_traincheck_count *count, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "left_out", "Left out");

	wt_table_column(table, "reason", "reason", WT_CELL_TEXT);
	wt_table_column(table, "count", "invariants", WT_CELL_COUNT);
	for (size_t i = 0; i < count->reason_count; i++) {
		wt_table_row(table);
		wt_table_text(table, count->reasons[i].why, strlen(count->reasons[i].why));
		wt_table_count(table, count->reasons[i].count);
	}
}

static int finish_pack(struct importing *importing, struct wt_result *result, struct wt_err *err)
{
	struct wti_pack *pack = importing->pack;
	const struct wti_traincheck_count *count = &importing->count;
	int r;

	pack->source = strdup("imported from TrainCheck");
	wti_pack_settle(pack);
	r = wti_pack_save(importing->output, pack, err);
	wt_result_fact_count(result, "invariants", "invariants", WT_CELL_COUNT, pack->count);
	wt_result_fact_count(result, "entries", "entries", WT_CELL_COUNT, count->entries);
	wt_result_fact_count(result, "left_out", "left out", WT_CELL_COUNT, count->left_out);
	wt_result_fact_count(result, "repeated", "repeated", WT_CELL_COUNT,
			     count->entries - count->left_out - pack->count);
	if (count->left_out)
		add_reasons(count, result);
	return r;
}

static int finish_trace(struct importing *importing, size_t file_count, struct wt_result *result,
			struct wt_err *err)
{
	uint64_t count = 0;
	int r = wti_traincheck_finish(importing->trace, &count, err);

	wt_result_fact_count(result, "records", "records", WT_CELL_COUNT, count);
	wt_result_fact_count(result, "files", "files", WT_CELL_COUNT, file_count);
	return r;
}

static int import_files(const struct files *files, const char *output, struct wt_result *result,
			struct wt_err *err)
{
	struct importing importing = {.output = output};
	int r = read_files(&importing, files, err);

	if (!r && importing.trace)
		r = finish_trace(&importing, files->count, result, err);
	else if (!r)
		r = finish_pack(&importing, result, err);
	wti_traincheck_free(importing.trace);
	wti_pack_free(importing.pack);
	return r;
}

/* ---- Formats -------------------------------------------------------------------------------- */

struct import {
	const struct import_options *options;
	const char *format;
	char **paths;
	size_t count;
	struct wt_result *result;
	bool damaged; /* what could be read is imported */
};

static int run_traincheck(struct import *import, struct wt_err *err)
{
	struct files files = {0};
	int r = import->options->output
			? gather(&files, import->paths, import->count, err)
			: wti_err(err, WT_E_ARG, "no output given: use -o RUN or -o PACK");

	r = r ? r : import_files(&files, import->options->output, import->result, err);
	release_files(&files);
	return r;
}

static int run_tests(struct import *import, struct wt_err *err)
{
	return wti_import_tests(import->format, import->paths, import->count,
				import->options->output, import->result, err);
}

static int run_trace(struct import *import, struct wt_err *err)
{
	return wti_import_trace(import->format, import->paths, import->count,
				import->options->output, import->result, &import->damaged, err);
}

static const struct {
	const char *name;
	int (*run)(struct import *import, struct wt_err *err);
} formats[] = {
	{"kineto", run_trace},   {"chrome", run_trace},
	{"perfetto", run_trace}, {"sbt", run_trace},
	{"nsys", run_trace},     {"strace", run_trace},
	{"renacer", run_trace},  {"traincheck", run_traincheck},
	{"tap", run_tests},      {"junit", run_tests},
};

static int no_format(const char *name, struct wt_err *err)
{
	char names[256] = "";
	size_t bytes = 0;

	for (size_t i = 0; i < WTI_COUNT(formats); i++)
		bytes += (size_t)snprintf(names + bytes, sizeof(names) - bytes, "%s%s",
					  !i                            ? ""
					  : i + 1 == WTI_COUNT(formats) ? " and "
									: ", ",
					  formats[i].name);
	return wti_err(err, WT_E_ARG, "no format '%s'; there are %s", name, names);
}

static int run_format(struct import *import, struct wt_err *err)
{
	for (size_t i = 0; i < WTI_COUNT(formats); i++) {
		if (strcmp(formats[i].name, import->format))
			continue;
		return import->count
			       ? formats[i].run(import, err)
			       : wti_err(err, WT_E_ARG, "no file given: name the files to import");
	}
	return no_format(import->format, err);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct import_options *options = opaque;
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	struct import import = {.options = options,
				.format = arguments[0],
				.paths = arguments + 1,
				.count = count - 1,
				.result = &result};
	int code;

	wt_result_init(&result, "import");
	if (run_format(&import, &err)) {
		code = wti_report_error("import", options->json, &err);
	} else {
		if (import.damaged)
			wt_result_set_status(&result, "damaged");
		code = wti_report_result(&result, options->json,
					 import.damaged ? WTI_EXIT_TRACE : WTI_EXIT_CLEAN);
	}
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"output", 'o', WTI_OPT_TEXT, "PATH", NULL, "the run folder, or the pack, to create",
	 offsetof(struct import_options, output)},
	WTI_OPTION_JSON(struct import_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_import = {
	.name = "import",
	.arguments = "FORMAT FILE... [-o PATH]",
	.summary = "import traces, invariants and test reports of other tools",
	.description =
		"kineto: traces of PyTorch's profiler (.json, .json.gz) become a run, with a "
		"stream for each file: name those of all ranks. Times are exact, launches are "
		"joined with what the device did, what is left out is counted. Memory does not "
		"grow with the file. A file that is cut or damaged is imported as far as it can "
		"be read; the exit status is then 3. docs/import.md has more.\n\n"
		"chrome: trace events as chrome://tracing reads them, a stream for each process. "
		"perfetto: its packets (.pftrace): slices, counters, arrows. "
		"sbt: traces of TraceSmith. nsys: reports of Nsight Systems, exported with "
		"'nsys export --type sqlite'. strace: its text, with times (-ttt), as system "
		"calls. renacer: its JSON (renacer --format json).\n\n"
		"traincheck: its traces (a folder of them, or files of JSON lines) become a run, "
		"its invariant files become a pack; the first line of a file shows which of the "
		"two it is. A file may be a pipe: -, /dev/stdin, or <(...) of a shell. Nothing in "
		"a file is evaluated. Invariants keep their meaning and are judged as TrainCheck "
		"judges them; those that cannot be judged are left out and counted by reason.\n\n"
		"TrainCheck keeps no contents of arguments: its description of them is used "
		"instead. A trace that contains only variables was dumped after each optimizer "
		"step, so that step is added. docs/coming-from-traincheck.md has more.\n\n"
		"tap, junit: reports of tests (TAP, JUnit XML) become a run with a check for each "
		"test; without -o below $WHEELTAP_HOME, or ./wheeltap-runs. 'wheeltap tests' shows "
		"them, 'wheeltap trend check:NAME' follows one.",
	.examples = "wheeltap import kineto rank*.json.gz -o runs/theirs\ta profile of all ranks\n"
		    "wheeltap import traincheck trace_folder -o runs/theirs\ta trace\n"
		    "wheeltap import traincheck invariants.json -o pack.json\tinvariants\n"
		    "wheeltap import junit results.xml\ta report of CI",
	.options = options,
	.options_bytes = sizeof(struct import_options),
	.arguments_min = 1,
	.arguments_max = 10000,
	.group = "keep",
	.run = run,
};
