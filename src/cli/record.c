/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `record`. What it says at the end goes to standard error: the rest is the program's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "collect/collect.h"
#include "python.h"
#include "report.h"

struct record_options {
	bool json;
	bool quiet;
	const char *folder;
	const char *name;
	uint64_t ring_bytes;
	uint64_t bytes_max;
	const char *on_full;
	int64_t duration_ns;
	const char *strings;
	struct wti_python_choice python;
};

extern char **environ;

/* ---- What it says at the end ---------------------------------------------------------------- */

static void say_losses(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_LOST);
	const char *between = " (";
	char count[32];

	if (!outcome->lost) {
		wti_buf_text(out, ", nothing lost");
		return;
	}
	wti_buf_printf(out, ", %s lost", wti_format_count(count, outcome->lost));
	for (int reason = 0; reason <= WT_LOST_GAP; reason++) {
		if (!outcome->lost_by[reason])
			continue;
		wti_buf_printf(out, "%s%s %s", between,
			       wti_format_count(count, outcome->lost_by[reason]),
			       kind->fields[0].enum_names[reason]);
		between = ", ";
	}
	wti_buf_byte(out, ')');
}

static const char *why_not(const struct wti_stranger *stranger)
{
	switch (stranger->reason) {
	case WT_NOT_FOLLOWED_NO_AGENT:
		return "no agent in it";
	case WT_NOT_FOLLOWED_VERSION:
		return "its agent is of another version";
	case WT_NOT_FOLLOWED_ENVIRONMENT:
		return "its environment was cleared";
	case WT_NOT_FOLLOWED_REFUSED:
		return "refused";
	default:
		return "it ended too soon to tell why";
	}
}

static void say_strangers(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	const struct wti_stranger *first = &outcome->strangers[0];

	if (!outcome->stranger_count)
		return;
	wti_buf_text(out, "; not followed: ");
	wti_printable(out, first->command, strlen(first->command));
	wti_buf_printf(out, " (%s)", why_not(first));
	if (outcome->stranger_count > 1)
		wti_buf_printf(out, " and %u more", outcome->stranger_count - 1);
}

static void say_what(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	char count[32], bytes[16], cpu[16], time[16];

	wti_buf_printf(out, "wheeltap: %s: %s events of %u process%s in %s, %s",
		       wti_run_status_name(outcome->status),
		       wti_format_count(count, outcome->events), outcome->process_count,
		       outcome->process_count == 1 ? "" : "es",
		       wti_format_ns(time, (int64_t)outcome->duration_ns),
		       wti_format_bytes(bytes, outcome->bytes));
	say_losses(out, outcome);
	wti_buf_printf(out, "; recorder %s of CPU",
		       wti_format_ns(cpu, (int64_t)outcome->recorder_cpu_ns));
	say_strangers(out, outcome);
	if (outcome->still_running)
		wti_buf_printf(out, "; %u still running, not recorded any more",
			       outcome->still_running);
	if (outcome->console_dropped)
		wti_buf_printf(out, "; console.log lacks %s",
			       wti_format_bytes(bytes, outcome->console_dropped));
	if (outcome->trouble[0])
		wti_buf_printf(out, "; the trace ends early: %s", outcome->trouble);
	wti_buf_byte(out, '\n');
}

/* A path as one would type it from here. */
static const char *short_path(const char *path, char out[PATH_MAX])
{
	size_t bytes;

	if (!getcwd(out, PATH_MAX))
		return path;
	bytes = strlen(out);
	if (bytes > 1 && !strncmp(path, out, bytes) && path[bytes] == '/')
		return path + bytes + 1;
	return path;
}

static void say_agent_trouble(struct wti_buf *out, const char *trouble)
{
	wti_buf_text(out, "wheeltap: nothing joined: ");
	wti_printable(out, trouble, strlen(trouble));
	wti_buf_byte(out, '\n');
}

/* Interpreters that were told not to look at their environment. */
static bool is_python(const struct wti_record_outcome *outcome)
{
	uint32_t count = outcome->stranger_count;

	for (uint32_t i = 0; i < count && i < WTI_RECORD_STRANGERS_SHOWN; i++) {
		const char *slash = strrchr(outcome->strangers[i].command, '/');

		if (!strncmp(slash ? slash + 1 : outcome->strangers[i].command, "python", 6))
			return true;
	}
	return false;
}

static void say_next(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	char buffer[PATH_MAX];
	const char *path = short_path(outcome->folder, buffer);

	if (outcome->process_count) {
		wti_buf_printf(out, "wheeltap: look at it with: wheeltap info %s\n", path);
		return;
	}
	if (outcome->mismatch_count)
		wti_buf_printf(
			out,
			"wheeltap: nothing joined: the agent in the program speaks "
			"protocol %u, this recorder another; rebuild it with this wheeltap\n",
			outcome->mismatch_protocol);
	else if (outcome->agent_trouble[0])
		say_agent_trouble(out, outcome->agent_trouble);
	else if (outcome->silent_count && !outcome->stranger_count)
		wti_buf_text(out, "wheeltap: the program has the agent, but emitted no event; see "
				  "<wheeltap/wheeltap.h>\n");
	else if (is_python(outcome))
		wti_buf_text(out, "wheeltap: nothing joined: an interpreter started with -I, -E or "
				  "-S, or with a cleared environment, does not let the agent in; "
				  "start it without\n");
	else
		wti_buf_printf(
			out,
			"wheeltap: nothing joined: link the program with "
			"-lwheeltap-client and let it emit events (static programs and cleared "
			"environments are not followed); console and environment are in %s\n",
			path);
}

static void say_json(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_LOST);
	struct wti_json json;

	wti_json_init(&json, out, false);
	wti_json_object(&json);
	wti_json_key(&json, "verb");
	wti_json_text(&json, "record");
	wti_json_key(&json, "status");
	wti_json_text(&json, wti_run_status_name(outcome->status));
	wti_json_key(&json, "run");
	wti_json_text(&json, outcome->folder);
	wti_json_key(&json, "exit_status");
	wti_json_i64(&json, outcome->exit_code);
	wti_json_key(&json, "events");
	wti_json_u64(&json, outcome->events);
	wti_json_key(&json, "bytes");
	wti_json_u64(&json, outcome->bytes);
	wti_json_key(&json, "lost");
	wti_json_u64(&json, outcome->lost);
	wti_json_key(&json, "losses");
	wti_json_object(&json);
	for (int reason = 0; reason <= WT_LOST_GAP; reason++) {
		if (!outcome->lost_by[reason])
			continue;
		wti_json_key(&json, kind->fields[0].enum_names[reason]);
		wti_json_u64(&json, outcome->lost_by[reason]);
	}
	wti_json_object_end(&json);
	wti_json_key(&json, "processes");
	wti_json_u64(&json, outcome->process_count);
	wti_json_key(&json, "not_followed");
	wti_json_u64(&json, outcome->stranger_count);
	wti_json_key(&json, "duration_ns");
	wti_json_u64(&json, outcome->duration_ns);
	wti_json_key(&json, "recorder_cpu_ns");
	wti_json_u64(&json, outcome->recorder_cpu_ns);
	wti_json_key(&json, "trouble");
	wti_json_text(&json, outcome->trouble[0] ? outcome->trouble : NULL);
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
}

static void say(const struct record_options *options, const struct wti_record_outcome *outcome)
{
	struct wti_buf out;

	wti_buf_init(&out, 64u << 10);
	if (options->json) {
		say_json(&out, outcome);
	} else {
		say_what(&out, outcome);
		say_next(&out, outcome);
	}
	/* Nowhere to complain when standard error is gone. */
	if (wti_write_all(STDERR_FILENO, out.data, out.bytes))
		out.bytes = 0;
	wti_buf_release(&out);
}

/* ---- Options -------------------------------------------------------------------------------- */

static int read_on_full(const char *text, struct wti_record_options *record, struct wt_err *err)
{
	const char *equals = strchr(text, '=');

	if (!strcmp(text, "block"))
		record->on_full = WTI_RECORD_BLOCK;
	else if (!strcmp(text, "drop"))
		record->on_full = WTI_RECORD_DROP;
	else if (!strncmp(text, "flight", 6))
		record->on_full = WTI_RECORD_FLIGHT;
	if (!equals)
		return 0;
	if (record->on_full != WTI_RECORD_FLIGHT ||
	    !wti_parse_duration(equals + 1, &record->flight_ns) || record->flight_ns < 1000000000)
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--on-full'; give block, drop, or "
			       "flight=SECONDS with at least one second",
			       text);
	return 0;
}

static int read_options(const struct record_options *options, struct wti_record_options *record,
			struct wt_err *err)
{
	const char *home = getenv("WHEELTAP_HOME");
	const char *temporary = getenv("TMPDIR");

	wti_record_options_init(record);
	record->environment = environ;
	record->folder = options->folder;
	record->name = options->name;
	record->ring_bytes = options->ring_bytes;
	record->bytes_max = options->bytes_max;
	record->duration_ns = options->duration_ns;
	record->strings_keep = !strcmp(options->strings, "keep");
	if (home && home[0])
		record->base = home;
	if (temporary && temporary[0])
		record->temporary = temporary;
	if (options->duration_ns < 0)
		return wti_err(err, WT_E_ARG, "'--duration' must not be negative");
	return read_on_full(options->on_full, record, err);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct record_options *options = opaque;
	struct wti_record_outcome *outcome = calloc(1, sizeof(*outcome));
	char **argv = calloc(count + 1, sizeof(char *));
	struct wti_python_plan plan = {0};
	struct wti_record_options record;
	struct wt_err err = {0};
	int code = WTI_EXIT_RECORD;

	if (!outcome || !argv) {
		wti_err(&err, WT_E_NOMEM, "out of memory");
		wti_report_error("record", false, &err);
	} else if (read_options(options, &record, &err) ||
		   wti_python_plan(&plan, &options->python, &err)) {
		code = wti_report_error("record", false, &err);
	} else {
		memcpy(argv, arguments, count * sizeof(char *));
		record.argv = argv;
		record.additions = plan.additions;
		record.settings = plan.settings;
		if (wti_record_run(&record, outcome, &err))
			wti_report_error("record", false, &err);
		else if (!options->quiet)
			say(options, outcome);
		code = outcome->exit_code;
	}
	wti_python_plan_release(&plan);
	free(outcome);
	free(argv);
	return code;
}

static const struct record_options defaults = {
	.bytes_max = WTI_RECORD_BYTES_MAX,
	.on_full = "block",
	.strings = "private",
	.python = {.detail = "normal", .tensors = "digest"},
};

#define AT(field) offsetof(struct record_options, field)

static const struct wti_option options[] = {
	{"output", 'o', WTI_OPT_TEXT, "DIR", NULL,
	 "folder of the run; made if absent, refused if it has a run in it", AT(folder)},
	{"name", 'n', WTI_OPT_TEXT, "NAME", NULL, "name of the run instead of the program's",
	 AT(name)},
	{"ring-size", 0, WTI_OPT_BYTES, "SIZE", NULL,
	 "shared memory of each thread, 64k to 256M; 1M if not given", AT(ring_bytes)},
	{"max-size", 0, WTI_OPT_BYTES, "BYTES", NULL,
	 "end the trace at this size, the program goes on; 2G if not given, 0 for no end",
	 AT(bytes_max)},
	{"on-full", 0, WTI_OPT_CHOICE, "HOW", "block|drop|flight",
	 "when a ring is full: wait a little, drop and count, or keep only the last "
	 "flight[=SECONDS] of the run",
	 AT(on_full)},
	{"duration", 'd', WTI_OPT_DURATION, "TIME", NULL,
	 "stop recording after this long; the program goes on", AT(duration_ns)},
	{"strings", 0, WTI_OPT_CHOICE, "HOW", "keep|private",
	 "whether texts that may be private are kept or replaced by length and hash", AT(strings)},
	{"detail", 0, WTI_OPT_CHOICE, "LEVEL", "lean|normal|full",
	 "of Python programs: steps, modules and states; and calls from your code into "
	 "libraries; and calls within libraries",
	 AT(python.detail)},
	{"tensors", 0, WTI_OPT_CHOICE, "HOW", "digest|off",
	 "whether tensors of Python programs are read, or only described", AT(python.tensors)},
	{"modules", 0, WTI_OPT_TEXT, "NAMES", NULL,
	 "Python libraries that are hooked when they are imported; torch if not given",
	 AT(python.modules)},
	{"only", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "hook only functions whose full name is like torch.nn.functional.*; comma separated",
	 AT(python.only)},
	{"skip", 0, WTI_OPT_TEXT, "PATTERNS", NULL, "do not hook functions with such names",
	 AT(python.skip)},
	{"quiet", 'q', WTI_OPT_FLAG, NULL, NULL, "say nothing at the end", AT(quiet)},
	{"json", 0, WTI_OPT_FLAG, NULL, NULL,
	 "say it as one JSON object, on standard error as the output is the program's", AT(json)},
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_record = {
	.name = "record",
	.arguments = "-- PROGRAM [ARGS...]",
	.summary = "run a program and record it",
	.description =
		"Runs the program, follows its children, and keeps what their agents tell in a run "
		"folder. The program's terminal, input, output, signals and exit status are passed "
		"through; the status of record is the program's, 128 plus the number of the signal "
		"that killed it, 127 if there is no such program, 126 if it cannot be executed, "
		"and "
		"125 if record itself failed.\n\n"
		"The program is not disturbed by what happens to the recorder: a full disk, a "
		"deleted folder or a killed recorder end the trace and not the program. What was "
		"lost is counted and said.\n\n"
		"Runs are private: folders of mode 0700, secrets masked, texts of the program "
		"replaced by length and hash unless --strings keep.",
	.examples = "wheeltap record -- python train.py\ta Python program, as it is\n"
		    "wheeltap record -- ./train --epochs 3\tinto ./wheeltap-runs/train-DATE-TIME\n"
		    "wheeltap record -o run1 --max-size 500M -- ./train\tinto the folder run1\n"
		    "wheeltap record --on-full flight=60 -- ./serve\tkeep the last minute only",
	.options = options,
	.options_bytes = sizeof(struct record_options),
	.defaults = &defaults,
	.arguments_min = 1,
	.arguments_max = 1u << 20,
	.rest_is_program = true,
	.group = "record",
	.run = run,
};
