/* SPDX-License-Identifier: Apache-2.0 */
/* Between toml.c, which knows tables, and toml_value.c, which knows strings and numbers. */
#ifndef WTI_BASE_TOML_VALUE_H
#define WTI_BASE_TOML_VALUE_H

#include "doc.h"
#include "scan.h"

/* The string whose opening quote is next. One that may not span lines if `one_line`. */
int wti_toml_string(struct wti_scan *scan, bool one_line, const char **ret_data, size_t *ret_bytes);
/* A string, a number or a boolean, into type and value of `ret`. */
int wti_toml_scalar(struct wti_scan *scan, struct wti_doc *ret);

#endif
