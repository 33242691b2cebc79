/* SPDX-License-Identifier: Apache-2.0 */
/* What the codes of goldens mean: everything that `explain` says of them. */
#include <string.h>

#include "deviation.h"

#define ACCEPT "if it is intended, `wheeltap golden accept NAME RUN` accepts it"

const struct wti_code wti_golden_codes[] = {
	{"WT-GOLD-001", "the program uses a file that it did not use before",
	 "a new output, another input, or a name that was not recognised as temporary",
	 "look at the call site; " ACCEPT,
	 "Every file that the run opens, makes, renames, removes or looks at is in the golden.",
	 "A name with a random part that is not recognised: see `Names` in docs/golden.md."},
	{"WT-GOLD-002", "the program no longer does something that it did before",
	 "an output is not written, an input not read, a peer not reached",
	 "look for code that was removed or is no longer reached; " ACCEPT,
	 "Everything that all runs of the golden used is used by the run.",
	 "A run that was ended early."},
	{"WT-GOLD-003", "a file is written in another way",
	 "it is made, replaced, removed or synced more or less often, or not by a rename any more; "
	 "after a crash "
	 "there may be half a file",
	 "write to a temporary name, fsync, rename; " ACCEPT,
	 "Files are made, changed, replaced by a rename, removed and synced as often as in the "
	 "golden, with the "
	 "same permissions.",
	 "More or fewer checkpoints because of another number of steps."},
	{"WT-GOLD-004", "another amount is read or written",
	 "data is written twice, a checkpoint has grown, an input has changed",
	 "compare the sizes; " ACCEPT,
	 "Bytes read from and written to each file and peer are those of the golden.",
	 "Numbers that are printed with another number of digits."},
	{"WT-GOLD-005", "a call is made more or less often",
	 "a retry loop, a file that is opened in every step, buffering that is gone",
	 "look at the call site; " ACCEPT,
	 "Each system call is made to each file and peer as often as in the golden, in all and by "
	 "step; what varied "
	 "between the runs of the golden may vary a little more.",
	 "Another version of the C library or of the interpreter."},
	{"WT-GOLD-006", "descriptors are left open",
	 "a file or connection is opened and never closed: a leak, if it happens in every step",
	 "close it, or use `with`; " ACCEPT,
	 "As many descriptors of each file and peer are open when their process ends as in the "
	 "golden.",
	 "A program that leaves its files open until it ends."},
	{"WT-GOLD-007", "the program communicates with another peer",
	 "a new connection, a peer that fails, telemetry of a library",
	 "look at the call site; " ACCEPT,
	 "Peers that the run connects to, and addresses that it listens at, are in the golden.",
	 "Name servers and time servers of another machine."},
	{"WT-GOLD-008", "other programs or processes run",
	 "a child more or less, one that fails, another program executed, another umask, children "
	 "at "
	 "once",
	 "look for the call that starts it; " ACCEPT,
	 "Programs executed and processes started, by their place in the spawn tree, are those of "
	 "the golden; they end with the same status, have the same umask, and run one after the "
	 "other where they did.",
	 "Numbers of threads that follow the number of processors."},
	{"WT-GOLD-009", "other code is loaded",
	 "a library or package is loaded that was not loaded before, or is no longer loaded",
	 "look for a new import or a new dependency; " ACCEPT,
	 "Shared objects, packages of the interpreter and files of the system that are used are "
	 "in the golden.",
	 "Another version of a library that needs another."},
	{"WT-GOLD-010", "the same is done in another order",
	 "a checkpoint is written before it is logged, a file renamed before it is synced",
	 "compare the order with `wheeltap diff`; " ACCEPT,
	 "For each kind of thread, before the steps, in each step and after them, acts on files "
	 "and peers come in an order "
	 "that some run of the golden had. Repetitions count once.",
	 "Threads that race: learn from more runs."},
	{"WT-GOLD-011", "steps take longer", "something in the step has become slower",
	 "compare with `wheeltap diff` and `wheeltap stat`; " ACCEPT,
	 "The lower quartile of the step times is at most 15 % (`slower` in the golden) above "
	 "that of the slowest run of the golden. Only in goldens made with --times.",
	 "Another machine, or one that has other work to do."},
	{"WT-GOLD-012", "the run has another number of steps",
	 "another epoch count, or it ended early", "run it as the golden was run; " ACCEPT,
	 "The run has as many steps as the golden. Counts are then compared by step alone.", NULL},
	{"WT-GOLD-013", "far more calls that concern no file or peer",
	 "memory is mapped over and over, random numbers or the time are asked for in a loop",
	 "look at `wheeltap stat --syscalls`; " ACCEPT,
	 "Calls about memory, time, signals and the like are no more than twice as many as in the "
	 "golden, or 16 more.",
	 "A larger input, which needs more memory."},
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct wti_code *wti_golden_code(const char *code)
{
	for (size_t i = 0; wti_golden_codes[i].code; i++)
		if (!strcmp(wti_golden_codes[i].code, code))
			return &wti_golden_codes[i];
	return NULL;
}
