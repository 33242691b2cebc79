/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called through the slots of a type and not through a callable of its own: operators of
 * numpy's floating scalars (those of arrays call ufuncs, which are hooked), and functions that f2py
 * made of Fortran ones. A slot is replaced in the type, which stays the same object.
 *
 * A scalar that an operation returns is fresh, and is perturbed before anybody sees it. Where numpy
 * keeps its value is checked with known ones.
 *
 * The operation is emitted when it is done: only then it is known that this slot has done it, and
 * not an array, a ufunc or the slot of the other operand. What does not round is emitted, too, if
 * the result is another number than the operand: a value is followed by its digest.
 */
#include "own.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t dtype;
	const char *slots[WTI_NOISE_SLOTS];
} known[WTI_NOISE_SCALARS] = {
#define NAMES(type)                                                                                \
	{                                                                                          \
		type ".__add__", type ".__sub__", type ".__mul__", type ".__mod__",                \
			type ".__truediv__", type ".__pow__", type ".__neg__", type ".__abs__",    \
			type ".__float__"                                                          \
	}
	{"numpy.float16", WT_DTYPE_F16, NAMES("float16")},
	{"numpy.float32", WT_DTYPE_F32, NAMES("float32")},
	{"numpy.float64", WT_DTYPE_F64, NAMES("float64")},
	{"numpy.complex64", WT_DTYPE_C64, NAMES("complex64")},
	{"numpy.complex128", WT_DTYPE_C128, NAMES("complex128")},
#undef NAMES
};

/* ---- Operators of scalars -------------------------------------------------------------------- */

void wti_noise_emit(const struct wti_hook *hook, PyObject *const *arguments, Py_ssize_t count,
		    PyObject *result)
{
	struct wti_hooked_call call = {.hook = hook};
	int saved_errno = errno;

	if (wti_call_wanted(hook, &call.place)) {
		wti_call_begin(&call, arguments, count, NULL);
		wti_call_end(&call, arguments, count, result);
	}
	errno = saved_errno;
}

/*
 * Perturbs and emits what the slot has made; nothing if another operation has made it. Others may
 * have been called that have not: a warning runs code of its own.
 */
static PyObject *finish(struct wti_operation *operation, PyObject *result)
{
	bool is_ours = result && (wti_scalar_is(result) || PyFloat_CheckExact(result)) &&
		       result != wti_noise_thread.made;

	wti_noise_end(operation, result);
	if (is_ours && operation->key.call < operation->emitted_max)
		wti_noise_emit(operation->hook, operation->arguments, operation->count, result);
	return result;
}

PyObject *wti_noise_operate(struct wti_operation *operation, binaryfunc binary, ternaryfunc power)
{
	struct wti_noise_pair operands = {{operation->arguments[0], operation->arguments[1]},
					  {NULL, NULL}};
	PyObject *result;

	if (!wti_noise_begin(operation))
		return binary ? binary(operands.given[0], operands.given[1])
			      : power(operands.given[0], operands.given[1], Py_None);
	if (wti_noise_of_inputs(&wti_noise_state.noise))
		wti_noise_pair_make(operation, &operands);
	operation->arguments = operands.given;
	result = binary ? binary(operands.given[0], operands.given[1])
			: power(operands.given[0], operands.given[1], Py_None);
	result = finish(operation, result);
	wti_noise_pair_release(&operands);
	return result;
}

static PyObject *binary(const struct wti_hook *hook, binaryfunc original, PyObject *a, PyObject *b)
{
	PyObject *arguments[] = {a, b};
	struct wti_operation operation = {.hook = hook,
					  .arguments = arguments,
					  .count = 2,
					  .rounding = WTI_ROUNDING_ALL,
					  .emitted_max = UINT64_MAX};

	return wti_noise_operate(&operation, original, NULL);
}

/* With a modulus it is of integers, which is an error here. */
static PyObject *power(const struct wti_hook *hook, ternaryfunc original, PyObject *a, PyObject *b,
		       PyObject *modulus)
{
	PyObject *arguments[] = {a, b};
	struct wti_operation operation = {.hook = hook,
					  .arguments = arguments,
					  .count = 2,
					  .rounding = WTI_ROUNDING_ALL,
					  .emitted_max = UINT64_MAX};

	if (modulus != Py_None)
		return original(a, b, modulus);
	return wti_noise_operate(&operation, NULL, original);
}

/* The sign and the type change nothing that is rounded. */
static PyObject *exact(const struct wti_hook *hook, unaryfunc original, PyObject *a)
{
	PyObject *result = original(a);

	if (result && (wti_scalar_is(result) || PyFloat_CheckExact(result)))
		wti_noise_emit(hook, &a, 1, result);
	return result;
}

static PyObject *absolute(const struct wti_hook *hook, unaryfunc original, PyObject *a)
{
	struct wti_operation operation = {.hook = hook,
					  .arguments = &a,
					  .count = 1,
					  .rounding = WTI_ROUNDING_ALL,
					  .emitted_max = UINT64_MAX};
	uint32_t dtype = wti_scalar_dtype(a);

	if (wti_dtype_real(dtype) == dtype) /* of a complex one it is a root */
		return exact(hook, original, a);
	if (!wti_noise_begin(&operation))
		return original(a);
	return finish(&operation, original(a));
}

/* Each type has its own functions: the interpreter compares the slots of two operands. */
#define BINARY(i, slot, number)                                                                    \
	static PyObject *slot##_##i(PyObject *a, PyObject *b)                                      \
	{                                                                                          \
		return binary(&wti_noise_state.scalars.hooks[i][number],                           \
			      wti_noise_state.scalars.originals[i].nb_##slot, a, b);               \
	}
#define UNARY(i, slot, number, way)                                                                \
	static PyObject *slot##_##i(PyObject *a)                                                   \
	{                                                                                          \
		return way(&wti_noise_state.scalars.hooks[i][number],                              \
			   wti_noise_state.scalars.originals[i].nb_##slot, a);                     \
	}
#define OPERATORS(i)                                                                               \
	BINARY(i, add, 0)                                                                          \
	BINARY(i, subtract, 1)                                                                     \
	BINARY(i, multiply, 2)                                                                     \
	BINARY(i, remainder, 3)                                                                    \
	BINARY(i, true_divide, 4)                                                                  \
	UNARY(i, negative, 6, exact)                                                               \
	UNARY(i, absolute, 7, absolute)                                                            \
	UNARY(i, float, 8, exact)                                                                  \
	static PyObject *power_##i(PyObject *a, PyObject *b, PyObject *modulus)                    \
	{                                                                                          \
		return power(&wti_noise_state.scalars.hooks[i][5],                                 \
			     wti_noise_state.scalars.originals[i].nb_power, a, b, modulus);        \
	}
OPERATORS(0)
OPERATORS(1)
OPERATORS(2)
OPERATORS(3)
OPERATORS(4)

static const PyNumberMethods replacements[WTI_NOISE_SCALARS] = {
#define ROW(i)                                                                                     \
	{                                                                                          \
		.nb_add = add_##i, .nb_subtract = subtract_##i, .nb_multiply = multiply_##i,       \
		.nb_remainder = remainder_##i, .nb_true_divide = true_divide_##i,                  \
		.nb_power = power_##i, .nb_negative = negative_##i, .nb_absolute = absolute_##i,   \
		.nb_float = float_##i,                                                             \
	}
	ROW(0), ROW(1), ROW(2), ROW(3), ROW(4),
#undef ROW
};

#define REPLACE(slot)                                                                              \
	if (number->slot)                                                                          \
	number->slot = replacements[i].slot

static void hook_scalar(int i, PyTypeObject *type)
{
	PyNumberMethods *number = type->tp_as_number;

	wti_noise_state.scalars.originals[i] = *number;
	for (int slot = 0; slot < WTI_NOISE_SLOTS; slot++) {
		wti_noise_state.scalars.hooks[i][slot].object = (PyObject *)type;
		wti_noise_state.scalars.hooks[i][slot].module = WT_NAME("numpy");
		wti_noise_state.scalars.hooks[i][slot].callee =
			wti_name_find(known[i].slots[slot], strlen(known[i].slots[slot]));
	}
	Py_INCREF(type);
	wti_noise_state.scalars.types[i] = type;
	REPLACE(nb_add);
	REPLACE(nb_subtract);
	REPLACE(nb_multiply);
	REPLACE(nb_remainder);
	REPLACE(nb_true_divide);
	REPLACE(nb_power);
	REPLACE(nb_negative);
	REPLACE(nb_absolute);
	if (known[i].dtype == WT_DTYPE_F32 || known[i].dtype == WT_DTYPE_F16)
		REPLACE(nb_float); /* the bits of others stay the same, or are cut off */
	wti_scalar_learn(type, known[i].dtype);
}

#undef REPLACE

/* 1.5 and, of complex ones, 0. */
static bool is_laid_out(PyTypeObject *type, uint32_t dtype)
{
	static const struct {
		uint32_t dtype;
		uint64_t bits;
	} values[] = {{WT_DTYPE_F16, 0x3e00},
		      {WT_DTYPE_F32, 0x3fc00000},
		      {WT_DTYPE_F64, 0x3ff8000000000000},
		      {WT_DTYPE_C64, 0x3fc00000},
		      {WT_DTYPE_C128, 0x3ff8000000000000}};
	size_t bytes = wti_dtype_bytes(dtype) < 8 ? wti_dtype_bytes(dtype) : 8;
	PyObject *scalar = PyObject_CallFunction((PyObject *)type, "d", 1.5);
	uint64_t bits = 0;
	bool is_as_known = false;

	if (scalar && Py_TYPE(scalar) == type)
		memcpy(&bits, (char *)scalar + sizeof(PyObject), bytes);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		is_as_known |= values[i].dtype == dtype && values[i].bits == bits;
	PyErr_Clear();
	Py_XDECREF(scalar);
	return is_as_known;
}

PyObject *wti_noise_hook_scalars(PyObject *self, PyObject *types)
{
	if (!PyTuple_Check(types))
		return PyErr_Format(PyExc_TypeError, "a tuple of types is needed");
	for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(types); k++) {
		PyTypeObject *type = (PyTypeObject *)PyTuple_GET_ITEM(types, k);

		for (int i = 0; PyType_Check(type) && i < WTI_NOISE_SCALARS; i++)
			if (!wti_noise_state.scalars.types[i] && type->tp_as_number &&
			    !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
			    strcmp(type->tp_name, known[i].name) == 0 &&
			    is_laid_out(type, known[i].dtype))
				hook_scalar(i, type);
	}
	Py_RETURN_NONE;
}

/* ---- Functions of Fortran -------------------------------------------------------------------- */

static ternaryfunc call_of(const PyTypeObject *type)
{
	for (uint32_t i = 0; i < wti_noise_state.fortran.count; i++)
		if (wti_noise_state.fortran.types[i] == type)
			return wti_noise_state.fortran.calls[i];
	return NULL;
}

/* Arrays that it was told to overwrite come back as its results. */
static PyObject *call_fortran(PyObject *callable, PyObject *arguments, PyObject *words)
{
	ternaryfunc original = call_of(Py_TYPE(callable));
	struct wti_operation operation = {
		.hook = &wti_noise_state.fortran.hook,
		.arguments = &PyTuple_GET_ITEM(arguments, 0),
		.count = PyTuple_GET_SIZE(arguments),
		.rounding = WTI_ROUNDING_ALL,
		.is_in_place = true,
	};
	PyObject *result;

	if (!wti_noise_begin(&operation))
		return original(callable, arguments, words);
	result = original(callable, arguments, words);
	wti_noise_end(&operation, result);
	return result;
}

PyObject *wti_noise_hook_type(PyObject *self, PyObject *object)
{
	PyTypeObject *type = (PyTypeObject *)object;

	if (!PyType_Check(object) || !type->tp_call || call_of(type) ||
	    wti_noise_state.fortran.count == WTI_NOISE_TYPES_MAX)
		Py_RETURN_FALSE;
	wti_noise_state.fortran.hook.object = Py_None;
	wti_noise_state.fortran.hook.module = WT_NAME("scipy");
	wti_noise_state.fortran.hook.callee = WT_NAME("fortran");
	Py_INCREF(type);
	wti_noise_state.fortran.types[wti_noise_state.fortran.count] = type;
	wti_noise_state.fortran.calls[wti_noise_state.fortran.count++] = type->tp_call;
	type->tp_call = call_fortran;
	Py_RETURN_TRUE;
}
