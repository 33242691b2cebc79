/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an operation is called from, as numbers that are the same in every run: a hash of file,
 * function, instruction and callee, and how often the instruction was reached. And which of these
 * places the recording wants to be perturbed.
 *
 * Each code object that calls an operation gets a note (a code extra, freed with it) with a count
 * for each of its instructions.
 */
#include "own.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 256 }; /* that are compared with patterns */

struct note {
	uint64_t hash; /* of file and function */
	uint32_t unit_count;
	uint64_t counts[]; /* by instruction */
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t wti_noise_hash(uint64_t seed, const char *text, size_t bytes)
{
	uint64_t hash = seed ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
	return mix(hash + bytes);
}

static const char *text_of(PyObject *object, size_t *ret_bytes)
{
	Py_ssize_t bytes = 0;
	const char *text = PyUnicode_AsUTF8AndSize(object, &bytes);

	if (!text) {
		PyErr_Clear();
		text = "";
	}
	*ret_bytes = (size_t)bytes;
	return text;
}

/* ---- Notes ----------------------------------------------------------------------------------- */

/* Without the folder, which may differ from run to run. */
static uint64_t hash_of(PyCodeObject *code)
{
	size_t bytes;
	const char *file = text_of(code->co_filename, &bytes);
	const char *slash = strrchr(file, '/');
	uint64_t hash = wti_noise_hash((uint64_t)code->co_firstlineno, slash ? slash + 1 : file,
				       strlen(slash ? slash + 1 : file));
	const char *function = text_of(code->co_name, &bytes);

	return wti_noise_hash(hash, function, bytes);
}

static struct note *note_new(PyCodeObject *code)
{
	size_t units = wti_code_bytes(code) / 2 + 1;
	struct note *note = calloc(1, sizeof(*note) + units * sizeof(note->counts[0]));

	if (!note)
		return NULL;
	note->unit_count = (uint32_t)units;
	note->hash = hash_of(code);
	if (wti_code_extra_set(code, wti_noise_state.code_extra, note) < 0) {
		PyErr_Clear();
		free(note);
		note = NULL;
	}
	return note;
}

static struct note *note_of(PyCodeObject *code)
{
	void *note = NULL;

	if (wti_noise_state.code_extra < 0)
		wti_noise_state.code_extra = wti_code_extra_index(free);
	if (wti_noise_state.code_extra < 0)
		return NULL;
	if (wti_code_extra_get(code, wti_noise_state.code_extra, &note) < 0)
		PyErr_Clear();
	return note ? note : note_new(code);
}

/* ---- Patterns -------------------------------------------------------------------------------- */

static bool matches_name(PyObject *names, const char *module, const char *name)
{
	char full[512];

	snprintf(full, sizeof(full), "%s.%s", module, name);
	for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		const char *pattern = PyBytes_AS_STRING(PyTuple_GET_ITEM(names, i));

		if (fnmatch(pattern, full, 0) == 0 || fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

/* A path, or the end of one from a slash on. */
static bool is_file(const char *file, size_t bytes, const char *wanted)
{
	size_t wanted_bytes = strlen(wanted);

	return bytes >= wanted_bytes && strcmp(file + bytes - wanted_bytes, wanted) == 0 &&
	       (bytes == wanted_bytes || file[bytes - wanted_bytes - 1] == '/');
}

static bool matches_place(PyObject *lines, struct wti_place place)
{
	size_t bytes;
	const char *file = text_of(place.code->co_filename, &bytes);

	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(lines); i++) {
		PyObject *pair = PyTuple_GET_ITEM(lines, i);

		if (is_file(file, bytes, PyBytes_AS_STRING(PyTuple_GET_ITEM(pair, 0))) &&
		    PyCode_Addr2Line(place.code, place.offset) ==
			    PyLong_AsLong(PyTuple_GET_ITEM(pair, 1)))
			return true;
	}
	return false;
}

/* Any place from which the call was reached: a line of the program stands for all that it runs. */
static bool matches_stack(PyObject *lines)
{
	wti_frame *frame;

	if (!lines || PyTuple_GET_SIZE(lines) == 0)
		return false;
	frame = wti_frame_here(PyThreadState_Get());
	for (int i = 0; frame && i < FRAMES_MAX; i++, frame = wti_frame_back(frame)) {
		struct wti_place place = wti_place_of(frame);

		if (place.code && matches_place(lines, place))
			return true;
	}
	return false;
}

static bool is_empty(const struct wti_noise_patterns *patterns)
{
	return (!patterns->names || PyTuple_GET_SIZE(patterns->names) == 0) &&
	       (!patterns->lines || PyTuple_GET_SIZE(patterns->lines) == 0);
}

static bool wants(const struct wti_hook *hook)
{
	const struct wti_noise_patterns *only = &wti_noise_state.only;
	const struct wti_noise_patterns *skip = &wti_noise_state.skip;
	const char *module = hook->module->text, *name = hook->callee->text;

	if (!is_empty(only) && !matches_name(only->names, module, name) &&
	    !matches_stack(only->lines))
		return false;
	return is_empty(skip) ||
	       !(matches_name(skip->names, module, name) || matches_stack(skip->lines));
}

bool wti_noise_wants_below(const char *node, const char *op)
{
	const struct wti_noise_patterns *only = &wti_noise_state.only;
	PyObject *skipped = wti_noise_state.skip.names;

	if (!is_empty(only) && !matches_name(only->names, "torch.autograd", node) &&
	    !matches_name(only->names, "torch.ops", op))
		return false;
	return !skipped || PyTuple_GET_SIZE(skipped) == 0 ||
	       !(matches_name(skipped, "torch.autograd", node) ||
		 matches_name(skipped, "torch.ops", op));
}

/* ---- Places ---------------------------------------------------------------------------------- */

bool wti_noise_place(const struct wti_hook *hook, struct wti_noise_key *ret)
{
	const struct wti_place place = wti_place_here();
	struct note *note = place.code ? note_of(place.code) : NULL;
	uint32_t unit = (uint32_t)place.offset / 2;

	if (note && place.offset >= 0 && unit < note->unit_count) {
		ret->site = mix(note->hash + unit);
		ret->call = note->counts[unit]++;
	} else {
		ret->site = 0;
		ret->call = wti_noise_state.loose_count++;
	}
	ret->site = wti_noise_hash(ret->site, hook->callee->text, strlen(hook->callee->text));
	ret->value = 0;
	return wants(hook);
}
