/* SPDX-License-Identifier: Apache-2.0 */
/* Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and nothing else. */
#include "model/npy_header.h"

#include <string.h>

struct scan {
	const char *at, *end;
};

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->end && strchr(" \n", *scan->at) && *scan->at)
		scan->at++;
}

static bool take(struct scan *scan, const char *word)
{
	size_t bytes = strlen(word);

	skip_space(scan);
	if ((size_t)(scan->end - scan->at) < bytes || memcmp(scan->at, word, bytes) != 0)
		return false;
	scan->at += bytes;
	return true;
}

/* 'text' or "text", without escapes. */
static bool take_string(struct scan *scan, char *out, size_t out_bytes)
{
	char quote;
	size_t bytes = 0;

	skip_space(scan);
	if (scan->at == scan->end || (*scan->at != '\'' && *scan->at != '"'))
		return false;
	quote = *scan->at++;
	for (; scan->at < scan->end && *scan->at != quote; scan->at++) {
		if (*scan->at == '\\' || (unsigned char)*scan->at < ' ' || bytes + 1 == out_bytes)
			return false;
		out[bytes++] = *scan->at;
	}
	out[bytes] = 0;
	return scan->at++ < scan->end;
}

static bool take_number(struct scan *scan, uint64_t *ret)
{
	uint64_t value = 0;
	const char *begin;

	skip_space(scan);
	begin = scan->at;
	for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*scan->at - '0'), &value))
			return false;
	}
	if (scan->at > begin && scan->at < scan->end && *scan->at == 'L') /* Python 2 */
		scan->at++;
	*ret = value;
	return scan->at > begin;
}

/* (), (3,), (3, 4), (3, 4,) */
static bool take_shape(struct scan *scan, struct wti_npy_header *header)
{
	bool has_comma = true;

	if (!take(scan, "("))
		return false;
	while (!take(scan, ")")) {
		if (!has_comma || header->rank == WTI_MODEL_RANK_MAX ||
		    !take_number(scan, &header->shape[header->rank]))
			return false;
		header->rank++;
		has_comma = take(scan, ",");
	}
	return header->rank != 1 || has_comma;
}

static bool take_flag(struct scan *scan, bool *ret)
{
	*ret = take(scan, "True");
	return *ret || take(scan, "False");
}

static const char *take_entry(struct scan *scan, struct wti_npy_header *header, unsigned *known)
{
	static const char *const keys[] = {"descr", "fortran_order", "shape"};
	char key[32];
	unsigned number = 0;

	if (!take_string(scan, key, sizeof(key)) || !take(scan, ":"))
		return "the header is not a dictionary";
	while (number < 3 && strcmp(key, keys[number]))
		number++;
	if (number == 3 || *known & 1u << number)
		return "the header has a key that is unknown, or is there twice";
	*known |= 1u << number;
	switch (number) {
	case 0:
		return take_string(scan, header->descr, sizeof(header->descr))
			       ? NULL
			       : "elements have fields: such arrays are not read";
	case 1:
		return take_flag(scan, &header->is_fortran)
			       ? NULL
			       : "fortran_order is neither True nor False";
	default:
		return take_shape(scan, header) ? NULL : "shape is not a tuple of whole numbers";
	}
}

const char *wti_npy_parse(const char *text, size_t bytes, struct wti_npy_header *ret)
{
	struct scan scan = {text, text + bytes};
	bool has_comma = true;
	unsigned known = 0;

	*ret = (struct wti_npy_header){0};
	if (!take(&scan, "{"))
		return "the header is not a dictionary";
	while (!take(&scan, "}")) {
		const char *wrong =
			has_comma ? take_entry(&scan, ret, &known) : "a comma is missing";

		if (wrong)
			return wrong;
		has_comma = take(&scan, ",");
	}
	if (known != 7)
		return "the header needs descr, fortran_order and shape";
	skip_space(&scan);
	return scan.at < scan.end ? "something follows the dictionary" : NULL;
}
