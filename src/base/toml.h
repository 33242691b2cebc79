/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading TOML: tables, arrays of tables, dotted keys, strings, integers, floats, booleans, arrays,
 * inline tables; no dates. Errors say line and column. Every value remembers its line, so that
 * whoever uses it can say where an unknown key or a wrong type stands.
 */
#ifndef WTI_BASE_TOML_H
#define WTI_BASE_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

enum wti_toml_type {
	WTI_TOML_TABLE,
	WTI_TOML_ARRAY,
	WTI_TOML_STRING,
	WTI_TOML_INT,
	WTI_TOML_FLOAT,
	WTI_TOML_BOOL,
};

struct wti_toml {
	enum wti_toml_type type;
	unsigned line; /* from 1 */
	unsigned column;
	const char *key; /* NULL in arrays and at the top */
	union {
		struct {
			const char *data;
			size_t bytes;
		} string;
		int64_t integer;
		double number;
		bool boolean;
	};
	struct wti_toml *first; /* children of a table or an array, in order */
	struct wti_toml *next;  /* sibling */
	struct wti_toml *last;
};

/* The document, freed as a whole. `name` is for error messages. */
int wti_toml_parse(const char *name, const char *text, size_t bytes, struct wti_toml **ret_root,
		   struct wt_err *err);
int wti_toml_load(const char *path, struct wti_toml **ret_root, struct wt_err *err);
void wti_toml_free(struct wti_toml *root);
const struct wti_toml *wti_toml_get(const struct wti_toml *table, const char *key); /* or NULL */

#endif
