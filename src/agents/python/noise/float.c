/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of Python's own floats, where the user's code computes with them: slots of the type are
 * replaced, which stays the same object. What a library does with floats is left alone.
 *
 * An operator makes a new float, and that is perturbed before anybody sees it; constants that the
 * compiler has folded are not. Each operation is emitted as a call, of one instruction so many: a
 * loop in Python may run for days.
 */
#include "own.h"

enum { EMITTED_MAX = 10000 }; /* results of one instruction */

enum { ADD, SUBTRACT, MULTIPLY, REMAINDER, DIVIDE, POWER, NEGATIVE, ABSOLUTE, SLOTS };

/* What an operation in C that the user's code calls does with floats is that operation's. */
static bool is_users(struct wti_place *ret)
{
	wti_frame *frame = wti_frame_here(PyThreadState_Get());

	*ret = wti_place_of(frame);
	return ret->code && !wti_site_in_library(ret->code) && frame != wti_noise_thread.frame;
}

static PyObject *operate(int slot, binaryfunc binary, ternaryfunc power, PyObject *a, PyObject *b)
{
	PyObject *arguments[] = {a, b};
	struct wti_operation operation = {.hook = &wti_noise_state.floats.hooks[slot],
					  .arguments = arguments,
					  .count = 2,
					  .rounding = WTI_ROUNDING_ALL,
					  .emitted_max = EMITTED_MAX};
	struct wti_place place;

	if (!is_users(&place))
		return binary ? binary(a, b) : power(a, b, Py_None);
	wti_general_keep(place);
	return wti_noise_operate(&operation, binary, power);
}

/* The sign changes nothing that is rounded; values are followed through it. */
static PyObject *exact(int slot, unaryfunc original, PyObject *a)
{
	const struct wti_hook *hook = &wti_noise_state.floats.hooks[slot];
	PyObject *result = original(a);
	struct wti_noise_key key;
	struct wti_place place;

	if (result && is_users(&place)) {
		wti_noise_place(hook, &key);
		if (key.call < EMITTED_MAX)
			wti_noise_emit(hook, &a, 1, result);
	}
	return result;
}

#define BINARY(name, slot, number)                                                                 \
	static PyObject *name(PyObject *a, PyObject *b)                                            \
	{                                                                                          \
		return operate(number, wti_noise_state.floats.originals.slot, NULL, a, b);         \
	}
#define UNARY(name, slot, number)                                                                  \
	static PyObject *name(PyObject *a)                                                         \
	{                                                                                          \
		return exact(number, wti_noise_state.floats.originals.slot, a);                    \
	}
BINARY(add, nb_add, ADD)
BINARY(subtract, nb_subtract, SUBTRACT)
BINARY(multiply, nb_multiply, MULTIPLY)
BINARY(remainder_of, nb_remainder, REMAINDER)
BINARY(divide, nb_true_divide, DIVIDE)
UNARY(negative, nb_negative, NEGATIVE)
UNARY(absolute, nb_absolute, ABSOLUTE)

static PyObject *power_of(PyObject *a, PyObject *b, PyObject *modulus)
{
	ternaryfunc original = wti_noise_state.floats.originals.nb_power;

	if (modulus != Py_None)
		return original(a, b, modulus);
	return operate(POWER, NULL, original, a, b);
}

static void name_hooks(void)
{
	struct wt_name *const callees[SLOTS] = {
		WT_NAME("float.__add__"), WT_NAME("float.__sub__"),     WT_NAME("float.__mul__"),
		WT_NAME("float.__mod__"), WT_NAME("float.__truediv__"), WT_NAME("float.__pow__"),
		WT_NAME("float.__neg__"), WT_NAME("float.__abs__"),
	};

	for (int i = 0; i < SLOTS; i++) {
		wti_noise_state.floats.hooks[i].object = (PyObject *)&PyFloat_Type;
		wti_noise_state.floats.hooks[i].module = WT_NAME("builtins");
		wti_noise_state.floats.hooks[i].callee = callees[i];
	}
}

PyObject *wti_noise_hook_floats(PyObject *self, PyObject *unused)
{
	PyNumberMethods *number = PyFloat_Type.tp_as_number;

	if (wti_noise_state.floats.is_hooked)
		Py_RETURN_FALSE;
	name_hooks();
	wti_noise_state.floats.is_hooked = true;
	wti_noise_state.floats.originals = *number;
	wti_general_init();
	number->nb_add = add;
	number->nb_subtract = subtract;
	number->nb_multiply = multiply;
	number->nb_remainder = remainder_of;
	number->nb_true_divide = divide;
	number->nb_power = power_of;
	number->nb_negative = negative;
	number->nb_absolute = absolute;
	Py_RETURN_TRUE;
}
