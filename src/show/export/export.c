/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an export. */
#include "export.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "show/source.h"

int wti_export_begin(struct wti_export_job *job, const struct wti_exporter *exporter,
		     const struct wti_export *options, struct wt_err *err)
{
	const char *path = options->path;
	int status = 0;

	*job = (struct wti_export_job){
		.exporter = exporter,
		.export = *options,
		.sink = {.fd = -1},
	};
	if (!exporter->streams && !strcmp(path, "-"))
		return wti_err(err, WT_E_ARG,
			       "cannot write %s to standard output; give a file with -o",
			       exporter->name);
	job->state = calloc(1, exporter->state_bytes);
	job->sources = calloc(1, sizeof(*job->sources));
	job->native = wti_native_new();
	if (!job->state || !job->sources || !job->native)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_sources_init(job->sources, job->native);
	job->export.sources = job->sources;
	if (!exporter->own_files) {
		job->export.sink = &job->sink;
		status = wti_sink_open(&job->sink, path, options->force, err);
		job->sink.is_binary = exporter->is_binary;
	}
	if (status)
		return status;
	job->begun = true;
	return exporter->begin(job->state, &job->export, err);
}

int wti_export_event(struct wti_export_job *job, const struct wt_event *event, struct wt_err *err)
{
	int status;

	wti_sources_event(job->sources, event);
	status = job->exporter->event(job->state, event, err);
	if (event->kind->number == WT_KIND_LOST)
		job->export.lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
	job->export.events++;
	return status || !job->export.sink ? status : wti_sink_spill(&job->sink, err);
}

int wti_export_finish(struct wti_export_job *job, struct wt_err *err)
{
	int status = job->exporter->finish(job->state, err);

	if (status || !job->export.sink)
		return status;
	status = wti_sink_commit(&job->sink, job->export.force, err);
	job->export.bytes = job->sink.bytes;
	return status;
}

void wti_export_release(struct wti_export_job *job)
{
	if (job->begun)
		job->exporter->release(job->state);
	free(job->state);
	if (job->sources)
		wti_sources_release(job->sources);
	free(job->sources);
	wti_native_free(job->native);
	wti_sink_release(&job->sink);
}
