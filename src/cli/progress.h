/* SPDX-License-Identifier: Apache-2.0 */
/* A bar on standard error while work takes longer than two seconds; nothing when it is no terminal.
 */
#ifndef WTI_CLI_PROGRESS_H
#define WTI_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct wti_progress {
	const char *what; /* "reading" */
	uint64_t begin_ns;
	uint64_t drawn_ns;
	bool terminal;
	bool drawn;
};

void wti_progress_begin(struct wti_progress *progress, const char *what);
/* Fits wt_inspect(): `progress` is a struct wti_progress, `share` goes from 0 to 1. */
void wti_progress_share(void *progress, double share);
/* A line in the place of the bar, at once: where nobody knows how much there is to do. */
void wti_progress_line(struct wti_progress *progress, const char *line);
/* Takes the bar away. */
void wti_progress_end(struct wti_progress *progress);

#endif
