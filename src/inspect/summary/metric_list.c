/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what a curve is called where several processes have one of that name. */
#include "metric_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/grow.h"

/* A page with more curves is not read; some programs make a counter for each layer. */
#define METRICS_MAX 256u
#define NAME_BYTES_MAX 200u
#define KEY_MAX 512u
/* So wide is no page; with this many zooming in still shows more. */
#define SHOWN_BUCKETS 2048u

void wti_metric_list_init(struct wti_metric_list *list)
{
	*list = (struct wti_metric_list){0};
	wti_map_init(&list->index, METRICS_MAX);
}

void wti_metric_list_release(struct wti_metric_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		wti_curve_release(&list->items[i].by_step);
		wti_curve_release(&list->items[i].by_order);
		free(list->items[i].name);
	}
	free(list->items);
	wti_map_release(&list->index);
	*list = (struct wti_metric_list){0};
}

static struct wti_metric *add_metric(struct wti_metric_list *list, enum wti_metric_type type,
				     size_t stream, struct wt_text name, struct wt_text unit)
{
	struct wti_metric *metric;

	if (wti_grow(&list->items, list->count + 1, &list->capacity, (size_t)METRICS_MAX))
		return NULL;
	metric = &list->items[list->count];
	*metric = (struct wti_metric){.type = type, .stream = stream};
	metric->name = strndup(name.data ? name.data : "", name.bytes);
	if (!metric->name)
		return NULL;
	snprintf(metric->unit, sizeof(metric->unit), "%.*s",
		 (int)(unit.bytes < sizeof(metric->unit) ? unit.bytes : sizeof(metric->unit) - 1),
		 unit.data ? unit.data : "");
	list->count++;
	return metric;
}

struct wti_metric *wti_metric_of(struct wti_metric_list *list, enum wti_metric_type type,
				 size_t stream, struct wt_text name, struct wt_text unit)
{
	char key[NAME_BYTES_MAX + 48];
	struct wti_metric *metric;
	uint64_t *slot;
	int bytes;

	name.bytes = name.bytes < NAME_BYTES_MAX ? name.bytes : NAME_BYTES_MAX;
	bytes = snprintf(key, sizeof(key), "%d %zu %.*s", (int)type, stream, (int)name.bytes,
			 name.data ? name.data : "");
	slot = wti_map_text(&list->index, key, (size_t)bytes);
	if (!slot) {
		list->overflow_count += !list->index.failed;
		return NULL;
	}
	if (*slot)
		return &list->items[*slot - 1];
	metric = add_metric(list, type, stream, name, unit);
	list->index.failed |= !metric;
	*slot = metric ? list->count : 0;
	return metric;
}

int wti_metric_add(struct wti_metric *metric, int64_t step, double value)
{
	int r = step >= 0 ? wti_curve_add(&metric->by_step, step, value) : 0;

	return r ? r : wti_curve_add(&metric->by_order, (int64_t)metric->by_order.count, value);
}

/* ---- What is shown --------------------------------------------------------------------------- */

/* Steps, if most values have one of their own. */
static bool is_by_step(const struct wti_metric *metric)
{
	const struct wti_curve *steps = &metric->by_step;
	uint64_t width = steps->bucket_count ? (uint64_t)steps->bucket_count << steps->shift : 0;

	return steps->count == metric->by_order.count && width >= steps->count / 2 &&
	       (width > 1 || steps->count == 1);
}

static int by_type(const void *a, const void *b, void *opaque)
{
	const struct wti_metric *x = a, *y = b;
	uint32_t x_rank = wti_role_of(opaque, x->stream).rank;
	uint32_t y_rank = wti_role_of(opaque, y->stream).rank;
	int names = strcmp(x->name, y->name);

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (names)
		return names;
	if (x_rank != y_rank)
		return x_rank < y_rank ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/* Whether another process has one of the same name. */
static bool is_shared(const struct wti_metric_list *list, size_t place)
{
	const struct wti_metric *items = list->items;

	return (place && items[place - 1].type == items[place].type &&
		!strcmp(items[place - 1].name, items[place].name)) ||
	       (place + 1 < list->count && items[place + 1].type == items[place].type &&
		!strcmp(items[place + 1].name, items[place].name));
}

static void put_title(struct wti_buf *out, const struct wti_metric *metric, bool is_shared,
		      const struct wti_roles *roles)
{
	char label[WTI_LABEL_BYTES];
	struct wti_role role;
	struct wt_text who;

	wti_buf_text(out, metric->name);
	if (!is_shared)
		return;
	role = wti_role_of(roles, metric->stream);
	if (role.rank && !role.worker) {
		wti_buf_printf(out, ", rank %u", role.rank - 1);
		return;
	}
	who = wti_role_label(label, roles, metric->stream, 0);
	wti_buf_text(out, ", ");
	wti_buf_append(out, who.data, who.bytes);
}

static struct wt_table *metrics_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "metrics", "metrics");

	wt_table_column(table, "name", "metric", WT_CELL_TEXT);
	wt_table_column(table, "unit", "unit", WT_CELL_TEXT);
	wt_table_hide(table, 4);
	wt_table_column(table, "count", "values", WT_CELL_COUNT);
	wt_table_column(table, "first", "first", WT_CELL_NUMBER);
	wt_table_column(table, "last", "last", WT_CELL_NUMBER);
	wt_table_column(table, "min", "min", WT_CELL_NUMBER);
	wt_table_column(table, "min_at", "at", WT_CELL_ID);
	wt_table_hide(table, 3);
	wt_table_column(table, "max", "max", WT_CELL_NUMBER);
	wt_table_column(table, "max_at", "at", WT_CELL_ID);
	wt_table_hide(table, 2);
	wt_table_column(table, "nan", "NaN", WT_CELL_COUNT);
	wt_table_hide(table, 1);
	wt_table_column(table, "inf", "inf", WT_CELL_COUNT);
	wt_table_hide(table, 1);
	wt_table_column(table, "x", "counted in", WT_CELL_TEXT);
	wt_table_hide(table, 5);
	return table;
}

static void put_extreme(struct wt_table *table, bool is_known, double value, int64_t x)
{
	if (!is_known) {
		wt_table_empty(table);
		wt_table_empty(table);
		return;
	}
	wt_table_number(table, value);
	if (x < 0)
		wt_table_empty(table);
	else
		wt_table_count(table, (uint64_t)x);
}

static void add_row(struct wt_table *table, const struct wti_metric *metric, struct wti_buf *title)
{
	const char *x = is_by_step(metric) ? "steps" : "values";
	const struct wti_curve *curve = is_by_step(metric) ? &metric->by_step : &metric->by_order;
	bool has_finite = curve->count > curve->nan_count + curve->inf_count;

	wt_table_row(table);
	wt_table_text(table, (const char *)title->data, title->bytes);
	wt_table_text(table, metric->unit, strlen(metric->unit));
	wt_table_count(table, curve->count);
	wt_table_number(table, curve->first);
	wt_table_number(table, curve->last);
	put_extreme(table, has_finite, curve->low, curve->low_x);
	put_extreme(table, has_finite, curve->high, curve->high_x);
	wt_table_count(table, curve->nan_count);
	wt_table_count(table, curve->inf_count);
	wt_table_text(table, x, strlen(x));
}

static void show_one(struct wti_metric_list *list, size_t place, const struct wti_roles *roles,
		     struct wt_table *table, struct wt_result *result)
{
	struct wti_metric *metric = &list->items[place];
	struct wti_curve *curve = is_by_step(metric) ? &metric->by_step : &metric->by_order;
	struct wti_buf title;
	char key[32];

	wti_buf_init(&title, KEY_MAX);
	put_title(&title, metric, is_shared(list, place), roles);
	add_row(table, metric, &title);
	snprintf(key, sizeof(key), "metric_%zu", place);
	wti_curve_reduce(curve, SHOWN_BUCKETS);
	wti_curve_series(curve, result, key, wti_buf_cstr(&title), metric->unit);
	wti_buf_release(&title);
}

void wti_metric_list_show(struct wti_metric_list *list, const struct wti_roles *roles,
			  struct wt_result *result)
{
	struct wt_table *table;

	if (!list->count)
		return;
	qsort_r(list->items, list->count, sizeof(*list->items), by_type, (void *)(uintptr_t)roles);
	table = metrics_table(result);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].by_order.count)
			show_one(list, i, roles, table, result);
	if (list->overflow_count)
		wt_result_note(result, "more than %u metrics: %llu values are not shown",
			       METRICS_MAX, (unsigned long long)list->overflow_count);
}
