/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments and returns by name and part: "input.dtype", "result.shape". What is said of tensors is
 * what can be compared between runs: types, numbers of dimensions, and whether they are finite,
 * constant, negative anywhere; never sizes or contents.
 */
#ifndef WTI_LEARN_FIELDS_H
#define WTI_LEARN_FIELDS_H

#include "relation.h"

enum wti_field_part {
	WTI_PART_ITSELF,
	WTI_PART_DTYPE,
	WTI_PART_NDIM,
	WTI_PART_SHAPE,
	WTI_PART_FIRST_EXTENT,
	WTI_PART_REQUIRES_GRAD,
	WTI_PART_NO_NAN,
	/* contents: of what enters a model, leaves a loader, or makes a loss */
	WTI_PART_FINITE,
	WTI_PART_VARIED,
	WTI_PART_NEGATIVE,
	WTI_PART_NONZERO,
	WTI_PART_SPARSE,
	WTI_PART_NOT_DISTRIBUTION,
	WTI_PART_SEVERAL,
	WTI_PART_COUNT,
};

/* The name of a part of an argument (or a return); a symbol. */
uint32_t wti_field(struct wti_scene *scene, const struct wti_value_row *value,
		   enum wti_field_part part);
/* What is true of a tensor. */
void wti_say_tensor(struct wti_scene *scene, const struct wti_value_row *value, bool with_contents);
/* What two tensors have in common. */
void wti_say_tensors(struct wti_scene *scene, const struct wti_value_row *a,
		     const struct wti_value_row *b);
/*
 * Which tensors a call was given, and with `with_results` which it gave back: a symbol. What a call
 * is not given can be neither for nor against what is known of it, so that calls of a function with
 * other tensors are occasions of another subject. Never empty: a call without tensors has a
 * signature too, and is not all calls.
 */
#define WTI_SIGNATURE_NONE "no tensor"
uint32_t wti_call_signature(struct wti_scene *scene, const struct wti_call *call,
			    bool with_results);
/* A number, a flag or a word, as a symbol; 0: it is none. */
uint32_t wti_value_word(struct wti_scene *scene, const struct wti_value_row *value);

/* The name for sentences: "input has no NaN" of "input.has_no_nan"; in `text` unless it is the
 * same. */
const char *wti_field_text(const char *name, char *text, size_t bytes);
/* What is said of it is about that; in packs other names are fields of nothing. */
enum wti_topic wti_field_topic(const char *name);
/* The part of such a name: ".dtype" of "input.dtype". */
const char *wti_field_kind(const char *name);
/* Whether such a name says what a tensor happens to contain. That it is finite is no chance. */
bool wti_field_is_of_contents(const char *name);
/* Whether what is said of a tensor follows from something else that is: what is finite has no NaN.
 */
bool wti_fact_implies(const struct wti_symbols *symbols, const struct wti_fact *fact,
		      const struct wti_fact *follows);

#endif
