/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a flat profile: durations gathered by a key, with a ceiling on rows. */
#ifndef WTI_INSPECT_PROFILE_H
#define WTI_INSPECT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/result.h>

#include "base/map.h"
#include "inspect/core/sketch.h"

#define WTI_PROFILE_ROWS_MAX 32768u
#define WTI_PROFILE_LABEL_MAX 4096u /* bytes of a label that count */

/* What shares are taken of: time on threads and time on devices do not add up. */
enum wti_profile_side { WTI_PROFILE_HOST, WTI_PROFILE_DEVICE, WTI_PROFILE_SIDES };

struct wti_profile_row {
	const char *kind;
	size_t label; /* index into the labels */
	enum wti_profile_side side;
	uint64_t total_ns; /* recursion counted once */
	uint64_t self_ns;
	double sum_ns;
	double bytes; /* of the trace */
	uint64_t tensor_count;
	struct wti_sketch sketch;
};

struct wti_profile {
	struct wti_map labels; /* kind and label: row plus one */
	struct wti_profile_row *rows;
	size_t row_count, row_capacity;
	uint64_t overflow_count; /* durations that went to the row for all others */
};

enum wti_profile_order {
	WTI_PROFILE_BY_TOTAL,
	WTI_PROFILE_BY_SELF,
	WTI_PROFILE_BY_COUNT,
	WTI_PROFILE_BY_MEAN,
	WTI_PROFILE_BY_MAX,
	WTI_PROFILE_BY_NAME,
	WTI_PROFILE_BY_BYTES,
	WTI_PROFILE_BY_TENSORS,
};

struct wti_profile_view {  /* how the table is to be */
	const char *title; /* of the column of labels */
	enum wti_profile_order order;
	uint64_t limit;   /* rows; 0: all */
	const char *only; /* a glob for labels; NULL: all */
	bool weighed;     /* with bytes and tensors */
};

void wti_profile_init(struct wti_profile *profile);
void wti_profile_release(struct wti_profile *profile);
/* Index of the row, made if absent; the last one stands for all others once there are too many.
 * Negative: out of memory. `kind` is kept as a pointer. */
long wti_profile_row(struct wti_profile *profile, const char *kind, enum wti_profile_side side,
		     const char *label, size_t bytes);
/* `outermost`: no span of this row is open around it. */
int wti_profile_add(struct wti_profile *profile, size_t row, uint64_t duration_ns, uint64_t self_ns,
		    int outermost);
/* An event that belongs to the row: what it takes, and whether it is a tensor's. */
void wti_profile_weigh(struct wti_profile *profile, size_t row, double bytes, bool tensor);
/* The table "profile"; how many rows there are to show. */
size_t wti_profile_table(struct wti_profile *profile, struct wt_result *result,
			 const struct wti_profile_view *view);

#endif
