/* SPDX-License-Identifier: Apache-2.0 */
/* capture_trace and export_perfetto: `wheeltap record` and `wheeltap export`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/tracesmith.h>

#include "base/err.h"
#include "program.h"

#define OWN_WORDS 12 /* before the program's own */
#define USAGE_STATUS 2
#define DURATION_BYTES 40

void wt_capture_options_init(struct wt_capture_options *options)
{
	*options = (struct wt_capture_options){.size = sizeof(*options)};
}

static int platform_words(const char *platform, const char **words, size_t *count,
			  struct wt_err *err)
{
	static const char *const names[] = {"opencl", "cuda", "rocm"};
	static const char *const options[] = {"--opencl", "--cuda", "--rocm"};
	size_t before = *count;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!platform || !strcmp(platform, names[i]))
			words[(*count)++] = options[i];
	if (*count == before)
		return wti_err(err, WT_E_ARG,
			       "no platform '%.40s'; there are opencl, cuda and rocm", platform);
	return 0;
}

/* The words of `wheeltap record`; to be freed. */
static int record_words(char *const argv[], const struct wt_capture_options *options,
			char duration[DURATION_BYTES], const char ***ret_words, struct wt_err *err)
{
	size_t argc = 0, count = 0;
	const char **words;
	int r;

	while (argv[argc])
		argc++;
	words = calloc(OWN_WORDS + argc + 1, sizeof(*words));
	if (!words)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	words[count++] = options->wheeltap;
	words[count++] = "record";
	words[count++] = "-o";
	words[count++] = options->folder;
	r = platform_words(options->platform, words, &count, err);
	if (options->duration_ms) {
		snprintf(duration, DURATION_BYTES, "--duration=%llums",
			 (unsigned long long)options->duration_ms);
		words[count++] = duration;
	}
	words[count++] = "--";
	memcpy(words + count, argv, argc * sizeof(*argv));
	if (r)
		free(words);
	else
		*ret_words = words;
	return r;
}

int wt_capture_trace(char *const argv[], const struct wt_capture_options *options,
		     struct wt_trace **ret_trace, int *ret_status, struct wt_err *err)
{
	char duration[DURATION_BYTES];
	const char **words = NULL;
	int status = 0, r;

	if (!argv[0] || !options->folder)
		return wti_err(err, WT_E_ARG,
			       "nothing to capture: name a program, and a folder for the run");
	r = record_words(argv, options, duration, &words, err);
	if (r)
		return r;
	r = wti_program_run((char **)words, &status, err);
	free(words);
	r = r ? r : wt_trace_open(options->folder, ret_trace, err);
	if (!r && ret_status)
		*ret_status = status;
	return r;
}

int wt_export_perfetto(const char *run, const char *path, const char *wheeltap, struct wt_err *err)
{
	const char *words[] = {wheeltap, "export", "--json", "--to", "perfetto",
			       "-o",     path,     "--",     run,    NULL};
	int status;
	int r = wti_program_run((char **)words, &status, err);

	if (!r && status)
		r = wti_err(err, status == USAGE_STATUS ? WT_E_ARG : WT_E_IO,
			    "'wheeltap export' of '%.200s' to '%.200s' failed with status %d: it "
			    "has printed why",
			    run, path, status);
	return r;
}
