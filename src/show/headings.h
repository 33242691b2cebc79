/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the fields of a kind for formats in which a name may stand once: headings of a table,
 * keys of an object. A trace may have two fields of one name, names that differ in case only, and
 * fields without one.
 */
#ifndef WTI_SHOW_HEADINGS_H
#define WTI_SHOW_HEADINGS_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/buf.h"

struct wti_headings {
	struct wti_buf text;
	uint32_t at[WT_FIELDS_MAX];   /* where each name begins in the text; it ends with a NUL */
	bool is_other[WT_FIELDS_MAX]; /* than the field's own */
};

enum wti_headings_for {
	WTI_HEADINGS_KEYS,    /* any name, as it is; only twice the same are made different */
	WTI_HEADINGS_COLUMNS, /* printable, not empty, not too long, different in more than case */
};

/* `taken`: names that are used already; ends with NULL, or NULL. */
void wti_headings_init(struct wti_headings *headings, const struct wt_kind *kind,
		       enum wti_headings_for what, const char *const *taken);
void wti_headings_release(struct wti_headings *headings);
/* WT_E_NOMEM, or 0; then names are there. */
int wti_headings_status(const struct wti_headings *headings);
const char *wti_headings_name(const struct wti_headings *headings, int field);
/* The field of that name, as it is called here; -1: none. */
int wti_headings_find(const struct wti_headings *headings, const struct wt_kind *kind,
		      const char *name);
/* Kinds of different streams may have a field elsewhere: that in the same place if it has the same
 * name, or else the first of the name; -1: none. */
int wti_same_field(const struct wt_kind *kind, const char *name, int place);
/* Whether two fields have the same name. */
bool wti_headings_twice(const struct wt_kind *kind);

#endif
