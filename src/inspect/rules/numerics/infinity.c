/* SPDX-License-Identifier: Apache-2.0 */
#include "infinity.h"

static const struct wti_infinity *find(const struct wti_infinities *infinities, uint64_t hash)
{
	for (uint64_t i = 0; i < WTI_INFINITIES_MAX && i < infinities->count; i++) {
		const struct wti_infinity *one =
			&infinities->latest[(infinities->count - 1 - i) % WTI_INFINITIES_MAX];

		if (one->hash == hash)
			return one;
	}
	return NULL;
}

static bool is_infinite(const struct wti_value_row *value)
{
	return wti_value_is_measured(value) && value->digest.inf &&
	       !(value->digest.flags & WT_TENSOR_NO_HASH);
}

/* NULL: there is none. */
static const struct wti_value_row *next(const struct wti_call *call, bool is_return,
					const struct wti_value_row *value)
{
	do
		value = wti_call_next_tensor(call, is_return, value);
	while (value && !is_infinite(value));
	return value;
}

const struct wti_call *wti_infinity_source(const struct wti_infinities *infinities,
					   const struct wti_call *call)
{
	const struct wti_infinity *found = NULL;

	for (const struct wti_value_row *value = next(call, false, NULL); value && !found;
	     value = next(call, false, value))
		found = find(infinities, value->digest.hash);
	return found ? &found->from : NULL;
}

void wti_infinities_see(struct wti_infinities *infinities, const struct wti_moment *moment)
{
	const struct wti_value_row *result = next(moment->call, true, NULL);
	const struct wti_call *source;
	struct wti_infinity made;

	/* A call around the one that made it returns the same. */
	if (!result || find(infinities, result->digest.hash))
		return;
	source = wti_infinity_source(infinities, moment->call);
	if (!source && next(moment->call, false, NULL))
		return; /* it was there before anything was seen of it */
	made = (struct wti_infinity){result->digest.hash,
				     source ? *source : wti_moment_call(moment)};
	infinities->latest[infinities->count++ % WTI_INFINITIES_MAX] = made;
}
