/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files, and knows where the run goes. */
#include "import_tests.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/file.h"
#include "convert/junit.h"
#include "convert/tap.h"
#include "convert/test_run.h"
#include "import_folder.h"

bool wti_import_is_tests(const char *format)
{
	return !strcmp(format, "tap") || !strcmp(format, "junit");
}

static int read_one(const char *format, const char *path, struct wti_tests *tests,
		    struct wt_err *err)
{
	bool is_tap = true;
	struct wti_buf text;
	int r;

	wti_buf_init(&text, WTI_TAP_BYTES_MAX);
	r = wti_file_read(path, WTI_TAP_BYTES_MAX, &text, err);
	if (!r && !strcmp(format, "junit"))
		r = wti_junit_parse(path, (const char *)text.data, text.bytes, tests, err);
	else if (!r)
		r = wti_tap_parse((const char *)text.data, text.bytes, tests, &is_tap);
	if (!r && !is_tap)
		r = wti_err(err, WT_E_FORMAT,
			    "'%.200s' is no TAP: it needs a plan (1..N) or a version, and a line "
			    "that begins with ok or not ok",
			    path);
	wti_buf_release(&text);
	return r;
}

int wti_import_tests(const char *format, char **paths, size_t count, const char *output,
		     struct wt_result *result, struct wt_err *err)
{
	char folder[PATH_MAX];
	struct wti_tests_count counts;
	struct wti_tests tests;
	struct stat st;
	int64_t start_ns = 0;
	int r = 0;

	wti_tests_init(&tests);
	for (size_t i = 0; i < count && !r; i++) {
		paths[i] = strcmp(paths[i], "-") ? paths[i] : "/dev/stdin";
		r = read_one(format, paths[i], &tests, err);
	}
	/* When they ran is when the report was written. */
	if (!r && !stat(paths[0], &st) && S_ISREG(st.st_mode))
		start_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	else
		start_ns = (int64_t)time(NULL) * 1000000000;
	if (!r && !output)
		r = wti_import_folder(paths[0], folder, err);
	output = output ? output : folder;
	r = r ? r : wti_test_run_write(output, paths[0], start_ns, &tests, err);
	counts = wti_tests_count(&tests);
	if (!r) {
		wt_result_fact_text(result, "run", "run", output);
		wt_result_fact_count(result, "tests", "tests", WT_CELL_COUNT, tests.count);
		wt_result_fact_count(result, "failed", "failed", WT_CELL_COUNT,
				     counts.by_status[WT_CHECK_STATUS_FAILED] +
					     counts.by_status[WT_CHECK_STATUS_ERROR]);
	}
	wti_tests_release(&tests);
	return r;
}
