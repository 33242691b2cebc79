/* SPDX-License-Identifier: Apache-2.0 */
/* Between toml.c, which knows tables, and toml_value.c, which knows strings and numbers. */
#ifndef WTI_BASE_TOML_VALUE_H
#define WTI_BASE_TOML_VALUE_H

#include "arena.h"
#include "buf.h"
#include "toml.h"

/* Where the parser stands. The text is valid UTF-8 without controls that TOML forbids. */
struct wti_toml_scan {
	const char *name;
	const char *text;
	const char *at;
	const char *end;
	const char *line_begin;
	unsigned line;
	struct wti_arena *arena;
	struct wti_buf scratch; /* a string while it is being put together */
	struct wt_err *err;
};

/* "name:line:column: ..." for the place `at`; returns the code. */
int wti_toml_fail(struct wti_toml_scan *scan, int code, const char *at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int wti_toml_no_memory(struct wti_toml_scan *scan);
/* From 1, in characters, of a place in the current line. */
unsigned wti_toml_column(const struct wti_toml_scan *scan, const char *at);
/* Moves over the newline at `at`, if there is one. */
bool wti_toml_newline(struct wti_toml_scan *scan);

/* The string whose opening quote is next. One that may not span lines if `one_line`. */
int wti_toml_string(struct wti_toml_scan *scan, bool one_line, const char **ret_data,
		    size_t *ret_bytes);
/* A string, a number or a boolean, into type and value of `ret`. */
int wti_toml_scalar(struct wti_toml_scan *scan, struct wti_toml *ret);

#endif
