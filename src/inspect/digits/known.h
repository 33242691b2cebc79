/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that later values of a track refer to (flag `sampled` of tensors, docs/events.md): of
 * values whose hashes are equal modulo 128, the last one.
 */
#ifndef WTI_DIGITS_KNOWN_H
#define WTI_DIGITS_KNOWN_H

#include "lane.h"

#define WTI_KNOWN_VALUES 128u
#define WTI_KNOWN_REALS_MAX 4096u /* an event has no more bytes of elements */

struct wti_sampled_before {
	struct wti_sampled values[WTI_KNOWN_VALUES];
};

void wti_known_release(struct wti_sampled_before *known);
/* A piece of this value's samples, or its sketch, has been read. */
int wti_known_keep(struct wti_sampled_before *known, const struct wti_sampled *value);
/* Copies what a value refers to into it; if that is not there, the value stays without. */
int wti_known_take(const struct wti_sampled_before *known, struct wti_sampled *value);

#endif
