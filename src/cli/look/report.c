/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `report`. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/front.h"
#include "cli/inspect.h"
#include "cli/packs.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "runs/report/report.h"

#define OUTPUT_MAX (1u << 30)

struct report_options {
	bool md, html, json, junit, intoto;
	const char *output;
};

struct format {
	const char *extension;
	void (*render)(struct wti_buf *out, const struct wti_report_list *list);
	size_t offset; /* of the option */
};

/* The first is the default. */
static const struct format formats[] = {
	{".md", wti_report_markdown, offsetof(struct report_options, md)},
	{".html", wti_report_page, offsetof(struct report_options, html)},
	{".json", wti_report_json, offsetof(struct report_options, json)},
	{".xml", wti_report_junit, offsetof(struct report_options, junit)},
	{".intoto.jsonl", wti_report_intoto, offsetof(struct report_options, intoto)},
};

/* The name of a file that asks for a format there is not. One without an extension asks for none.
 */
static bool is_unknown(const char *output)
{
	const char *name = strrchr(output, '/') ? strrchr(output, '/') + 1 : output;
	const char *dot = strrchr(name, '.');

	return dot && dot > name && dot[1];
}

/* As the options have it, or else by the name of the file; NULL: two at once, or none is known. */
static const struct format *choose(const struct report_options *options)
{
	const struct format *chosen = NULL;

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!*(const bool *)((const char *)options + formats[i].offset))
			continue;
		if (chosen)
			return NULL;
		chosen = &formats[i];
	}
	for (size_t i = 0; !chosen && options->output && i < sizeof(formats) / sizeof(*formats);
	     i++)
		if (wti_ends_with(options->output, formats[i].extension))
			chosen = &formats[i];
	if (!chosen && options->output && is_unknown(options->output))
		return NULL;
	return chosen ? chosen : &formats[0];
}

static int refuse(const struct report_options *options)
{
	bool any =
		options->md || options->html || options->json || options->junit || options->intoto;

	if (any)
		wti_warn("give one format: --md, --html, --json, --junit or --intoto");
	else
		wti_warn("the extension of '%.200s' stands for no format: use .md, .html, .json, "
			 ".xml or .intoto.jsonl, or one of --md, --html, --json, --junit and "
			 "--intoto",
			 options->output);
	return WTI_EXIT_USAGE;
}

static int write_out(const struct report_options *options, const struct format *format,
		     const struct wti_report_list *list, int code)
{
	struct wt_err err = {.offset = -1};
	struct wti_buf out;
	int r;

	wti_buf_init(&out, OUTPUT_MAX);
	format->render(&out, list);
	r = wti_save_text(options->output ? options->output : "-", &out, &err);
	wti_buf_release(&out);
	if (r) {
		wti_report_error("report", false, &err);
		return WTI_EXIT_ENVIRONMENT;
	}
	return code;
}

/* Of all runs; one that cannot be opened is an error for all. */
static int collect(char **words, size_t count, struct wti_report *reports, bool *ret_whole,
		   struct wt_err *err)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	int r = 0;

	*ret_whole = true;
	for (size_t i = 0; i < count && !r; i++) {
		r = wti_report_collect(&front, words[i], &reports[i], err);
		*ret_whole &= r || !reports[i].is_damaged;
	}
	return r;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct report_options *options = opaque;
	const struct format *format = choose(options);
	char *latest[] = {(char[]){"latest"}};
	struct wt_err err = {.offset = -1};
	size_t run_count = count ? count : 1;
	struct wti_report *reports;
	bool is_whole = true;
	int code;

	if (!format)
		return refuse(options);
	reports = calloc(run_count, sizeof(*reports));
	if (!reports)
		code = wti_report_error("report", options->json,
					&(struct wt_err){.code = WT_E_NOMEM, .offset = -1});
	else if (collect(count ? arguments : latest, run_count, reports, &is_whole, &err))
		code = wti_report_error("report", options->json, &err);
	else
		code = write_out(options, format,
				 &(struct wti_report_list){reports, run_count, WTI_VERSION},
				 is_whole ? WTI_EXIT_CLEAN : WTI_EXIT_TRACE);
	for (size_t i = 0; reports && i < run_count; i++)
		wti_report_release(&reports[i]);
	free(reports);
	return code;
}

static const struct wti_option options[] = {
	{"md", 0, WTI_OPT_FLAG, NULL, NULL, "Markdown, for a pull request (default)",
	 offsetof(struct report_options, md)},
	{"html", 0, WTI_OPT_FLAG, NULL, NULL, "one HTML file with pictures, without a network",
	 offsetof(struct report_options, html)},
	{"json", 0, WTI_OPT_FLAG, NULL, NULL, "everything as one JSON object",
	 offsetof(struct report_options, json)},
	{"junit", 0, WTI_OPT_FLAG, NULL, NULL, "findings and checks as JUnit's XML, for CI",
	 offsetof(struct report_options, junit)},
	{"intoto", 0, WTI_OPT_FLAG, NULL, NULL,
	 "in-toto statements, one a line: test-result and provenance; not signed",
	 offsetof(struct report_options, intoto)},
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL,
	 "write to FILE, whose extension chooses the format if no option does; a file that exists "
	 "is replaced as a whole",
	 offsetof(struct report_options, output)},
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_report = {
	.name = "report",
	.arguments = "[RUN...]",
	.summary = "write one self-contained page about a run",
	.description =
		"Writes everything that is known about a run: how it ended, the command, code, "
		"host and versions, configuration and seeds, data, model, hyperparameters, "
		"metrics with their curves, where the time went, findings with their evidence, "
		"checks, artifacts with their hashes, earlier runs of the program, and the "
		"command that runs it again. A run that failed, was killed or still runs has a "
		"report, too.\n\n"
		"Anything unknown is marked `not recorded`, together with the option that would "
		"record it; nothing is left blank or made up. A curve keeps the lowest, the "
		"highest and the last value of each column of its picture, so that no spike is "
		"lost.\n\n"
		"For several runs, a table of all of them comes first.\n\n"
		"The exit status is 0 when the report was written, whatever is in it, and 3 if a "
		"part of the trace could not be read.",
	.examples = "wheeltap report\tthe latest run, as Markdown\n"
		    "wheeltap report -o run.html\tas one HTML file\n"
		    "wheeltap report a b c -o all.html\tthree runs on one page",
	.options = options,
	.options_bytes = sizeof(struct report_options),
	.arguments_max = WTI_INSPECT_RUNS_MAX,
	.group = "look",
	.run = run,
};
