/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON with the place of every value, which is what people need to mend a file. Strict, as
 * RFC 8259 has it, and a key may stand in a table only once. Integers that do not fit into 64 bits
 * are read as floats.
 */
#ifndef WTI_BASE_JSON_READ_H
#define WTI_BASE_JSON_READ_H

#include "doc.h"

/* `name` is for error messages. */
int wti_json_parse(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err);

/* The same for one line of a file of which every line is a document; `line` counts from 1. */
int wti_json_parse_line(const char *name, unsigned line, const char *text, size_t bytes,
			struct wti_doc **ret_root, struct wt_err *err);

#endif
