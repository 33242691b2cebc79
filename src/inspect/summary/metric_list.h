/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves by process and name, with a ceiling. A curve is kept over steps and over the order of its
 * values; which of the two is shown is decided at the end, when it is known whether a step has one
 * value or thousands.
 */
#ifndef WTI_INSPECT_METRIC_LIST_H
#define WTI_INSPECT_METRIC_LIST_H

#include "base/map.h"
#include "inspect/core/curve.h"
#include "inspect/core/roles.h"

/* In the order in which they are shown. */
enum wti_metric_type {
	WTI_METRIC_COUNTER, /* as the program or an agent emits it */
	WTI_METRIC_RATE,    /* a learning rate */
	WTI_METRIC_GRADIENT,
	WTI_METRIC_STEP_TIME,
};

struct wti_metric {
	enum wti_metric_type type;
	size_t stream;
	char *name;
	char unit[32];
	double held; /* of what changes rarely: the value until the next change */
	struct wti_curve by_step, by_order;
};

struct wti_metric_list {
	struct wti_map index; /* type, stream and name: place plus one */
	struct wti_metric *items;
	size_t count, capacity;
	uint64_t overflow_count; /* values of curves that found no room */
};

void wti_metric_list_init(struct wti_metric_list *list);
void wti_metric_list_release(struct wti_metric_list *list);
/* NULL and counted: there is no room. Out of memory: NULL, and the index says it failed. */
struct wti_metric *wti_metric_of(struct wti_metric_list *list, enum wti_metric_type type,
				 size_t stream, struct wt_text name, struct wt_text unit);
/* `step` -1: none is known. 0 or WT_E_NOMEM. */
int wti_metric_add(struct wti_metric *metric, int64_t step, double value);
/* A table `metrics` and a series for each curve. Sorts the list. */
void wti_metric_list_show(struct wti_metric_list *list, const struct wti_roles *roles,
			  struct wt_result *result);

#endif
