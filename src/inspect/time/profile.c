/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering durations by key, and the table that comes of it. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "profile.h"

void wti_profile_init(struct wti_profile *profile)
{
	*profile = (struct wti_profile){0};
	wti_map_init(&profile->labels, WTI_PROFILE_ROWS_MAX);
}

void wti_profile_release(struct wti_profile *profile)
{
	for (size_t i = 0; i < profile->row_count; i++)
		wti_sketch_release(&profile->rows[i].sketch);
	free(profile->rows);
	wti_map_release(&profile->labels);
	*profile = (struct wti_profile){0};
}

static long new_row(struct wti_profile *p, const char *kind, enum wti_profile_side side,
		    size_t label)
{
	if (wti_grow(&p->rows, p->row_count + 1, &p->row_capacity, WTI_PROFILE_ROWS_MAX))
		return WT_E_NOMEM;
	p->rows[p->row_count] =
		(struct wti_profile_row){.kind = kind, .side = side, .label = label};
	return (long)p->row_count++;
}

static long find(struct wti_profile *p, const char *kind, enum wti_profile_side side,
		 const char *label, size_t bytes)
{
	/* The kind in front keeps a span and a kernel of one name apart; it has no newline. */
	char key[64 + WTI_PROFILE_LABEL_MAX];
	size_t kind_bytes = strnlen(kind, 63);
	uint64_t *slot;
	long row;

	bytes = bytes > WTI_PROFILE_LABEL_MAX ? WTI_PROFILE_LABEL_MAX : bytes;
	memcpy(key, kind, kind_bytes);
	key[kind_bytes] = '\n';
	memcpy(key + kind_bytes + 1, label, bytes);
	slot = wti_map_text(&p->labels, key, kind_bytes + 1 + bytes);
	if (!slot)
		return WT_E_LIMIT;
	if (*slot)
		return (long)*slot - 1;
	row = new_row(p, kind, side, p->labels.count - 1);
	if (row >= 0)
		*slot = (uint64_t)row + 1;
	return row;
}

long wti_profile_row(struct wti_profile *p, const char *kind, enum wti_profile_side side,
		     const char *label, size_t bytes)
{
	/* One place is held back for the row that stands for all others. */
	if (p->row_count + WTI_PROFILE_SIDES < WTI_PROFILE_ROWS_MAX)
		return find(p, kind, side, label, bytes);
	p->overflow_count++;
	return find(p, side == WTI_PROFILE_HOST ? "host" : "device", side, "(all others)", 12);
}

int wti_profile_add(struct wti_profile *p, size_t index, uint64_t duration_ns, uint64_t self_ns,
		    int outermost)
{
	struct wti_profile_row *row = &p->rows[index];

	if (outermost)
		row->total_ns += duration_ns;
	row->self_ns += self_ns;
	row->sum_ns += (double)duration_ns;
	return wti_sketch_add(&row->sketch, duration_ns);
}

void wti_profile_weigh(struct wti_profile *p, size_t index, double bytes, bool tensor)
{
	p->rows[index].bytes += bytes;
	p->rows[index].tensor_count += tensor;
}

struct sorting {
	const struct wti_profile *profile;
	enum wti_profile_order order;
};

static double mean_of(const struct wti_profile_row *row)
{
	return row->sketch.count ? row->sum_ns / (double)row->sketch.count : 0;
}

static double weight(const struct wti_profile_row *row, enum wti_profile_order order)
{
	switch (order) {
	case WTI_PROFILE_BY_TOTAL:
		return (double)row->total_ns;
	case WTI_PROFILE_BY_SELF:
		return (double)row->self_ns;
	case WTI_PROFILE_BY_COUNT:
		return (double)row->sketch.count;
	case WTI_PROFILE_BY_MEAN:
		return mean_of(row);
	case WTI_PROFILE_BY_MAX:
		return (double)row->sketch.max;
	case WTI_PROFILE_BY_BYTES:
		return row->bytes;
	case WTI_PROFILE_BY_TENSORS:
		return (double)row->tensor_count;
	case WTI_PROFILE_BY_NAME:
		break;
	}
	return 0;
}

static const char *label_of(const struct wti_profile *p, const struct wti_profile_row *row,
			    size_t *ret_bytes)
{
	const struct wti_map_entry *entry = &p->labels.entries[row->label];
	const char *newline = memchr(entry->text, '\n', entry->bytes);
	const char *label = newline + 1;

	*ret_bytes = entry->bytes - (size_t)(label - entry->text);
	return label;
}

/* "9" comes before "10": labels that are numbers sort as such. */
static int by_label(const struct sorting *s, const struct wti_profile_row *a,
		    const struct wti_profile_row *b)
{
	size_t a_bytes, b_bytes;
	const char *x = label_of(s->profile, a, &a_bytes);
	const char *y = label_of(s->profile, b, &b_bytes);

	return strverscmp(x, y);
}

static int compare(const void *a, const void *b, void *cookie)
{
	const struct sorting *s = cookie;
	const struct wti_profile_row *x = &s->profile->rows[*(const size_t *)a];
	const struct wti_profile_row *y = &s->profile->rows[*(const size_t *)b];
	double p = weight(x, s->order), q = weight(y, s->order);

	if (p != q)
		return p < q ? 1 : -1;
	return by_label(s, x, y);
}

static void add_columns(struct wt_table *table, const struct wti_profile_view *view)
{
	wt_table_column(table, "name", view->title, WT_CELL_TEXT);
	wt_table_column(table, "kind", "kind", WT_CELL_TEXT);
	wt_table_hide(table, 4);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "total_ns", "total", WT_CELL_NS);
	wt_table_column(table, "self_ns", "self", WT_CELL_NS);
	wt_table_hide(table, 2);
	wt_table_column(table, "share", "share", WT_CELL_PERCENT);
	wt_table_hide(table, 1);
	wt_table_column(table, "mean_ns", "mean", WT_CELL_NS);
	wt_table_column(table, "min_ns", "min", WT_CELL_NS);
	wt_table_hide(table, 6);
	wt_table_column(table, "p50_ns", "p50", WT_CELL_NS);
	wt_table_hide(table, 3);
	wt_table_column(table, "p90_ns", "p90", WT_CELL_NS);
	wt_table_hide(table, 5);
	wt_table_column(table, "p99_ns", "p99", WT_CELL_NS);
	wt_table_hide(table, 2);
	wt_table_column(table, "max_ns", "max", WT_CELL_NS);
	wt_table_hide(table, 2);
	if (!view->weighed)
		return;
	wt_table_column(table, "bytes", "bytes", WT_CELL_BYTES);
	wt_table_column(table, "tensors", "tensors", WT_CELL_COUNT);
	wt_table_hide(table, 1);
}

static void add_spread(struct wt_table *table, const struct wti_profile_row *row)
{
	static const double shares[] = {0.50, 0.90, 0.99};
	const struct wti_sketch *sketch = &row->sketch;

	if (!sketch->count) { /* a call without an end has no duration */
		for (int i = 0; i < 6; i++)
			wt_table_empty(table);
		return;
	}
	wt_table_ns(table, wti_i64_of(mean_of(row) + 0.5));
	wt_table_ns(table, wti_i64(sketch->min));
	for (int i = 0; i < 3; i++)
		wt_table_ns(table, wti_i64(wti_sketch_quantile(sketch, shares[i])));
	wt_table_ns(table, wti_i64(sketch->max));
}

static void add_row(struct wt_table *table, const struct wti_profile *p,
		    const struct wti_profile_row *row, const double side_ns[WTI_PROFILE_SIDES],
		    bool weighed)
{
	double all = side_ns[row->side];
	size_t bytes;
	const char *label = label_of(p, row, &bytes);

	wt_table_row(table);
	wt_table_text(table, label, bytes);
	wt_table_text(table, row->kind, strlen(row->kind));
	wt_table_count(table, row->sketch.count);
	wt_table_ns(table, (int64_t)row->total_ns);
	wt_table_ns(table, (int64_t)row->self_ns);
	wt_table_number(table, all > 0 ? 100.0 * (double)row->self_ns / all : 0);
	add_spread(table, row);
	if (!weighed)
		return;
	wt_table_count(table, (uint64_t)(row->bytes + 0.5));
	wt_table_count(table, row->tensor_count);
}

static bool is_shown(const struct wti_profile *p, const struct wti_profile_row *row,
		     const struct wti_profile_view *view)
{
	size_t bytes;
	const char *label = label_of(p, row, &bytes);

	return !view->only || wti_glob(view->only, label, bytes);
}

size_t wti_profile_table(struct wti_profile *p, struct wt_result *result,
			 const struct wti_profile_view *view)
{
	struct wt_table *table = wt_result_table(result, "profile", "");
	struct sorting sorting = {p, view->order};
	double side_ns[WTI_PROFILE_SIDES] = {0};
	size_t *indices = calloc(p->row_count + 1, sizeof(*indices));
	size_t count = 0;

	add_columns(table, view);
	for (size_t i = 0; indices && i < p->row_count; i++) {
		if (!p->rows[i].sketch.count && !(view->weighed && p->rows[i].bytes > 0))
			continue; /* begun, but never ended */
		side_ns[p->rows[i].side] += (double)p->rows[i].self_ns;
		if (is_shown(p, &p->rows[i], view))
			indices[count++] = i;
	}
	if (!indices) {
		result->failed = WT_E_NOMEM;
		return 0;
	}
	qsort_r(indices, count, sizeof(*indices), compare, &sorting);
	for (size_t i = 0; i < count && (!view->limit || i < view->limit); i++)
		add_row(table, p, &p->rows[indices[i]], side_ns, view->weighed);
	if (view->limit && view->limit < count)
		wt_result_note(result, "%llu of %zu rows are shown; --limit 0 shows all",
			       (unsigned long long)view->limit, count);
	free(indices);
	return count;
}
