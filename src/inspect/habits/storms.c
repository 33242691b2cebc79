/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about asking the kernel for what can be had without it: random numbers, time, memory. */
#include "base/text.h"
#include "habits.h"
#include "syscall/decode.h"

enum { CALLS, RATE, BYTES };

static bool is_often(const struct wti_case *account, const struct wti_posting *posting)
{
	return posting->count >= wti_threshold(account, CALLS) &&
	       wti_posting_rate(posting) >= (double)wti_threshold(account, RATE);
}

static void say_often(struct wti_buf *out, const struct wti_ledger *ledger,
		      const struct wti_posting *posting)
{
	char name[WTI_CALL_LABEL_BYTES], count[32], bytes[16];

	wti_buf_printf(out, "%s%s%s %s times", wti_call_label(name, posting->arch, posting->nr),
		       posting->thing ? " of " : "", wti_ledger_thing(ledger, posting->thing),
		       wti_format_count(count, posting->count));
	if (posting->bytes)
		wti_buf_printf(out, ", %s each",
			       wti_format_bytes(bytes, posting->bytes / posting->count));
}

/* ---- WT-SYS-008: random numbers -------------------------------------------------------------- */

static bool is_drawn_often(const struct wti_case *account, const struct wti_posting *posting)
{
	return is_often(account, posting) &&
	       posting->bytes <= posting->count * wti_threshold(account, BYTES);
}

static void audit_random(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_RANDOM, is_drawn_often, say_often});
}

const struct wti_rule wti_rule_sys_008 = {
	.code = "WT-SYS-008",
	.severity = WT_WARNING,
	.title = "random numbers are drawn from the kernel one by one",
	.means = "os.urandom(), secrets, uuid4() or random_device in a loop: this costs a hundred "
		 "times as much as a generator in the program, and no seed can repeat it",
	.hint = "seed a generator once and draw from it; if the kernel's are needed, draw a page "
		"at a time",
	.definition = "A process asks the kernel for random numbers (getrandom, /dev/urandom) "
		      "fewer than `calls` times, or less than `per_second` times a second between "
		      "the first and the last, or for more than `bytes` each time on average. A "
		      "case is a process that does.",
	.innocent = "A server that makes a key for each connection.",
	.needs = WTI_NO_CALLS,
	.flags = WTI_RULE_COUNTS,
	.audit = audit_random,
	.thresholds = {{"calls", 10000, "fewer take some milliseconds in all"},
		       {"per_second", 1000, "below, they take less than 1/500 of the time"},
		       {"bytes", 256, "more at once is how it should be done"}},
};

/* ---- WT-SYS-009: the time -------------------------------------------------------------------- */

static void audit_clock(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_CLOCK, is_often, say_often});
}

const struct wti_rule wti_rule_sys_009 = {
	.code = "WT-SYS-009",
	.severity = WT_WARNING,
	.title = "the kernel is asked for the time over and over",
	.means = "the clock is read by system calls: one that the vDSO does not serve (CPU time "
		 "of a process or thread, getrusage), or a machine whose clock source it cannot "
		 "read",
	.hint = "measure less often; use CLOCK_MONOTONIC; look at "
		"/sys/devices/system/clocksource/clocksource0/current_clocksource: it should be "
		"tsc or kvm-clock",
	.definition = "A process asks for the time (clock_gettime, gettimeofday, time, times, "
		      "getrusage) by system calls fewer than `calls` times, or less than "
		      "`per_second` times a second between the first and the last. What the vDSO "
		      "answers is no system call. A case is a process that asks.",
	.innocent = "A profiler.",
	.needs = WTI_NO_CALLS,
	.flags = WTI_RULE_COUNTS,
	.audit = audit_clock,
	.thresholds = {{"calls", 10000, "fewer take some milliseconds in all"},
		       {"per_second", 2000, "below, they take less than 1/500 of the time"}},
};

/* ---- WT-SYS-010: memory ---------------------------------------------------------------------- */

enum { MAP_CALLS, MAP_RATE, MAP_BYTES };

static bool is_churned(const struct wti_case *account, const struct wti_posting *posting)
{
	double rate = wti_posting_rate(posting);
	double bytes = (double)posting->bytes / (double)posting->count;

	return posting->count >= wti_threshold(account, MAP_CALLS) &&
	       (rate >= (double)wti_threshold(account, MAP_RATE) ||
		rate * bytes >= (double)wti_threshold(account, MAP_BYTES));
}

static void audit_memory(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_UNMAPPED, is_churned, say_often});
}

const struct wti_rule wti_rule_sys_010 = {
	.code = "WT-SYS-010",
	.severity = WT_WARNING,
	.title = "memory is taken from the kernel and given back over and over",
	.means = "buffers are allocated again each time, so large that the allocator does not "
		 "keep them: each page is zeroed and faulted in again",
	.hint = "reuse buffers (out=, pinned or preallocated tensors); or let the allocator keep "
		"memory: MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ of glibc, jemalloc, "
		"tcmalloc",
	.definition =
		"A process gives memory of its own back that it has asked for (munmap of an "
		"anonymous mapping that can be written, brk downwards) fewer than `calls` times, "
		"or both less than `per_second` times a second and less than `bytes_per_second`, "
		"between the first and the last. Stacks of threads do not count. A case is a "
		"process that gives memory back.",
	.innocent = "A program that gives memory back as others need it.",
	.needs = WTI_NO_CALLS,
	.flags = WTI_RULE_COUNTS,
	.audit = audit_memory,
	.thresholds = {{"calls", 1000, "fewer take some milliseconds in all"},
		       {"per_second", 1000,
			"mapping, a fault and unmapping take some microseconds: a hundredth of "
			"the time"},
		       {"bytes_per_second", (uint64_t)1 << 30,
			"zeroing and faulting in a gigabyte takes a fifth of a second"}},
};
