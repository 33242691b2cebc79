/* SPDX-License-Identifier: Apache-2.0 */
/* Values as the command line shows them; hashes are whole numbers here. */
#include "rows.h"

#include <string.h>

#include "show/call.h"
#include "show/event.h"
#include "show/headings.h"

static void forget(struct wti_row_kind *kind)
{
	Py_CLEAR(kind->name);
	for (int i = 0; i < WT_FIELDS_MAX; i++)
		Py_CLEAR(kind->fields[i]);
	kind->kind = NULL;
}

void wti_row_keys_release(struct wti_row_keys *keys)
{
	for (size_t i = 0; i < WTI_ROW_KINDS; i++)
		forget(&keys->kinds[i]);
}

static bool is_wanted(const struct wti_question_words *wanted, const char *name)
{
	for (size_t i = 0; wanted && i < wanted->count; i++) {
		if (!strcmp(wanted->items[i], name))
			return true;
	}
	return !wanted;
}

/* A dictionary has each name once; a kind may have it twice. */
static bool name_fields(struct wti_row_kind *row, const struct wt_kind *kind,
			const struct wti_question_words *wanted)
{
	struct wti_headings headings;
	bool ok;

	wti_headings_init(&headings, kind, WTI_HEADINGS_KEYS, NULL);
	ok = !wti_headings_status(&headings);
	if (!ok)
		PyErr_NoMemory();
	for (int i = 0; i < kind->field_count && ok; i++) {
		const char *name = wti_headings_name(&headings, i);

		if (!is_wanted(wanted, name))
			continue;
		row->fields[i] = wti_unicode(name, strlen(name));
		ok = row->fields[i];
	}
	wti_headings_release(&headings);
	return ok;
}

static struct wti_row_kind *keys_of(struct wti_row_keys *keys, const struct wt_kind *kind,
				    const struct wti_question_words *wanted)
{
	struct wti_row_kind *found = &keys->kinds[kind->number % WTI_ROW_KINDS];

	if (found->kind == kind)
		return found;
	forget(found);
	found->name = wti_unicode(kind->name, strlen(kind->name));
	if (!found->name)
		return NULL;
	if (!name_fields(found, kind, wanted))
		return NULL;
	found->kind = kind;
	return found;
}

static PyObject *hex_of(struct wt_text bytes)
{
	struct wti_buf text;
	PyObject *value;

	wti_buf_init(&text, 2 * bytes.bytes + 1);
	wti_buf_hex(&text, bytes.data, bytes.bytes);
	value = wti_unicode(wti_buf_cstr(&text), wti_buf_status(&text) ? 0 : text.bytes);
	wti_buf_release(&text);
	return value;
}

static PyObject *value_of(const struct wti_shown *shown)
{
	switch (shown->type) {
	case WTI_SHOWN_BOOL:
		return PyBool_FromLong(shown->u != 0);
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		return PyLong_FromLongLong(shown->i);
	case WTI_SHOWN_UINT:
	case WTI_SHOWN_HASH:
		return PyLong_FromUnsignedLongLong(shown->u);
	case WTI_SHOWN_FLOAT:
		return PyFloat_FromDouble(shown->f);
	case WTI_SHOWN_TEXT:
		return wti_unicode(shown->text.data, shown->text.bytes);
	case WTI_SHOWN_BYTES:
		return hex_of(shown->text);
	default:
		Py_INCREF(Py_None);
		return Py_None;
	}
}

static PyObject *call_of(const struct wt_event *event)
{
	struct wti_buf text;
	PyObject *value;

	wti_buf_init(&text, WTI_CALL_TEXT_MAX);
	wti_put_call(&text, event);
	value = wti_unicode(wti_buf_cstr(&text), wti_buf_status(&text) ? 0 : text.bytes);
	wti_buf_release(&text);
	return value;
}

static PyObject *fields_of(const struct wti_row_kind *keys, const struct wt_event *event)
{
	PyObject *fields = PyDict_New();
	struct wti_shown shown;

	for (int i = 0; fields && i < event->kind->field_count; i++) {
		PyObject *value;

		if (!keys->fields[i])
			continue;
		if (wti_is_call(event) && i == WT_SYSCALL_FIELD_TEXT) {
			value = call_of(event);
		} else {
			wti_event_field(&shown, event, i);
			value = value_of(&shown);
		}
		if (!value || PyDict_SetItem(fields, keys->fields[i], value)) {
			Py_DECREF(fields);
			fields = NULL;
		}
		Py_XDECREF(value);
	}
	return fields;
}

static PyObject *row_of(const struct wti_row_kind *keys, const struct wt_event *event)
{
	PyObject *fields = fields_of(keys, event);

	return fields ? Py_BuildValue("LOnIKN", (long long)event->time_ns, keys->name,
				      (Py_ssize_t)event->stream, event->track,
				      (unsigned long long)event->seq, fields)
		      : NULL;
}

PyObject *wti_rows_list(struct wti_row_keys *keys, const struct wti_rows *rows,
			const struct wti_question_words *wanted)
{
	PyObject *list = PyList_New((Py_ssize_t)rows->count);
	struct wt_event event = rows->first;
	const struct wti_row_kind *kind;

	if (!list || !rows->count)
		return list;
	kind = keys_of(keys, event.kind, wanted);
	for (size_t i = 0; kind && i < rows->count; i++) {
		PyObject *row;

		event.row = rows->rows[i];
		event.time_ns = rows->times_ns[i];
		event.track = (uint32_t)event.batch->track[event.row];
		event.seq = event.batch->seq[event.row];
		event.ticks = event.batch->time[event.row];
		row = row_of(kind, &event);
		if (!row || PyList_SetItem(list, (Py_ssize_t)i, row)) {
			kind = NULL;
			break;
		}
	}
	if (!kind)
		Py_CLEAR(list);
	return list;
}
