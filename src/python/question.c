/* SPDX-License-Identifier: Apache-2.0 */
/* From keyword arguments to a struct wt_query. */
#include "question.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4096

static void words_release(struct wti_question_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct wti_question_words){0};
}

/* A copy; texts with a NUL inside cannot be meant. NULL: raised. */
static char *copy_text(PyObject *object)
{
	Py_ssize_t bytes;
	const char *text = PyUnicode_AsUTF8AndSize(object, &bytes);
	char *copy;

	if (!text)
		return NULL;
	if (strlen(text) != (size_t)bytes) {
		PyErr_SetString(PyExc_ValueError, "embedded null character");
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		PyErr_NoMemory();
	return copy;
}

static int take_words(struct wti_question_words *words, PyObject *sequence)
{
	Py_ssize_t count = PySequence_Size(sequence);

	if (count < 0)
		return -1;
	if (count > WORDS_MAX) {
		PyErr_SetString(PyExc_ValueError, "too many names");
		return -1;
	}
	words->items = calloc((size_t)count + 1, sizeof(*words->items));
	if (!words->items) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *item = PySequence_GetItem(sequence, i);
		char *copy = item ? copy_text(item) : NULL;

		Py_XDECREF(item);
		if (!copy)
			return -1;
		words->items[words->count++] = copy;
	}
	return 0;
}

static int take_text(char **ret_text, PyObject *object)
{
	if (object == Py_None)
		return 0;
	*ret_text = copy_text(object);
	return *ret_text ? 0 : -1;
}

static int take_time(int64_t *ret_ns, PyObject *object)
{
	long long ns;

	if (object == Py_None)
		return 0;
	ns = PyLong_AsLongLong(object);
	if (ns == -1 && PyErr_Occurred())
		return -1;
	*ret_ns = ns;
	return 0;
}

static int make_query(struct wti_question *q, PyObject *from, PyObject *to)
{
	wt_query_init(&q->query);
	if (take_time(&q->query.from_ns, from) || take_time(&q->query.to_ns, to))
		return -1;
	q->conditions = calloc(q->where.count / 2 + 1, sizeof(*q->conditions));
	if (!q->conditions) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i + 1 < q->where.count; i += 2)
		q->conditions[q->query.condition_count++] =
			(struct wt_condition){q->where.items[i], q->where.items[i + 1]};
	q->query.conditions = q->conditions;
	q->query.kinds = q->kinds.count ? (const char *const *)q->kinds.items : NULL;
	q->query.kind_count = q->kinds.count;
	q->query.name = q->name;
	q->query.track = q->track;
	return 0;
}

int wti_question_parse(struct wti_question *q, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"kinds", "fields",  "context", "where",     "name",
				"track", "from_ns", "to_ns",   "bytes_max", NULL};
	PyObject *kinds, *fields, *context, *where, *name, *track, *from, *to;
	Py_ssize_t bytes_max;

	*q = (struct wti_question){0};
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOOOn", names, &kinds, &fields,
					 &context, &where, &name, &track, &from, &to, &bytes_max))
		return -1;
	q->all_fields = fields == Py_None;
	q->bytes_max = bytes_max > 0 ? (size_t)bytes_max : SIZE_MAX;
	if (take_words(&q->kinds, kinds) || (!q->all_fields && take_words(&q->fields, fields)) ||
	    take_words(&q->contexts, context) || take_words(&q->where, where) ||
	    take_text(&q->name, name) || take_text(&q->track, track) || make_query(q, from, to)) {
		wti_question_release(q);
		return -1;
	}
	return 0;
}

void wti_question_release(struct wti_question *q)
{
	words_release(&q->kinds);
	words_release(&q->fields);
	words_release(&q->contexts);
	words_release(&q->where);
	free(q->name);
	free(q->track);
	free(q->conditions);
	*q = (struct wti_question){0};
}
