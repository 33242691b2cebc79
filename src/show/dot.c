/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of edges as a graph in the language of Graphviz: columns from_id, from, from_queue,
 * to_id, to, to_queue, reason, as the inspector `device` has it. Knows that language and its
 * quotes; nodes are defined where they are seen first.
 */
#include <string.h>

#include "base/map.h"
#include "show.h"

enum { FROM_ID, FROM, FROM_QUEUE, TO_ID, TO, TO_QUEUE, REASON };

static void quoted(struct wti_buf *out, const struct wt_cell *cell)
{
	for (size_t i = 0; i < cell->text_bytes; i++) {
		unsigned char c = (unsigned char)cell->text[i];

		if (c == '"' || c == '\\')
			wti_buf_byte(out, '\\');
		wti_buf_byte(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
	}
}

static void node(struct wti_buf *out, struct wti_map *seen, const struct wt_cell *cells)
{
	uint64_t *slot = wti_map_number(seen, cells[0].count);

	if (!slot || *slot)
		return;
	*slot = 1;
	wti_buf_printf(out, "  n%llu [label=\"", (unsigned long long)cells[0].count);
	quoted(out, &cells[1]);
	wti_buf_text(out, "\\n");
	quoted(out, &cells[2]);
	wti_buf_text(out, "\"];\n");
}

void wti_show_dot(struct wti_buf *out, const struct wt_result *result)
{
	struct wti_map seen;

	wti_map_init(&seen, SIZE_MAX);
	wti_buf_text(out, "digraph dependencies {\n  rankdir=LR;\n  node [shape=box];\n");
	for (size_t t = 0; t < result->table_count; t++) {
		const struct wt_table *table = result->tables[t];

		for (size_t row = 0; !strcmp(table->key, "edges") && row < table->row_count;
		     row++) {
			const struct wt_cell *cells = &table->cells[row * table->column_count];

			node(out, &seen, &cells[FROM_ID]);
			node(out, &seen, &cells[TO_ID]);
			wti_buf_printf(out, "  n%llu -> n%llu [label=\"",
				       (unsigned long long)cells[FROM_ID].count,
				       (unsigned long long)cells[TO_ID].count);
			quoted(out, &cells[REASON]);
			wti_buf_text(out, "\"];\n");
		}
	}
	wti_buf_text(out, "}\n");
	wti_map_release(&seen);
}
