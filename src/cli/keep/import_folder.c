/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how such folders are called. */
#include "import_folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "cli/front.h"

#define SAME_SECOND_MAX 100

/* "results-20260301-123000" below the home, after results.xml. */
int wti_import_folder(const char *path, char ret_folder[PATH_MAX], struct wt_err *err)
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
		if (snprintf(ret_folder, PATH_MAX, "%s/%.*s-%s%s", wti_home(), bytes ? bytes : 6,
			     bytes ? name : "import", when, more) >= PATH_MAX)
			break;
		if (stat(ret_folder, &st))
			return 0;
	}
	return wti_err(err, WT_E_EXISTS, "no free name below '%.200s'; use -o RUN", wti_home());
}
