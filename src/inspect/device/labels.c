/* SPDX-License-Identifier: Apache-2.0 */
/* What devices and queues are called in tables. */
#include <stdio.h>
#include <string.h>

#include "device.h"

static bool has_several_devices(const struct wti_work *work, uint32_t stream)
{
	size_t count = 0;

	for (size_t i = 0; i < work->unit_count; i++)
		count += work->units[i].stream == stream;
	return count > 1;
}

struct wt_text wti_unit_label(char out[WTI_LABEL_BYTES], const struct wti_work *work, uint32_t unit)
{
	const struct wti_work_unit *u = &work->units[unit];
	int bytes;

	if (u->rank < 0)
		bytes = snprintf(out, WTI_LABEL_BYTES, "device %u", u->device);
	else if (has_several_devices(work, u->stream))
		bytes = snprintf(out, WTI_LABEL_BYTES, "rank %d device %u", u->rank, u->device);
	else
		bytes = snprintf(out, WTI_LABEL_BYTES, "rank %d", u->rank);
	return (struct wt_text){out, (size_t)bytes};
}

struct wt_text wti_queue_label(char out[WTI_LABEL_BYTES], const struct wti_work *work,
			       uint32_t queue)
{
	const struct wti_work_queue *q = &work->queues[queue];

	return wti_label_track(out, work->trace, q->stream, q->track);
}

void wti_unit_columns(struct wt_table *table)
{
	wt_table_column(table, "device", "device", WT_CELL_TEXT);
}

void wti_unit_cells(struct wt_table *table, const struct wti_work *work, uint32_t unit)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_unit_label(label, work, unit);

	wt_table_text(table, text.data, text.bytes);
}

void wti_queue_columns(struct wt_table *table)
{
	wti_unit_columns(table);
	wt_table_column(table, "queue", "queue", WT_CELL_TEXT);
}

void wti_queue_cells(struct wt_table *table, const struct wti_work *work, uint32_t queue)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_queue_label(label, work, queue);

	wti_unit_cells(table, work, work->queues[queue].unit);
	wt_table_text(table, text.data, text.bytes);
}

void wti_name_cell(struct wt_table *table, const struct wti_work *work, uint32_t symbol)
{
	const struct wti_map *texts = &work->symbols.texts;

	if (symbol < texts->count)
		wt_table_text(table, texts->entries[symbol].text, texts->entries[symbol].bytes);
	else
		wt_table_text(table, "", 0);
}

size_t wti_unit_ops(const struct wti_work *work, uint32_t unit)
{
	size_t count = 0;

	for (size_t q = 0; q < work->queue_count; q++)
		if (work->queues[q].unit == unit)
			count += work->queues[q].count;
	return count;
}
