/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document of tables, lists and values as TOML, YAML and JSON have them. Every value remembers
 * where it stands, so that whoever uses it can say where an unknown key or a wrong type is.
 */
#ifndef WTI_BASE_DOC_H
#define WTI_BASE_DOC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "arena.h"
#include "buf.h"
#include "map.h"

#define WTI_DOC_DEPTH_MAX 64
#define WTI_DOC_FILE_MAX ((size_t)1 << 20)  /* a configuration that large is a mistake */
#define WTI_DOC_TEXT_MAX ((size_t)16 << 20) /* of anything that is parsed */

#define WTI_DOC_MEMORY_MAX ((size_t)256 << 20) /* of what it becomes: "1,1,1,1" is the densest */

enum wti_doc_type {
	WTI_DOC_TABLE,
	WTI_DOC_ARRAY,
	WTI_DOC_STRING,
	WTI_DOC_INT,
	WTI_DOC_FLOAT,
	WTI_DOC_BOOL,
	WTI_DOC_NULL, /* YAML and JSON have it */
};

struct wti_doc {
	enum wti_doc_type type;
	unsigned line; /* from 1 */
	unsigned column;
	const char *key; /* NULL in arrays and at the top */
	union {
		struct {
			const char *data; /* ends with a NUL besides */
			size_t bytes;
		} string;
		int64_t integer;
		double number;
		bool boolean;
	};
	struct wti_doc *first; /* children of a table or an array, in order */
	struct wti_doc *next;  /* sibling */
	struct wti_doc *last;
	struct wti_arena *arena; /* of the top: everything lies in it, it too */
};

void wti_doc_free(struct wti_doc *root); /* the document as a whole */
const struct wti_doc *wti_doc_get(const struct wti_doc *table, const char *key); /* or NULL */

/* What stands there as a text or a whole number; NULL and -1 of anything else, negative numbers
 * too. */
const char *wti_doc_text(const struct wti_doc *table, const char *key);
int64_t wti_doc_count(const struct wti_doc *table, const char *key);

/* A text of at most `bytes_max` bytes, without a NUL in it. */
bool wti_doc_is_text(const struct wti_doc *doc, size_t bytes_max);

/* "PATH:LINE:COLUMN: ..." of what is wrong there; the code. */
int wti_doc_fail(const struct wti_doc *at, const char *path, struct wt_err *err, int code,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
int wti_doc_fail_of(const struct wti_doc *at, const char *path, struct wt_err *err, int code,
		    const char *format, va_list args) __attribute__((format(printf, 5, 0)));

/* For readers. The top of a document, of `bytes` as a reader may hold more than others see. */
int wti_doc_new(size_t bytes, size_t ceiling, struct wti_doc **ret_root);
void wti_doc_add(struct wti_doc *parent, struct wti_doc *child);

/* Finds the children of tables by key while a document is made. */
struct wti_doc_index {
	struct wti_map map; /* (parent, key): the child's address */
	struct wti_buf name;
};

void wti_doc_index_init(struct wti_doc_index *index, size_t text_bytes);
void wti_doc_index_release(struct wti_doc_index *index);
/* Where the child's address stands, 0 if there is none yet; NULL out of memory. */
uint64_t *wti_doc_slot(struct wti_doc_index *index, const struct wti_doc *parent, const char *key,
		       size_t bytes);

#endif
