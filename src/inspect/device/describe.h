/* SPDX-License-Identifier: Apache-2.0 */
/* Count, mean, deviation of a sample, extremes and quartiles: what statisticians call a summary. */
#ifndef WTI_DEVICE_DESCRIBE_H
#define WTI_DEVICE_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>

#include <wheeltap/result.h>

struct wti_description {
	uint64_t count;
	double sum, mean, deviation, min, quarter, median, three_quarters, max;
};

/* Sorts the values. Quartiles lie between two values in proportion. */
struct wti_description wti_description_of(double *values, size_t count);
/* Its columns and cells, `count` first; `type` is that of the values. */
void wti_description_columns(struct wt_table *table, enum wt_cell_type type);
void wti_description_cells(struct wt_table *table, const struct wti_description *description,
			   enum wt_cell_type type);

#endif
