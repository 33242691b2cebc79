/* SPDX-License-Identifier: Apache-2.0 */
/* What findings of a replay mean, for `explain`. */
#include "codes.h"

const struct wti_code wti_replay_codes[WTI_REPLAY_CODES] = {
	[WTI_REPLAY_INTRINSIC] =
		{.code = "WT-REPLAY-001",
		 .title = "a kernel gives other results when it is repeated",
		 .means = "work-items of one launch depend on one another in an order that the "
			  "device does not promise: atomic operations on floats, or work-items "
			  "that write what others read without a barrier",
		 .hint = "add up in a fixed order (a tree in local memory, then one work-item for "
			 "each group), or use integers or fixed point for sums",
		 .definition = "The kernel was launched several times with the same arguments "
			       "from the same content of all memory that it writes. The results "
			       "were compared bit by bit.",
		 .innocent = "a result whose last digits nobody depends on"},
	[WTI_REPLAY_RACE] =
		{.code = "WT-REPLAY-002",
		 .title = "two operations race for the same memory",
		 .means = "nothing orders them: which comes first is decided anew in every run",
		 .hint = "give the second one the event of the first in its wait list, put both "
			 "into one queue that keeps its order, or wait on the host in between",
		 .definition = "Both touch the same bytes, one of them writes, and neither the "
			       "order of a queue, nor an event, a barrier or a wait of the host "
			       "puts one before the other. It is confirmed if replaying both "
			       "orders leaves different contents.",
		 .innocent = "kernels that write different elements of one buffer: then both "
			     "orders give the same, which is printed, and it is no finding"},
	[WTI_REPLAY_DIVERGED] =
		{.code = "WT-REPLAY-003",
		 .title = "a replay gives other results than the recorded run",
		 .means = "the same operations on the same content gave something else: another "
			  "device, driver or compiler, or an order that happens rarely",
		 .hint = "replay on the recorded device; look at the operation that is named and "
			 "at those before it that wrote its memory",
		 .definition = "What a blocking read returned, or what memory contained when the "
			       "host had waited, was compared bit by bit with what was recorded.",
		 .innocent = "another device within the tolerance of --ulp"},
	[WTI_REPLAY_UNINITIALISED] =
		{.code = "WT-REPLAY-004",
		 .title = "a result depends on memory that nobody initialised",
		 .means = "the kernel reads bytes that no operation has written: they are whatever "
			  "the driver left there, which may be another thing in every run",
		 .hint = "fill the memory before its first use (clEnqueueFillBuffer), or write it "
			 "in the kernel before it is read",
		 .definition = "A result was not the recorded one. Everything was executed twice "
			       "side by side, memory without a first content being zeros in one "
			       "and 0xa5 in the other. The operation is the first whose result "
			       "differs between the two in bytes that it has computed.",
		 .innocent = "a kernel that computes with elements which nobody uses later"},
};
