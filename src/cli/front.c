/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the environment on behalf of src/runs. */
#include <stdlib.h>
#include <unistd.h>

#include "front.h"
#include "runs/suppress.h"

const char *wti_home(void)
{
	const char *home = getenv("WHEELTAP_HOME");

	return home && *home ? home : "./wheeltap-runs";
}

static void show_progress(void *cookie, double share)
{
	struct wti_progress *progress = cookie;

	if (share < 0) {
		wti_progress_end(progress);
		progress->begin_ns = 0;
	} else if (!progress->begin_ns) {
		wti_progress_begin(progress, progress->what);
	} else {
		wti_progress_share(progress, share);
	}
}

struct wti_front wti_front_doing(const char *what, struct wti_progress *progress)
{
	struct wti_front front = {.home = wti_home(),
				  .user_home = getenv("HOME"),
				  .config = WTI_SUPPRESS_FILE,
				  .progress = progress ? show_progress : NULL,
				  .cookie = progress};
	ssize_t bytes = readlink("/proc/self/exe", front.program, sizeof(front.program) - 1);

	front.program[bytes > 0 ? bytes : 0] = 0;
	if (progress)
		*progress = (struct wti_progress){.what = what};
	return front;
}

struct wti_front wti_front_here(struct wti_progress *progress)
{
	return wti_front_doing("reading", progress);
}
