/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of the random number generators that programs share: torch's, numpy's and Python's
 * own. All three are Mersenne twisters of 624 words with a position beside them; they are read
 * where they lie. Where torch keeps its words is found by trial, with generators of our own, and
 * used only if it explains them.
 *
 * Words change all at once or not at all, so a few of them and the position show whether to hash.
 */
#include "own.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	WORDS = 624,
	BEFORE_BYTES_MAX = 256, /* of a generator that stand before its words */
	BESIDE_BYTES = 4,       /* torch's position; padding stands before it, with any contents */
};

/* ---- Finding --------------------------------------------------------------------------------- */

static int find_words(const char *memory, const uint32_t *words)
{
	for (int at = BESIDE_BYTES; at <= BEFORE_BYTES_MAX; at += 4)
		if (memcmp(memory + at, words, WORDS * 4) == 0)
			return at;
	return -1;
}

static struct wti_generator *find(const char *name)
{
	struct wti_generator *generator;

	for (uint32_t i = 0; i < wti_torch_state.generator_count; i++)
		if (strcmp(wti_torch_state.generators[i].name->text, name) == 0)
			return &wti_torch_state.generators[i];
	if (wti_torch_state.generator_count == WTI_GENERATORS_MAX)
		return NULL;
	generator = &wti_torch_state.generators[wti_torch_state.generator_count++];
	generator->name = wti_name_find(name, strlen(name));
	return generator;
}

static bool add(const char *name, PyObject *owner, const void *begin, uint32_t bytes)
{
	struct wti_generator *generator = find(name);

	if (!generator)
		return false;
	Py_XINCREF(owner);
	Py_XSETREF(generator->owner, owner);
	generator->begin = begin;
	generator->bytes = bytes;
	return true;
}

/* learn_torch(default, (address, words), (address, words)): words as bytes */
static PyObject *learn_torch(PyObject *self, PyObject *arguments)
{
	unsigned long long shared, addresses[2];
	const char *words[2];
	Py_ssize_t bytes[2];
	int at;

	if (!PyArg_ParseTuple(arguments, "K(Ky#)(Ky#)", &shared, &addresses[0], &words[0],
			      &bytes[0], &addresses[1], &words[1], &bytes[1]))
		return NULL;
	if (bytes[0] != WORDS * 4 || bytes[1] != WORDS * 4 ||
	    memcmp(words[0], words[1], WORDS * 4) == 0)
		return PyErr_Format(PyExc_ValueError, "not the words of two generators");
	at = find_words((const char *)(uintptr_t)addresses[0], (const uint32_t *)words[0]);
	if (at < 0 || memcmp((const char *)(uintptr_t)addresses[1] + at, words[1], WORDS * 4) != 0)
		Py_RETURN_FALSE;
	return PyBool_FromLong(add("torch", NULL,
				   (const char *)(uintptr_t)shared + at - BESIDE_BYTES,
				   BESIDE_BYTES + WORDS * 4));
}

/* learn_words(name, owner, begin, words, after): 624 words at an address, in an object, their
 * position behind or, with `after` false, before them */
static PyObject *learn_words(PyObject *self, PyObject *arguments)
{
	unsigned long long address;
	const char *name, *words;
	PyObject *owner;
	Py_ssize_t bytes;
	int is_after;

	if (!PyArg_ParseTuple(arguments, "sOKy#p", &name, &owner, &address, &words, &bytes,
			      &is_after))
		return NULL;
	if (bytes != WORDS * 4 || memcmp((const void *)(uintptr_t)address, words, WORDS * 4) != 0)
		Py_RETURN_FALSE;
	return PyBool_FromLong(add(
		name, owner, (const char *)(uintptr_t)address - (is_after ? 0 : 4), WORDS * 4 + 4));
}

/* capsule_state(capsule): what a bit generator's capsule points at begins with its state */
static PyObject *capsule_state(PyObject *self, PyObject *capsule)
{
	void *const *pointer = PyCapsule_GetPointer(capsule, "BitGenerator");

	return pointer ? PyLong_FromVoidPtr(*pointer) : NULL;
}

PyMethodDef wti_random_methods[] = {
	{"learn_torch_random", learn_torch, METH_VARARGS, NULL},
	{"learn_random", learn_words, METH_VARARGS, NULL},
	{"capsule_state", capsule_state, METH_O, NULL},
	{NULL},
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* The position, and words from begin, middle and end. */
static uint64_t quick_of(const struct wti_generator *generator)
{
	uint64_t parts[6];

	memcpy(parts, generator->begin, 3 * sizeof(parts[0]));
	memcpy(parts + 3, generator->begin + generator->bytes / 2, sizeof(parts[0]));
	memcpy(parts + 4, generator->begin + generator->bytes - 16, 2 * sizeof(parts[0]));
	return XXH3_64bits(parts, sizeof(parts));
}

void wti_random_read(void)
{
	const struct wti_here here = wti_here();

	if (wti_omits(WT_THINNED_RNG))
		return;
	for (uint32_t i = 0; here.ring && i < wti_torch_state.generator_count; i++) {
		struct wti_generator *generator = &wti_torch_state.generators[i];
		uint64_t quick = quick_of(generator);

		if (generator->generation == here.slot->generation && generator->quick == quick)
			continue;
		generator->generation = here.slot->generation;
		generator->quick = quick;
		wti_known_set(WT_NAME("random"), generator->name, WT_VALUE_TYPE_HASH,
			      XXH3_64bits(generator->begin, generator->bytes), 0);
	}
}
