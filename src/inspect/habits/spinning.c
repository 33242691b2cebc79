/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about loops that get nowhere. */
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "habits.h"
#include "syscall/decode.h"

enum { CALLS, RATE, LENGTH_MS };

static double rate_of(const struct wti_stretch *stretch)
{
	double ns = (double)(stretch->last_ns - stretch->first_ns);

	return ns > 0 ? (double)stretch->count * 1e9 / ns : 0;
}

static bool is_tight(const struct wti_case *account, const struct wti_stretch *stretch)
{
	return stretch->count >= wti_threshold(account, CALLS) &&
	       rate_of(stretch) >= (double)wti_threshold(account, RATE) &&
	       (uint64_t)(stretch->last_ns - stretch->first_ns) >=
		       wti_threshold(account, LENGTH_MS) * 1000000;
}

static void say_result(struct wti_buf *out, const struct wti_stretch *stretch)
{
	const char *error = stretch->result < 0
				    ? wti_errno_name((uint32_t)wti_magnitude(stretch->result))
				    : NULL;

	if (error)
		wti_buf_printf(out, " = %s", error);
	else
		wti_buf_printf(out, " = %lld", (long long)stretch->result);
}

static void report(struct wti_case *account, const struct wti_ledger *ledger,
		   const struct wti_ledger_thread *thread)
{
	const struct wti_stretch *stretch = &thread->loop.longest;
	char who[WTI_WHO_BYTES], name[WTI_CALL_LABEL_BYTES], count[32], length[16], since[16];
	struct wti_spot spot = {
		.subject = wti_who(who, ledger, thread->process),
		.op = wti_call_name(stretch->arch, stretch->nr),
		.step = stretch->step,
		.line = stretch->line,
	};
	struct wti_buf said;

	wti_buf_init(&said, 4096);
	wti_buf_text(&said, wti_call_label(name, stretch->arch, stretch->nr));
	if (stretch->thing)
		wti_buf_printf(&said, " of '%s'", wti_ledger_thing(ledger, stretch->thing));
	say_result(&said, stretch);
	if (stretch->cycle > 1)
		wti_buf_printf(&said, " and the other calls of a cycle of %u", stretch->cycle);
	wti_found(account, &spot,
		  "%s: %s calls in a row with the same outcome in %s, by thread %u "
		  "since %s",
		  wti_buf_cstr(&said), wti_format_count(count, stretch->count),
		  wti_format_ns(length, stretch->last_ns - stretch->first_ns), thread->tid,
		  wti_format_ns(since, stretch->first_ns));
	wti_buf_release(&said);
}

static int longest_first(const void *a, const void *b)
{
	const struct wti_ledger_thread *x = *(const struct wti_ledger_thread *const *)a;
	const struct wti_ledger_thread *y = *(const struct wti_ledger_thread *const *)b;

	if (x->loop.longest.count != y->loop.longest.count)
		return x->loop.longest.count > y->loop.longest.count ? -1 : 1;
	return (x > y) - (x < y);
}

static void audit_loops(struct wti_case *account, const struct wti_ledger *ledger)
{
	const struct wti_ledger_thread **found = calloc(ledger->thread_count + 1, sizeof(*found));
	size_t count = 0;

	for (size_t i = 0; found && i < ledger->thread_count; i++) {
		if (is_tight(account, &ledger->threads[i].loop.longest))
			found[count++] = &ledger->threads[i];
		else
			wti_held(account);
	}
	if (count)
		qsort(found, count, sizeof(*found), longest_first);
	for (size_t i = 0; i < count; i++)
		report(account, ledger, found[i]);
	free(found);
}

const struct wti_rule wti_rule_sys_001 = {
	.code = "WT-SYS-001",
	.severity = WT_WARNING,
	.title = "a thread makes the same call over and over, and gets nowhere",
	.means = "it waits by asking again and again: a whole CPU is busy until something else "
		 "happens, and is not free for whatever would make it happen",
	.hint = "wait in the kernel (poll or epoll with a timeout, a condition, inotify, waitpid "
		"without WNOHANG), or sleep between two tries",
	.definition =
		"No thread repeats a call, or a cycle of up to four, with the same arguments and "
		"the same outcome, more than `calls` times in a row, at `per_second` calls a "
		"second or more, for `milliseconds` or more. Only calls count that leave "
		"everything as it is: those that fail, that ask for something, that wait and get "
		"nothing, that read nothing or read the same place again. Any other call ends the "
		"series; reading the clock and sched_yield neither end it nor count. A case is a "
		"thread.",
	.innocent = "Threads that are meant to spin because each microsecond counts, with a CPU "
		    "of their own.",
	.needs = WTI_NO_CALLS,
	.explains = (const char *const[]){"WT-SYS-005", NULL},
	.flags = WTI_RULE_ABSENCE | WTI_RULE_ALL_CALLS,
	.audit = audit_loops,
	.thresholds = {{"calls", 1000, "nobody tries so often by chance"},
		       {"per_second", 1000,
			"a program that sleeps a millisecond between two tries stays below it"},
		       {"milliseconds", 100,
			"spinning that long is never cheaper than sleeping, from which it takes "
			"50 microseconds to wake up"}},
};
