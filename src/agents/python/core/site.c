/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where calls come from. Each code object that calls into a library gets a note (a code extra,
 * freed with it): whether it belongs to a library, and a number for each of its instructions that
 * has called, so that a call site costs a load after the first time. Code objects are never known
 * by their address.
 */
#include "pyagent.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 256 }; /* looked at for the place where an object is made */

struct note {
	bool in_library;
	bool is_ours;
	uint32_t unit_count;
	struct wt_name *file;
	struct wt_name *function;
	uint64_t sites[]; /* by instruction: generation << 32 | number; 0: none yet */
};

/* Its code object goes, and another may come to lie where it lay. */
static void release_note(void *note)
{
	wti_python.code_age++;
	free(note);
}

bool wti_site_init(void)
{
	if (wti_python.code_extra >= 0)
		return true;
	wti_python.code_extra = wti_code_extra_index(release_note);
	return wti_python.code_extra >= 0;
}

/* Under one of the first `limit` prefixes. */
static bool under_library(PyObject *file, Py_ssize_t limit)
{
	Py_ssize_t count =
		wti_python.library_prefixes ? PyTuple_GET_SIZE(wti_python.library_prefixes) : 0;

	for (Py_ssize_t i = 0; i < count && i < limit; i++)
		if (PyUnicode_Tailmatch(file, PyTuple_GET_ITEM(wti_python.library_prefixes, i), 0,
					PY_SSIZE_T_MAX, -1) == 1)
			return true;
	PyErr_Clear();
	return false;
}

bool wti_site_file_in_library(PyObject *file)
{
	return under_library(file, PY_SSIZE_T_MAX);
}

static struct note *make_note(PyCodeObject *code)
{
	size_t units = wti_code_bytes(code) / 2 + 1;
	struct note *note = calloc(1, sizeof(*note) + units * sizeof(note->sites[0]));
	PyObject *function;

	if (!note)
		return NULL;
#if PY_VERSION_HEX >= 0x030b0000
	function = code->co_qualname;
#else
	function = code->co_name;
#endif
	note->unit_count = (uint32_t)units;
	note->in_library = wti_site_file_in_library(code->co_filename);
	note->is_ours = under_library(code->co_filename, 1);
	note->file = wti_cell_name(code->co_filename);
	if (!note->file)
		note->file = wti_name_of_text(code->co_filename);
	note->function = wti_name_of_text(function);
	if (wti_code_extra_set(code, wti_python.code_extra, note) < 0) {
		PyErr_Clear();
		free(note);
		return NULL;
	}
	return note;
}

static struct note *note_of(PyCodeObject *code)
{
	void *note = NULL;

	if (wti_code_extra_get(code, wti_python.code_extra, &note) < 0)
		PyErr_Clear();
	return note ? note : make_note(code);
}

bool wti_site_in_library(PyCodeObject *code)
{
	struct note *note = note_of(code);

	return !note || note->in_library;
}

bool wti_site_is_ours(PyCodeObject *code)
{
	struct note *note = note_of(code);

	return note && note->is_ours;
}

bool wti_site_in_library_again(PyCodeObject *code)
{
	struct wti_python_thread *thread = &wti_python_thread;
	struct note *note = note_of(code);

	if (!note)
		return true;
	if (note->in_library) {
		thread->library_code = code;
		thread->library_age = wti_python.code_age;
	}
	return note->in_library;
}

static uint32_t define(struct wti_here here, PyCodeObject *code, const struct note *note,
		       int offset)
{
	struct wti_site_definition site = {
		.file = wti_name(here, note->file),
		.function = wti_name(here, note->function),
		.line = (uint32_t)PyCode_Addr2Line(code, offset),
	};

	return wti_define(WTI_DEF_SITE, &site, sizeof(site), &site, sizeof(site));
}

uint32_t wti_site_of(struct wti_here here, struct wti_place place)
{
	struct note *note = place.code ? note_of(place.code) : NULL;
	uint32_t unit = (uint32_t)place.offset / 2;
	uint64_t known;
	uint32_t number;

	if (!note || place.offset < 0 || unit >= note->unit_count)
		return 0;
	known = note->sites[unit];
	if (wti_likely(known >> 32 == here.slot->generation))
		return (uint32_t)known;
	number = define(here, place.code, note, place.offset);
	if (number)
		note->sites[unit] = (uint64_t)here.slot->generation << 32 | number;
	return number;
}

/* `self` may be a variable of closures: then the cell stands in its place. */
static bool is_own_method(wti_frame *frame, const PyObject *object)
{
	PyObject *first = wti_frame_first(frame);

	if (first && PyCell_Check(first))
		first = PyCell_GET(first);
	return first == object;
}

struct wti_place wti_site_user(struct wti_place place)
{
	wti_frame *frame;

	if (!place.code || !wti_site_in_library(place.code))
		return place;
	frame = wti_frame_here(PyThreadState_Get());
	for (int i = 0; frame && i < FRAMES_MAX; i++, frame = wti_frame_back(frame)) {
		struct wti_place other = wti_place_of(frame);

		if (other.code && !wti_site_in_library(other.code))
			return other;
	}
	return place;
}

unsigned wti_site_depth(struct wti_place place)
{
	wti_frame *frame = wti_frame_here(PyThreadState_Get());
	unsigned depth = 0;

	for (int i = 0; frame && i < FRAMES_MAX; i++, frame = wti_frame_back(frame)) {
		struct wti_place other = wti_place_of(frame);

		if (!other.code || (!depth && other.code != place.code))
			continue;
		if (!wti_site_in_library(other.code))
			return depth;
		depth++;
	}
	return 0;
}

/* numpy's arrays have no such methods in Python, but a file for it. */
static bool formats(PyCodeObject *code)
{
	Py_ssize_t bytes = 0;
	const char *file = PyUnicode_AsUTF8AndSize(code->co_filename, &bytes);
	const char printer[] = "/arrayprint.py";

	if (!file)
		PyErr_Clear();
	else if ((size_t)bytes >= sizeof(printer) &&
		 !strcmp(file + bytes - (sizeof(printer) - 1), printer))
		return true;
	return PyUnicode_CompareWithASCIIString(code->co_name, "__repr__") == 0 ||
	       PyUnicode_CompareWithASCIIString(code->co_name, "__str__") == 0 ||
	       PyUnicode_CompareWithASCIIString(code->co_name, "__format__") == 0;
}

bool wti_site_is_formatting(struct wti_place place)
{
	wti_frame *frame;

	if (!place.code || !wti_site_in_library(place.code))
		return false;
	frame = wti_frame_here(PyThreadState_Get());
	for (int i = 0; frame && i < FRAMES_MAX; i++, frame = wti_frame_back(frame)) {
		struct wti_place other = wti_place_of(frame);

		if (other.code && !wti_site_in_library(other.code))
			return false;
		if (other.code && formats(other.code))
			return true;
	}
	return false;
}

uint64_t wti_site_made(PyObject *object)
{
	const struct wti_here here = wti_here();
	wti_frame *frame = wti_frame_here(PyThreadState_Get());
	struct wti_place first = {0};

	if (!here.ring)
		return 0;
	for (int i = 0; frame && i < FRAMES_MAX; i++, frame = wti_frame_back(frame)) {
		struct wti_place place = wti_place_of(frame);

		if (is_own_method(frame, object) || !place.code)
			continue;
		if (!first.code)
			first = place;
		if (!wti_site_in_library(place.code)) {
			first = place;
			break;
		}
	}
	return (uint64_t)here.slot->generation << 32 | wti_site_of(here, first);
}
