/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rerun, compared while it goes on: what has been written of it so far, again and again, by the
 * same comparison that judges it at its end. So a difference in the first minute of a program that
 * runs for hours is known in the first minute. Looks take at most a tenth of the time.
 */
#ifndef WTI_CLI_JUDGE_MEANWHILE_H
#define WTI_CLI_JUDGE_MEANWHILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/progress.h"
#include "runs/divergence_runs.h"

struct wti_meanwhile {
	const struct wti_front *front;
	const char *recorded, *folder; /* the run, and where it is recorded again */
	bool stop;                     /* at the first difference */
	bool is_seen;                  /* there is one */
	/* Its own. */
	struct wti_progress progress;
	uint64_t next_ns, seen_ns;
	struct wti_first_difference *last; /* of the look before; NULL: none */
};

void wti_meanwhile_begin(struct wti_meanwhile *meanwhile);
/* Fits struct wti_again: true if the program is to end. Prints the first difference. */
bool wti_meanwhile_look(void *meanwhile);
void wti_meanwhile_end(struct wti_meanwhile *meanwhile);

#endif
