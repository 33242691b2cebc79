/* SPDX-License-Identifier: Apache-2.0 */
/* How the options of the verb `record` become those of a recording. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/config.h"
#include "recording.h"

extern char **environ;

static int read_on_full(const char *text, struct wti_record_options *record, struct wt_err *err)
{
	const char *equals = strchr(text, '=');

	if (!strcmp(text, "block"))
		record->on_full = WTI_RECORD_BLOCK;
	else if (!strcmp(text, "drop"))
		record->on_full = WTI_RECORD_DROP;
	else if (!strcmp(text, "wait"))
		record->on_full = WTI_RECORD_WAIT;
	else if (!strncmp(text, "flight", 6))
		record->on_full = WTI_RECORD_FLIGHT;
	if (!equals)
		return 0;
	if (record->on_full != WTI_RECORD_FLIGHT ||
	    !wti_parse_duration(equals + 1, &record->flight_ns) || record->flight_ns < 1000000000)
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--on-full'; give block, wait, drop, or "
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

static int read_options(const struct wti_record_choice *options, struct wti_record_options *record,
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
	if (!strcmp(options->python.tensors, "full") || options->opencl.replayable)
		record->blobs_bytes_max = options->blobs_bytes_max;
	if (home && home[0])
		record->base = home;
	if (temporary && temporary[0])
		record->temporary = temporary;
	if (options->duration_ns < 0)
		return wti_err(err, WT_E_ARG, "'--duration' must not be negative");
	record->ends_group = options->parent != 0;
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

/* Into the folder that the program is to run in. */
static int enter(struct wti_prepared_recording *recording, const char *directory,
		 struct wt_err *err)
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
static int refuse_idle(const struct wti_record_choice *options, struct wt_err *err)
{
	bool with_calls = is_on(options->syscalls) || (options->attach && !options->syscalls);

	if (options->attach && !with_calls)
		return wti_err(err, WT_E_ARG,
			       "'--attach' records system calls; leave '--syscalls=no' away");
	if (options->stacks && !with_calls && !options->opencl.is_on)
		return wti_err(err, WT_E_ARG,
			       "--stacks are those of system calls or of OpenCL's commands: give "
			       "--syscalls or --opencl, too");
	if (options->opencl.replayable && !options->opencl.is_on)
		return wti_err(err, WT_E_ARG,
			       "'--replayable' keeps what devices worked with: give --opencl, too");
	if (options->attach && options->opencl.is_on)
		return wti_err(err, WT_E_ARG,
			       "'--opencl' has to be there when a program starts; leave '--attach' "
			       "away");
	if (options->attach && (is_on(options->gpu.cuda) || options->gpu.rocm))
		return wti_err(
			err, WT_E_ARG,
			"'--%s' has to be there when a program starts; leave '--attach' away",
			options->gpu.rocm ? "rocm" : "cuda");
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

static int choose_syscalls(struct wti_prepared_recording *recording,
			   const struct wti_record_choice *options, struct wt_err *err)
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
static int prepare_noise(struct wti_prepared_recording *recording,
			 const struct wti_record_choice *options, struct wt_err *err)
{
	const struct wti_record_noise *noise = &options->noise;
	int r = wti_record_noise_check(noise, options->is_prepared || options->runs, err);

	if (r || (!noise->mode && !options->is_prepared && !noise->elements))
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

static int prepare_opencl(struct wti_prepared_recording *recording,
			  const struct wti_record_choice *options, struct wt_err *err)
{
	struct wti_record_opencl opencl = options->opencl;
	int r;

	if (!opencl.is_on)
		return 0;
	opencl.stacks = options->stacks;
	r = wti_record_opencl_variable(&recording->variables[0], err);
	recording->options.variables = recording->variables;
	return r ? r : wti_record_opencl_settings(&opencl, &recording->plan.settings, err);
}

static int prepare_gpu(struct wti_prepared_recording *recording,
		       const struct wti_record_choice *options, struct wt_err *err)
{
	const size_t room = sizeof(recording->variables) / sizeof(recording->variables[0]);
	int r = wti_record_gpu_variables(&options->gpu, options->program, recording->variables,
					 room, err);

	if (recording->variables[0])
		recording->options.variables = recording->variables;
	return r ? r
		 : wti_record_gpu_settings(&options->gpu, options->program,
					   &recording->plan.settings, err);
}

void wti_recording_release(struct wti_prepared_recording *recording)
{
	for (size_t i = 0; recording->variables[i]; i++)
		free(recording->variables[i]);
	wti_config_words_free(recording->chosen);
}

/* How it was recorded, for whoever runs it again: not where to, and not what was printed. */
static int keep_options(struct wti_prepared_recording *recording,
			const struct wti_record_choice *options, struct wt_err *err)
{
	static const char *const but[] = {"config", "write-config", "dry-run",   "report", "output",
					  "force",  "name",         "directory", "quiet",  "json",
					  "check",  "on-finding",   "attach",    "parent", "runs",
					  "jobs",   "until-bits",   "no-build",  NULL};
	int r = wti_config_words(&wti_verb_record, options, but, &recording->chosen);

	recording->options.chosen = r ? NULL : recording->chosen;
	return r ? wti_err(err, r, "out of memory") : 0;
}

static bool names_output(const char *path)
{
	return path && (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/fd/1") ||
			!strcmp(path, "/proc/self/fd/1"));
}

int wti_recording_prepare(struct wti_prepared_recording *recording,
			  const struct wti_record_choice *options, struct wt_err *err)
{
	struct wti_record_options *record = &recording->options;
	struct wti_python_choice python = options->python;
	int r = read_options(options, record, err);

	r = r ? r : refuse_idle(options, err);
	if (!r)
		r = choose_syscalls(recording, options, err);
	python.with_system = options->stacks && options->syscalls;
	python.with_opencl = options->opencl.is_on;
	if (!r)
		r = wti_python_plan(&recording->plan, &python, err);
	if (!r)
		r = prepare_noise(recording, options, err);
	if (!r)
		r = prepare_opencl(recording, options, err);
	if (!r)
		r = prepare_gpu(recording, options, err);
	r = r ? r : keep_options(recording, options, err);
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
