/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of operations that an operator launches, and how often each comes. */
#include "device.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"

#define LENGTH_MIN 3u /* HolisticTraceAnalysis' default: shorter ones say little */
#define LENGTH_MAX 10000u
#define TEXT_BYTES_MAX (1u << 20)

struct member { /* an operation under an operator */
	uint32_t root;
	uint32_t op;
	int64_t start_ns;
};

struct pattern {
	uint64_t count;
	int64_t device_ns, host_ns;
	uint32_t *names; /* of the operator, then of its operations */
	size_t length;
};

struct patterns {
	struct pattern *items;
	size_t count, capacity;
	struct wti_map index; /* bytes of the names: place plus one */
};

static bool is_wanted(const struct wti_work *work, uint32_t call, const char *under)
{
	const char *name = wti_symbol_text(&work->symbols, work->calls[call - 1].name);

	return work->calls[call - 1].flags & WTI_WORK_OPERATOR &&
	       (!under || !fnmatch(under, name, 0));
}

/* The outermost operator around a launch, of those that are asked for. */
static uint32_t root_of(const struct wti_work *work, uint32_t call, const char *under)
{
	uint32_t root = 0;

	for (; call; call = work->calls[call - 1].parent)
		if (is_wanted(work, call, under))
			root = call;
	return root;
}

static int by_root(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static size_t gather(const struct wti_work *work, const char *under, struct member *members)
{
	size_t count = 0;

	for (size_t i = 0; i < work->op_count; i++) {
		const struct wti_work_op *op = &work->ops[i];
		uint32_t root = wti_work_is_work(op) ? root_of(work, op->call, under) : 0;

		if (root)
			members[count++] = (struct member){root, (uint32_t)i, op->start_ns};
	}
	if (count)
		qsort(members, count, sizeof(*members), by_root);
	return count;
}

static int add(struct patterns *all, const struct wti_work *work, const struct member *members,
	       size_t count)
{
	const struct wti_work_call *root = &work->calls[members[0].root - 1];
	uint32_t *names = malloc((count + 1) * sizeof(*names));
	struct pattern *pattern;
	uint64_t *slot;

	if (!names || wti_grow(&all->items, all->count + 1, &all->capacity, WTI_NO_CEILING)) {
		free(names);
		return WT_E_NOMEM;
	}
	names[0] = root->name;
	for (size_t i = 0; i < count; i++)
		names[i + 1] = work->ops[members[i].op].name;
	slot = wti_map_text(&all->index, (const char *)names, (count + 1) * sizeof(*names));
	if (slot && !*slot) {
		all->items[all->count++] = (struct pattern){.names = names, .length = count};
		*slot = all->count;
	} else {
		free(names);
	}
	if (!slot)
		return WT_E_NOMEM;
	pattern = &all->items[*slot - 1];
	pattern->count++;
	pattern->host_ns = wti_sum(pattern->host_ns, root->end_ns - root->begin_ns);
	for (size_t i = 0; i < count; i++) {
		const struct wti_work_op *op = &work->ops[members[i].op];

		pattern->device_ns = wti_sum(pattern->device_ns, op->end_ns - op->start_ns);
	}
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct pattern *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->device_ns != y->device_ns)
		return x->device_ns > y->device_ns ? -1 : 1;
	return x->names[0] < y->names[0] ? -1 : x->names[0] > y->names[0];
}

static void row(struct wt_table *table, const struct wti_work *work, const struct pattern *pattern)
{
	struct wti_buf text;

	wti_buf_init(&text, TEXT_BYTES_MAX);
	for (size_t i = 1; i <= pattern->length; i++)
		wti_buf_printf(&text, "%s%s", i > 1 ? " | " : "",
			       wti_symbol_text(&work->symbols, pattern->names[i]));
	wt_table_row(table);
	wti_name_cell(table, work, pattern->names[0]);
	wt_table_count(table, pattern->count);
	wt_table_count(table, pattern->length);
	wt_table_ns(table, pattern->device_ns);
	wt_table_ns(table, pattern->host_ns);
	wt_table_text(table, wti_buf_cstr(&text), text.bytes);
	wti_buf_release(&text);
}

static int collect(struct patterns *all, const struct wti_work *work, const char *under)
{
	struct member *members = malloc((work->op_count + 1) * sizeof(*members));
	size_t count = members ? gather(work, under, members) : 0;
	int r = members ? 0 : WT_E_NOMEM;

	for (size_t first = 0, last; !r && first < count; first = last) {
		for (last = first; last < count && members[last].root == members[first].root;)
			last++;
		if (last - first >= LENGTH_MIN && last - first <= LENGTH_MAX)
			r = add(all, work, &members[first], last - first);
	}
	free(members);
	return r;
}

static void fill(struct wt_result *result, const struct wti_work *work, struct patterns *all,
		 uint64_t limit)
{
	struct wt_table *table =
		wt_result_table(result, "patterns", "Sequences that operators launch");

	wt_table_column(table, "operator", "operator", WT_CELL_TEXT);
	wt_table_column(table, "count", "times", WT_CELL_COUNT);
	wt_table_column(table, "length", "operations", WT_CELL_COUNT);
	wt_table_column(table, "device_ns", "on the device", WT_CELL_NS);
	wt_table_column(table, "host_ns", "on the host", WT_CELL_NS);
	wt_table_column(table, "sequence", "sequence", WT_CELL_TEXT);
	wt_table_hide(table, 1);
	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), most_first);
	for (size_t i = 0; i < all->count && (!limit || i < limit); i++)
		row(table, work, &all->items[i]);
}

int wti_device_patterns(const struct wti_work *work, const struct wti_device_options *options,
			struct wt_result *result, struct wt_err *err)
{
	struct patterns all = {0};
	int r;

	wti_map_init(&all.index, WTI_SYMBOLS_MAX);
	r = collect(&all, work, options->under);
	if (!r)
		fill(result, work, &all, options->limit);
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].names);
	free(all.items);
	wti_map_release(&all.index);
	return r ? wti_err(err, r, "out of memory for patterns") : 0;
}
