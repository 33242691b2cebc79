/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as TrainCheck's records and invariants have them, and the answers to questions about them.
 * What a recording does not hold is not known, which is another answer than no.
 */
#ifndef WTI_TRAINCHECK_VALUE_H
#define WTI_TRAINCHECK_VALUE_H

#include "base/doc.h"
#include "inspect/core/symbols.h"

enum wti_tc_type {
	WTI_TC_ABSENT,  /* the record does not have it */
	WTI_TC_UNKNOWN, /* nor does the recording */
	WTI_TC_NULL,
	WTI_TC_BOOL,
	WTI_TC_INT,
	WTI_TC_FLOAT,
	WTI_TC_TEXT,
	WTI_TC_OTHER, /* a list or a table, as the JSON that it is */
};

struct wti_tc_value {
	enum wti_tc_type type;
	union {
		int64_t integer;
		double number;
		uint32_t symbol;
	};
};

enum wti_tc_truth {
	WTI_TC_NO,
	WTI_TC_MAYBE,
	WTI_TC_YES,
};

enum wti_tc_truth wti_tc_not(enum wti_tc_truth truth);
enum wti_tc_truth wti_tc_and(enum wti_tc_truth a, enum wti_tc_truth b);
enum wti_tc_truth wti_tc_or(enum wti_tc_truth a, enum wti_tc_truth b);

/* NULL: absent. */
struct wti_tc_value wti_tc_value_of(struct wti_symbols *symbols, const struct wti_doc *doc);
struct wti_tc_value wti_tc_text(struct wti_symbols *symbols, const char *text);
struct wti_tc_value wti_tc_int(int64_t integer);
/* As they compare them: 1, 1.0 and true are equal. */
bool wti_tc_equal(const struct wti_tc_value *a, const struct wti_tc_value *b);
/* Texts, null and lists have none. */
bool wti_tc_number_of(const struct wti_tc_value *value, double *ret);
/* Whether it is what a word such as "non_zero" stands for; `is_word` is false where there is no
 * such word. */
bool wti_tc_is_like(const struct wti_tc_value *value, const char *word, bool *ret_is_word);
/* Small, and the same for equal values. */
uint64_t wti_tc_hash(const struct wti_tc_value *value);
/* A document as JSON. */
void wti_tc_write(struct wti_buf *out, const struct wti_doc *doc);

#endif
