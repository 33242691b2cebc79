/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of contents that were digested a moment ago. The elements are hashed each time, as
 * anything may have written them; but equal hashes over equally many elements of one type have
 * equal statistics, whoever holds them, so these are computed once. A parameter goes through many
 * calls of a step, and what one call returns is what the next is given.
 */
#include "own.h"

/* Complex ones have twice as many reals. */
static bool is_for_us(const struct wti_tensor *tensor)
{
	return tensor->count && tensor->count <= WTI_DIGEST_AT_ONCE / 2 && tensor->data &&
	       wti_tensor_is_direct(tensor) && wti_dtype_bytes(tensor->dtype) == tensor->item_bytes;
}

bool wti_recent_digest(const struct wti_tensor *tensor, struct wt_digest *ret)
{
	struct wti_kept_digest *recent;
	uint64_t hash;

	if (!is_for_us(tensor))
		return wti_tensor_digest(tensor, ret);
	hash = wti_digest_hash(tensor->data, tensor->count * tensor->item_bytes);
	recent = &wti_tensor_state.recents[hash % WTI_RECENTS];
	if (!recent->is_set || recent->digest.hash != hash ||
	    recent->digest.count != tensor->count || recent->dtype != tensor->dtype) {
		wti_digest_hashed(tensor->data, tensor->dtype, tensor->count, hash,
				  &recent->digest);
		recent->dtype = tensor->dtype;
		recent->is_set = true;
	}
	*ret = recent->digest;
	return true;
}
