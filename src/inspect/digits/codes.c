/* SPDX-License-Identifier: Apache-2.0 */
/* What the codes of `digits` mean: everything that `explain` says of them. */
#include <string.h>

#include "base/bytes.h"
#include "digits.h"

static const struct wti_code codes[] = {
	{"WT-DIG-001", "digits are lost at this line",
	 "its inputs are known to more digits than its outputs, and what was lost is missing in a "
	 "result: the problem is ill-conditioned here, or the formula is unstable",
	 "use another formula (expm1, log1p, hypot, a shifted variance, a pivoted solver), a wider "
	 "type for this line alone, or another order of operations",
	 "A result, a value that no later operation used, has lost a quarter of its digits or more "
	 "at the given confidence. The loss is followed back through the worst input of each call "
	 "to the line that lost most.",
	 "The problem itself may be ill-conditioned: then no formula helps, and the digits that "
	 "are "
	 "left are all that the inputs determine."},
	{"WT-DIG-002", "a result has fewer digits than asked for",
	 "runs under noise differ by more than --fail-below allows",
	 "look at the lines that WT-DIG-001 names, or at `wheeltap digits --by site`",
	 "The digits of a result or of a named value, in the base of --base, are below "
	 "--fail-below.",
	 "With few runs the estimate is cautious: more runs may show more digits."},
	{"WT-DIG-003", "NaN or infinity arises here",
	 "the operation had finite inputs and gave something that is not finite",
	 "look at the range of its inputs: division by zero, log of 0, exp of a large number, a "
	 "type that overflows",
	 "A call whose inputs are all finite has an output that is not; calls that only pass it on "
	 "are counted.",
	 "Masks that contain infinity on purpose, such as those of attention."},
	{"WT-DIG-004", "nearly equal numbers are subtracted",
	 "the difference has only the last bits of its inputs: if these are rounded, it is mostly "
	 "rounding error",
	 "record under noise to see whether it matters: wheeltap record --runs 5 --noise rr -- ...",
	 "In most elements of an addition or subtraction the result is smaller than its larger "
	 "input "
	 "by half the bits of the type or more.",
	 "Differences of exact numbers, and corrections that are added to something large, lose "
	 "nothing."},
	{"WT-DIG-005", "updates are too small to change anything",
	 "what is added is less than half of the last digit of what it is added to",
	 "keep a master copy in a wider type, sum in a wider type, use compensated or stochastic "
	 "rounding, or a larger learning rate",
	 "At this line more than half of all elements that are added are smaller than half an ulp "
	 "of "
	 "the other operand.",
	 "The end of a series that has converged."},
	{"WT-DIG-007", "runs diverge",
	 "noise of the last digit decides a branch, the length of a loop or the order of work",
	 "look at the comparison before this call: a tolerance that is too narrow, a test for "
	 "equality",
	 "Calls of a run have no counterpart in another at the same place of the call tree.",
	 "Iterations that stop by a tolerance may need one more or less: results are still "
	 "compared "
	 "where they correspond."},
	{"WT-DIG-008", "runs differ before any noise",
	 "the program draws random numbers that are not seeded: the digits measure its own "
	 "randomness as well",
	 "seed every generator, then record again",
	 "A call that draws random numbers gives others in each run.", NULL},
	{"WT-DIG-009", "a run is incomplete",
	 "it crashed, was killed or was cut, perhaps because of the noise itself",
	 "look at its console.log; the other runs were analysed",
	 "A run ended before others, or early.", NULL},
	{"WT-DIG-010", "runs differ in type or shape",
	 "noise decides what is selected or how long something becomes",
	 "look for masks, thresholds and lengths that are computed in floating point",
	 "The same value of the same call has another element type or another shape in another "
	 "run.",
	 NULL},
};

const struct wti_code *wti_digits_code(const char *code)
{
	for (size_t i = 0; i < WTI_COUNT(codes); i++) {
		if (!strcmp(codes[i].code, code))
			return &codes[i];
	}
	return NULL;
}

const struct wti_code *wti_digits_code_at(size_t index)
{
	return index < WTI_COUNT(codes) ? &codes[index] : NULL;
}
