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

/* A piece of its elements: its length is a multiple of 8 but for the last. */
static bool is_zero(const void *data, size_t bytes, uint64_t mask)
{
	uint64_t words[8], seen;
	size_t at = 0;

	for (; at + sizeof(words) <= bytes; at += sizeof(words)) {
		memcpy(words, (const char *)data + at, sizeof(words));
		seen = 0;
		for (int i = 0; i < 8; i++)
			seen |= words[i];
		if (seen & mask)
			return false;
	}
	memset(words, 0, sizeof(words));
	memcpy(words, (const char *)data + at, bytes - at);
	seen = 0;
	for (int i = 0; i < 8; i++)
		seen |= words[i];
	return (seen & mask) == 0;
}

static bool search(void *self, const void *data, size_t bytes)
{
	struct search *search = self;

	search->is_found = !is_zero(data, bytes, search->mask);
	return !search->is_found;
}

bool wti_tensor_is_zero(const struct wti_tensor *tensor, bool *ret_is_zero)
{
	struct search with = {.mask = bits_of(tensor->dtype)};

	if (!wti_tensor_bytes(tensor, search, &with) && !with.is_found)
		return false;
	*ret_is_zero = !with.is_found;
	return true;
}
