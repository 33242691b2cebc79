/* SPDX-License-Identifier: Apache-2.0 */
/* A document back into JSON, whatever it was read from. */
#include "doc_write.h"

static void write_scalar(struct wti_json *json, const struct wti_doc *doc)
{
	switch (doc->type) {
	case WTI_DOC_STRING:
		wti_json_text_n(json, doc->string.data, doc->string.bytes);
		break;
	case WTI_DOC_INT:
		wti_json_i64(json, doc->integer);
		break;
	case WTI_DOC_FLOAT:
		wti_json_f64(json, doc->number);
		break;
	case WTI_DOC_BOOL:
		wti_json_bool(json, doc->boolean);
		break;
	default:
		wti_json_null(json);
	}
}

static bool is_nested(const struct wti_doc *doc)
{
	return doc->type == WTI_DOC_TABLE || doc->type == WTI_DOC_ARRAY;
}

static void enter(struct wti_json *json, const struct wti_doc *doc)
{
	if (doc->key)
		wti_json_key(json, doc->key);
	if (doc->type == WTI_DOC_TABLE)
		wti_json_object(json);
	else if (doc->type == WTI_DOC_ARRAY)
		wti_json_array(json);
	else
		write_scalar(json, doc);
}

static void leave(struct wti_json *json, const struct wti_doc *doc)
{
	if (doc->type == WTI_DOC_TABLE)
		wti_json_object_end(json);
	else
		wti_json_array_end(json);
}

/* Without recursion: documents are another's, and as deep as the reader allows. */
void wti_doc_write(struct wti_json *json, const struct wti_doc *doc)
{
	const struct wti_doc *open[WTI_DOC_DEPTH_MAX + 1];
	struct wti_doc top = *doc;
	const struct wti_doc *at = &top;
	unsigned depth = 0;

	top.key = NULL;
	top.next = NULL;
	while (at) {
		enter(json, at);
		if (is_nested(at) && depth < WTI_DOC_DEPTH_MAX) {
			open[depth++] = at;
			at = at->first;
		} else {
			at = at->next;
		}
		while (!at && depth) {
			leave(json, open[--depth]);
			at = open[depth]->next;
		}
	}
}
