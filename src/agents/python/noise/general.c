/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From 3.11 on the interpreter replaces an instruction that has added, subtracted or multiplied
 * floats by one that does so by itself, without the slots of the type. It decides by a counter
 * behind the instruction; we keep that from running out, each time the slot is called. The first
 * time it is called in any case on 3.12 to 3.14, as the counter begins at one.
 *
 * On 3.11 code runs with plain instructions at first, and then gets ones that are replaced at once.
 * So counters are set before code runs, when the interpreter announces it (the audit event `exec`),
 * and an instruction that has called the slot becomes a plain one for good.
 */
#include "own.h"

#include <limits.h>
#include <string.h>

#if PY_VERSION_HEX >= 0x030b0000

enum { COUNTER_FULL = 0xffff };

static uint16_t *units_of(PyCodeObject *code)
{
	return (uint16_t *)(uintptr_t)wti_code_instructions(code);
}

static bool is_operator(unsigned opcode)
{
	switch (opcode) {
	case BINARY_OP:
	case BINARY_OP_ADD_FLOAT:
	case BINARY_OP_ADD_INT:
	case BINARY_OP_ADD_UNICODE:
	case BINARY_OP_INPLACE_ADD_UNICODE:
	case BINARY_OP_MULTIPLY_FLOAT:
	case BINARY_OP_MULTIPLY_INT:
	case BINARY_OP_SUBTRACT_FLOAT:
	case BINARY_OP_SUBTRACT_INT:
#ifdef BINARY_OP_EXTEND /* 3.14: a float and an int */
	case BINARY_OP_EXTEND:
#endif
		return true;
	}
#ifdef BINARY_OP_ADAPTIVE
	return opcode == BINARY_OP_ADAPTIVE;
#else
	return false;
#endif
}

void wti_general_keep(struct wti_place place)
{
	size_t at = (size_t)place.offset / sizeof(uint16_t);
	uint16_t *unit;

	if (!place.code || place.offset < 0 || at + 1 >= wti_code_bytes(place.code) / 2)
		return;
	unit = units_of(place.code) + at;
	if (!is_operator(*unit & 0xff))
		return;
	*unit = (uint16_t)((*unit & 0xff00) | BINARY_OP);
	unit[1] = COUNTER_FULL;
}

#if PY_VERSION_HEX < 0x030c0000

enum { DEPTH_MAX = 64 }; /* of functions in functions */

static void prepare(PyCodeObject *code, int depth)
{
	uint16_t *units = units_of(code);
	size_t count = wti_code_bytes(code) / 2;

	if (wti_site_in_library(code))
		return;
	/* It has not run: what lies behind instructions is 0, which is none. */
	for (size_t i = 0; code->co_warmup && i + 1 < count; i++)
		if ((units[i] & 0xff) == BINARY_OP)
			units[i + 1] = COUNTER_FULL;
	for (Py_ssize_t i = 0; depth < DEPTH_MAX && i < PyTuple_GET_SIZE(code->co_consts); i++) {
		PyObject *each = PyTuple_GET_ITEM(code->co_consts, i);

		if (PyCode_Check(each))
			prepare((PyCodeObject *)each, depth + 1);
	}
}

static int announced(const char *event, PyObject *arguments, void *unused)
{
	if (strcmp(event, "exec") == 0 && PyTuple_Check(arguments) &&
	    PyTuple_GET_SIZE(arguments) == 1 && PyCode_Check(PyTuple_GET_ITEM(arguments, 0)))
		prepare((PyCodeObject *)PyTuple_GET_ITEM(arguments, 0), 0);
	return 0;
}

void wti_general_init(void)
{
	if (PySys_AddAuditHook(announced, NULL) < 0)
		PyErr_Clear();
}

#else

void wti_general_init(void)
{
}

#endif
#else

void wti_general_keep(struct wti_place place)
{
}

void wti_general_init(void)
{
}

#endif
