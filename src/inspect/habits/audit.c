/* SPDX-License-Identifier: Apache-2.0 */
/* Going through the ledger. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "habits.h"
#include "inspect/judge/judge.h"
#include "syscall/decode.h"

#define SAID_MAX 4096u

const char *wti_who(char out[WTI_WHO_BYTES], const struct wti_ledger *ledger, uint32_t process)
{
	const struct wti_ledger_process *who = &ledger->processes[process];

	snprintf(out, WTI_WHO_BYTES, "%s[%u]", who->command, who->pid);
	return out;
}

static int most_first(const void *a, const void *b)
{
	const struct wti_posting *x = *(const struct wti_posting *const *)a;
	const struct wti_posting *y = *(const struct wti_posting *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x > y) - (x < y); /* as they came */
}

static void report(struct wti_case *account, const struct wti_ledger *ledger,
		   const struct wti_posting *posting, const struct wti_audit *audit)
{
	char who[WTI_WHO_BYTES], time[16], since[16], rate[32];
	struct wti_spot spot = {
		.subject = wti_who(who, ledger, posting->process),
		.op = posting->nr || posting->arch ? wti_call_name(posting->arch, posting->nr)
						   : NULL,
		.step = posting->first_step,
		.line = posting->line,
	};
	struct wti_buf said;

	wti_buf_init(&said, SAID_MAX);
	audit->say(&said, ledger, posting);
	wti_format_ns(time, (int64_t)posting->time_ns);
	wti_format_ns(since, posting->first_ns);
	wti_format_count(rate, (uint64_t)wti_posting_rate(posting));
	wti_found(account, &spot, "%s, %s a second, %s in all, by thread %u since %s",
		  wti_buf_cstr(&said), rate, time, posting->tid, since);
	wti_buf_release(&said);
}

void wti_audit(struct wti_case *account, const struct wti_ledger *ledger,
	       const struct wti_audit *audit)
{
	const struct wti_posting **habits = calloc(ledger->posting_count + 1, sizeof(*habits));
	size_t count = 0;

	for (size_t i = 0; habits && i < ledger->posting_count; i++) {
		const struct wti_posting *posting = &ledger->postings[i];

		if (!(audit->matters & 1u << posting->matter))
			continue;
		if (audit->is_habit(account, posting))
			habits[count++] = posting;
		else
			wti_held(account);
	}
	if (count)
		qsort(habits, count, sizeof(*habits), most_first);
	for (size_t i = 0; i < count; i++)
		report(account, ledger, habits[i], audit);
	free(habits);
}

void wti_habits_audit(struct wti_judge *judge, const struct wti_ledger *ledger, bool is_whole)
{
	const struct wti_coverage coverage = {
		.call_count = ledger->call_count,
		.missing_count = ledger->lost_count + ledger->left_out_count + ledger->alive_count,
		.has_alive = ledger->alive_count,
		.is_whole = is_whole,
	};

	wti_judge_audit(judge, ledger, &coverage);
}
