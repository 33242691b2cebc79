/* SPDX-License-Identifier: Apache-2.0 */
/* What the codes of assertions mean: everything that `explain` says of them. */
#include <string.h>

#include "gate.h"

#define CONFIG "or change the limit in the file that asserts it"

const struct wti_code wti_gate_codes[WTI_GATE_TYPES] = {
	[WTI_GATE_DURATION] = {"WT-GATE-001", "it takes longer, or shorter, than asserted",
			       "something has become slower, or was left out",
			       "look at `wheeltap stat` and `wheeltap timeline`, " CONFIG,
			       "The run, a quantile of its whole steps, or the longest span of a "
			       "name lies within min and max.",
			       "Another machine, or one that has other work to do: `slower` "
			       "compares runs instead."},
	[WTI_GATE_COUNT] = {"WT-GATE-002", "calls are made more or less often than asserted",
			    "a retry loop, a file that is opened in every step, work that is gone",
			    "look at `wheeltap stat --syscalls`, " CONFIG,
			    "System calls, of a set, of files, in a stage, in all or in every "
			    "whole step, are within min and max.",
			    "Another version of the C library or of the interpreter."},
	[WTI_GATE_BYTES] = {"WT-GATE-003", "more or less is read or written than asserted",
			    "data is written twice, a checkpoint has grown, an input has changed",
			    "look at `wheeltap diff`, " CONFIG,
			    "Bytes read, written or both, of files, in a stage, in all or in every "
			    "whole step, are within min and max.",
			    NULL},
	[WTI_GATE_MEMORY] = {"WT-GATE-004", "more memory is used than asserted",
			     "a cache that grows, a tensor that is kept, a larger batch",
			     "look at what has changed since it fitted, " CONFIG,
			     "The greatest resident size of a process, the memory asked for, or "
			     "page faults are within min and max.",
			     NULL},
	[WTI_GATE_FORBIDDEN] = {"WT-GATE-005", "the program does what it must not",
				"telemetry, a download, a file in the wrong folder, a helper "
				"program",
				"look for the call with `wheeltap view --kind syscall`, or allow "
				"it: allow = [\"...\"]",
				"No peer is reached, no program executed, no file written or "
				"removed, but those that are allowed.",
				"Unix sockets (unix:) do not count as network."},
	[WTI_GATE_REQUIRED] = {"WT-GATE-006", "a file is not written as it must be",
			       "after a crash there may be half a file, or none",
			       "write to a temporary name, fsync, rename",
			       "Every written file that matches is synced before it is renamed, "
			       "or at its end; or is only ever renamed into place.",
			       "Files whose loss is no harm: narrow the glob."},
	[WTI_GATE_RULE] = {"WT-GATE-007", "a rule of `doctor` is violated",
			   "see `wheeltap explain` of that rule", "run `wheeltap doctor`",
			   "The rules that match were measured, and none is violated.", NULL},
	[WTI_GATE_GOLDEN] = {"WT-GATE-008", "the run deviates from a golden",
			     "the program does something else than it did",
			     "`wheeltap golden check` shows all; `wheeltap golden accept` accepts "
			     "what is intended",
			     "`wheeltap golden check` finds no error.", NULL},
	[WTI_GATE_EXPRESSION] = {"WT-GATE-009", "an expression does not hold",
				 "the measured value is shown with it", "compare, " CONFIG,
				 "The expression is true of the run, or of every row that matches.",
				 NULL},
	[WTI_GATE_SLOWER] = {"WT-GATE-010", "runs are slower than those before",
			     "something has become slower, by more than is allowed and than "
			     "chance explains",
			     "compare with `wheeltap diff` and `wheeltap stat`, " CONFIG,
			     "The lower bound of how much longer steps (or runs) take is not above "
			     "max. It holds only if the upper bound is not either; otherwise it is "
			     "undecided.",
			     "Runs that were not recorded in turns: the machine may have changed."},
	[WTI_GATE_METRIC] = {"WT-GATE-013", "a metric is not what was asserted",
			     "training has become worse, or something else was trained",
			     "look at `wheeltap diff` with a run that was good, " CONFIG,
			     "The last, first, smallest, greatest or mean value that the program "
			     "emitted under this name lies within min and max.",
			     "Another seed: leave a margin that seeds need."},
	[WTI_GATE_SPANS] = {"WT-GATE-011", "there are more spans than asserted",
			    "more calls are made than there were",
			    "look at `wheeltap stat`, " CONFIG,
			    "Spans, calls and system calls whose names match are max_spans at "
			    "most.",
			    NULL},
	[WTI_GATE_PATTERN] = {"WT-GATE-012", "an anti-pattern of renacer.toml was found",
			      "one process does nearly all, calls repeat without progress, or "
			      "copies take longer than computing",
			      "look at `wheeltap stat --syscalls --by process`, " CONFIG,
			      "The share that the pattern is about is not above threshold.",
			      "Waiting in turns looks like a loop: `rule` has finer definitions."},
};
