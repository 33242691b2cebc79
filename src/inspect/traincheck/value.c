/* SPDX-License-Identifier: Apache-2.0 */
/* Values of TrainCheck's, compared as Python does. */
#include <string.h>

#include <xxhash.h>

#include "base/doc_write.h"
#include "value.h"

#define OTHER_MAX (64u << 10)

enum wti_tc_truth wti_tc_not(enum wti_tc_truth truth)
{
	return (enum wti_tc_truth)(WTI_TC_YES - truth);
}

enum wti_tc_truth wti_tc_and(enum wti_tc_truth a, enum wti_tc_truth b)
{
	return a < b ? a : b;
}

enum wti_tc_truth wti_tc_or(enum wti_tc_truth a, enum wti_tc_truth b)
{
	return a > b ? a : b;
}

/* ---- Documents ------------------------------------------------------------------------------ */

void wti_tc_write(struct wti_buf *out, const struct wti_doc *doc)
{
	struct wti_json json;

	wti_json_init(&json, out, false);
	wti_doc_write(&json, doc);
}

struct wti_tc_value wti_tc_text(struct wti_symbols *symbols, const char *text)
{
	return (struct wti_tc_value){.type = WTI_TC_TEXT, .symbol = wti_symbol_word(symbols, text)};
}

struct wti_tc_value wti_tc_int(int64_t integer)
{
	return (struct wti_tc_value){.type = WTI_TC_INT, .integer = integer};
}

static struct wti_tc_value other_of(struct wti_symbols *symbols, const struct wti_doc *doc)
{
	struct wti_tc_value value = {.type = WTI_TC_OTHER};
	struct wti_buf text;

	wti_buf_init(&text, OTHER_MAX);
	wti_tc_write(&text, doc);
	value.symbol = wti_symbol_word(symbols, wti_buf_cstr(&text));
	if (wti_buf_status(&text))
		value.type = WTI_TC_UNKNOWN;
	wti_buf_release(&text);
	return value;
}

struct wti_tc_value wti_tc_value_of(struct wti_symbols *symbols, const struct wti_doc *doc)
{
	switch (doc ? doc->type : WTI_DOC_TABLE) {
	case WTI_DOC_STRING:
		return (struct wti_tc_value){
			.type = WTI_TC_TEXT,
			.symbol = wti_symbol(symbols, doc->string.data, doc->string.bytes)};
	case WTI_DOC_INT:
		return wti_tc_int(doc->integer);
	case WTI_DOC_FLOAT:
		return (struct wti_tc_value){.type = WTI_TC_FLOAT, .number = doc->number};
	case WTI_DOC_BOOL:
		return (struct wti_tc_value){.type = WTI_TC_BOOL, .integer = doc->boolean};
	case WTI_DOC_NULL:
		return (struct wti_tc_value){.type = WTI_TC_NULL};
	default:
		return doc ? other_of(symbols, doc) : (struct wti_tc_value){.type = WTI_TC_ABSENT};
	}
}

/* ---- Comparing ------------------------------------------------------------------------------ */

bool wti_tc_number_of(const struct wti_tc_value *value, double *ret)
{
	if (value->type == WTI_TC_FLOAT)
		*ret = value->number;
	else if (value->type == WTI_TC_INT || value->type == WTI_TC_BOOL)
		*ret = (double)value->integer;
	else
		return false;
	return true;
}

bool wti_tc_equal(const struct wti_tc_value *a, const struct wti_tc_value *b)
{
	bool whole_a = a->type == WTI_TC_INT || a->type == WTI_TC_BOOL;
	bool whole_b = b->type == WTI_TC_INT || b->type == WTI_TC_BOOL;
	double x, y;

	if (whole_a && whole_b)
		return a->integer == b->integer;
	if (wti_tc_number_of(a, &x) && wti_tc_number_of(b, &y))
		return x == y;
	if (a->type != b->type)
		return false;
	return a->type == WTI_TC_NULL || a->type == WTI_TC_ABSENT ||
	       (a->type != WTI_TC_UNKNOWN && a->symbol == b->symbol);
}

uint64_t wti_tc_hash(const struct wti_tc_value *value)
{
	uint64_t parts[2] = {value->type, 0};
	double number;

	if (wti_tc_number_of(value, &number) && number >= -1e15 && number <= 1e15) {
		parts[0] = WTI_TC_FLOAT;
		memcpy(&parts[1], &number, sizeof(number));
	} else if (value->type == WTI_TC_INT) {
		parts[1] = (uint64_t)value->integer;
	} else if (value->type == WTI_TC_FLOAT) {
		memcpy(&parts[1], &value->number, sizeof(value->number));
	} else if (value->type >= WTI_TC_TEXT) {
		parts[1] = value->symbol;
	}
	return XXH3_64bits(parts, sizeof(parts));
}

/* Numbers and null are compared with zero; of anything else only its presence is known. */
bool wti_tc_is_like(const struct wti_tc_value *value, const char *word, bool *ret_is_word)
{
	bool is_null = value->type == WTI_TC_NULL;
	double number = 0;
	bool is_number = wti_tc_number_of(value, &number);

	*ret_is_word = true;
	if (!strcmp(word, "anything"))
		return true;
	if (!strcmp(word, "non_none"))
		return !is_null;
	if (!strcmp(word, "non_zero"))
		return is_number && number != 0;
	if (!strcmp(word, "above_zero"))
		return is_number && number > 0;
	if (!strcmp(word, "below_zero"))
		return is_number && number < 0;
	if (!strcmp(word, "non_positive"))
		return is_null || (is_number && number <= 0);
	if (!strcmp(word, "non_negative"))
		return is_null || (is_number && number >= 0);
	*ret_is_word = false;
	return false;
}
