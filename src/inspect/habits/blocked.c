/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about steps that wait for disks and networks. */
#include "base/text.h"
#include "habits.h"
#include "inspect/judge/judge.h"
#include "syscall/decode.h"

enum { PERCENT, STEPS };

extern const struct wti_rule wti_rule_sys_006;

uint64_t wti_blocked_percent(const struct wti_judge *judge)
{
	for (size_t i = 0; i < judge->count; i++)
		if (judge->cases[i].rule == &wti_rule_sys_006)
			return wti_threshold(&judge->cases[i], PERCENT);
	return (uint64_t)wti_rule_sys_006.thresholds[PERCENT].value;
}

/* What it waited for most. */
static const struct wti_posting *worst_of(const struct wti_ledger *ledger, size_t process)
{
	const struct wti_posting *worst = NULL;

	for (size_t i = 0; i < ledger->posting_count; i++) {
		const struct wti_posting *posting = &ledger->postings[i];

		if (posting->process == process && posting->matter == WTI_MATTER_WAITED &&
		    (!worst || posting->time_ns > worst->time_ns))
			worst = posting;
	}
	return worst;
}

static void report(struct wti_case *account, const struct wti_ledger *ledger, size_t process,
		   const struct wti_posting *worst)
{
	const struct wti_ledger_process *who = &ledger->processes[process];
	char name[WTI_WHO_BYTES], call[WTI_CALL_LABEL_BYTES], all[16], most[16], count[32];
	struct wti_spot spot = {
		.subject = wti_who(name, ledger, (uint32_t)process),
		.op = wti_call_name(worst->arch, worst->nr),
		.step = who->first_blocked_step,
		.line = worst->line,
	};

	wti_found(account, &spot,
		  "%llu of %llu steps; thread %u waited %s, %.0f %% of their time, most of it "
		  "(%s, %s times) in %s of '%s'",
		  (unsigned long long)who->step_blocked_count, (unsigned long long)who->step_count,
		  who->step_tid, wti_format_ns(all, (int64_t)who->steps_waited_ns),
		  100 * (double)who->steps_waited_ns / (double)who->steps_ns,
		  wti_format_ns(most, (int64_t)worst->time_ns),
		  wti_format_count(count, worst->count),
		  wti_call_label(call, worst->arch, worst->nr),
		  wti_ledger_thing(ledger, worst->thing));
}

static void audit_steps(struct wti_case *account, const struct wti_ledger *ledger)
{
	for (size_t i = 0; i < ledger->process_count; i++) {
		const struct wti_ledger_process *who = &ledger->processes[i];
		const struct wti_posting *worst;

		if (who->step_count < wti_threshold(account, STEPS))
			continue;
		worst = who->step_blocked_count * 2 > who->step_count ? worst_of(ledger, i) : NULL;
		if (worst)
			report(account, ledger, i, worst);
		else
			wti_held(account);
	}
}

const struct wti_rule wti_rule_sys_006 = {
	.code = "WT-SYS-006",
	.severity = WT_WARNING,
	.title = "steps wait for files or the network",
	.means = "data is loaded, or results are written, by the thread that trains: while it "
		 "waits nothing is computed",
	.hint = "let workers load ahead (num_workers, prefetch_factor), copy the data to a local "
		"disk, write checkpoints and logs from another thread, sync less often",
	.definition =
		"In at least half of its steps, the thread that emits them spends less than "
		"`percent` of a step blocked in system calls on files and peers: reading, "
		"writing, opening, looking up, syncing. Calls of less than 100 microseconds are "
		"not counted as blocked, nor is waiting for other processes of the run. A case is "
		"a process with `steps` whole steps or more.",
	.innocent = "A program whose work it is to copy data.",
	.needs = "no process emitted enough steps while its system calls were recorded "
		 "(--syscalls)",
	.flags = WTI_RULE_COUNTS,
	.audit = audit_steps,
	.thresholds = {{"percent", 30,
			"a third of the time is what loading ahead would give back at least"},
		       {"steps", 5, "the first steps are slow for other reasons"}},
};
