/* SPDX-License-Identifier: Apache-2.0 */
/* When to look, and what of a run that goes on may be believed: see meanwhile.h. */
#include "meanwhile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/report.h"

#define INTERVAL_NS 1000000000u /* the recorder writes at least once a second */
#define SHARE 9u                /* of the time of a look: how long there is none after it */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void wti_meanwhile_begin(struct wti_meanwhile *meanwhile)
{
	wti_progress_begin(&meanwhile->progress, "running");
	meanwhile->next_ns = meanwhile->progress.begin_ns + INTERVAL_NS;
}

void wti_meanwhile_end(struct wti_meanwhile *meanwhile)
{
	wti_progress_end(&meanwhile->progress);
	free(meanwhile->last);
	meanwhile->last = NULL;
}

/*
 * That something is missing may mean that it is still to come, and so may, among threads that share
 * work, whatever has no equal. What differs in a value on the first thread of a rank stays so.
 */
static const struct wti_first_difference *firm(const struct wti_divergence_report *report)
{
	const struct wti_first_difference *first = wti_divergence_first(report);

	if (!first || first->how == WTI_BEGINS_ORDER || report->tracks[report->first].is_helper)
		return NULL;
	return first;
}

/* At the end of what is written, operations may be aligned that will not be: two looks must agree.
 */
static bool is_again(const struct wti_first_difference *x, const struct wti_first_difference *y)
{
	return x && y && x->time_ns == y->time_ns && x->line == y->line && x->step == y->step &&
	       !strcmp(x->callee, y->callee) && !strcmp(x->file, y->file);
}

static void say(const struct wti_meanwhile *meanwhile, const struct wti_first_difference *first)
{
	char where[640] = "", step[48] = "", after[16];

	if (*first->file)
		snprintf(where, sizeof(where), ", %s:%u", first->file, first->line);
	if (first->step >= 0)
		snprintf(step, sizeof(step), ", step %" PRId64, first->step);
	wti_format_ns(after, (int64_t)meanwhile->seen_ns);
	wti_warn("after %s: the runs differ from %s on%s%s; %s", after, first->callee, where, step,
		 meanwhile->stop ? "the program is ended (--stop)" : "the program goes on");
}

static void take(struct wti_meanwhile *meanwhile, const struct wti_divergence_report *report)
{
	const struct wti_first_difference *first = firm(report);

	if (is_again(first, meanwhile->last)) {
		meanwhile->is_seen = true;
		meanwhile->seen_ns = now_ns() - meanwhile->progress.begin_ns;
		wti_meanwhile_end(meanwhile);
		say(meanwhile, first);
		return;
	}
	free(meanwhile->last);
	meanwhile->last = first ? malloc(sizeof(*first)) : NULL;
	if (meanwhile->last)
		*meanwhile->last = *first;
	if (!first && report->steps > 0) {
		char line[80];

		snprintf(line, sizeof(line), "no difference up to step %" PRId64, report->steps);
		wti_progress_line(&meanwhile->progress, line);
	}
}

bool wti_meanwhile_look(void *opaque)
{
	const struct wti_within_line everywhere = {.file = NULL};
	struct wti_meanwhile *meanwhile = opaque;
	const char *const words[2] = {meanwhile->recorded, meanwhile->folder};
	uint64_t began_ns = now_ns();
	struct wt_err unread = {.offset = -1};
	struct wti_compared_runs *runs;
	struct wt_result unused;

	if (meanwhile->is_seen || began_ns < meanwhile->next_ns)
		return false;
	runs = calloc(1, sizeof(*runs));
	wt_result_init(&unused, "rerun");
	/* What cannot be read yet will be later. */
	if (runs &&
	    !wti_compare_tensors(meanwhile->front, words, &everywhere, runs, &unused, &unread)) {
		take(meanwhile, &runs->report);
		wti_compared_runs_close(runs);
	}
	free(runs);
	wt_result_release(&unused);
	meanwhile->next_ns = now_ns() + SHARE * (now_ns() - began_ns);
	if (meanwhile->next_ns < began_ns + INTERVAL_NS)
		meanwhile->next_ns = began_ns + INTERVAL_NS;
	return meanwhile->is_seen && meanwhile->stop;
}
