/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States that are numbers, flags or texts: the last value of each is kept, so that only changes are
 * emitted. Knows them by owner and attribute; hides the table. When it is full, a state is
 * emitted each time it is read: nothing is lost, only room.
 */
#include "own.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/text.h"
#include "emit.h"

enum { PROBES = 16 };

static struct wti_known *find(const struct wt_name *owner, const struct wt_name *attribute)
{
	uint64_t key = ((uintptr_t)owner >> 3) * 0x9e3779b97f4a7c15u ^
		       ((uintptr_t)attribute >> 3) * 0xc2b2ae3d27d4eb4fu;

	for (size_t i = 0; i < PROBES; i++) {
		struct wti_known *known = &wti_live_state.knowns[((key >> 32) + i) % WTI_KNOWNS];

		if (!known->attribute) {
			known->owner = owner;
			known->attribute = attribute;
		}
		if (known->owner == owner && known->attribute == attribute)
			return known;
	}
	return NULL;
}

void wti_known_forget(void)
{
	memset(wti_live_state.knowns, 0, sizeof(wti_live_state.knowns));
}

void wti_state_emit(struct wt_name *owner, struct wt_name *attribute,
		    const struct wti_live_change *change)
{
	const struct wti_here here = wti_here();
	struct wti_record_state state;
	struct wti_kept_text kept;

	if (!here.ring || !wti_python.is_on)
		return;
	if (change->text)
		wti_keep_text(&kept, change->text);
	state = (struct wti_record_state){
		.owner = wti_name(here, owner),
		.attribute = wti_name(here, attribute),
		.type = change->type,
		.flags = change->flags,
		.old = change->old_value,
		.new_ = change->new_value,
	};
	wti_emit_state(here, &state, change->text ? &kept : NULL);
}

static void set(struct wt_name *owner, struct wt_name *attribute, struct wti_live_change change)
{
	struct wti_known *known = find(owner, attribute);
	uint64_t value =
		change.text ? XXH3_64bits(change.text, strlen(change.text)) : change.new_value;

	if (known && known->is_set && known->type == change.type && known->value == value)
		return;
	if (!known || !known->is_set)
		change.flags |= WT_STATE_FIRST;
	else if (known->type == change.type && !change.text)
		change.old_value = known->value;
	if (known) {
		known->is_set = true;
		known->type = change.type;
		known->value = value;
	}
	wti_state_emit(owner, attribute, &change);
}

void wti_known_set(struct wt_name *owner, struct wt_name *attribute, uint32_t type, uint64_t value,
		   uint32_t flags)
{
	set(owner, attribute,
	    (struct wti_live_change){.type = type, .flags = flags, .new_value = value});
}

void wti_known_text(struct wt_name *owner, struct wt_name *attribute, const char *text)
{
	set(owner, attribute, (struct wti_live_change){.type = WT_VALUE_TYPE_TEXT, .text = text});
}

/* dtypes and devices: their str() is C and short. */
static void set_word(struct wt_name *owner, struct wt_name *attribute, PyObject *value)
{
	const char *type = Py_TYPE(value)->tp_name;
	PyObject *text;

	if (strcmp(type, "torch.dtype") != 0 && strcmp(type, "torch.device") != 0)
		return;
	text = PyObject_Str(value);
	if (text && PyUnicode_AsUTF8(text))
		wti_known_text(owner, attribute, PyUnicode_AsUTF8(text));
	PyErr_Clear();
	Py_XDECREF(text);
}

uint64_t wti_number_bits(PyObject *value)
{
	uint64_t bits = 0;
	int overflow;

	if (PyFloat_Check(value)) {
		double number = PyFloat_AS_DOUBLE(value);

		memcpy(&bits, &number, sizeof(bits));
	} else if (PyLong_Check(value)) {
		bits = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
		if (overflow)
			bits = (uint64_t)PyLong_Type.tp_hash(value);
	}
	return wti_mix(bits, (uintptr_t)Py_TYPE(value)); /* 1, 1.0 and True differ */
}

void wti_known_object(struct wt_name *owner, struct wt_name *attribute, PyObject *value)
{
	uint64_t bits = 0;

	if (value == Py_None) {
		wti_known_set(owner, attribute, WT_VALUE_TYPE_NONE, 0, 0);
	} else if (PyBool_Check(value)) {
		wti_known_set(owner, attribute, WT_VALUE_TYPE_BOOL, value == Py_True, 0);
	} else if (PyFloat_Check(value)) {
		double number = PyFloat_AS_DOUBLE(value);

		memcpy(&bits, &number, sizeof(bits));
		wti_known_set(owner, attribute, WT_VALUE_TYPE_FLOAT, bits, 0);
	} else if (PyLong_Check(value)) {
		int overflow;

		bits = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
		if (!overflow)
			wti_known_set(owner, attribute, WT_VALUE_TYPE_INT, bits, 0);
	} else if (PyUnicode_Check(value)) {
		const char *text = PyUnicode_AsUTF8(value);

		if (text)
			wti_known_text(owner, attribute, text);
	} else {
		set_word(owner, attribute, value);
	}
	PyErr_Clear();
}
