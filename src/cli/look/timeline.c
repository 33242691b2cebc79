/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `timeline`. */
#include "inspect/time/timeline.h"
#include "cli/inspect.h"
#include "cli/report.h"
#include "show/timeline.h"
#include "cli/verb.h"
#include "select.h"

#define WIDTH_MIN 40u
#define WIDTH_MAX 2000u
#define WIDTH_PIPE 100u

struct timeline_options {
	struct wti_time_window window;
	uint64_t width;
	bool json;
};

static const struct timeline_options defaults = {.window = WTI_WHOLE_RUN};

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct timeline_options *o = opaque;
	struct wti_style style = wti_style_stdout();
	uint64_t width = o->width ? o->width : style.width ? style.width : WIDTH_PIPE;
	struct wti_timeline_options inspector = {o->window.from_ns, o->window.to_ns, 0, 0};
	struct wti_inspection in = {.inspector = "timeline",
				    .options = &inspector,
				    .json = o->json,
				    .text = wti_show_timeline};

	if (o->window.from_ns >= o->window.to_ns) {
		struct wt_err err = {.code = WT_E_ARG,
				     .offset = -1,
				     .message = "the window is empty: --from must be before --to"};

		return wti_report_error("timeline", o->json, &err);
	}
	width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
	inspector.columns = (uint32_t)width - WTI_TIMELINE_MARGIN;
	return wti_inspect_runs(&in, arguments, count);
}

static const struct wti_option options[] = {
	WTI_OPTIONS_WINDOW(struct timeline_options, "draw from this time of the run on",
			   "draw up to this time of the run"),
	{"width", 'w', WTI_OPT_COUNT, "COLUMNS", NULL,
	 "width in columns; default: that of the terminal, or 100",
	 offsetof(struct timeline_options, width)},
	WTI_OPTION_JSON(struct timeline_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_timeline = {
	.name = "timeline",
	.arguments = "[RUN...]",
	.summary = "draw which threads, queues and devices were busy when",
	.description =
		"Draws a line for each thread that has spans or system calls and each queue that "
		"has operations; "
		"the height of a bar is the share of that time interval in which it was busy.\n\n"
		"A thread is busy while a span or call is open on it, a queue while an operation "
		"runs on it, a device while any of its queues is busy. Utilisation is the length "
		"of the union of those times divided by the window: parallel operations count "
		"once. Waiting and bookkeeping (sync, wait, record, alloc, free) do not count as "
		"work. A worker of a DataLoader is busy while it loads; workers of a later epoch "
		"share the lines of those that have ended. Threads of a distributed run begin with "
		"their rank. Below a thread is a line for its system calls, if these were "
		"recorded: "
		"the share of time that it spent in them, waiting included. Devices of the same "
		"number of different processes are different devices.\n\n"
		"The window is given by --from and --to. Without them it is the whole run for "
		"threads; for queues and devices it begins with their first operation and ends "
		"with their last, so the start of the program does not lower the figures.",
	.examples = "wheeltap timeline --from 1.2s --to 1.3s\ta hundred milliseconds\n"
		    "wheeltap timeline --json | jq .tables.devices\tthe figures\n"
		    "wheeltap export --to html\tthe same as a page, with every call and its name",
	.options = options,
	.options_bytes = sizeof(struct timeline_options),
	.arguments_max = WTI_INSPECT_RUNS_MAX,
	.group = "look",
	.run = run,
	.defaults = &defaults,
};
