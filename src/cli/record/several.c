/* SPDX-License-Identifier: Apache-2.0 */
/* One recording after the options of the verb becomes several: what each run of a set is told. */
#include <stdlib.h>

#include "base/err.h"
#include "cli/front.h"
#include "cli/report.h"
#include "recording.h"
#include "runs.h"

struct several {
	struct wti_record_choice options; /* of each run */
	const struct wti_limits *limits;
	char **arguments;
};

static int record_turn(void *self, uint32_t number, const char *folder)
{
	struct several *several = self;

	several->options.folder = folder;
	several->options.noise.run = number;
	return wti_recording_conduct(&several->options, several->limits, several->arguments);
}

/* Once for all runs, before the first. */
static int prepare_several(const struct wti_record_choice *options, char **arguments,
			   struct wt_err *err)
{
	struct wti_prepared_recording *recording = calloc(1, sizeof(*recording));
	int r;

	if (!recording)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	recording->came_from = -1;
	r = wti_recording_prepare(recording, options, err);
	if (!r)
		wti_recording_prepare_agent(recording, options, arguments);
	wti_recording_go_back(recording);
	wti_record_check_free(recording->check);
	wti_python_plan_release(&recording->plan);
	wti_recording_release(recording);
	free(recording);
	return r;
}

int wti_recording_conduct_several(const struct wti_record_choice *options,
				  const struct wti_limits *limits, char **arguments)
{
	struct several several = {*options, limits, arguments};
	const struct wti_record_runs runs = {
		.count = options->runs,
		.jobs = options->jobs,
		.until_bits = options->until_bits,
		.folder = options->folder,
		.base = wti_home(),
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

	if (wti_record_runs_check(&runs, &err) || prepare_several(options, arguments, &err)) {
		wti_report_error("record", false, &err);
		return WTI_EXIT_NOT_RUN;
	}
	several.options.quiet = several.options.is_prepared = true;
	several.options.json = several.options.force = false;
	several.options.runs = 0;
	several.options.jobs = 0;
	several.options.until_bits = NULL;
	return wti_record_runs(&runs);
}
