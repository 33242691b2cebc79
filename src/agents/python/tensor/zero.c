/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether all elements of a tensor are zeros. That one is not is seen at its first element that is
 * not, so that it costs nothing when it matters most.
 */
#include "own.h"

#include <string.h>

/* The bits that make a number other than zero: not the sign of a float. */
static uint64_t bits_of(uint32_t dtype)
{
	switch (dtype) {
	case WT_DTYPE_F16:
	case WT_DTYPE_BF16:
		return 0x7fff7fff7fff7fffu;
	case WT_DTYPE_F32:
	case WT_DTYPE_C64:
		return 0x7fffffff7fffffffu;
	case WT_DTYPE_F64:
	case WT_DTYPE_C128:
		return 0x7fffffffffffffffu;
	}
	return UINT64_MAX;
}

struct search {
	uint64_t mask;
	bool is_found; /* something other than zero */
};

/* What every machine has registers for. */
typedef uint64_t pair __attribute__((vector_size(16)));

enum { PAIRS = 8 };

static uint64_t seen_in(const void *data)
{
	pair pairs[PAIRS], seen;

	memcpy(pairs, data, sizeof(pairs));
	seen = ((pairs[0] | pairs[1]) | (pairs[2] | pairs[3])) |
	       ((pairs[4] | pairs[5]) | (pairs[6] | pairs[7]));
	return seen[0] | seen[1];
}

/* A piece of its elements: its length is a multiple of 8 but for the last. */
static bool is_zero(const void *data, size_t bytes, uint64_t mask)
{
	char rest[PAIRS * sizeof(pair)] = {0};
	size_t at = 0;

	for (; at + sizeof(rest) <= bytes; at += sizeof(rest))
		if (seen_in((const char *)data + at) & mask)
			return false;
	memcpy(rest, (const char *)data + at, bytes - at);
	return (seen_in(rest) & mask) == 0;
}

static bool search(void *self, const void *data, size_t bytes)
{
	struct search *search = self;

	search->is_found = !is_zero(data, bytes, search->mask);
	return !search->is_found;
}

/* Most are decided by their first word. */
static bool begins_with_other(const struct wti_tensor *tensor, uint64_t mask)
{
	uint64_t word;

	if (!tensor->data || !wti_tensor_is_direct(tensor) ||
	    tensor->count * tensor->item_bytes < sizeof(word))
		return false;
	memcpy(&word, tensor->data, sizeof(word));
	return word & mask;
}

bool wti_tensor_is_zero(const struct wti_tensor *tensor, bool *ret_is_zero)
{
	struct search with = {.mask = bits_of(tensor->dtype)};

	if (begins_with_other(tensor, with.mask)) {
		*ret_is_zero = false;
		return true;
	}
	if (!wti_tensor_bytes(tensor, search, &with) && !with.is_found)
		return false;
	*ret_is_zero = !with.is_found;
	return true;
}

/* Of these a digest counts each element that is 0 by bits_of(), and no others. */
static bool are_zeros_counted(uint32_t dtype)
{
	return dtype == WT_DTYPE_F16 || dtype == WT_DTYPE_BF16 || dtype == WT_DTYPE_F32 ||
	       dtype == WT_DTYPE_F64;
}

bool wti_tensor_is_zero_by(const struct wti_tensor *tensor, const struct wt_digest *digest,
			   bool *ret_is_zero)
{
	if (!are_zeros_counted(tensor->dtype))
		return wti_tensor_is_zero(tensor, ret_is_zero);
	*ret_is_zero = digest->zeros == tensor->count;
	return true;
}
