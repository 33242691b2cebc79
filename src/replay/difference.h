/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two contents of one piece of memory differ: by bytes, and where it is known what the elements
 * are, by elements: how many, where first, and how far apart in units of the last place.
 */
#ifndef WTI_REPLAY_DIFFERENCE_H
#define WTI_REPLAY_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wti_replay_element {
	WTI_ELEMENT_BYTE, /* or not known */
	WTI_ELEMENT_F16,
	WTI_ELEMENT_BF16,
	WTI_ELEMENT_F32,
	WTI_ELEMENT_F64,
	WTI_ELEMENT_INT, /* of the size that comes with it */
	WTI_ELEMENTS,
};

struct wti_replay_element_type {
	enum wti_replay_element element;
	uint32_t bytes;
};

struct wti_replay_difference {
	struct wti_replay_element_type type;
	uint64_t element_count, differing_count;
	uint64_t first;              /* index of the first that differs */
	uint64_t from_byte, to_byte; /* of those that differ */
	uint64_t ulp_max;            /* of floats that are numbers on both sides */
	double ulp_mean;             /* of those that differ */
	double relative_max;
	uint64_t nan_count;       /* NaN on one side only */
	uint64_t sign_count;      /* other sign */
	char left[32], right[32]; /* the first that differs, as text */
};

/* Of the name of an argument's type in OpenCL C: "float*", "__global half4 *". */
struct wti_replay_element_type wti_replay_element_of(const char *type);
const char *wti_replay_element_word(struct wti_replay_element_type type);

/* False: they are the same, bit by bit. */
bool wti_replay_difference(const void *left, const void *right, uint64_t bytes,
			   struct wti_replay_element_type type, struct wti_replay_difference *ret);
/* Whether all that differs is within so many units of the last place: never of NaN or integers. */
bool wti_replay_difference_is_within(const struct wti_replay_difference *difference, uint64_t ulp);

#endif
