/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast copies go, by kind: at each moment the sum over the copies of that kind under way. The
 * summary is over all values at which it changed, but 0.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "describe.h"

/* A copy that took no time by the clock of the trace is taken to have lasted this long. */
#define SHORTEST_NS 1000
#define KIND_BYTES 11u /* "Memcpy DtoH" */

struct change {
	uint64_t kind; /* unit and symbol */
	int64_t ns;
	double gbps; /* negative: it ends */
};

/* Kind of a copy: what its name begins with; of other sources the whole name. */
static uint32_t kind_of(struct wti_map *kinds, const struct wti_work *work, uint32_t name)
{
	const char *text = wti_symbol_text(&work->symbols, name);
	size_t bytes = strlen(text);
	uint64_t *slot;

	if (!strncmp(text, "Memset", 6))
		bytes = 6;
	else if (!strncmp(text, "Memcpy", 6) && bytes > KIND_BYTES)
		bytes = KIND_BYTES;
	slot = wti_map_text(kinds, text, bytes);
	if (!slot)
		return 0;
	if (!*slot)
		*slot = kinds->count;
	return (uint32_t)*slot;
}

static int by_kind(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->gbps < y->gbps ? -1 : x->gbps > y->gbps; /* ends first */
}

static size_t gather(const struct wti_work *work, struct wti_map *kinds, struct change *changes,
		     uint64_t *ret_unknown)
{
	size_t count = 0;

	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		uint64_t unit = work->queues[op->queue].unit;
		int64_t ns = op->end_ns - op->start_ns;
		uint64_t kind;
		double gbps;

		if (!wti_work_is_work(op) || op->type != WTI_KERNEL_MEMORY)
			continue;
		if (!op->bytes) {
			(*ret_unknown)++;
			continue;
		}
		ns = ns ? ns : SHORTEST_NS;
		gbps = (double)op->bytes / (double)ns; /* bytes a nanosecond are GB a second */
		kind = unit << 32 | kind_of(kinds, work, op->name);
		changes[count++] = (struct change){kind, op->start_ns, gbps};
		changes[count++] = (struct change){kind, op->start_ns + ns, -gbps};
	}
	if (count)
		qsort(changes, count, sizeof(*changes), by_kind);
	return count;
}

static void add_row(struct wt_table *table, const struct wti_work *work,
		    const struct wti_map *kinds, const struct change *changes, size_t count,
		    double *values)
{
	const struct wti_map_entry *kind = &kinds->entries[(uint32_t)changes[0].kind - 1];
	struct wti_description d;
	size_t open = 0, value_count = 0;
	double now = 0;

	for (size_t i = 0; i < count; i++) {
		open = changes[i].gbps > 0 ? open + 1 : open - 1;
		now = open ? now + changes[i].gbps : 0;
		if (now > 0)
			values[value_count++] = now;
	}
	d = wti_description_of(values, value_count);
	wt_table_row(table);
	wti_unit_cells(table, work, (uint32_t)(changes[0].kind >> 32));
	wt_table_text(table, kind->text, kind->bytes);
	wti_description_cells(table, &d, WT_CELL_NUMBER);
}

/* GB/s in equal parts of the time: all bytes of a copy, spread over how long it took. */
static void add_series(const struct wti_work *work, struct wt_result *result,
		       const struct wti_map *kinds, const struct change *changes, size_t count,
		       uint32_t columns)
{
	const struct wti_map_entry *kind = &kinds->entries[(uint32_t)changes[0].kind - 1];
	double from = (double)changes[0].ns, length = (double)changes[count - 1].ns - from;
	double step = length > 0 ? length / columns : 1, now = 0, area = 0, last = from;
	char key[64], title[WTI_LABEL_BYTES + 64], label[WTI_LABEL_BYTES];
	uint32_t unit = (uint32_t)(changes[0].kind >> 32);
	struct wt_text text = wti_unit_label(label, work, unit);
	struct wt_series *series;
	size_t at = 0, open = 0;

	snprintf(key, sizeof(key), "bandwidth_%u_%u", unit, (uint32_t)changes[0].kind);
	snprintf(title, sizeof(title), "%.*s: %.60s", (int)text.bytes, text.data, kind->text);
	series = wt_result_series(result, key, title, "GB/s", from, step, columns);
	for (uint32_t i = 0; series && i < columns; i++) {
		double end = from + (i + 1) * step;

		for (; at < count && (double)changes[at].ns < end; at++) {
			area += now * ((double)changes[at].ns - last);
			last = (double)changes[at].ns;
			open = changes[at].gbps > 0 ? open + 1 : open - 1;
			now = open ? now + changes[at].gbps : 0;
		}
		series->y[i] = (area + now * (end - last)) / step;
		area = 0;
		last = end;
	}
}

static void add_rows(struct wt_result *result, const struct wti_work *work,
		     const struct wti_map *kinds, const struct change *changes, size_t count,
		     double *values, uint32_t columns)
{
	struct wt_table *table = wt_result_table(result, "bandwidth", "Bandwidth of copies (GB/s)");

	wti_unit_columns(table);
	wt_table_column(table, "kind", "kind", WT_CELL_TEXT);
	wti_description_columns(table, WT_CELL_NUMBER);
	for (size_t first = 0, last; first < count; first = last) {
		for (last = first; last < count && changes[last].kind == changes[first].kind;)
			last++;
		add_row(table, work, kinds, &changes[first], last - first, values);
		if (columns)
			add_series(work, result, kinds, &changes[first], last - first, columns);
	}
}

int wti_device_bandwidth(const struct wti_work *work, const struct wti_device_options *options,
			 struct wt_result *result, struct wt_err *err)
{
	struct change *changes;
	double *values;
	struct wti_map kinds;
	uint64_t unknown_count = 0;
	size_t copies = 0, count;

	for (size_t i = 0; i < work->op_count; i++)
		copies += work->ops[i].type == WTI_KERNEL_MEMORY;
	changes = malloc((2 * copies + 1) * sizeof(*changes));
	values = malloc((2 * copies + 1) * sizeof(*values));
	wti_map_init(&kinds, WTI_SYMBOLS_MAX);
	if (changes && values) {
		count = gather(work, &kinds, changes, &unknown_count);
		add_rows(result, work, &kinds, changes, count, values, options->columns);
	}
	wti_map_release(&kinds);
	if (unknown_count)
		wt_result_note(result, "%llu copies without a size: not in the bandwidth",
			       (unsigned long long)unknown_count);
	free(values);
	free(changes);
	return changes && values ? 0 : wti_err(err, WT_E_NOMEM, "out of memory for copies");
}
