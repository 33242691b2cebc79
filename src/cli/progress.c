/* SPDX-License-Identifier: Apache-2.0 */
/* The progress bar: when to draw, and how. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "report.h"

#define PATIENCE_NS 2000000000u
#define REDRAW_NS 100000000u
#define CELLS 30

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void wti_progress_begin(struct wti_progress *progress, const char *what)
{
	*progress = (struct wti_progress){
		.what = what, .begin_ns = now_ns(), .terminal = isatty(STDERR_FILENO)};
}

static void draw(const char *what, double share)
{
	int filled = (int)(share * CELLS);
	char bar[CELLS + 1], line[160];

	memset(bar, '=', (size_t)filled);
	memset(bar + filled, ' ', (size_t)(CELLS - filled));
	bar[CELLS] = 0;
	snprintf(line, sizeof(line), "%s [%s] %3d%%", what, bar, (int)(share * 100));
	wti_print_err_over(line);
}

void wti_progress_share(void *cookie, double share)
{
	struct wti_progress *p = cookie;
	uint64_t now = p->terminal ? now_ns() : 0;

	if (!p->terminal || now - p->begin_ns < PATIENCE_NS || now - p->drawn_ns < REDRAW_NS)
		return;
	share = share < 0 ? 0 : share > 1 ? 1 : share;
	draw(p->what, share);
	p->drawn_ns = now;
	p->drawn = true;
}

void wti_progress_line(struct wti_progress *progress, const char *line)
{
	if (!progress->terminal)
		return;
	wti_print_err_over(line);
	progress->drawn = true;
}

void wti_progress_end(struct wti_progress *progress)
{
	if (progress->drawn)
		wti_print_err_over("");
	progress->drawn = false;
}
