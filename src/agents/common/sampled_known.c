/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which values were sampled on a thread's track: what one call returns is what the next is given,
 * and need not be sampled again. A value is known by its hash. docs/events.md (flag `sampled` of
 * tensors) says what a reader has to keep; the table here is the same.
 */
#include "agent.h"

#include <sys/mman.h>

#include "digest/digest.h"
#include "digest/sample.h"

struct known {
	uint64_t hash;
	uint64_t count; /* 0: none */
	uint32_t dtype;
};

struct wti_sampled_known {
	struct known values[WTI_SAMPLED_KNOWN];
};

/* A run that may lose events, or forgets them, could refer to what is not in it. */
static bool is_lossless(void)
{
	return wti_agent.control->on_full == WTI_ON_FULL_BLOCK;
}

static bool fits_one_event(const struct wti_sampled_value *value)
{
	uint64_t elements = value->count < wti_agent.elements ? value->count : wti_agent.elements;

	return elements * wti_dtype_bytes(value->dtype) <= WTI_SAMPLE_BYTES;
}

static struct known *place_of(struct wti_slot *slot, const struct wti_sampled_value *value)
{
	return &slot->known->values[value->hash % WTI_SAMPLED_KNOWN];
}

bool wti_sampled_is_known(const struct wti_sampled_value *value)
{
	struct wti_slot *slot = wti_slot_of_thread;
	const struct known *known;

	if (!wti_agent.elements || !slot->known || !value->has_hash || !value->count)
		return false;
	known = place_of(slot, value);
	return known->hash == value->hash && known->count == value->count &&
	       known->dtype == value->dtype;
}

static bool make(struct wti_slot *slot)
{
	void *page = mmap(NULL, sizeof(*slot->known), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	slot->known = page == MAP_FAILED ? NULL : page;
	return slot->known;
}

void wti_sampled_know(const struct wti_sampled_value *value)
{
	struct wti_slot *slot = wti_slot_of_thread;

	if (!slot->ring || !is_lossless() || !value->has_hash || !fits_one_event(value) ||
	    !(slot->known || make(slot)))
		return;
	*place_of(slot, value) = (struct known){value->hash, value->count, value->dtype};
}

void wti_sampled_forget(struct wti_slot *slot)
{
	if (slot->known)
		munmap(slot->known, sizeof(*slot->known));
	slot->known = NULL;
}
