/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: all its streams, and one time for them. Times are turned into CLOCK_MONOTONIC and counted
 * from the run's first moment: its earliest clock pair (the recorder takes one when it begins), or
 * its earliest event where there is none.
 */
#include "trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/grow.h"

#define STREAMS_MAX 65536u
#define FAILED_MAX 256u

static bool is_open(const struct wt_trace *trace, const char *path)
{
	return wti_map_find_text(&trace->open_paths, path, strlen(path));
}

static int add_stream(struct wt_trace *trace, const char *path, struct wt_err *err)
{
	struct wti_trace_stream stream = {0};
	struct wt_err cause = {0};
	int status = wt_reader_open(path, &stream.reader, &cause);

	if (status == WT_E_NOMEM) {
		if (err)
			*err = cause;
		return status;
	}
	if (status) {
		if (trace->failed_count == FAILED_MAX)
			return 0;
		if (wti_grow(&trace->failed, trace->failed_count + 1, &trace->failed_capacity,
			     FAILED_MAX))
			return wti_err(err, WT_E_NOMEM, "out of memory");
		trace->failed[trace->failed_count++] = cause;
		return 0;
	}
	if (trace->stream_count == STREAMS_MAX)
		status = wti_err(err, WT_E_LIMIT, "more than %u streams in '%s'", STREAMS_MAX,
				 trace->path);
	else if (wti_grow(&trace->streams, trace->stream_count + 1, &trace->stream_capacity,
			  STREAMS_MAX) ||
		 !wti_map_text(&trace->open_paths, path, strlen(path)))
		status = wti_err(err, WT_E_NOMEM, "out of memory");
	if (status) {
		wt_reader_free(stream.reader);
		return status;
	}
	trace->streams[trace->stream_count++] = stream;
	return 0;
}

static int stream_filter(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 3 && !strcmp(entry->d_name + length - 3, ".wt");
}

/* Numbers have four digits, and more where four are too few: the longer one is the larger. */
static size_t digits_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 4 ? 4 : digits;
}

/* A name without a number differs from those with one in its first byte, so this is an order. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	size_t left = digits_of((*a)->d_name), right = digits_of((*b)->d_name);

	if (left && right && left != right)
		return left < right ? -1 : 1;
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Opens the streams of the folder that are not open yet, in the order of their names. */
static int open_folder(struct wt_trace *trace, struct wt_err *err)
{
	struct dirent **entries;
	int count = scandir(trace->path, &entries, stream_filter, by_name);
	int status = 0;

	if (count < 0)
		return wti_err_errno(err, "cannot open run", trace->path);
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!status && asprintf(&path, "%s/%s", trace->path, entries[i]->d_name) < 0) {
			path = NULL;
			status = wti_err(err, WT_E_NOMEM, "out of memory");
		}
		if (!status && !is_open(trace, path))
			status = add_stream(trace, path, err);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static int open_streams(struct wt_trace *trace, struct wt_err *err)
{
	struct stat info;

	if (stat(trace->path, &info))
		return wti_err_errno(err, "cannot open", trace->path);
	trace->is_folder = S_ISDIR(info.st_mode);
	if (trace->is_folder)
		return open_folder(trace, err);
	return add_stream(trace, trace->path, err);
}

int wt_trace_open(const char *path, struct wt_trace **ret_trace, struct wt_err *err)
{
	struct wt_trace *trace = calloc(1, sizeof(*trace));
	int status;

	if (!trace)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_map_init(&trace->open_paths, STREAMS_MAX);
	trace->path = strdup(path);
	if (!trace->path)
		status = wti_err(err, WT_E_NOMEM, "out of memory");
	else
		status = open_streams(trace, err);
	if (!status && !trace->stream_count && trace->failed_count) {
		if (err)
			*err = trace->failed[0];
		status = trace->failed[0].code;
	} else if (!status && !trace->stream_count) {
		status = wti_err(err, WT_E_MISSING,
				 "no trace in '%s': it has no stream (*.wt); name a run folder or "
				 "a stream",
				 path);
	}
	if (!status)
		status = wti_times_fit(trace, err);
	if (status) {
		wt_trace_free(trace);
		return status;
	}
	*ret_trace = trace;
	return 0;
}

void wt_trace_free(struct wt_trace *trace)
{
	if (!trace)
		return;
	wti_times_release(trace);
	for (size_t i = 0; i < trace->stream_count; i++)
		wt_reader_free(trace->streams[i].reader);
	free(trace->streams);
	wti_map_release(&trace->open_paths);
	free(trace->failed);
	free(trace->path);
	free(trace);
}

int wt_trace_refresh(struct wt_trace *trace, struct wt_err *err)
{
	int found = 0;
	int status = 0;

	for (size_t i = 0; i < trace->stream_count; i++) {
		int more = wt_reader_refresh(trace->streams[i].reader, err);

		if (more < 0)
			return more;
		found += more;
	}
	if (trace->is_folder) {
		size_t before = trace->stream_count;

		trace->failed_count = 0; /* one that was empty may have begun */
		status = open_folder(trace, err);
		found += (int)(trace->stream_count - before);
	}
	if (!status && found)
		status = wti_times_fit(trace, err);
	return status ? status : found;
}

size_t wt_trace_stream_count(const struct wt_trace *trace)
{
	return trace->stream_count;
}

struct wt_reader *wt_trace_stream(const struct wt_trace *trace, size_t index)
{
	return index < trace->stream_count ? trace->streams[index].reader : NULL;
}

size_t wt_trace_failed_count(const struct wt_trace *trace)
{
	return trace->failed_count;
}

const struct wt_err *wt_trace_failed(const struct wt_trace *trace, size_t index)
{
	return index < trace->failed_count ? &trace->failed[index] : NULL;
}
