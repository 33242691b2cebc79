/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are none: what a cell of a notebook was compiled under. The name is made of a hash,
 * which nobody knows a cell by; IPython keeps the number that stands beside it. It is read from
 * dictionaries alone, so that no code of the program runs.
 */
#include "pyagent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMINAL "<ipython-input-" /* NUMBER-HASH> */
#define KERNEL "/ipykernel_"       /* PID/HASH.py */

static PyObject *member(PyObject *object, const char *name)
{
	PyObject *word = object ? PyUnicode_FromString(name) : NULL;
	PyObject *value = word ? wti_own_attribute(object, word) : NULL;

	Py_XDECREF(word);
	return value;
}

/* Borrowed, or NULL: the numbers of cells by the names of their files. */
static PyObject *numbers(void)
{
	PyObject *modules = PyImport_GetModuleDict();
	PyObject *module = modules && PyDict_Check(modules)
				   ? PyDict_GetItemString(modules, "IPython.core.interactiveshell")
				   : NULL;
	PyObject *map = member(module, "InteractiveShell");

	map = member(map, "_instance");
	map = member(map, "compile");
	map = member(map, "_filename_map");
	return map && PyDict_Check(map) ? map : NULL;
}

/* -1: not known. */
static long number_of(PyObject *file, const char *text)
{
	PyObject *map, *number;
	long result = -1;

	if (!strncmp(text, TERMINAL, strlen(TERMINAL)))
		return strtol(text + strlen(TERMINAL), NULL, 10);
	map = strstr(text, KERNEL) ? numbers() : NULL;
	number = map ? PyDict_GetItemWithError(map, file) : NULL;
	if (number && PyLong_Check(number))
		result = PyLong_AsLong(number);
	PyErr_Clear();
	return result;
}

struct wt_name *wti_cell_name(PyObject *file)
{
	const char *text = PyUnicode_AsUTF8(file);
	long number = text ? number_of(file, text) : -1;
	char name[48];

	PyErr_Clear();
	if (number < 0)
		return NULL;
	snprintf(name, sizeof(name), "Cell In[%ld]", number);
	return wti_name_find(name, strlen(name));
}
