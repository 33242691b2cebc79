/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how formulas are written. Operators wait on a stack until their operands are there
 * (precedence decides), so that neither reading nor computing recurses.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "formula.h"

enum code {
	NUMBER,
	NAME,
	OR,
	AND,
	NOT,
	LESS,
	AT_MOST,
	MORE,
	AT_LEAST,
	EQUAL,
	UNEQUAL,
	ADD,
	SUBTRACT,
	MULTIPLY,
	DIVIDE,
	REMAINDER,
	NEGATE,
	OPEN, /* a parenthesis: never computed */
};

/* What an operator takes and gives: n a number, t a truth. */
static const struct operator
{
	const char *text;
	uint8_t code;
	uint8_t rank; /* the higher, the tighter */
	bool is_prefix;
	char takes, gives;
}
operators[] = {
	/* Longer ones first, where one begins with another. */
	{"||", OR, 1, false, 't', 't'},       {"or", OR, 1, false, 't', 't'},
	{"&&", AND, 2, false, 't', 't'},      {"and", AND, 2, false, 't', 't'},
	{"<=", AT_MOST, 4, false, 'n', 't'},  {">=", AT_LEAST, 4, false, 'n', 't'},
	{"==", EQUAL, 4, false, 'n', 't'},    {"!=", UNEQUAL, 4, false, 'n', 't'},
	{"<", LESS, 4, false, 'n', 't'},      {">", MORE, 4, false, 'n', 't'},
	{"+", ADD, 5, false, 'n', 'n'},       {"-", SUBTRACT, 5, false, 'n', 'n'},
	{"*", MULTIPLY, 6, false, 'n', 'n'},  {"/", DIVIDE, 6, false, 'n', 'n'},
	{"%", REMAINDER, 6, false, 'n', 'n'}, {"not", NOT, 3, true, 't', 't'},
	{"!", NOT, 3, true, 't', 't'},        {"-", NEGATE, 7, true, 'n', 'n'},
};

struct reading {
	struct wti_formula *formula;
	const char *text;
	const char *at;
	struct waiting {
		const struct operator* operator; /* NULL: a parenthesis */
		size_t place;
	} waiting[WTI_FORMULA_OPS_MAX];
	size_t waiting_count;
	char types[WTI_FORMULA_OPS_MAX]; /* of what has been computed and not been used */
	size_t type_count;
	struct wt_err *err;
};

static int fail(struct reading *r, size_t place, const char *what)
{
	return wti_err_at(r->err, WT_E_ARG, (int64_t)place, "%s", what);
}

static size_t place_of(const struct reading *r)
{
	return (size_t)(r->at - r->text);
}

/* ---- Writing down what to compute ------------------------------------------------------------ */

static int put(struct reading *r, struct wti_formula_op op, char type)
{
	struct wti_formula *formula = r->formula;

	if (formula->op_count == WTI_FORMULA_OPS_MAX || r->type_count == WTI_FORMULA_OPS_MAX)
		return fail(r, place_of(r), "the formula is too long");
	formula->ops[formula->op_count++] = op;
	r->types[r->type_count++] = type;
	return 0;
}

static int apply(struct reading *r, const struct waiting *waiting)
{
	const struct operator* operator= waiting->operator;
	size_t count = operator->is_prefix ? 1 : 2;

	for (size_t i = 0; i < count; i++)
		if (r->types[r->type_count - 1 - i] != operator->takes)
			return fail(r,
				    waiting->place,
				    operator->takes == 'n'
					    ? "this takes numbers, and one side is a comparison"
					    : "this takes comparisons, and one side is a number");
	r->type_count -= count;
	return put(r, (struct wti_formula_op){.code = operator->code}, operator->gives);
}

/* Computes what waits and binds at least as tightly; up to a parenthesis. */
static int settle(struct reading *r, uint8_t rank)
{
	int status = 0;

	while (!status && r->waiting_count) {
		const struct waiting *last = &r->waiting[r->waiting_count - 1];

		if (!last->operator|| last->operator->rank<rank)
			break;
		r->waiting_count--;
		status = apply(r, last);
	}
	return status;
}

static int wait(struct reading *r, const struct operator* operator, size_t place)
{
	if (r->waiting_count == WTI_FORMULA_OPS_MAX)
		return fail(r, place, "the formula is too deep");
	r->waiting[r->waiting_count++] = (struct waiting){operator, place };
	return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_spaces(struct reading *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
		r->at++;
}

static const struct operator* next_operator(struct reading *r, bool is_prefix)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		const struct operator* operator= & operators[i];
		size_t bytes = strlen(operator->text);

		if (operator->is_prefix != is_prefix || strncmp(r->at, operator->text, bytes) ||
		    (is_word(*operator->text) && is_word(r->at[bytes])))
			continue;
		r->at += bytes;
		return operator;
	}
	return NULL;
}

/* Digits may be parted by underscores: 1_000_000. */
static int read_number(struct reading *r)
{
	struct wti_formula_op op = {.code = NUMBER};
	size_t place = place_of(r), bytes = 0;
	char digits[64];

	while (is_word(*r->at) || *r->at == '.' ||
	       ((*r->at == '+' || *r->at == '-') && bytes && tolower(digits[bytes - 1]) == 'e')) {
		if (bytes == sizeof(digits) - 1)
			return fail(r, place, "the number is too long");
		if (*r->at != '_')
			digits[bytes++] = *r->at;
		r->at++;
	}
	digits[bytes] = 0;
	if (!wti_scan_double(digits, &op.number) || !isfinite(op.number))
		return fail(r, place, "not a number");
	return put(r, op, 'n');
}

static int read_name(struct reading *r)
{
	struct wti_formula *formula = r->formula;
	size_t place = place_of(r), bytes = 0, i = 0;

	while (is_word(r->at[bytes]))
		bytes++;
	if (bytes >= WTI_FORMULA_NAME_BYTES)
		return fail(r, place, "the name is too long");
	while (i < formula->name_count &&
	       (strncmp(formula->names[i], r->at, bytes) != 0 || formula->names[i][bytes]))
		i++;
	if (i == WTI_FORMULA_NAMES_MAX)
		return fail(r, place, "the formula has too many names");
	if (i == formula->name_count) {
		memcpy(formula->names[i], r->at, bytes);
		formula->names[i][bytes] = 0;
		formula->name_at[i] = (uint16_t)place;
		formula->name_count++;
	}
	r->at += bytes;
	return put(r, (struct wti_formula_op){.code = NAME, .name = (uint8_t)i}, 'n');
}

/* A number, a name, or what stands before one. `ret_done`: an operand was read. */
static int read_operand(struct reading *r, bool *ret_done)
{
	size_t place = place_of(r);
	const struct operator* prefix = next_operator(r, true);

	*ret_done = false;
	if (prefix)
		return wait(r, prefix, place);
	if (*r->at == '(') {
		r->at++;
		return wait(r, NULL, place);
	}
	*ret_done = true;
	if (isdigit((unsigned char)*r->at) || *r->at == '.')
		return read_number(r);
	if (is_word(*r->at))
		return read_name(r);
	return fail(r, place,
		    *r->at ? "expected a number or a name"
			   : "the formula ends where a number or a name is expected");
}

/* What follows an operand. `ret_done`: another operand has to follow. */
static int read_operator(struct reading *r, bool *ret_done)
{
	size_t place = place_of(r);
	const struct operator* operator;
	int status;

	*ret_done = false;
	if (*r->at == ')') {
		r->at++;
		status = settle(r, 0);
		if (!status && !r->waiting_count)
			return fail(r, place, "this parenthesis was never opened");
		r->waiting_count -= !status;
		return status;
	}
	operator= next_operator(r, false);
	if (!operator)
		return fail(r, place, "expected an operator: + - * / % < <= > >= == != and or");
	*ret_done = true;
	status = settle(r, operator->rank);
	return status ? status : wait(r, operator, place);
}

static int read_all(struct reading *r)
{
	bool wants_operand = true;
	int status = 0;

	for (skip_spaces(r); !status && (*r->at || wants_operand); skip_spaces(r)) {
		bool done;

		status = wants_operand ? read_operand(r, &done) : read_operator(r, &done);
		if (!status && done)
			wants_operand = !wants_operand;
	}
	status = status ? status : settle(r, 0);
	if (!status && r->waiting_count)
		return fail(r, r->waiting[r->waiting_count - 1].place,
			    "this parenthesis is never closed");
	if (!status && r->types[0] != 't')
		return fail(r, 0, "this is a number, nothing that holds or does not: compare it");
	return status;
}

int wti_formula_compile(const char *text, struct wti_formula *ret_formula, struct wt_err *err)
{
	struct wti_formula formula = {.op_count = 0};
	struct reading r = {.formula = &formula, .text = text, .at = text, .err = err};
	int status;

	if (strlen(text) > WTI_FORMULA_BYTES_MAX)
		return wti_err_at(err, WT_E_ARG, 0, "the formula is too long");
	status = read_all(&r);
	if (!status)
		*ret_formula = formula;
	return status;
}

/* ---- Computing ------------------------------------------------------------------------------- */

static double compute(uint8_t code, double a, double b)
{
	switch (code) {
	case OR:
		return a != 0 || b != 0;
	case AND:
		return a != 0 && b != 0;
	case LESS:
		return a < b;
	case AT_MOST:
		return a <= b;
	case MORE:
		return a > b;
	case AT_LEAST:
		return a >= b;
	case EQUAL:
		return a == b;
	case UNEQUAL:
		return a != b;
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	case DIVIDE:
		return a / b;
	default:
		return fmod(a, b);
	}
}

bool wti_formula_holds(const struct wti_formula *formula, const double *values, bool *ret_holds)
{
	double stack[WTI_FORMULA_OPS_MAX];
	size_t top = 0;

	for (size_t i = 0; i < formula->op_count; i++) {
		const struct wti_formula_op *op = &formula->ops[i];

		if (op->code == NUMBER || op->code == NAME) {
			stack[top++] = op->code == NUMBER ? op->number : values[op->name];
		} else if (op->code == NOT || op->code == NEGATE) {
			stack[top - 1] = op->code == NOT ? stack[top - 1] == 0 : -stack[top - 1];
		} else {
			top--;
			stack[top - 1] = compute(op->code, stack[top - 1], stack[top]);
		}
		/* One that is not finite would make comparisons false, and `not` of them true. */
		if (!isfinite(stack[top - 1]))
			return false;
	}
	*ret_holds = stack[0] != 0;
	return true;
}
