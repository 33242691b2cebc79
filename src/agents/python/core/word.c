/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of the program's objects: the words they are known by, and what an object has under
 * them in its own dictionary.
 */
#include "pyagent.h"

bool wti_words_make(const struct wti_own_word *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*words[i].word = PyUnicode_InternFromString(words[i].text);
		if (!*words[i].word)
			return false;
	}
	return true;
}

PyObject *wti_own_attribute(PyObject *object, PyObject *name)
{
	PyObject **dict = _PyObject_GetDictPtr(object);
	PyObject *value = NULL;

	if (dict && *dict) {
		value = PyDict_GetItemWithError(*dict, name);
#if PY_VERSION_HEX >= 0x030b0000
	} else if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) && !dict) {
		PyObject *own = PyObject_GenericGetDict(object, NULL); /* asking makes it */

		value = own && PyDict_Check(own) ? PyDict_GetItemWithError(own, name) : NULL;
		Py_XDECREF(own);
#endif
	}
	if (!value)
		PyErr_Clear();
	return value;
}
