/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions about devices: what each file of this room adds to a result, and the options of the
 * inspector `device`, which asks them all. docs/devices.md defines every figure.
 */
#ifndef WTI_DEVICE_DEVICE_H
#define WTI_DEVICE_DEVICE_H

#include <wheeltap/result.h>

#include "inspect/core/label.h"
#include "work.h"

struct wti_device_options {
	uint64_t limit;      /* rows of tables that can be long; 0: all */
	uint32_t columns;    /* points of each series; 0: no series */
	bool critical_path;  /* this question alone */
	bool dependencies;   /* this question alone, in full */
	const char *what_if; /* "NAME=0.5": operations whose names match take that share; or NULL */
	const char *under;   /* patterns under operators whose names match; NULL: outermost ones */
};

/* "rank 1", "device 0", "rank 1 device 2": what a row is about. */
struct wt_text wti_unit_label(char out[WTI_LABEL_BYTES], const struct wti_work *work,
			      uint32_t unit);
struct wt_text wti_queue_label(char out[WTI_LABEL_BYTES], const struct wti_work *work,
			       uint32_t queue);
/* The columns and cells that most tables begin with. */
void wti_unit_columns(struct wt_table *table);
void wti_unit_cells(struct wt_table *table, const struct wti_work *work, uint32_t unit);
void wti_queue_columns(struct wt_table *table);
void wti_queue_cells(struct wt_table *table, const struct wti_work *work, uint32_t queue);
void wti_name_cell(struct wt_table *table, const struct wti_work *work, uint32_t symbol);

/* How many operations the queues of a device have. */
size_t wti_unit_ops(const struct wti_work *work, uint32_t unit);

typedef int wti_device_question(const struct wti_work *work,
				const struct wti_device_options *options, struct wt_result *result,
				struct wt_err *err);

wti_device_question wti_device_breakdown;   /* idle, compute and other time; overlap of types */
wti_device_question wti_device_kernels;     /* by name */
wti_device_question wti_device_annotations; /* ranges of the user, by name */
wti_device_question wti_device_idle;        /* of each queue, and why */
wti_device_question wti_device_queues;      /* how many operations wait, utilisation, states */
wti_device_question wti_device_launches;
wti_device_question wti_device_bandwidth;
wti_device_question wti_device_memory;
wti_device_question wti_device_patterns;
wti_device_question wti_device_stragglers;
wti_device_question wti_device_dependencies;
wti_device_question wti_device_gaps;
wti_device_question wti_device_critical_path;

/* Names of operations, operators and API calls of two runs, side by side. 1: something is more or
 * less often in one of them; 0: nothing is, but times may differ; or an error. */
int wti_device_compare(const struct wt_trace *a, const struct wt_trace *b, uint64_t limit,
		       struct wt_result *result, struct wt_err *err);

#endif
