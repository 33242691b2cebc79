/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that the readers of TOML, YAML and JSON make. */
#include "doc.h"

#include <stdio.h>
#include <string.h>

#include "err.h"

void wti_doc_free(struct wti_doc *root)
{
	struct wti_arena arena;

	if (!root)
		return;
	arena = *root->arena; /* it lies in what it gives back */
	wti_arena_release(&arena);
}

const struct wti_doc *wti_doc_get(const struct wti_doc *table, const char *key)
{
	if (!table || table->type != WTI_DOC_TABLE)
		return NULL;
	for (const struct wti_doc *child = table->first; child; child = child->next) {
		if (!strcmp(child->key, key))
			return child;
	}
	return NULL;
}

const char *wti_doc_text(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	return value && value->type == WTI_DOC_STRING ? value->string.data : NULL;
}

int64_t wti_doc_count(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = wti_doc_get(table, key);

	return value && value->type == WTI_DOC_INT && value->integer >= 0 ? value->integer : -1;
}

int wti_doc_new(size_t bytes, size_t ceiling, struct wti_doc **ret_root)
{
	struct wti_arena arena, *kept;
	struct wti_doc *root;

	ceiling = ceiling < WTI_DOC_MEMORY_MAX ? ceiling : WTI_DOC_MEMORY_MAX;
	wti_arena_init(&arena, ceiling + bytes + sizeof(arena));
	kept = wti_arena_alloc(&arena, sizeof(arena));
	root = kept ? wti_arena_alloc(&arena, bytes) : NULL;
	if (!root) {
		wti_arena_release(&arena);
		return WT_E_NOMEM;
	}
	*kept = arena;
	root->arena = kept;
	root->line = root->column = 1;
	*ret_root = root;
	return 0;
}

void wti_doc_add(struct wti_doc *parent, struct wti_doc *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

void wti_doc_index_init(struct wti_doc_index *index, size_t text_bytes)
{
	wti_map_init(&index->map, text_bytes + 1);
	wti_buf_init(&index->name, text_bytes + sizeof(struct wti_doc *));
}

void wti_doc_index_release(struct wti_doc_index *index)
{
	wti_map_release(&index->map);
	wti_buf_release(&index->name);
}

uint64_t *wti_doc_slot(struct wti_doc_index *index, const struct wti_doc *parent, const char *key,
		       size_t bytes)
{
	struct wti_buf *name = &index->name;

	wti_buf_clear(name);
	wti_buf_append(name, &parent, sizeof(parent));
	wti_buf_append(name, key, bytes);
	if (wti_buf_status(name))
		return NULL;
	return wti_map_text(&index->map, (char *)name->data, name->bytes);
}

bool wti_doc_is_text(const struct wti_doc *doc, size_t bytes_max)
{
	return doc && doc->type == WTI_DOC_STRING && doc->string.bytes <= bytes_max &&
	       strlen(doc->string.data) == doc->string.bytes;
}

int wti_doc_fail_of(const struct wti_doc *at, const char *path, struct wt_err *err, int code,
		    const char *format, va_list args)
{
	char message[sizeof(err->message)];

	vsnprintf(message, sizeof(message), format, args);
	return wti_err(err, code, "%.200s:%u:%u: %s", path, at->line, at->column, message);
}

int wti_doc_fail(const struct wti_doc *at, const char *path, struct wt_err *err, int code,
		 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	wti_doc_fail_of(at, path, err, code, format, args);
	va_end(args);
	return code;
}
