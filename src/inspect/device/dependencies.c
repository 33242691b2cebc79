/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies as tables: how many of each reason; on request one row each. */
#include "depend.h"
#include "device.h"

#include <string.h>

struct listing {
	const struct wti_work *work;
	struct wt_table *table; /* NULL: only counted */
	uint64_t limit;
	uint64_t counts[WTI_REASONS];
};

static void end_cells(const struct listing *listing, uint32_t op)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_queue_label(label, listing->work, listing->work->ops[op].queue);

	wt_table_count(listing->table, op);
	wti_name_cell(listing->table, listing->work, listing->work->ops[op].name);
	wt_table_text(listing->table, text.data, text.bytes);
}

static int take(void *cookie, enum wti_reason reason, uint32_t from, uint32_t to)
{
	struct listing *listing = cookie;
	const char *word = wti_reason_word(reason);

	listing->counts[reason]++;
	if (!listing->table || (listing->limit && listing->table->row_count >= listing->limit))
		return 0;
	wt_table_row(listing->table);
	end_cells(listing, from);
	end_cells(listing, to);
	wt_table_text(listing->table, word, strlen(word));
	return 0;
}

static struct wt_table *edges_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "edges", "What had to come before what");

	wt_table_column(table, "from_id", "", WT_CELL_ID);
	wt_table_column(table, "from", "operation", WT_CELL_TEXT);
	wt_table_column(table, "from_queue", "on", WT_CELL_TEXT);
	wt_table_column(table, "to_id", "", WT_CELL_ID);
	wt_table_column(table, "to", "before", WT_CELL_TEXT);
	wt_table_column(table, "to_queue", "on", WT_CELL_TEXT);
	wt_table_column(table, "reason", "reason", WT_CELL_TEXT);
	return table;
}

int wti_device_dependencies(const struct wti_work *work, const struct wti_device_options *options,
			    struct wt_result *result, struct wt_err *err)
{
	struct listing listing = {.work = work, .limit = options->limit};
	struct wt_table *counts = wt_result_table(result, "dependencies", "Dependencies");
	int r;

	wt_table_column(counts, "reason", "reason", WT_CELL_TEXT);
	wt_table_column(counts, "count", "count", WT_CELL_COUNT);
	if (options->dependencies)
		listing.table = edges_table(result);
	r = wti_dependencies(work, take, &listing, err);
	for (unsigned i = 0; !r && i < WTI_REASONS; i++) {
		const char *word = wti_reason_word(i);

		if (!listing.counts[i])
			continue;
		wt_table_row(counts);
		wt_table_text(counts, word, strlen(word));
		wt_table_count(counts, listing.counts[i]);
	}
	return r;
}
