/* SPDX-License-Identifier: Apache-2.0 */
/* One program recorded several times: what is prepared once, and what each run changes. */
#include <stdlib.h>

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

int wti_recording_conduct_several(const struct wti_record_choice *options,
				  const struct wti_limits *limits, char **arguments)
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

	if (wti_record_runs_check(&runs, &err) || wti_recording_rehearse(options, arguments, &err))
		return wti_report_error("record", false, &err);
	several.options.quiet = several.options.is_prepared = true;
	several.options.json = several.options.force = false;
	several.options.runs = 0;
	several.options.jobs = 0;
	several.options.until_bits = NULL;
	return wti_record_runs(&runs);
}
