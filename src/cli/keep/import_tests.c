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
#include "base/text.h"
#include "cli/front.h"
#include "convert/junit.h"
#include "convert/tap.h"
#include "convert/test_run.h"

#define SAME_SECOND_MAX 100

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

/* "results-20260301-123000" below the home, after results.xml. */
static int new_folder(const char *path, char ret_folder[PATH_MAX], struct wt_err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int bytes = (int)strcspn(name, ".");
	time_t now = time(NULL);
	char when[32];
	struct stat st;
	struct tm tm;

	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	for (int i = 1; i <= SAME_SECOND_MAX; i++) {
		char more[16] = "";

		if (i > 1)
			snprintf(more, sizeof(more), "-%d", i);
		if (snprintf(ret_folder, PATH_MAX, "%s/%.*s-%s%s", wti_home(), bytes ? bytes : 5,
			     bytes ? name : "tests", when, more) >= PATH_MAX)
			break;
		if (stat(ret_folder, &st))
			return 0;
	}
	return wti_err(err, WT_E_EXISTS, "no free name below '%.200s'; use -o RUN", wti_home());
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
		r = new_folder(paths[0], folder, err);
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
