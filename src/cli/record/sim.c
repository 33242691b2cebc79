/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `sim`. */
#include <string.h>

#include "collect/sim/sim.h"

#include "base/err.h"
#include "cli/progress.h"
#include "cli/report.h"

#define NOT_GIVEN UINT64_MAX

struct sim_options {
	bool json;
	uint64_t events;
	uint64_t seed;
	const char *config;
	const char *kinds;
	const char *output;
};

static int check(const struct sim_options *options, struct wt_err *err)
{
	if (!options->output)
		return wti_err(err, WT_E_ARG, "no folder given: use -o RUN");
	if (options->events != NOT_GIVEN &&
	    (options->events == 0 || options->events > WTI_SIM_EVENTS_MAX))
		return wti_err(err, WT_E_ARG, "bad value for --events; it takes 1 to %llu",
			       (unsigned long long)WTI_SIM_EVENTS_MAX);
	if (options->seed != NOT_GIVEN && options->seed > INT64_MAX)
		return wti_err(err, WT_E_ARG, "bad value for --seed; it takes 0 to %llu",
			       (unsigned long long)INT64_MAX);
	return 0;
}

/* The command line has the last word. */
static int configure(const struct sim_options *options, struct wti_sim_config *config,
		     struct wt_err *err)
{
	int r = check(options, err);

	if (r < 0)
		return r;
	wti_sim_config_init(config);
	if (options->config)
		r = wti_sim_config_load(config, options->config, err);
	if (options->events != NOT_GIVEN)
		config->events = options->events;
	if (options->seed != NOT_GIVEN)
		config->seed = options->seed;
	return r;
}

static int report(const struct sim_options *options, const struct wti_sim_config *config,
		  const struct wti_sim_summary *summary)
{
	struct wt_result result;
	int code;

	wt_result_init(&result, "sim");
	wt_result_set_status(&result, "clean");
	wt_result_fact_text(&result, "run", "run", options->output);
	wt_result_fact_count(&result, "seed", "seed", WT_CELL_COUNT, config->seed);
	wt_result_fact_count(&result, "events", "events", WT_CELL_COUNT, summary->events);
	wt_result_fact_count(&result, "bytes", "size", WT_CELL_BYTES, summary->bytes);
	wt_result_fact_number(&result, "bytes_per_event", "bytes an event", WT_CELL_NUMBER,
			      (double)summary->bytes / (double)summary->events);
	code = wti_report_result(&result, options->json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct sim_options *options = opaque;
	struct wti_progress progress;
	struct wti_sim_config config;
	struct wti_sim_summary summary;
	struct wti_sim_options sim = {
		.config = &config,
		.folder = options->output,
		.all_kinds = options->kinds && !strcmp(options->kinds, "all"),
		.progress = wti_progress_share,
		.cookie = &progress,
	};
	struct wt_err err = {.offset = -1};
	int r = configure(options, &config, &err);

	if (r < 0) {
		wti_report_error("sim", options->json, &err);
		return WTI_EXIT_USAGE;
	}
	wti_progress_begin(&progress, "simulating");
	r = wti_sim_run(&sim, &summary, &err);
	wti_progress_end(&progress);
	if (r < 0) {
		wti_report_error("sim", options->json, &err);
		return WTI_EXIT_ENVIRONMENT;
	}
	return report(options, &config, &summary);
}

static const struct sim_options defaults = {.events = NOT_GIVEN, .seed = NOT_GIVEN};

static const struct wti_option options[] = {
	{"events", 'n', WTI_OPT_COUNT, "N", NULL, "how many events, of all kinds (1,000,000)",
	 offsetof(struct sim_options, events)},
	{"seed", 's', WTI_OPT_COUNT, "S", NULL, "seed of all random numbers (1)",
	 offsetof(struct sim_options, seed)},
	{"config", 'c', WTI_OPT_TEXT, "FILE", NULL, "TOML file that describes the workload",
	 offsetof(struct sim_options, config)},
	{"kinds", 0, WTI_OPT_CHOICE, "WHICH", "workload|all",
	 "a workload, or random rows of all kinds of events", offsetof(struct sim_options, kinds)},
	{"output", 'o', WTI_OPT_TEXT, "RUN", NULL, "folder of the run; must be empty or absent",
	 offsetof(struct sim_options, output)},
	WTI_OPTION_JSON(struct sim_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_sim = {
	.name = "sim",
	.arguments = "-o RUN",
	.summary = "simulate a deterministic accelerator workload with known ground truth",
	.description =
		"Simulates data-parallel training on devices with queues: host threads launch "
		"kernels, copies and collectives, which share devices and links, wait for one "
		"another and vary in duration as on real devices. The same seed and configuration "
		"give the same bytes on every machine.\n\n"
		"Besides the streams the folder contains truth.json: utilisation, concurrency, "
		"dependencies and totals, counted during the simulation, as a reference for other "
		"verbs. docs/sim.md describes the model, the configuration and truth.json.\n\n"
		"With --kinds all the events are random but valid rows of every kind, to test "
		"programs that read traces.",
	.examples = "wheeltap sim -o /tmp/run\tone million events of two devices\n"
		    "wheeltap sim --events 100000000 --seed 7 -o /tmp/big\ta large trace\n"
		    "wheeltap sim --config cluster.toml -o /tmp/run\ta workload of your own",
	.options = options,
	.options_bytes = sizeof(struct sim_options),
	.group = "record",
	.run = run,
	.defaults = &defaults,
};
