/* SPDX-License-Identifier: Apache-2.0 */
/* Values of keys into assertions: for gate_read.c, and for dialects (struct wti_gate_dialect). */
#ifndef WTI_GATE_READ_H
#define WTI_GATE_READ_H

#include "gate.h"

/* How the value of a key is written. */
enum wti_gate_form {
	WTI_FORM_TEXT,
	WTI_FORM_WORDS, /* a text, or a list of them */
	WTI_FORM_TRUTH,
	WTI_FORM_NUMBER,
	WTI_FORM_MIN, /* by the type: a time, a size or a number */
	WTI_FORM_MAX,
	WTI_FORM_MAX_MS,
	WTI_FORM_WARNS, /* false: a violation is a warning */
};

#define WTI_GATE_ALL_TYPES 0xffffffffu

struct wti_gate_key {
	const char *name;
	uint32_t types; /* bits of enum wti_gate_type */
	enum wti_gate_form form;
	size_t offset;
	const char *choices; /* "a|b"; NULL: any */
};

struct wti_gate_reading {
	const char *path;
	struct wt_err *err;
};

/* "path:line:column: ..."; returns WT_E_ARG. */
int wti_gate_fail(const struct wti_gate_reading *reading, const struct wti_doc *at,
		  const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with "did you mean" or the list of what there is. */
int wti_gate_unknown(const struct wti_gate_reading *reading, const struct wti_doc *at,
		     const char *what, const char *word, const char *const *known, size_t count);
/* All keys of a table but `type`, by rows that end with a name of NULL. */
int wti_gate_keys(const struct wti_gate_reading *reading, const struct wti_doc *table,
		  const struct wti_gate_key *keys, struct wti_assertion *assertion);
/* The text of a key that has to be there; NULL if it is not, which has been said. */
const char *wti_gate_text(const struct wti_gate_reading *reading, const struct wti_doc *table,
			  const char *key);
/* A formula that stands in the document; errors say the place within it. */
int wti_gate_formula(const struct wti_gate_reading *reading, const struct wti_doc *table,
		     struct wti_assertion *assertion);

#endif
