/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that were seen last. */
#include "recent.h"

static bool is_known_again(const struct wti_digest_row *digest)
{
	if (digest->flags & WT_TENSOR_NO_HASH || digest->count < 2)
		return false;
	return digest->flags & WT_TENSOR_NO_STATISTICS || digest->min != digest->max;
}

void wti_recent_add(struct wti_recent *recent, const struct wti_call *call,
		    const struct wti_value_row *value, uint32_t note)
{
	if (!value || !is_known_again(&value->digest))
		return;
	recent->tensors[recent->count++ % WTI_RECENT_MAX] =
		(struct wti_recent_tensor){.hash = value->digest.hash,
					   .shape = value->digest.shape,
					   .note = note,
					   .site = call->site,
					   .callee = call->callee};
}

const struct wti_recent_tensor *wti_recent_find(const struct wti_recent *recent,
						const struct wti_value_row *value)
{
	if (!value || !is_known_again(&value->digest))
		return NULL;
	for (uint64_t i = 0; i < WTI_RECENT_MAX && i < recent->count; i++) {
		const struct wti_recent_tensor *tensor =
			&recent->tensors[(recent->count - 1 - i) % WTI_RECENT_MAX];

		if (tensor->hash == value->digest.hash)
			return tensor;
	}
	return NULL;
}

struct wti_shape wti_value_shape(const struct wti_moment *moment, const struct wti_value_row *value)
{
	return wti_shape_read(wti_moment_text(moment, value->digest.shape));
}
