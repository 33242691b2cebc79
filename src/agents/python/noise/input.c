/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perturbed copies of what an operation is given, for the modes that perturb inputs. A tensor is
 * cloned where autograd sees it: gradients reach the original. What the operation writes into is
 * never replaced, nor are lists, subclasses and what we have made ourselves a moment ago.
 */
#include "own.h"

#include <string.h>

enum { INPUT_VALUES = 0x10000 }; /* numbers of inputs: beyond those of outputs */

static bool is_ours(PyObject *object)
{
	for (const struct wti_noise_inputs *each = wti_noise_thread.inputs; each;
	     each = each->outer)
		for (Py_ssize_t i = 0; i < each->made_count; i++)
			if (each->made[i] == object)
				return true;
	return false;
}

/* Running statistics and their like, which some operations change behind the first arguments. */
static Py_ssize_t safe_count(const struct wti_operation *operation)
{
	const char *callee = operation->hook->callee->text;
	Py_ssize_t count = operation->count;

	if (strstr(callee, "batch_norm") || strstr(callee, "instance_norm"))
		return count < 3 ? count : 3;
	if (strcmp(Py_TYPE(operation->hook->object)->tp_name, "numpy.ufunc") == 0) {
		PyObject *nin = PyObject_GetAttrString(operation->hook->object, "nin");
		Py_ssize_t in = nin ? PyLong_AsSsize_t(nin) : 0;

		PyErr_Clear();
		Py_XDECREF(nin);
		return count < in ? count : in;
	}
	return count;
}

/* Behind what the operation writes into. */
static Py_ssize_t first_input(const struct wti_operation *operation)
{
	const char *callee = operation->hook->callee->text;

	if (strcmp(callee, "ufunc.at") == 0)
		return 2;
	return wti_writes_in_place(callee) ? 1 : 0;
}

static bool is_plain(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	return (wti_tensor_is(object) && wti_tensor_is_tame(object)) ||
	       (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
		strcmp(type->tp_name, "numpy.ndarray") == 0);
}

static PyObject *copy_of(PyObject *object)
{
	PyObject *copy = wti_tensor_is(object) ? PyObject_CallMethod(object, "clone", NULL)
					       : PyObject_CallMethod(object, "copy", "s", "K");

	PyErr_Clear();
	return copy;
}

static bool replace(const struct wti_operation *operation, Py_ssize_t i,
		    struct wti_noise_inputs *ret)
{
	struct wti_noise_key key = operation->key;
	struct wti_tensor tensor;
	PyObject *object = operation->arguments[i], *copy;

	if (!is_plain(object) || is_ours(object) || !wti_noise_can(object, &tensor))
		return false;
	copy = copy_of(object);
	if (!copy)
		return false;
	key.value = INPUT_VALUES + (uint32_t)i;
	if (wti_noise_can(copy, &tensor))
		wti_noise_memory(&tensor, &key);
	ret->arguments[1 + i] = copy;
	ret->made[ret->made_count++] = copy;
	return true;
}

static bool is_out(const struct wti_operation *operation, Py_ssize_t i)
{
	return PyUnicode_CompareWithASCIIString(
		       PyTuple_GET_ITEM(operation->names, i - operation->count), "out") == 0;
}

bool wti_noise_inputs_make(const struct wti_operation *operation, struct wti_noise_inputs *ret)
{
	Py_ssize_t name_count = operation->names ? PyTuple_GET_SIZE(operation->names) : 0;
	Py_ssize_t all = operation->count + name_count, safe;
	PyObject *overrides;

	if (all > WTI_NOISE_INPUTS_MAX || operation->rounding == WTI_ROUNDING_FIRST ||
	    operation->rounding == WTI_ROUNDING_FUSED || operation->rounding == WTI_ROUNDING_LAST)
		return false;
	memcpy(ret->arguments + 1, operation->arguments, (size_t)all * sizeof(PyObject *));
	ret->made_count = 0;
	overrides = wti_torch_thread.has_overrides ? wti_overrides_off() : NULL;
	wti_python_thread.inside++;
	safe = safe_count(operation);
	for (Py_ssize_t i = first_input(operation); i < safe; i++)
		replace(operation, i, ret);
	for (Py_ssize_t i = operation->count; i < all; i++)
		if (!is_out(operation, i))
			replace(operation, i, ret);
	wti_python_thread.inside--;
	wti_overrides_on(overrides);
	ret->outer = wti_noise_thread.inputs;
	wti_noise_thread.inputs = ret;
	return true;
}

void wti_noise_inputs_release(struct wti_noise_inputs *inputs)
{
	wti_noise_thread.inputs = inputs->outer;
	for (Py_ssize_t i = 0; i < inputs->made_count; i++)
		Py_DECREF(inputs->made[i]);
}

/* ---- Scalars --------------------------------------------------------------------------------- */

/* One that nobody else holds; NULL: what it is has no digits, or cannot be copied. */
static PyObject *fresh(PyObject *object)
{
	const PyNumberMethods *number = Py_TYPE(object)->tp_as_number;
	PyObject *copy;

	if (PyFloat_CheckExact(object))
		return PyFloat_FromDouble(PyFloat_AS_DOUBLE(object));
	if (!wti_scalar_is(object) || !number || !number->nb_positive)
		return NULL;
	copy = number->nb_positive(object);
	if (copy && (Py_REFCNT(copy) != 1 || Py_TYPE(copy) != Py_TYPE(object)))
		Py_CLEAR(copy);
	return copy;
}

void wti_noise_pair_make(struct wti_operation *operation, struct wti_noise_pair *operands)
{
	operation->has_place = true;
	operation->is_wanted = wti_noise_place(operation->hook, &operation->key);
	wti_python_thread.inside++;
	for (uint32_t i = 0; operation->is_wanted && i < 2; i++) {
		struct wti_noise_key key = operation->key;
		PyObject *copy = fresh(operands->given[i]);

		PyErr_Clear();
		if (!copy)
			continue;
		key.value = INPUT_VALUES + i;
		wti_noise_scalar(copy, &key);
		operands->given[i] = operands->made[i] = copy;
	}
	wti_python_thread.inside--;
}

void wti_noise_pair_release(struct wti_noise_pair *operands)
{
	Py_XDECREF(operands->made[0]);
	Py_XDECREF(operands->made[1]);
}
