/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of assertions: what is no formula is said, with its place; what is one can be computed
 * with any numbers, and gives the same every time. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "inspect/gate/formula.h"

static void compute(const struct wti_formula *formula, double number)
{
	double values[WTI_FORMULA_NAMES_MAX];
	bool first = false, second = false;

	for (size_t i = 0; i < WTI_FORMULA_NAMES_MAX; i++)
		values[i] = number * (double)(i + 1);
	if (wti_formula_holds(formula, values, &first))
		PROMISE(wti_formula_holds(formula, values, &second) && first == second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_err err = {.offset = -1};
	struct wti_formula formula;
	char *text = malloc(bytes + 1);

	if (!text)
		return 0;
	memcpy(text, data, bytes);
	text[bytes] = 0;
	if (wti_formula_compile(text, &formula, &err)) {
		PROMISE(err.message[0] && err.offset >= 0 && (size_t)err.offset <= strlen(text));
	} else {
		PROMISE(formula.op_count && formula.op_count <= WTI_FORMULA_OPS_MAX);
		compute(&formula, 1);
		compute(&formula, 0);
		compute(&formula, -1e300);
		compute(&formula, (double)NAN);
	}
	free(text);
	return 0;
}
