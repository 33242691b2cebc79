/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading TOML: tables, arrays of tables, dotted keys, strings, integers, floats, booleans, arrays,
 * inline tables; no dates. Errors say line and column.
 */
#ifndef WTI_BASE_TOML_H
#define WTI_BASE_TOML_H

#include "doc.h"

/* `name` is for error messages. */
int wti_toml_parse(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err);
int wti_toml_load(const char *path, struct wti_doc **ret_root, struct wt_err *err);

#endif
