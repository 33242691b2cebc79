/* SPDX-License-Identifier: Apache-2.0 */
/* What Python asks for, as the trace library understands it. Strings are copies of its own. */
#ifndef WTI_PYTHON_QUESTION_H
#define WTI_PYTHON_QUESTION_H

#include "reader.h"

struct wti_question_words {
	char **items;
	size_t count;
};

struct wti_question {
	struct wti_question_words kinds;  /* none: all */
	struct wti_question_words fields; /* columns; `all_fields`: those that a kind always has */
	struct wti_question_words contexts; /* context variables as columns */
	struct wti_question_words where;    /* key, value, key, value: what the context has to be */
	bool all_fields;
	char *name;
	char *track;
	size_t bytes_max;
	struct wt_condition *conditions;
	struct wt_query query; /* points into the rest */
};

/* Keywords: kinds, fields, context, where, name, track, from_ns, to_ns, bytes_max. -1: raised. */
int wti_question_parse(struct wti_question *question, PyObject *args, PyObject *keywords);
void wti_question_release(struct wti_question *question);

#endif
