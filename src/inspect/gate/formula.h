/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formulas over named numbers, as assertions have them: comparison and arithmetic, no code.
 *
 *   calls < 100 and errors / calls <= 0.1
 *   not (written_bytes > 1_000_000 || steps == 0)
 *
 * + - * / %, < <= > >= == !=, and or not (also && || !), parentheses, numbers, names. A formula is
 * a truth as a whole; what is a number and what is a truth is checked before anything is computed.
 */
#ifndef WTI_GATE_FORMULA_H
#define WTI_GATE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#define WTI_FORMULA_BYTES_MAX 4096
#define WTI_FORMULA_OPS_MAX 256
#define WTI_FORMULA_NAMES_MAX 32
#define WTI_FORMULA_NAME_BYTES 48

struct wti_formula {
	struct wti_formula_op {
		uint8_t code;
		uint8_t name;
		double number;
	} ops[WTI_FORMULA_OPS_MAX]; /* in the order of computation */
	size_t op_count;
	char names[WTI_FORMULA_NAMES_MAX][WTI_FORMULA_NAME_BYTES];
	uint16_t name_at[WTI_FORMULA_NAMES_MAX]; /* where it first stands in the text */
	size_t name_count;
};

/* WT_E_ARG, with err->offset the place in `text`, if it is none. */
int wti_formula_compile(const char *text, struct wti_formula *ret_formula, struct wt_err *err);
/* `values` are those of formula->names. False if it has no answer: something was divided by zero or
 * is not a number. */
bool wti_formula_holds(const struct wti_formula *formula, const double *values, bool *ret_holds);

#endif
