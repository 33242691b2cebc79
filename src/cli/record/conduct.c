/* SPDX-License-Identifier: Apache-2.0 */
/* A recording from its preparation to the last line that is printed about it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "collect/launch.h"
#include "cli/report.h"
#include "cli/front.h"
#include "runs/catalogue.h"
#include "runs/remove.h"
#include "runs/run.h"
#include "agent.h"
#include "plan.h"
#include "recording.h"
#include "report.h"
#include "say.h"

extern char **environ;

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

/* What torch does below Python is recorded at the full level, or where it is asked for. */
void wti_recording_prepare_agent(const struct wti_prepared_recording *recording,
				 const struct wti_record_choice *options, char **arguments)
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
void wti_recording_go_back(struct wti_prepared_recording *recording)
{
	if (recording->came_from < 0)
		return;
	if (fchdir(recording->came_from))
		wti_warn("cannot return to the starting folder: %s", strerror(errno));
	close(recording->came_from);
	recording->came_from = -1;
}

/* Of a run directly below the home: its row in the catalogue, if there is one. */
static void add_to_catalogue(const struct wti_prepared_recording *recording)
{
	const char *folder = recording->outcome.folder, *name = strrchr(folder, '/');
	struct wti_front front = wti_front_here(NULL);

	if (!recording->options.folder && name)
		wti_catalogue_add(&front, name + 1);
}

/* Says what became of the program, and what was found; the exit code. */
static int conclude(struct wti_prepared_recording *recording,
		    const struct wti_record_choice *options)
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
static int record(struct wti_prepared_recording *recording, const struct wti_record_choice *options,
		  const struct wti_limits *limits, char **arguments)
{
	struct wti_record_outcome *outcome = &recording->outcome;
	struct wt_err err = {0};

	recording->options.argv = arguments;
	recording->options.limits = limits;
	if (!options->attach && !options->is_prepared)
		wti_recording_prepare_agent(recording, options, arguments);
	if (options->force && recording->options.folder &&
	    make_room(&recording->options, options->attach != 0, &err)) {
		wti_report_error("record", false, &err);
		return WTI_EXIT_NOT_RUN;
	}
	if (recording->options.folder && !options->is_prepared)
		wti_run_remember(recording->options.base, recording->options.folder);
	if (wti_record_run(&recording->options, outcome, &err)) {
		if (outcome->may_run && !options->attach)
			return run_unrecorded(&recording->options, &err);
		wti_report_error("record", false, &err);
		return outcome->exit_code;
	}
	wti_recording_go_back(recording);
	if (recording->report && wti_record_report(outcome->folder, recording->report, &err))
		wti_warn("no report was written: %s", err.message);
	add_to_catalogue(recording);
	return conclude(recording, options);
}

/* What was asked for cannot be prepared: for want of memory, or because it makes no sense. */
static int not_prepared(const struct wti_record_choice *options, const struct wti_limits *limits,
			char **arguments, const struct wt_err *err)
{
	const struct wti_record_options record = {
		.argv = arguments, .environment = environ, .limits = limits};

	if ((err->code != WT_E_NOMEM && err->code != WT_E_LIMIT) || options->attach ||
	    options->dry_run || (options->directory && chdir(options->directory))) {
		wti_report_error("record", false, err);
		return WTI_EXIT_NOT_RUN;
	}
	return run_unrecorded(&record, err);
}

int wti_recording_conduct(const struct wti_record_choice *options, const struct wti_limits *limits,
			  char **arguments)
{
	struct wti_prepared_recording *recording = calloc(1, sizeof(*recording));
	struct wt_err err = {0};
	int code;

	if (!recording) {
		wti_err(&err, WT_E_NOMEM, "out of memory");
		return not_prepared(options, limits, arguments, &err);
	}
	recording->came_from = -1;
	if (wti_recording_prepare(recording, options, &err))
		code = not_prepared(options, limits, arguments, &err);
	else
		code = options->dry_run
			       ? wti_record_plan(arguments, &recording->plan, options->json)
			       : record(recording, options, limits, arguments);
	wti_record_check_free(recording->check);
	wti_python_plan_release(&recording->plan);
	wti_recording_release(recording);
	free(recording);
	return code;
}
