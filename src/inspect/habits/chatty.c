/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about talking to files too much: small pieces, files opened again, names looked up again.
 */
#include "base/text.h"
#include "habits.h"
#include "syscall/decode.h"

/* "read '/data/set' 20,000 times" */
static void say_times(struct wti_buf *out, const struct wti_ledger *ledger,
		      const struct wti_posting *posting)
{
	char name[WTI_CALL_LABEL_BYTES], count[32];

	wti_buf_printf(out, "%s of '%s' %s times", wti_call_label(name, posting->arch, posting->nr),
		       wti_ledger_thing(ledger, posting->thing),
		       wti_format_count(count, posting->count));
}

/* ---- WT-SYS-003: small pieces --------------------------------------------------------------- */

enum { SMALL_CALLS, SMALL_BYTES, SMALL_RATE };

static bool is_small(const struct wti_case *account, const struct wti_posting *posting)
{
	return posting->count >= wti_threshold(account, SMALL_CALLS) &&
	       posting->bytes <= posting->count * wti_threshold(account, SMALL_BYTES) &&
	       wti_posting_rate(posting) >= (double)wti_threshold(account, SMALL_RATE);
}

static void say_small(struct wti_buf *out, const struct wti_ledger *ledger,
		      const struct wti_posting *posting)
{
	say_times(out, ledger, posting);
	wti_buf_printf(out, ", %.1f bytes each", (double)posting->bytes / (double)posting->count);
}

static void audit_small(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_SMALL_READ | 1u << WTI_MATTER_SMALL_WRITE,
				      is_small, say_small});
}

const struct wti_rule wti_rule_sys_003 = {
	.code = "WT-SYS-003",
	.severity = WT_WARNING,
	.title = "a file is read or written in very small pieces",
	.means = "each piece costs a system call, which takes longer than copying it: there is no "
		 "buffer, or it is flushed after each piece",
	.hint = "read and write through a buffer (Python's open() without buffering=0, fread, "
		"fwrite), flush once a step or less, collect what is written",
	.definition =
		"Of a process's reads from a file, or writes to it, that move less than a page "
		"(4096 bytes), there are fewer than `calls`, or they move more than `bytes` on "
		"average, or they are made less than `per_second` times a second between the "
		"first and the last. Pipes, sockets, terminals and files of /proc, /sys and /dev "
		"are not judged. A case is a file that a process reads or writes in this way.",
	.innocent = "A log that has to be on disk line by line; it stays below `per_second` in "
		    "most programs.",
	.needs = WTI_NO_CALLS,
	.flags = WTI_RULE_COUNTS,
	.audit = audit_small,
	.thresholds = {{"calls", 10000, "fewer take some milliseconds in all"},
		       {"bytes", 256, "so little is copied in a tenth of the time of a call"},
		       {"per_second", 2000,
			"below, calls of a microsecond take less than 1/500 of the time"}},
};

/* ---- WT-SYS-004: opened again ---------------------------------------------------------------- */

enum { OPEN_CALLS, OPEN_RATE };

static bool is_reopened(const struct wti_case *account, const struct wti_posting *posting)
{
	return posting->count >= wti_threshold(account, OPEN_CALLS) &&
	       wti_posting_rate(posting) >= (double)wti_threshold(account, OPEN_RATE);
}

static void audit_opens(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_OPENED, is_reopened, say_times});
}

const struct wti_rule wti_rule_sys_004 = {
	.code = "WT-SYS-004",
	.severity = WT_WARNING,
	.title = "the same file is opened over and over",
	.means = "what opening costs (the path, permissions, the first read; on network file "
		 "systems a round trip) is paid for each access",
	.hint = "open it once, keep it open, and seek; in a Dataset open it on the first access "
		"of each worker",
	.definition = "A process opens the same file, with success, fewer than `calls` times, or "
		      "less than `per_second` times a second between the first and the last. "
		      "Files of /proc, /sys and /dev are not judged. A case is a file that a "
		      "process opens.",
	.innocent = "A file that others replace, and that has to be read again. A shell that "
		    "appends to a log.",
	.needs = WTI_NO_CALLS,
	.flags = WTI_RULE_COUNTS,
	.audit = audit_opens,
	.thresholds = {{"calls", 500, "a few times for each epoch or phase is common"},
		       {"per_second", 50,
			"on a network file system an open takes up to some milliseconds: a tenth "
			"of the time"}},
};

/* ---- WT-SYS-005: looked up again ------------------------------------------------------------- */

enum { LOOK_CALLS, LOOK_RATE };

static bool is_storm(const struct wti_case *account, const struct wti_posting *posting)
{
	return posting->count >= wti_threshold(account, LOOK_CALLS) &&
	       wti_posting_rate(posting) >= (double)wti_threshold(account, LOOK_RATE);
}

static void audit_looks(struct wti_case *account, const struct wti_ledger *ledger)
{
	wti_audit(account, ledger,
		  &(struct wti_audit){1u << WTI_MATTER_LOOKED, is_storm, say_times});
}

const struct wti_rule wti_rule_sys_005 = {
	.code = "WT-SYS-005",
	.severity = WT_WARNING,
	.title = "the same name is looked up over and over",
	.means = "the program asks thousands of times whether a file is there, or what it is, "
		 "and gets the answer that it has already",
	.hint = "ask once and keep the answer; to wait for a file use inotify, or sleep between "
		"two looks",
	.definition =
		"A process asks about the same name (stat, access, readlink, an open that finds "
		"nothing) fewer than `calls` times, or less than `per_second` times a second "
		"between the first and the last. What is asked about an open descriptor does not "
		"count. A case is a name that a process asks about.",
	.innocent = "Importing thousands of modules of Python at once looks up the folder of "
		    "packages for each; it stays below `calls`.",
	.needs = WTI_NO_CALLS,
	.flags = WTI_RULE_COUNTS,
	.audit = audit_looks,
	.thresholds = {{"calls", 10000, "more than an import of the largest libraries makes"},
		       {"per_second", 1000, "below, they take less than 1/500 of the time"}},
};
