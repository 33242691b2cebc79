/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `export`: a run in the format of another tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "runs/open.h"
#include "cli/front.h"
#include "cli/report.h"
#include "export_hdf5.h"
#include "export_page.h"
#include "select.h"
#include "show/export/export.h"
#include "symbols/native.h"
#include "cli/verb.h"

#define FORMATS "perfetto|chrome|jsonl|csv|sqlite|strace|renacer-json|html|sbt|hdf5"
#define PROGRESS_EVERY 65536u

struct export_options {
	const char *format;
	const char *output;
	struct wti_wanted_events events;
	struct wti_time_window window;
	const char *calls;
	uint64_t string_max;
	bool decode_fds;
	bool times;
	bool force;
	bool json;
};

static const struct export_options defaults = {.window = WTI_WHOLE_RUN};

/* RUN.pftrace in the current folder. NULL: out of memory. */
static char *default_output(const struct wti_run *run, const struct wti_exporter *exporter)
{
	size_t bytes = strlen(run->name);
	char *path;

	if (!run->is_folder && bytes > 3 && !strcmp(run->name + bytes - 3, ".wt"))
		bytes -= 3;
	return asprintf(&path, "%.*s.%s", (int)bytes, run->name, exporter->extension) < 0 ? NULL
											  : path;
}

static uint64_t blocks_of(const struct wt_trace *trace)
{
	uint64_t count = 0;

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
		count += wt_reader_block_count(wt_trace_stream(trace, i));
	return count ? count : 1;
}

static int feed(struct wti_export_job *job, const struct wti_select *select,
		const struct wt_trace *trace, struct wt_err *err)
{
	uint64_t block_count = blocks_of(trace);
	struct wti_progress progress;
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wt_cursor_open(trace, &select->query, &cursor, err);

	if (r)
		return r;
	wti_progress_begin(&progress, "exporting");
	while ((r = wt_cursor_next(cursor, &event, err)) > 0) {
		r = wti_export_event(job, &event, err);
		if (r)
			break;
		if (job->export.events % PROGRESS_EVERY == 0) {
			uint64_t skipped, decoded;

			wt_cursor_cost(cursor, &skipped, &decoded);
			wti_progress_share(&progress,
					   (double)(skipped + decoded) / (double)block_count);
		}
	}
	wti_progress_end(&progress);
	wt_cursor_free(cursor);
	return r;
}

/* What is in the trace but not in the output, or was never in the trace. */
static void note_gaps(const struct wti_export *export, struct wt_result *result)
{
	if (export->lost_count)
		wt_result_note(result, "%llu events were lost while the run was recorded",
			       (unsigned long long)export->lost_count);
	if (export->unopened_count)
		wt_result_note(result,
			       "%llu ends of spans have no begin and are not shown as spans",
			       (unsigned long long)export->unopened_count);
	if (export->unclosed_count)
		wt_result_note(result, "%llu spans have no end; they are marked as unfinished",
			       (unsigned long long)export->unclosed_count);
	if (export->left_out_count)
		wt_result_note(result,
			       "%llu slices or arrows did not fit and were left out; export less "
			       "with --from and --until",
			       (unsigned long long)export->left_out_count);
}

static void note_names(const struct wti_export *export, const char *format,
		       struct wt_result *result)
{
	if (!export->renamed_count)
		return;
	wt_result_note(result,
		       "%llu fields or kinds could not keep their names, because these are empty, "
		       "taken, or not fit for a column%s",
		       (unsigned long long)export->renamed_count,
		       strcmp(format, "sqlite") ? "" : "; the table 'renamed' has both names");
}

static void note_changed(const struct wti_native *native, struct wt_result *result)
{
	const char *path;

	for (size_t i = 0; native && (path = wti_native_changed(native, i)); i++)
		wt_result_note(
			result,
			"'%s' has changed since the run: its addresses are shown without names",
			path);
}

static int report(const struct export_options *o, const struct wti_opened_run *opened,
		  const struct wti_export_job *job)
{
	const struct wti_export *export = &job->export;
	struct wt_result result;
	size_t damaged;
	int code;

	wt_result_init(&result, "export");
	wt_result_fact_text(&result, "run", "run", opened->run.name);
	wt_result_fact_text(&result, "format", "format", o->format);
	wt_result_fact_text(&result, "file", "written to", export->path);
	wt_result_fact_count(&result, "bytes", "size", WT_CELL_BYTES, export->bytes);
	if (export->trace) { /* a page about the run has no events, and counts the lost itself */
		wt_result_fact_count(&result, "events", "events", WT_CELL_COUNT, export->events);
		wt_result_fact_count(&result, "lost", "lost", WT_CELL_COUNT, export->lost_count);
	}
	note_gaps(export, &result);
	note_names(export, o->format, &result);
	note_changed(job->native, &result);
	damaged = wti_note_damage(opened, &result);
	wt_result_set_status(&result, damaged ? "damaged" : "clean");
	code = damaged ? WTI_EXIT_TRACE : WTI_EXIT_CLEAN;
	if (strcmp(export->path, "-") != 0)
		code = wti_report_result(&result, o->json, code);
	else /* standard output is taken */
		wti_report_notes(&result);
	wt_result_release(&result);
	return code;
}

/* A page about the run is about all of it: what would have no effect is refused. */
static bool has_filters(const struct export_options *o)
{
	return o->events.kinds.count || o->events.name || o->events.track || o->events.step ||
	       o->events.stage || o->events.epoch || o->calls;
}

/* Of a run with device operations the system calls are asked for by a filter. */
static bool is_page(const struct export_options *o, const struct wt_trace *trace)
{
	if (strcmp(o->format, "html") != 0)
		return false;
	return !wti_has_kind(trace, WT_KIND_SYSCALL) ||
	       (wti_has_kind(trace, WT_KIND_DEVICE_OP) && !has_filters(o));
}

static int refuse_filters(const struct export_options *o, struct wt_err *err)
{
	if (has_filters(o))
		return wti_err(err, WT_E_ARG,
			       "this run has no system calls: --to html shows the run itself, and "
			       "takes no filter but --from and --until");
	return 0;
}

static int write_page(const struct export_options *o, const struct wti_opened_run *opened,
		      const char *path)
{
	struct wti_export_job job = {.export = {.path = path}};
	struct wt_err err = {.offset = -1};
	int r = refuse_filters(o, &err);

	if (!r)
		r = wti_export_page(opened, &o->window, path, o->force, &job.export.bytes, &err);
	return r ? wti_report_error("export", o->json, &err) : report(o, opened, &job);
}

static int write_all(const struct export_options *o, const struct wti_opened_run *opened,
		     const char *path)
{
	struct wti_export_job job = {0};
	struct wti_select select;
	struct wti_export what = {
		.trace = opened->trace,
		.query = &select.query,
		.path = path,
		.force = o->force,
		.fd_names = o->decode_fds,
		.times = o->times,
		.string_max = o->string_max,
		.calls = o->calls,
		.directory = opened->run.directory,
	};
	struct wt_err err = {.offset = -1};
	int code;
	int r = wti_select(&select, &o->window, &o->events, opened->trace, &err);

	if (!r)
		r = wti_export_begin(&job, wti_exporter_by_name(o->format), &what, &err);
	if (!r)
		r = feed(&job, &select, opened->trace, &err);
	if (!r)
		r = wti_export_finish(&job, &err);
	if (r)
		code = wti_report_error("export", o->json, &err);
	else
		code = report(o, opened, &job);
	wti_export_release(&job);
	wti_select_release(&select);
	return code;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct export_options *o = opaque;
	struct wti_front front = wti_front_here(NULL);
	struct wti_opened_run opened;
	struct wt_err err = {.offset = -1};
	char *path;
	int code;

	if (!o->format) {
		wti_err(&err, WT_E_ARG, "no format given: use --to with one of %s", FORMATS);
		return wti_report_error("export", o->json, &err);
	}
	if (!strcmp(o->format, "hdf5"))
		return wti_export_hdf5(arguments, count, o->output, o->force, o->json);
	if (wti_open(&front, count ? arguments[0] : NULL, &opened, &err))
		return wti_report_error("export", o->json, &err);
	path = o->output ? strdup(o->output)
			 : default_output(&opened.run, wti_exporter_by_name(o->format));
	if (path && is_page(o, opened.trace)) {
		code = write_page(o, &opened, path);
	} else if (path) {
		code = write_all(o, &opened, path);
	} else {
		wti_err(&err, WT_E_NOMEM, "out of memory");
		code = wti_report_error("export", o->json, &err);
	}
	free(path);
	wti_close(&opened);
	return code;
}

#define AT(member) offsetof(struct export_options, member)

static const struct wti_option options[] = {
	{"to", 0, WTI_OPT_CHOICE, "FORMAT", FORMATS,
	 "the format: perfetto (ui.perfetto.dev), chrome (trace events as JSON), jsonl (one object "
	 "per line), csv, sqlite, html (a page for a browser), sbt (TraceSmith); for system calls "
	 "only: strace, "
	 "renacer-json; of a set of runs: hdf5",
	 AT(format)},
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL,
	 "write to this file; - is standard output; for csv, a folder gets one file per kind",
	 AT(output)},
	{"force", 0, WTI_OPT_FLAG, NULL, NULL, "replace an existing file", AT(force)},
	WTI_OPTIONS_EVENTS(struct export_options),
	/* Not those of a window: here --to is the format. */
	{"from", 0, WTI_OPT_DURATION, "TIME", NULL,
	 "only from this time of the run on, such as 1.5s or 20ms", AT(window.from_ns)},
	{"until", 0, WTI_OPT_DURATION, "TIME", NULL, "only before this time of the run",
	 AT(window.to_ns)},
	WTI_OPTIONS_CONTEXT(struct export_options),
	{"syscalls", 'e', WTI_OPT_TEXT, "EXPR", NULL,
	 "only these system calls, as for record --syscalls: openat,read or !futex or %file or "
	 "/^pwrite/",
	 AT(calls)},
	{"decode-fds", 'y', WTI_OPT_FLAG, NULL, NULL,
	 "for system calls: show what descriptors refer to, as strace -y does", AT(decode_fds)},
	{"times", 't', WTI_OPT_FLAG, NULL, NULL,
	 "with --to strace: show when each call began, as strace -ttt does", AT(times)},
	{"string-limit", 's', WTI_OPT_COUNT, "N", NULL,
	 "for system calls: show this many bytes of strings (32), as far as they were recorded",
	 AT(string_max)},
	WTI_OPTION_JSON(struct export_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_export = {
	.name = "export",
	.arguments = "[RUN]",
	.summary = "write a run in the format of another tool",
	.description =
		"Writes the events of a run, or those that pass the filters, for another program "
		"to read. Without -o the file is named after the run and written to the current "
		"folder. It appears only when it is complete; an existing file is replaced only "
		"with --force.\n\n"
		"perfetto and chrome are for viewers: spans, device operations and system calls "
		"become slices, counters become curves, edges become arrows. jsonl, csv and sqlite "
		"contain every event with all its fields. strace and renacer-json contain only "
		"system calls: what strace -f -T would have written, and a document with the "
		"fields of renacer-json-v1. html is a self-contained page: of a run with system "
		"calls these, of any other, and of one with device operations unless --kind "
		"syscall "
		"is given, what info, stat and timeline show. hdf5 "
		"contains what `wheeltap digits` measures of the values of a set of runs, and no "
		"events.\n\n"
		"What is damaged or missing is printed on standard error. A damaged run is "
		"exported as far as it can be read, and the exit status is 3.",
	.examples = "wheeltap export --to perfetto\tthe latest run for ui.perfetto.dev\n"
		    "wheeltap export --to jsonl -o - --kind counter | jq .fields.value\tvalues, "
		    "through a pipe\n"
		    "wheeltap export --to strace -y -o - | grep openat\tfiles that were opened\n"
		    "wheeltap export --to hdf5 -o digits.h5 noisy\tdigits of all values of a set\n"
		    "wheeltap export --to csv -o events/ train\ta file for each kind of event",
	.options = options,
	.options_bytes = sizeof(struct export_options),
	.arguments_max = 1,
	.group = "look",
	.run = run,
	.defaults = &defaults,
};
