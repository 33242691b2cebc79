/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much is measured, step by step. A step is either measured in full or thin; what a thin one
 * omits is in the trace whenever it changes (the kind `thinned`), so that nobody takes what was not
 * looked at for something that did not happen.
 *
 * A sample decides beforehand which steps are full. A budget makes us find out: we know what we
 * spend in full steps, in thin ones, and how long a step takes without us; one full step in so many
 * is then what the budget allows. If even thin steps are too dear they become thinner, by rungs:
 * tensors are not read; no arguments are emitted; calls that the lean level does not emit are left
 * out. What is left always stays: the order of calls is never thinned.
 */
#include "pyagent.h"
#include "emit.h"

#include <math.h>

enum {
	EVERY_MAX = 1000,
	KNOWN_AFTER = 16, /* thin steps, before their cost is believed */
	DOWN_AFTER = 64,  /* thin steps, before a rung is left for the one below */
	CLOCK_EACH = 64,  /* calls between looks at the clock */
	SLICE_NS = 100000000,
	STALE_NS = 2000000000, /* a step that long is cut into slices */
};

/*
 * What a call costs beyond our own time: the way into the hook, the caches that we fill, the memory
 * that the recorder reads along. Measured with bench/python/overhead.py: as much again.
 */
static const double factor = 2;
/* What is aimed at, of what is allowed: what is left over is for what we do not see of our cost. */
static const double aim = 0.75;
/* However much we spend, some time is taken to be the program's. */
static const double own_max = 0.99;

static const uint32_t rungs[] = {
	0,
	WT_THINNED_DIGESTS | WTI_OMITTED_STATES,
	WT_THINNED_DIGESTS | WTI_OMITTED_STATES | WT_THINNED_ARGUMENTS,
	WT_THINNED_DIGESTS | WTI_OMITTED_STATES | WT_THINNED_ARGUMENTS | WT_THINNED_CALLS,
};

enum { RUNG_LAST = sizeof(rungs) / sizeof(rungs[0]) - 1 };

/* ---- Emitting -------------------------------------------------------------------------------- */

static void emit_omitted(const struct wti_pace *pace)
{
	const struct wti_here here = wti_here();
	struct wti_record_thinned thinned = {
		.reason = pace->omitted == pace->always && pace->always ? WT_THINNING_SELECTION
			  : pace->omitted                               ? pace->reason
									: WT_THINNING_NONE,
		.lacks = pace->omitted,
		.every = pace->warmup || pace->until ? 0 : pace->every,
		.cost = pace->cost < 4000 ? (uint32_t)(pace->cost * 1e6) : UINT32_MAX,
	};

	if (here.ring)
		wti_emit_thinned(here, &thinned);
}

/* ---- Full and thin --------------------------------------------------------------------------- */

static uint32_t thin_omits(const struct wti_pace *pace)
{
	if (pace->reason == WT_THINNING_BUDGET)
		return rungs[pace->rung];
	/* The lean level instead of another; in the lean level itself states are left out. */
	return pace->detail == WTI_DETAIL_LEAN ? WTI_OMITTED_STATES
					       : WT_THINNED_CALLS | WT_THINNED_ARGUMENTS;
}

static bool next_is_full(const struct wti_pace *pace)
{
	if (pace->until)
		return pace->period >= pace->first && pace->period < pace->until;
	if (pace->warmup)
		return pace->period < pace->warmup;
	return pace->since_full + 1 >= pace->every;
}

static void apply(struct wti_pace *pace, bool is_full)
{
	uint32_t omitted = pace->always | (is_full ? 0 : thin_omits(pace));

	pace->is_full = is_full;
	pace->since_full = is_full ? 0 : pace->since_full + 1;
	wti_python.detail = omitted & WT_THINNED_CALLS ? WTI_DETAIL_LEAN : pace->detail;
	if (pace->omitted == omitted)
		return;
	pace->omitted = omitted;
	emit_omitted(pace);
}

/* ---- The budget ------------------------------------------------------------------------------ */

/* Follows what becomes less at once and what becomes more slowly: others make steps longer. */
static void follow(double *average, double value)
{
	if (*average == 0)
		*average = value;
	*average += (value - *average) / (value < *average ? 2 : 8);
}

static double share(const struct wti_pace *pace, double every)
{
	return (pace->full_ticks + (every - 1) * pace->thin_ticks) / (every * pace->bare_ticks);
}

static void set_rung(struct wti_pace *pace, uint32_t rung)
{
	pace->rung = rung;
	pace->thin_ticks = 0;
	pace->thin_count = 0;
}

/* One full step in how many: from full + (n - 1) thin = budget n bare. */
static void reckon(struct wti_pace *pace)
{
	double allowed = aim * pace->budget * pace->bare_ticks;
	double every;

	if (pace->full_ticks <= allowed) {
		set_rung(pace, 1);
		pace->every = 1;
		pace->cost = share(pace, 1);
		return;
	}
	if (pace->thin_count >= KNOWN_AFTER && pace->thin_ticks >= allowed &&
	    pace->rung < RUNG_LAST)
		set_rung(pace, pace->rung + 1);
	else if (pace->thin_count >= DOWN_AFTER && pace->thin_ticks < allowed / 4 && pace->rung > 1)
		set_rung(pace, pace->rung - 1);
	every = EVERY_MAX;
	if (pace->thin_ticks < allowed)
		every = ceil((pace->full_ticks - pace->thin_ticks) / (allowed - pace->thin_ticks));
	pace->every = every < EVERY_MAX ? (uint32_t)every : EVERY_MAX;
	pace->cost = share(pace, pace->every);
}

static void learn(struct wti_pace *pace, uint64_t now_ticks)
{
	double own = (double)pace->own_ticks * factor;
	double all = (double)(now_ticks - pace->begun_ticks);

	/* The first period is the time before the first step: imports, data, objects found. */
	if (pace->period == 0)
		return;
	follow(&pace->bare_ticks, own < all * own_max ? all - own : all * (1 - own_max));
	if (pace->is_full) {
		follow(&pace->full_ticks, own);
	} else {
		follow(&pace->thin_ticks, own);
		pace->thin_count++;
	}
	if (pace->full_ticks > 0)
		reckon(pace);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

void wti_pace_begin(void)
{
	struct wti_pace *pace = &wti_python.pace;

	pace->own_ticks = 0;
	pace->begun_ticks = wti_ticks(wti_agent.ring_flags);
	pace->begun_ns = wti_clock_monotonic_ns();
}

static void period_ended(struct wti_pace *pace)
{
	uint64_t now_ticks = wti_ticks(wti_agent.ring_flags);

	if (pace->budget > 0)
		learn(pace, now_ticks);
	pace->period++;
	apply(pace, next_is_full(pace));
	wti_pace_begin();
}

void wti_pace_step(void)
{
	struct wti_pace *pace = &wti_python.pace;

	if (pace->reason == WT_THINNING_NONE || !wti_python.is_on)
		return;
	pace->has_steps = true;
	period_ended(pace);
}

/* Where there are no steps, or very long ones, time is cut into slices instead. */
void wti_pace_spent(uint64_t ticks)
{
	struct wti_pace *pace = &wti_python.pace;
	uint64_t passed_ns;

	pace->own_ticks += ticks;
	if (pace->until || ++pace->call_count % CLOCK_EACH) /* steps were named: only they count */
		return;
	passed_ns = wti_clock_monotonic_ns() - pace->begun_ns;
	if (passed_ns >= (pace->has_steps ? STALE_NS : SLICE_NS))
		period_ended(pace);
}

void wti_pace_set(const struct wti_pace *choice)
{
	struct wti_pace *pace = &wti_python.pace;

	*pace = *choice;
	pace->detail = wti_python.detail;
	pace->rung = 1;
	if (!pace->every)
		pace->every = 1;
	if (pace->budget > 0)
		pace->reason = WT_THINNING_BUDGET;
	else if (pace->every > 1 || pace->warmup || pace->until)
		pace->reason = WT_THINNING_SAMPLE;
	pace->is_full = !pace->first;
	pace->omitted = pace->always | (pace->is_full ? 0 : thin_omits(pace));
	wti_python.detail = pace->omitted & WT_THINNED_CALLS ? WTI_DETAIL_LEAN : pace->detail;
	wti_pace_begin();
}

/* After a fork, too: whoever reads a stream must find it there. */
void wti_pace_emit(void)
{
	if (wti_python.pace.omitted)
		emit_omitted(&wti_python.pace);
}
