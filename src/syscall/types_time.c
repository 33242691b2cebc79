/* SPDX-License-Identifier: Apache-2.0 */
/* Times, time spans, and timers. */
#include "show.h"

#include <sys/stat.h>
#include <time.h>

void wti_say_timespec(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{tv_sec=%lld, tv_nsec=%lld}", (long long)wti_get64(at),
		 (long long)wti_get64(at + 8));
}

void wti_say_timeval(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{tv_sec=%lld, tv_usec=%lld}", (long long)wti_get64(at),
		 (long long)wti_get64(at + 8));
}

typedef void (*show_fn)(struct wti_show *show, const uint8_t *at);

static bool show_one(struct wti_show *show, unsigned i, size_t bytes, uint8_t when, show_fn fn)
{
	const uint8_t *at = wti_pointed(show, i, bytes, when);

	if (at)
		fn(show, at);
	return true;
}

bool wti_type_timespec(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 16, WTI_AT_ENTRY, wti_say_timespec);
}

bool wti_type_timespec_out(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 16, WTI_AT_EXIT, wti_say_timespec);
}

/* What it was before; what is left stands with the result. */
bool wti_type_timespec_io(struct wti_show *show, unsigned i)
{
	return wti_type_timespec(show, i);
}

/* Written only if a signal cut the sleep short. */
bool wti_type_timespec_left(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_memory(show, wti_arg64(show, i), 16, WTI_AT_EXIT);

	if (!show->returned)
		show->cut = true;
	else if (at && show->failed && show->call->flags & WT_SYSCALL_RESTARTS)
		wti_say_timespec(show, at);
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}

bool wti_type_timeval(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 16, WTI_AT_ENTRY, wti_say_timeval);
}

bool wti_type_timeval_out(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 16, WTI_AT_EXIT, wti_say_timeval);
}

bool wti_type_timeval_io(struct wti_show *show, unsigned i)
{
	return wti_type_timeval(show, i);
}

static void show_timezone(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{tz_minuteswest=%d, tz_dsttime=%d}", (int32_t)wti_get32(at),
		 (int32_t)wti_get32(at + 4));
}

bool wti_type_timezone(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 8, WTI_AT_ENTRY, show_timezone);
}

bool wti_type_timezone_out(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 8, WTI_AT_EXIT, show_timezone);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

static void show_itimerval(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{it_interval=");
	wti_say_timeval(show, at);
	WTI_SHOW(show, ", it_value=");
	wti_say_timeval(show, at + 16);
	WTI_SHOW(show, "}");
}

static void show_itimerspec(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "{it_interval=");
	wti_say_timespec(show, at);
	WTI_SHOW(show, ", it_value=");
	wti_say_timespec(show, at + 16);
	WTI_SHOW(show, "}");
}

bool wti_type_itimerval(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 32, WTI_AT_ENTRY, show_itimerval);
}

bool wti_type_itimerval_out(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 32, WTI_AT_EXIT, show_itimerval);
}

bool wti_type_itimerspec(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 32, WTI_AT_ENTRY, show_itimerspec);
}

bool wti_type_itimerspec_out(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 32, WTI_AT_EXIT, show_itimerspec);
}

/* Time of day behind a number: / * 2026-11-16T06:40:52.000000034+0000 * /. In UTC: where the reader
 * is does not matter to what happened. `decimals` of `fraction`, none if that is 0. */
static void show_date(struct wti_show *show, int64_t seconds, int64_t fraction, int decimals)
{
	time_t time = (time_t)seconds;
	struct tm parts;
	char text[32];

	if (!seconds && !fraction)
		return;
	if (!gmtime_r(&time, &parts) || !strftime(text, sizeof(text), "%FT%T", &parts))
		return;
	WTI_SHOW(show, " /* %s", text);
	if (fraction)
		WTI_SHOW(show, ".%0*lld", decimals, (long long)fraction);
	WTI_SHOW(show, "+0000 */");
}

/* ---- Time stamps of files -------------------------------------------------------------------- */

static void show_stamp(struct wti_show *show, const uint8_t *at)
{
	uint64_t ns = wti_get64(at + 8);

	if (ns == UTIME_NOW || ns == UTIME_OMIT) {
		WTI_SHOW(show, ns == UTIME_NOW ? "UTIME_NOW" : "UTIME_OMIT");
		return;
	}
	wti_say_timespec(show, at);
	show_date(show, (int64_t)wti_get64(at), (int64_t)ns, 9);
}

static void show_stamps(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "[");
	show_stamp(show, at);
	WTI_SHOW(show, ", ");
	show_stamp(show, at + 16);
	WTI_SHOW(show, "]");
}

bool wti_type_timespec2(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 32, WTI_AT_ENTRY, show_stamps);
}

bool wti_type_time_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 8, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "[%lld", (long long)wti_get64(at));
	show_date(show, (int64_t)wti_get64(at), 0, 0);
	WTI_SHOW(show, "]");
	return true;
}

/* 1794811252 (2026-11-16T06:40:52+0000) */
void wti_result_time(struct wti_show *show)
{
	time_t time = (time_t)show->call->result;
	struct tm parts;
	char text[32];

	WTI_SHOW(show, "%lld", (long long)show->call->result);
	if (time && gmtime_r(&time, &parts) && strftime(text, sizeof(text), "%FT%T", &parts))
		WTI_SHOW(show, " (%s+0000)", text);
}

static void show_timevals(struct wti_show *show, const uint8_t *at)
{
	WTI_SHOW(show, "[");
	for (size_t k = 0; k < 32; k += 16) {
		WTI_SHOW(show, "%s", k ? ", " : "");
		wti_say_timeval(show, at + k);
		show_date(show, (int64_t)wti_get64(at + k), (int64_t)wti_get64(at + k + 8), 6);
	}
	WTI_SHOW(show, "]");
}

bool wti_type_timeval2(struct wti_show *show, unsigned i)
{
	return show_one(show, i, 32, WTI_AT_ENTRY, show_timevals);
}
