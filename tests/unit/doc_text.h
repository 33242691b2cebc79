/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader makes of a document, as JSON, so that tests can compare texts. */
#ifndef TEST_DOC_TEXT_H
#define TEST_DOC_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "test.h"

typedef int doc_reader(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		       struct wt_err *err);

static inline void put_scalar(struct wti_json *json, const struct wti_doc *value)
{
	switch (value->type) {
	case WTI_DOC_STRING:
		wti_json_text_n(json, value->string.data, value->string.bytes);
		break;
	case WTI_DOC_INT:
		wti_json_i64(json, value->integer);
		break;
	case WTI_DOC_FLOAT:
		wti_json_f64(json, value->number);
		break;
	case WTI_DOC_NULL:
		wti_json_null(json);
		break;
	default:
		wti_json_bool(json, value->boolean);
	}
}

/* Recursion is fine here: the parser bounds the depth. */
static inline void put_value(struct wti_json *json, const struct wti_doc *value)
{
	if (value->type == WTI_DOC_TABLE) {
		wti_json_object(json);
		for (const struct wti_doc *child = value->first; child; child = child->next) {
			wti_json_key(json, child->key);
			put_value(json, child);
		}
		wti_json_object_end(json);
	} else if (value->type == WTI_DOC_ARRAY) {
		wti_json_array(json);
		for (const struct wti_doc *child = value->first; child; child = child->next)
			put_value(json, child);
		wti_json_array_end(json);
	} else {
		put_scalar(json, value);
	}
}

/* The document as JSON, or its error message; to be freed. */
static inline char *doc_text(doc_reader *read, const char *text, size_t bytes)
{
	struct wti_doc *root = NULL;
	struct wt_err err = {0};
	struct wti_json json;
	struct wti_buf out;
	char *result;

	wti_buf_init(&out, 1 << 20);
	wti_json_init(&json, &out, false);
	if (read("t", text, bytes, &root, &err))
		wti_buf_text(&out, err.message);
	else
		put_value(&json, root);
	result = strdup(wti_buf_cstr(&out));
	wti_doc_free(root);
	wti_buf_release(&out);
	return result;
}

static inline void doc_check(const char *file, int line, doc_reader *read, const char *text,
			     size_t bytes, const char *expected)
{
	char *actual = doc_text(read, text, bytes);

	test_text(file, line, "result", actual, expected);
	free(actual);
}

#define DOC_GIVES(read, text, json)                                                                \
	doc_check(__FILE__, __LINE__, read, text, sizeof(text) - 1, json)

#endif
