/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and marks summed up by name. */
#ifndef WTI_INSPECT_VALUES_H
#define WTI_INSPECT_VALUES_H

#include <stdbool.h>

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#include "base/map.h"

struct wti_named_value {
	uint64_t count;
	uint64_t finite_count;
	double first, last, min, max, mean; /* min, max and mean of the finite ones */
	int64_t first_ns, last_ns;
	char unit[32];
};

struct wti_values {
	struct wti_map counters; /* name: entry plus one */
	struct wti_named_value *entries;
	size_t entry_count, entry_capacity;
	struct wti_map marks;    /* name: how often */
	uint64_t overflow_count; /* events of names that found no room */
};

void wti_values_init(struct wti_values *values);
void wti_values_release(struct wti_values *values);
int wti_values_counter(struct wti_values *values, const struct wt_event *event, struct wt_err *err);
int wti_values_mark(struct wti_values *values, const struct wt_event *event, struct wt_err *err);
bool wti_values_any(const struct wti_values *values);
/* The tables "counters" and "marks". */
void wti_values_tables(const struct wti_values *values, struct wt_result *result, uint64_t limit);

#endif
