/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path over hosts and devices: what it consists of, by what bounds it and by name; and
 * how long it would be if something were faster.
 */
#include "device.h"
#include "path_graph.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"

enum bound { HOST, COMPUTE, COMMUNICATION, MEMORY, OTHER, LAUNCH, BETWEEN, BOUNDS };

struct piece { /* all of a name with one bound */
	uint32_t name;
	enum bound bound;
	int64_t ns;
	uint64_t count;
};

struct pieces {
	struct piece *items;
	size_t count, capacity;
	struct wti_map index;
	int64_t bounds_ns[BOUNDS];
};

static const char *bound_word(enum bound bound)
{
	static const char *const words[BOUNDS] = {
		"host",       "compute",      "communication",     "memory",
		"other work", "launch delay", "between operations"};

	return words[bound];
}

static enum bound bound_of(const struct wti_work *work, const struct wti_path_edge *edge,
			   struct wti_path_subject subject)
{
	static const enum bound by_type[WTI_KERNEL_TYPES] = {COMPUTE, COMMUNICATION, MEMORY, OTHER};

	if (edge->type == WTI_PATH_EDGE_LAUNCH)
		return LAUNCH;
	if (edge->type == WTI_PATH_EDGE_QUEUE)
		return BETWEEN;
	return subject.op ? by_type[work->ops[subject.op - 1].type] : HOST;
}

static int add(struct pieces *all, const struct wti_path_graph *graph,
	       const struct wti_path_edge *edge)
{
	struct wti_path_subject subject = wti_path_subject(graph, edge);
	enum bound bound = bound_of(graph->work, edge, subject);
	uint32_t name = wti_path_name(graph->work, subject);
	uint64_t *slot;

	if (edge->type == WTI_PATH_EDGE_NEXT || edge->type == WTI_PATH_EDGE_SYNC ||
	    !edge->weight_ns)
		return 0;
	slot = wti_map_number(&all->index, (uint64_t)bound << 32 | name);
	if (!slot || wti_grow(&all->items, all->count + 1, &all->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	if (!*slot) {
		all->items[all->count++] = (struct piece){.name = name, .bound = bound};
		*slot = all->count;
	}
	all->items[*slot - 1].ns = wti_sum(all->items[*slot - 1].ns, edge->weight_ns);
	all->items[*slot - 1].count++;
	all->bounds_ns[bound] = wti_sum(all->bounds_ns[bound], edge->weight_ns);
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static double percent(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void fill(struct wt_result *result, const struct wti_work *work, struct pieces *all,
		 int64_t path_ns, uint64_t limit)
{
	struct wt_table *bounds = wt_result_table(result, "critical_path", "Critical path");
	struct wt_table *names = wt_result_table(result, "critical_names", "What is on it");

	wt_table_column(bounds, "bound", "bound by", WT_CELL_TEXT);
	wt_table_column(bounds, "time_ns", "time", WT_CELL_NS);
	wt_table_column(bounds, "share", "share", WT_CELL_PERCENT);
	for (unsigned i = 0; i < BOUNDS; i++) {
		if (!all->bounds_ns[i])
			continue;
		wt_table_row(bounds);
		wt_table_text(bounds, bound_word(i), strlen(bound_word(i)));
		wt_table_ns(bounds, all->bounds_ns[i]);
		wt_table_number(bounds, percent(all->bounds_ns[i], path_ns));
	}
	wt_table_column(names, "name", "name", WT_CELL_TEXT);
	wt_table_column(names, "bound", "bound by", WT_CELL_TEXT);
	wt_table_column(names, "count", "count", WT_CELL_COUNT);
	wt_table_column(names, "time_ns", "time", WT_CELL_NS);
	wt_table_column(names, "share", "share", WT_CELL_PERCENT);
	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), longest_first);
	for (size_t i = 0; i < all->count && (!limit || i < limit); i++) {
		const struct piece *piece = &all->items[i];

		wt_table_row(names);
		wti_name_cell(names, work, piece->name);
		wt_table_text(names, bound_word(piece->bound), strlen(bound_word(piece->bound)));
		wt_table_count(names, piece->count);
		wt_table_ns(names, piece->ns);
		wt_table_number(names, percent(piece->ns, path_ns));
	}
}

static int report(const struct wti_path_graph *graph, struct wt_result *result, uint64_t limit,
		  struct wt_err *err)
{
	struct pieces all = {0};
	uint32_t *edges = NULL;
	size_t count = 0, kernels = 0, in_graphs = 0;
	int64_t ns = 0;
	int r = wti_path_longest(graph, &edges, &count, &ns, err);

	if (r)
		return r;
	wti_map_init(&all.index, WTI_SYMBOLS_MAX);
	for (size_t i = 0; !r && i < count; i++) {
		struct wti_path_edge edge =
			wti_path_edge_at(graph, wti_path_from(graph, edges[i]), edges[i]);
		struct wti_path_subject subject = wti_path_subject(graph, &edge);

		r = add(&all, graph, &edge);
		if (edge.type == WTI_PATH_EDGE_SPAN && subject.op) {
			kernels++;
			in_graphs += graph->work->ops[subject.op - 1].in_graph;
		}
	}
	if (!r) {
		wt_result_fact_count(result, "critical_path_ns", "critical path", WT_CELL_NS,
				     (uint64_t)ns);
		wt_result_fact_count(result, "critical_operations", "operations on it",
				     WT_CELL_COUNT, kernels);
		wt_result_fact_count(result, "critical_in_graphs", "of these in graphs",
				     WT_CELL_COUNT, in_graphs);
		fill(result, graph->work, &all, ns, limit);
	}
	free(edges);
	free(all.items);
	wti_map_release(&all.index);
	return r ? wti_err(err, r, "out of memory for the critical path") : 0;
}

/* ---- What if --------------------------------------------------------------------------------- */

struct wish {
	char *glob;
	double share;
};

/* "NAME=0.5"; names may have an equals sign themselves. */
static int read_wish(struct wish *wish, const char *text, struct wt_err *err)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL;

	wish->share = equals ? strtod(equals + 1, &end) : -1;
	if (!equals || equals == text || end == equals + 1 || *end || !(wish->share >= 0) ||
	    wish->share > 1000)
		return wti_err(err, WT_E_ARG,
			       "'%s' is no what-if: give NAME=SHARE, such as 'gemm*=0.5' for "
			       "half the time",
			       text);
	wish->glob = strndup(text, (size_t)(equals - text));
	return wish->glob ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

/* By symbol: whether it matches; to be freed. NULL: out of memory. */
static bool *matching(const struct wti_work *work, const char *glob)
{
	size_t count = work->symbols.texts.count + 1;
	bool *is_changed = calloc(count, sizeof(*is_changed));

	for (uint32_t name = 0; is_changed && name < count; name++)
		is_changed[name] = !fnmatch(glob, wti_symbol_text(&work->symbols, name), 0);
	return is_changed;
}

/* How many edges have a time that is changed. */
static uint64_t changed_count(const struct wti_path_graph *graph, const bool *is_changed)
{
	uint64_t count = 0;

	for (uint32_t node = 0; node < graph->node_count; node++) {
		for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
			struct wti_path_edge edge = wti_path_edge_at(graph, node, i);
			struct wti_path_subject subject = wti_path_subject(graph, &edge);

			count += edge.type == WTI_PATH_EDGE_SPAN && edge.weight_ns &&
				 is_changed[wti_path_name(graph->work, subject)];
		}
	}
	return count;
}

static int length_of(const struct wti_path_graph *graph, int64_t *ret_ns, struct wt_err *err)
{
	uint32_t *edges = NULL;
	size_t count;
	int r = wti_path_longest(graph, &edges, &count, ret_ns, err);

	free(edges);
	return r;
}

static int what_if(const struct wti_work *work, const char *text, struct wt_result *result,
		   struct wt_err *err)
{
	struct wti_path_graph graph = {0};
	struct wish wish = {0};
	bool *is_changed = NULL;
	int64_t before = 0, after = 0;
	uint64_t count = 0;
	int r = read_wish(&wish, text, err);

	if (!r)
		r = wti_path_graph_make(&graph, work, true, err);
	if (!r)
		r = length_of(&graph, &before, err);
	if (!r) {
		is_changed = matching(work, wish.glob);
		r = is_changed ? 0 : wti_err(err, WT_E_NOMEM, "out of memory for names");
	}
	if (!r) {
		count = changed_count(&graph, is_changed);
		graph.is_changed = is_changed;
		graph.share = wish.share;
		r = length_of(&graph, &after, err);
	}
	if (!r && !count)
		wt_result_note(result, "'%s' matches no call and no operation", wish.glob);
	if (!r) {
		wt_result_fact_count(result, "what_if_changed", "changed", WT_CELL_COUNT, count);
		wt_result_fact_count(result, "what_if_before_ns", "path with causality", WT_CELL_NS,
				     (uint64_t)before);
		wt_result_fact_count(result, "what_if_ns", "path then", WT_CELL_NS,
				     (uint64_t)after);
		wt_result_fact_number(result, "what_if_saved", "saved", WT_CELL_PERCENT,
				      percent(before - after, before));
	}
	wti_path_graph_release(&graph);
	free(is_changed);
	free(wish.glob);
	return r;
}

int wti_device_critical_path(const struct wti_work *work, const struct wti_device_options *options,
			     struct wt_result *result, struct wt_err *err)
{
	struct wti_path_graph graph;
	int r = wti_path_graph_make(&graph, work, false, err);

	if (!r)
		r = report(&graph, result, options->limit, err);
	wti_path_graph_release(&graph);
	return !r && options->what_if ? what_if(work, options->what_if, result, err) : r;
}
