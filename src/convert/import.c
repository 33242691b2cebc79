/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and the way of every file from its reader to its streams. */
#include "import.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/folder.h"
#include "convert/calls/formats.h"
#include "convert/device/formats.h"
#include "convert/events/formats.h"
#include "run_json.h"

static const struct wti_import_format *const formats[] = {
	&wti_import_kineto, &wti_import_chrome, &wti_import_perfetto, &wti_import_sbt,
	&wti_import_nsys,   &wti_import_strace, &wti_import_renacer,
};

const struct wti_import_format *wti_import_format(const char *name)
{
	for (size_t i = 0; i < WTI_COUNT(formats); i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	}
	return NULL;
}

static void add_reasons(struct wti_import_report *report, const struct wti_intake *intake)
{
	const struct wti_intake_reason *reasons;
	size_t count = wti_intake_reasons(intake, &reasons);

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < report->reason_count && strcmp(report->reasons[at].why, reasons[i].why))
			at++;
		if (at == WTI_COUNT(report->reasons))
			continue;
		if (at == report->reason_count)
			report->reasons[report->reason_count++] =
				(struct wti_intake_reason){reasons[i].why, 0};
		report->reasons[at].count += reasons[i].count;
	}
}

static int import_file(const struct wti_import_format *format, const char *path, const char *folder,
		       struct wti_import_report *report, struct wt_err *err)
{
	struct wti_import_file file = {.rank = -1, .damage = {.offset = -1}};
	struct wti_intake_target target = {.folder = folder,
					   .first_stream = report->summary.streams};
	struct wti_intake *intake;
	int r = wti_intake_open(folder, &intake, err);

	if (r)
		return r;
	r = format->read(path, intake, &file, err);
	target.shift_ns = file.shift_ns;
	target.realtime = file.realtime;
	target.rank = file.rank;
	target.world = file.world;
	target.group = *file.group ? file.group : NULL;
	r = r ? r : wti_intake_write(intake, &target, &report->summary, err);
	report->records += file.records;
	report->bytes += file.bytes;
	if (file.damage.code && !report->damaged++)
		report->damage = file.damage;
	add_reasons(report, intake);
	wti_intake_free(intake);
	return r;
}

static int write_json(const char *folder, const char *source,
		      const struct wti_import_report *report, struct wt_err *err)
{
	const struct wti_intake_summary *summary = &report->summary;
	const struct wti_run_facts facts = {
		.source = source,
		.status = WTI_RUN_FINISHED,
		.start_ns = summary->first_ns < INT64_MAX ? (int64_t)summary->first_ns : 0,
		.duration_ns = summary->last_ns > summary->first_ns
				       ? summary->last_ns - summary->first_ns
				       : 0,
		.events = summary->events,
		.lost = summary->lost};

	return wti_run_json_write(folder, &facts, err);
}

static void take_back(const struct wti_folder *made, const char *folder, uint32_t streams)
{
	char path[PATH_MAX + 16];

	for (uint32_t i = 0; i < streams; i++) {
		snprintf(path, sizeof(path), "%s/%04u.wt", folder, i);
		unlink(path);
	}
	wti_folder_unmake(made);
}

int wti_import_run(const struct wti_import_format *format, char *const *paths, size_t count,
		   const char *folder, struct wti_import_report *ret_report, struct wt_err *err)
{
	struct wti_import_report report = {.damage = {.offset = -1}};
	struct wti_folder made;
	int r = wti_folder_make(&made, folder, err);

	if (r)
		return r;
	for (size_t i = 0; i < count && !r; i++)
		r = import_file(format, paths[i], folder, &report, err);
	if (!r && !report.summary.events)
		r = report.damage.code
			    ? report.damage.code
			    : wti_err(err, WT_E_FORMAT, "no event in '%.200s'", paths[0]);
	if (r && report.damage.code && !report.summary.events && err)
		*err = report.damage;
	r = r ? r : write_json(folder, paths[0], &report, err);
	if (r)
		take_back(&made, folder, report.summary.streams);
	else
		*ret_report = report;
	return r;
}
