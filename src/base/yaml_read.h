/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading YAML, as much of it as configurations use: block and flow mappings and lists, all styles
 * of scalars, one document. Plain words become null, booleans and numbers as YAML 1.1 says, which
 * is what Python programs read them as. Anchors, aliases and tags are refused: nothing in a file
 * refers to or makes anything else. Keys are texts, each once in a mapping.
 */
#ifndef WTI_BASE_YAML_READ_H
#define WTI_BASE_YAML_READ_H

#include "doc.h"

/* `name` is for error messages. An empty document is an empty table. */
int wti_yaml_parse(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err);

#endif
