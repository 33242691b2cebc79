/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `record`: its options, and how they become those of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "collect/collect.h"
#include "collect/launch.h"
#include "collect/rlimits.h"
#include "collect/syscalls/syscalls.h"
#include "cli/config.h"
#include "cli/front.h"
#include "python.h"
#include "agent.h"
#include "check.h"
#include "noise.h"
#include "plan.h"
#include "report.h"
#include "runs.h"
#include "say.h"
#include "cli/report.h"
#include "runs/run.h"
#include "runs/remove.h"

struct record_options {
	bool json;
	bool quiet;
	const char *config;
	bool write_config;
	bool dry_run;
	bool no_build;
	const char *report;
	const char *directory;
	const char *folder;
	bool force;
	const char *name;
	uint64_t ring_bytes;
	uint64_t bytes_max;
	uint64_t blobs_bytes_max;
	const char *on_full;
	int64_t duration_ns;
	const char *wait; /* for all that outlive the program: a time, or yes: to their end */
	const char *strings;
	const char *check; /* a pack, or yes: the built-in rules */
	const char *on_finding;
	const char *syscalls; /* an expression, or yes: all */
	const char *backend;
	uint64_t attach; /* to this process; 0: to none */
	bool stacks;
	uint64_t runs;
	uint64_t jobs;
	const char *until_bits;
	struct wti_record_noise noise;
	bool is_prepared; /* the agent is there: a run of a set */
	struct wti_python_choice python;
};

#define RECORD_FAILED 125 /* and the program was not started */

extern char **environ;

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

/* Seconds where there is no unit, as with flight=SECONDS. */
static int read_wait(const char *text, struct wti_record_options *record, struct wt_err *err)
{
	if (!text || !strcmp(text, "no") || !strcmp(text, "false"))
		return 0;
	if (!strcmp(text, "yes") || !strcmp(text, "true"))
		record->wait_ns = INT64_MAX;
	else if (!wti_parse_duration(text, &record->wait_ns) || record->wait_ns < 0)
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--wait'; give no value to wait for all "
			       "processes, or a time such as 30s",
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
	if (!strcmp(options->python.tensors, "full"))
		record->blobs_bytes_max = options->blobs_bytes_max;
	if (home && home[0])
		record->base = home;
	if (temporary && temporary[0])
		record->temporary = temporary;
	if (options->duration_ns < 0)
		return wti_err(err, WT_E_ARG, "'--duration' must not be negative");
	if (read_wait(options->wait, record, err))
		return err->code;
	return read_on_full(options->on_full, record, err);
}

/* A path that is still the same one in another folder. */
static int anchor(const char **path, char whole[PATH_MAX], struct wt_err *err)
{
	char here[PATH_MAX];

	if (!*path || (*path)[0] == '/')
		return 0;
	if (!getcwd(here, sizeof(here)))
		return wti_err_errno(err, "cannot determine", "the current folder");
	if (snprintf(whole, PATH_MAX, "%s/%s", here, *path) >= PATH_MAX)
		return wti_err(err, WT_E_ARG, "the path '%.64s...' is too long", *path);
	*path = whole;
	return 0;
}

struct recording {
	struct wti_record_options options;
	struct wti_syscalls_options syscalls;
	struct wti_python_plan plan;
	struct wti_record_outcome outcome;
	struct wti_record_check *check; /* or NULL */
	const char *report;             /* or NULL */
	int came_from;                  /* the folder we were started in; -1: we are there */
	char base[PATH_MAX]; /* of runs, the folder of this one, the report, when we go elsewhere */
	char folder[PATH_MAX];
	char report_path[PATH_MAX];
	char preload[PATH_MAX];
};

/* Into the folder that the program is to run in. */
static int enter(struct recording *recording, const char *directory, struct wt_err *err)
{
	int r = anchor(&recording->options.base, recording->base, err);

	if (!r)
		r = anchor(&recording->options.folder, recording->folder, err);
	if (!r)
		r = anchor(&recording->report, recording->report_path, err);
	recording->came_from = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!r && chdir(directory))
		r = wti_err_errno(err, "cannot enter the folder", directory);
	return r;
}

/* Of an option that may have a value, or be taken back with "no". */
static bool is_on(const char *value)
{
	return value && strcmp(value, "no") != 0 && strcmp(value, "false") != 0;
}

/* What would have no effect is refused: whoever wrote it expects one. */
static int refuse_idle(const struct record_options *options, struct wt_err *err)
{
	bool with_calls = is_on(options->syscalls) || (options->attach && !options->syscalls);

	if (options->attach && !with_calls)
		return wti_err(err, WT_E_ARG,
			       "'--attach' records system calls; leave '--syscalls=no' away");
	if (options->stacks && !with_calls)
		return wti_err(err, WT_E_ARG,
			       "--stacks are those of system calls: give --syscalls, too");
	if (strcmp(options->backend, "auto") != 0 && !with_calls)
		return wti_err(err, WT_E_ARG,
			       "'--backend' captures system calls: give --syscalls, too");
	if (options->attach && (options->runs || options->noise.mode))
		return wti_err(err, WT_E_ARG,
			       "'--attach' records a program that runs already; leave '--%s' away",
			       options->runs ? "runs" : "noise");
	if (options->runs && options->report)
		return wti_err(err, WT_E_ARG,
			       "'--report' is of one run; leave it away, and use 'wheeltap digits' "
			       "for several");
	if (strcmp(options->on_finding, "warn") != 0 && !is_on(options->check))
		return wti_err(err, WT_E_ARG,
			       "'--on-finding' needs a judgement of the run: give --check, too");
	return 0;
}

static int choose_syscalls(struct recording *recording, const struct record_options *options,
			   struct wt_err *err)
{
	struct wti_syscalls_options *syscalls = &recording->syscalls;
	const char *which = options->syscalls;

	if (options->attach && !which) /* there is nothing else to record of it */
		which = "yes";
	if (!is_on(which))
		return 0;
	if (options->attach > INT32_MAX)
		return wti_err(err, WT_E_ARG, "'--attach' takes the number of a process");
	syscalls->attach = (pid_t)options->attach;
	if (!strcmp(options->backend, "bpf"))
		syscalls->backend = WTI_SYSCALLS_BPF;
	else if (!strcmp(options->backend, "ptrace"))
		syscalls->backend = WTI_SYSCALLS_PTRACE;
	else if (!strcmp(options->backend, "fastest"))
		syscalls->backend = WTI_SYSCALLS_FASTEST;
	recording->options.syscalls = syscalls;
	syscalls->contents = !strcmp(options->strings, "keep");
	syscalls->stacks = options->stacks;
	if (!strcmp(which, "yes") || !strcmp(which, "true")) {
		wti_call_set_all(&syscalls->wanted);
		return 0;
	}
	syscalls->expression = which;
	return wti_expr_compile(WTI_ARCH_HERE, which, &syscalls->wanted, err);
}

/* What agents are told, and the library that comes before libm. */
static int prepare_noise(struct recording *recording, const struct record_options *options,
			 struct wt_err *err)
{
	const struct wti_record_noise *noise = &options->noise;
	int r = wti_record_noise_check(noise, options->is_prepared || options->runs, err);

	if (r || (!noise->mode && !options->is_prepared))
		return r;
	r = wti_record_noise_settings(noise, &recording->plan.settings, err);
	if (r || !noise->mode)
		return r;
	recording->options.noise = noise->mode;
	recording->options.noise_seed = wti_record_noise_seed(noise);
	if (!strcmp(noise->libm, "off"))
		return 0;
	r = wti_record_noise_library(recording->preload, err);
	if (!r)
		recording->options.preload = recording->preload;
	return r;
}

static bool names_output(const char *path)
{
	return path && (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/fd/1") ||
			!strcmp(path, "/proc/self/fd/1"));
}

static int prepare(struct recording *recording, const struct record_options *options,
		   struct wt_err *err)
{
	struct wti_record_options *record = &recording->options;
	struct wti_python_choice python = options->python;
	int r = read_options(options, record, err);

	r = r ? r : refuse_idle(options, err);
	if (!r)
		r = choose_syscalls(recording, options, err);
	python.with_system = options->stacks;
	if (!r)
		r = wti_python_plan(&recording->plan, &python, err);
	if (!r)
		r = prepare_noise(recording, options, err);
	if (r)
		return r;
	record->additions = recording->plan.additions;
	record->settings = recording->plan.settings;
	record->entrance = recording->plan.entrance[0] ? recording->plan.entrance : NULL;
	if (is_on(options->check)) {
		const struct wti_record_check_options check = {
			.pack = options->check,
			.on_finding = options->on_finding,
			.some_calls = recording->syscalls.expression,
			.json = options->json};

		r = wti_record_check_start(&check, &recording->check, err);
		if (r)
			return r;
		record->watch = wti_record_check_sink(recording->check);
	}
	recording->report = options->report;
	if (names_output(options->report))
		return wti_err(err, WT_E_ARG,
			       "the report cannot go to '%s': standard output belongs to the "
			       "program; give a file, or /dev/stderr",
			       options->report);
	return options->directory ? enter(recording, options->directory, err) : 0;
}

/* The program comes first: where there is no room to record it, it runs all the same. */
static int run_unrecorded(const struct wti_record_options *record, const struct wt_err *why)
{
	struct wt_err err = {0};
	int code;

	wti_warn("the program runs unrecorded: %s", why->message);
	code = wti_record_unrecorded(record, &err);
	wti_report_error("record", false, &err);
	return code;
}

/* The old run goes only if there will be a new one: not for a program that cannot be run. */
static int make_room(const struct wti_record_options *record, bool attach, struct wt_err *err)
{
	char executable[PATH_MAX];

	if (!attach && wti_launch_find(record->argv[0], record->environment, executable,
				       sizeof(executable), NULL))
		return 0; /* the recording says so */
	return wti_run_replace(record->folder, err);
}

/* What torch does below Python is told at the full level, or where it is asked for. */
static void prepare_agent(const struct recording *recording, const struct record_options *options,
			  char **arguments)
{
	const char *operators = options->python.operators;
	bool is_auto = !strcmp(operators, "auto");

	wti_record_agent_prepare(&(struct wti_record_agent){
		.argv = arguments,
		.plan = &recording->plan,
		.build = !options->no_build,
		.with_shim = is_auto ? !strcmp(options->python.detail, "full")
				     : strcmp(operators, "off") != 0,
		.others_suffice = recording->options.syscalls != NULL,
	});
}

/* What is printed in the end is read where we were started. */
static void go_back(struct recording *recording)
{
	if (recording->came_from < 0)
		return;
	if (fchdir(recording->came_from))
		wti_warn("cannot return to the starting folder: %s", strerror(errno));
	close(recording->came_from);
	recording->came_from = -1;
}

/* Says what became of the program, and what was found; the exit code. */
static int conclude(struct recording *recording, const struct record_options *options)
{
	const struct wti_record_outcome *outcome = &recording->outcome;
	const char *status = wti_run_status_name(outcome->status);
	struct wt_result judged;
	bool is_judged =
		recording->check && wti_record_check_finish(recording->check, status, &judged);
	int code = outcome->exit_code;

	if (!options->quiet || (options->json && is_judged))
		wti_record_say(outcome, options->json, is_judged ? &judged : NULL);
	if (!is_judged)
		return code;
	code = wti_record_check_report(recording->check, &judged, code);
	wt_result_release(&judged);
	return code;
}

/* Runs the program to its end; the exit code. */
static int record(struct recording *recording, const struct record_options *options,
		  const struct wti_limits *limits, char **arguments)
{
	struct wti_record_outcome *outcome = &recording->outcome;
	struct wt_err err = {0};

	recording->options.argv = arguments;
	recording->options.limits = limits;
	if (!options->attach && !options->is_prepared)
		prepare_agent(recording, options, arguments);
	if (options->force && recording->options.folder &&
	    make_room(&recording->options, options->attach != 0, &err)) {
		wti_report_error("record", false, &err);
		return RECORD_FAILED;
	}
	if (recording->options.folder && !options->is_prepared)
		wti_run_remember(recording->options.base, recording->options.folder);
	if (wti_record_run(&recording->options, outcome, &err)) {
		if (outcome->may_run && !options->attach)
			return run_unrecorded(&recording->options, &err);
		wti_report_error("record", false, &err);
		return outcome->exit_code;
	}
	go_back(recording);
	if (recording->report && wti_record_report(outcome->folder, recording->report, &err))
		wti_warn("no report was written: %s", err.message);
	return conclude(recording, options);
}

static int write_config(const struct record_options *options, char **program, size_t count)
{
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 1u << 20);
	wti_config_write(&out, &wti_verb_record, options, program, count);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

/* What was asked for cannot be prepared: for want of memory, or because it makes no sense. */
static int not_prepared(const struct record_options *options, const struct wti_limits *limits,
			char **arguments, const struct wt_err *err)
{
	const struct wti_record_options record = {
		.argv = arguments, .environment = environ, .limits = limits};

	if ((err->code != WT_E_NOMEM && err->code != WT_E_LIMIT) || options->attach ||
	    options->dry_run || (options->directory && chdir(options->directory)))
		return wti_report_error("record", false, err);
	return run_unrecorded(&record, err);
}

static int run_here(const struct record_options *options, const struct wti_limits *limits,
		    char **arguments)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct wt_err err = {0};
	int code;

	if (!recording) {
		wti_err(&err, WT_E_NOMEM, "out of memory");
		return not_prepared(options, limits, arguments, &err);
	}
	recording->came_from = -1;
	if (prepare(recording, options, &err))
		code = not_prepared(options, limits, arguments, &err);
	else
		code = options->dry_run
			       ? wti_record_plan(arguments, &recording->plan, options->json)
			       : record(recording, options, limits, arguments);
	wti_record_check_free(recording->check);
	wti_python_plan_release(&recording->plan);
	free(recording);
	return code;
}

/* ---- Several runs -----------------------------------------------------------------------------
 */

struct several {
	struct record_options options; /* of each run */
	const struct wti_limits *limits;
	char **arguments;
};

static int record_turn(void *self, uint32_t number, const char *folder)
{
	struct several *several = self;

	several->options.folder = folder;
	several->options.noise.run = number;
	return run_here(&several->options, several->limits, several->arguments);
}

/* Once for all runs, before the first. */
static int prepare_several(const struct record_options *options, char **arguments,
			   struct wt_err *err)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int r;

	if (!recording)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	recording->came_from = -1;
	r = prepare(recording, options, err);
	if (!r)
		prepare_agent(recording, options, arguments);
	go_back(recording);
	wti_record_check_free(recording->check);
	wti_python_plan_release(&recording->plan);
	free(recording);
	return r;
}

static int run_several(const struct record_options *options, const struct wti_limits *limits,
		       char **arguments)
{
	const char *home = getenv("WHEELTAP_HOME");
	struct several several = {*options, limits, arguments};
	const struct wti_record_runs runs = {
		.count = options->runs,
		.jobs = options->jobs,
		.until_bits = options->until_bits,
		.folder = options->folder,
		.base = home && home[0] ? home : wti_home(),
		.name = options->name,
		.force = options->force,
		.quiet = options->quiet,
		.json = options->json,
		.argv = arguments,
		.noise = &options->noise,
		.turn = record_turn,
		.self = &several,
	};
	struct wt_err err = {.offset = -1};

	if (wti_record_runs_check(&runs, &err) || prepare_several(options, arguments, &err))
		return wti_report_error("record", false, &err);
	several.options.quiet = several.options.is_prepared = true;
	several.options.json = several.options.force = false;
	several.options.runs = 0;
	several.options.jobs = 0;
	several.options.until_bits = NULL;
	return wti_record_runs(&runs);
}

/* A variable of the shell that is not set, most likely: what would be done is not what was meant.
 */
static int refuse_empty(const struct record_options *options, struct wt_err *err)
{
	const struct {
		const char *name, *value;
	} texts[] = {{"name", options->name},
		     {"output", options->folder},
		     {"directory", options->directory},
		     {"report", options->report},
		     {"on-finding", options->on_finding},
		     {"modules", options->python.modules},
		     {"invariants", options->python.invariants}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].value && !*texts[i].value)
			return wti_err(err, WT_E_ARG, "the value of '--%s' is empty",
				       texts[i].name);
	return 0;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	struct record_options chosen = *(const struct record_options *)opaque;
	const struct record_options *options = &chosen;
	struct wti_limits limits;
	struct wt_err err = {0};

	if (options->write_config)
		return write_config(opaque, arguments, count);
	if (!chosen.python.detail) /* digits are lost within libraries, too */
		chosen.python.detail = options->noise.mode || options->runs ? "full" : "normal";
	if (!refuse_empty(options, &err) && options->force && !options->folder)
		wti_err(&err, WT_E_ARG,
			"'--force' replaces the run in a folder: give the folder with -o");
	else if (!err.code && !count && !options->attach)
		wti_err(&err, WT_E_ARG, "nothing to run; use: wheeltap record -- PROGRAM");
	else if (!err.code && count && options->attach)
		wti_err(&err, WT_E_ARG,
			"'--attach' records a running program; remove '-- %.64s' or '--attach'",
			arguments[0]);
	if (err.code)
		return wti_report_error("record", options->json, &err);
	wti_limits_take(&limits);
	if ((options->runs || options->jobs || options->until_bits) && !options->dry_run &&
	    !options->attach)
		return run_several(options, &limits, arguments);
	return run_here(options, &limits, arguments);
}

static const struct record_options defaults = {
	.bytes_max = WTI_RECORD_BYTES_MAX,
	.blobs_bytes_max = 1ull << 30,
	.on_full = "block",
	.strings = "private",
	.on_finding = "warn",
	.backend = "auto",
	.noise = {.libm = "on", .run = 1},
	.python = {.tensors = "digest", .operators = "auto", .arguments = "on"},
};

#define AT(field) offsetof(struct record_options, field)

static const struct wti_option options[] = {
	{"config", 'c', WTI_OPT_CONFIG, "FILE", NULL,
	 "options from a file: our TOML, TrainCheck's YAML or Pytracer's JSON; the command line "
	 "takes precedence",
	 AT(config)},
	{"write-config", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print a file with all options at their current values, and run nothing",
	 AT(write_config)},
	{"dry-run", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print what would be hooked in the program's Python, without running the program",
	 AT(dry_run)},
	{"report", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "afterwards write calls and bytes of each function to this file, as .json, .csv, .md or "
	 "text",
	 AT(report)},
	{"output", 'o', WTI_OPT_TEXT, "DIR", NULL,
	 "folder of the run; created if absent, refused if not empty", AT(folder)},
	{"force", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with -o: replace the run in the folder; a folder with anything else in it is refused",
	 AT(force)},
	{"name", 'n', WTI_OPT_TEXT, "NAME", NULL,
	 "name of the run instead of that of the script or program; wherever a RUN is expected, it "
	 "means the newest run of that name",
	 AT(name)},
	{"directory", 0, WTI_OPT_TEXT, "DIR", NULL, "run the program in this folder",
	 AT(directory)},
	{"ring-size", 0, WTI_OPT_BYTES, "SIZE", NULL,
	 "shared memory of each thread, 64k to 256M; default 1M", AT(ring_bytes)},
	{"max-size", 0, WTI_OPT_BYTES, "BYTES", NULL,
	 "end the trace at this size, the program goes on; default 2G, 0 for no limit",
	 AT(bytes_max)},
	{"on-full", 0, WTI_OPT_CHOICE, "HOW", "block|drop|flight",
	 "when a ring is full: wait a little, drop and count, or keep only the last "
	 "flight[=SECONDS] of the run",
	 AT(on_full)},
	{"duration", 'd', WTI_OPT_DURATION, "TIME", NULL,
	 "stop recording after this long; the program goes on", AT(duration_ns)},
	{"wait", 0, WTI_OPT_MAYBE, "[=SECONDS]", NULL,
	 "when the program has ended, wait for all processes that it left running: until they end, "
	 "or for this time; default 2 s. Processes that still run then are listed, and verdicts "
	 "that depend on them are not measured",
	 AT(wait)},
	{"strings", 0, WTI_OPT_CHOICE, "HOW", "keep|private",
	 "whether text that may be private is kept or replaced by length and hash", AT(strings)},
	{"detail", 0, WTI_OPT_CHOICE, "LEVEL", "lean|normal|full",
	 "for Python programs. lean: steps, modules and states; normal, the default: also calls "
	 "from your code into libraries; full, the default with --noise: also calls within "
	 "libraries",
	 AT(python.detail)},
	{"tensors", 0, WTI_OPT_CHOICE, "HOW", "digest|stats|full|off",
	 "what is kept of tensors of Python programs. digest: digests as the level prescribes; "
	 "stats: digests of all at every step; full: also their bytes; off: only a description",
	 AT(python.tensors)},
	{"arguments", 0, WTI_OPT_CHOICE, "WHICH", "on|off",
	 "whether arguments and returns of calls in Python programs are recorded",
	 AT(python.arguments)},
	{"blobs-max", 0, WTI_OPT_BYTES, "BYTES", NULL,
	 "with --tensors full, keep no more bytes of tensors than this; default 1G",
	 AT(blobs_bytes_max)},
	{"operators", 0, WTI_OPT_CHOICE, "WHICH", "auto|backward|all|outputs|off",
	 "what to record of what torch runs below Python. auto: with --detail full the nodes of "
	 "backward, otherwise nothing; backward: these nodes; all: also every operator; outputs: "
	 "also what operators within backward return; off: nothing",
	 AT(python.operators)},
	{"modules", 0, WTI_OPT_TEXT, "NAMES", NULL,
	 "Python libraries that are hooked when they are imported, or @FILE with one per line; "
	 "default torch",
	 AT(python.modules)},
	{"only", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "hook only functions whose full name matches a pattern like torch.nn.functional.*; "
	 "separated by commas, or @FILE",
	 AT(python.only)},
	{"skip", 0, WTI_OPT_TEXT, "PATTERNS", NULL, "do not hook functions whose full name matches",
	 AT(python.skip)},
	{"include-file", 0, WTI_OPT_LIST, "FILE", NULL,
	 "rules of what to hook, one module and function per line, as in Pytracer",
	 AT(python.include_files)},
	{"exclude-file", 0, WTI_OPT_LIST, "FILE", NULL, "rules of what not to hook",
	 AT(python.exclude_files)},
	{"syscalls", 0, WTI_OPT_MAYBE, "[=EXPR]", NULL,
	 "record system calls of the program and all that it starts; EXPR as in strace: "
	 "openat,read or !futex or %file or /^pwrite/",
	 AT(syscalls)},
	{"attach", 'p', WTI_OPT_COUNT, "PID", NULL,
	 "record the system calls of a running process, its threads and all its descendants, until "
	 "it ends or record is interrupted; the process goes on",
	 AT(attach)},
	{"backend", 0, WTI_OPT_CHOICE, "HOW", "auto|bpf|ptrace|fastest",
	 "how system calls are captured. auto: by BPF, which needs privileges, otherwise by "
	 "ptrace; bpf, ptrace: only by that; fastest: by ptrace if all calls of EXPR are rare, "
	 "which the program can notice",
	 AT(backend)},
	{"stacks", 0, WTI_OPT_FLAG, NULL, NULL,
	 "with --syscalls: record where each call comes from, so that verbs and exports show "
	 "source lines",
	 AT(stacks)},
	{"check", 0, WTI_OPT_MAYBE, "[=PACK]", NULL,
	 "judge the run while it runs, as doctor does, and print findings on standard error; with "
	 "a pack, check that instead of the built-in one; rules: no pack; the status is 1 if there "
	 "is an error and the program ended with 0",
	 AT(check)},
	{"on-finding", 0, WTI_OPT_TEXT, "WHAT", NULL,
	 "with --check: warn (the default); stop: end the program at an error; or a command for "
	 "the "
	 "shell, which gets the findings as JSON on its standard input",
	 AT(on_finding)},
	{"budget", 0, WTI_OPT_TEXT, "PERCENT", NULL,
	 "what recording a Python program may cost, in percent of its own time: tensors, states "
	 "and arguments are omitted as needed, which the trace shows",
	 AT(python.budget)},
	{"sample", 0, WTI_OPT_TEXT, "HOW", NULL,
	 "every=N: record one step in N as --detail prescribes, the others as lean; warmup=K: the "
	 "first K steps",
	 AT(python.sample)},
	{"invariants", 0, WTI_OPT_TEXT, "FILE", NULL,
	 "hook and read only what the invariants of this pack need", AT(python.invariants)},
	{"noise", 0, WTI_OPT_TEXT, "MODE[:BITS]", NULL,
	 "perturb results as if computed with BITS of precision (docs/digits.md). rr: outputs; pb: "
	 "inputs; mca: both; cancellation: sums that lost digits; sr: outputs, by stochastic "
	 "rounding; without BITS one bit less than the type has",
	 AT(noise.mode)},
	{"runs", 0, WTI_OPT_COUNT, "N", NULL,
	 "run the program N times, into a set of runs; only the first prints to the terminal",
	 AT(runs)},
	{"jobs", 0, WTI_OPT_COUNT, "N", NULL,
	 "with --runs: how many at once; default: as many as there are processors", AT(jobs)},
	{"until-bits", 0, WTI_OPT_TEXT, "BITS", NULL,
	 "with --runs: start no more runs once the 95 % interval of significant bits reaches no "
	 "further than this to either side",
	 AT(until_bits)},
	{"seed", 0, WTI_OPT_COUNT, "S", NULL,
	 "with --noise: the same seed gives the same noise; default 0", AT(noise.seed)},
	{"elements", 0, WTI_OPT_TEXT, "N", NULL,
	 "with --noise or --runs: how many elements of each value are kept, or all; default 256",
	 AT(noise.elements)},
	{"noise-run", 0, WTI_OPT_COUNT, "K", NULL,
	 "with --noise: the noise that run K of a set with this seed has; default 1",
	 AT(noise.run)},
	{"noise-libm", 0, WTI_OPT_CHOICE, "WHICH", "on|off",
	 "with --noise: whether libm, BLAS and LAPACK are perturbed, too, by a preloaded library",
	 AT(noise.libm)},
	{"noise-only", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "with --noise: only these functions or places, such as torch.add, libm.sin, file.py:12; "
	 "separated by commas",
	 AT(noise.only)},
	{"noise-skip", 0, WTI_OPT_TEXT, "PATTERNS", NULL,
	 "with --noise: not these functions or places", AT(noise.skip)},
	{"no-build", 0, WTI_OPT_FLAG, NULL, NULL,
	 "do not build a missing agent for the program's Python: print that it is missing, and run "
	 "the program without it",
	 AT(no_build)},
	{"quiet", 'q', WTI_OPT_FLAG, NULL, NULL, "print nothing at the end", AT(quiet)},
	{"json", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print the summary as one JSON object, with what --check found, on standard error, "
	 "because standard output belongs to the program",
	 AT(json)},
	WTI_OPTIONS_END,
};

static const struct wti_dialect *const dialects[] = {&wti_dialect_traincheck, &wti_dialect_pytracer,
						     NULL};

const struct wti_verb wti_verb_record = {
	.name = "record",
	.arguments = "[-- PROGRAM [ARGS...]]",
	.summary = "run a program and record it",
	.description =
		"Runs the program, follows its children, and records what their agents emit into a "
		"run folder. The program's terminal, input, output, signals and exit status are "
		"passed through; the status of record is the program's, 128 plus the number of the "
		"signal that killed it, 127 if there is no such program, 126 if it cannot be "
		"executed, and 125 if record cannot do what the options ask for. --check adds one: "
		"1 if an error was found and the program ended with 0.\n\n"
		"Trouble with the recorder does not disturb the program: a full disk, a deleted "
		"folder or a killed recorder ends the trace, not the program. Lost events are "
		"counted and reported. If limits (ulimit) leave no room to record it, the program "
		"runs unrecorded, and a line gives the reason.\n\n"
		"Each version of Python needs its own agent. If there is none for the interpreter "
		"on the command line, it is built once, before the program starts, which needs a C "
		"compiler, the interpreter's headers and up to a minute. If it cannot be built, "
		"record prints what is missing, and the program runs without it; with --no-build "
		"it is not built. `wheeltap python add` builds it in advance.\n\n"
		"With --syscalls the system calls of the program and of all that it starts are "
		"recorded, with or without an agent in it: by BPF if that is permitted, otherwise "
		"by ptrace, which is slower and loses nothing. With ptrace and an EXPR a seccomp "
		"filter stops only the selected calls; if the recorder is killed, these calls then "
		"fail.\n\n"
		"With --stacks everything that shows calls also shows their source lines, even for "
		"programs without frame pointers; each call takes somewhat longer.\n\n"
		"A process that outlives the program (a daemon, a background job) is recorded for "
		"2 s more and then released; it is listed at the end, in run.json and by info. "
		"With --wait record waits until all of them have ended; an interrupt ends the "
		"waiting.\n\n"
		"With --attach the system calls of a running process are recorded, until it ends, "
		"after --duration, or when record is interrupted; it is left as it was found, and "
		"the status is then 0.\n\n"
		"With --noise the results of operations are perturbed in their last digits, "
		"reproducibly, so that runs differ as much as their arithmetic is uncertain; with "
		"--runs the program is recorded several times, at once if there are processors for "
		"it, into SET/01, SET/02, ... A run that fails is noted and the others go on; the "
		"status is that of the first one that failed. Interrupting keeps the runs that "
		"have "
		"ended.\n\n"
		"With --check findings are printed on standard error as soon as they are certain. "
		"--on-finding 'cat >> findings.json' runs a command for each batch of new ones: "
		"its standard input is one JSON object, as doctor --json prints it. The program "
		"does not wait for the command.\n\n"
		"Runs are private: folders have mode 0700, secrets are masked, and text of the "
		"program is replaced by length and hash unless --strings keep is given.",
	.examples =
		"wheeltap record -- python train.py\ta Python program, unchanged\n"
		"wheeltap record -- ./train --epochs 3\tinto ./wheeltap-runs/train-DATE-TIME\n"
		"wheeltap record -n try1 -- python train.py\twheeltap info try1 finds it again\n"
		"wheeltap record -o run1 --max-size 500M -- ./train\tinto the folder run1\n"
		"wheeltap record --syscalls=%file -- make\tits system calls on files\n"
		"wheeltap record --syscalls --wait -- ./start-server\talso the processes it leaves "
		"running\n"
		"wheeltap record --attach 4242 -d 10s\ta running process, for ten seconds\n"
		"wheeltap record --runs 10 --noise rr -- python train.py\thow many digits are "
		"real\n"
		"wheeltap record --on-full flight=60 -- ./serve\tkeep only the last minute",
	.options = options,
	.options_bytes = sizeof(struct record_options),
	.defaults = &defaults,
	.arguments_max = 1u << 20,
	.rest_is_program = true,
	.dialects = dialects,
	.group = "record",
	.run = run,
};
