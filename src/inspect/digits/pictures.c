/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points are thinned when there are too many: of every four of a site that follow each other the
 * lowest and the highest stay, so no extreme of a site is ever lost. Of tensors those that have the
 * smallest share of their digits are kept, one for each place. Of calls over time the longest are
 * kept, and those that lost most.
 */
#include "pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "inspect/core/cells.h"
#include "element.h"

#define TEXTS_MAX 65536u
#define EDGES_SEEN_MAX 65536u
#define LABEL 512u
#define SIZE_ELEMENTS_MAX 256u
#define TENSOR_MIN 4u /* elements: fewer make no picture */

struct point {
	uint64_t order;
	int64_t step;
	uint32_t site, value; /* numbers of texts, from 1 */
	float digits;
	float size, deviation; /* root mean squares: of the value, of its deviation */
	bool is_in;
};

/* A call from the first that ended within it to its own end, in the order of calls. */
struct span {
	uint64_t first, last;
	uint32_t callee;
	float lost;
};

struct tensor {
	uint64_t key;
	double share; /* of the digits of its type */
	char label[LABEL], shape[64];
	uint32_t count;
	uint64_t places[WTI_PICTURE_ELEMENTS_MAX];
	float digits[WTI_PICTURE_ELEMENTS_MAX];
};

struct edge {
	uint32_t caller, callee;
	uint64_t calls;
	double lost;
};

struct wti_pictures {
	struct wti_map texts; /* text: its number */
	struct point *points;
	size_t point_count, point_capacity;
	uint64_t points_left_out;
	struct tensor *tensors[WTI_PICTURE_TENSORS_MAX];
	size_t tensor_count;
	struct wti_map edge_index;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct span *spans;
	size_t span_count, span_capacity;
	uint64_t shortest; /* calls with fewer inside are left out, unless they lost something */
	double least_lost; /* bits: likewise */
};

/* ---- Life ------------------------------------------------------------------------------------ */

struct wti_pictures *wti_pictures_new(void)
{
	struct wti_pictures *pictures = calloc(1, sizeof(*pictures));

	if (!pictures)
		return NULL;
	wti_map_init(&pictures->texts, TEXTS_MAX);
	wti_map_init(&pictures->edge_index, EDGES_SEEN_MAX);
	return pictures;
}

void wti_pictures_free(struct wti_pictures *pictures)
{
	if (!pictures)
		return;
	for (size_t i = 0; i < pictures->tensor_count; i++)
		free(pictures->tensors[i]);
	wti_map_release(&pictures->texts);
	wti_map_release(&pictures->edge_index);
	free(pictures->points);
	free(pictures->edges);
	free(pictures->spans);
	free(pictures);
}

/* 0: there are too many. */
static uint32_t number_of(struct wti_pictures *pictures, const char *text, size_t bytes)
{
	uint64_t *slot = wti_map_text(&pictures->texts, text, bytes);

	if (slot && !*slot)
		*slot = pictures->texts.count;
	return slot ? (uint32_t)*slot : 0;
}

static const char *text_at(const struct wti_pictures *pictures, uint32_t number)
{
	return number ? pictures->texts.entries[number - 1].text : "";
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int by_site(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->is_in != y->is_in)
		return x->is_in ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_order(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return by_site(a, b);
}

/* The lowest and the highest of them go to `to`. */
static size_t keep_extremes(const struct point *from, size_t count, struct point *to)
{
	struct point low = from[0], high = from[0];
	bool is_one = true;

	for (size_t i = 1; i < count; i++) {
		low = from[i].digits < low.digits ? from[i] : low;
		high = from[i].digits > high.digits ? from[i] : high;
		is_one &= from[i].digits == from[0].digits;
	}
	to[0] = low;
	if (is_one)
		return 1;
	to[1] = high;
	return 2;
}

static void thin(struct wti_pictures *pictures)
{
	struct point *all = pictures->points;
	size_t kept = 0, count = pictures->point_count;

	qsort(all, count, sizeof(*all), by_site);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && end < i + 4 && all[end].site == all[i].site &&
				  all[end].is_in == all[i].is_in;)
			end++;
		kept += keep_extremes(&all[i], end - i, &all[kept]);
	}
	pictures->point_count = kept;
}

static int add_point(struct wti_pictures *pictures, const struct point *point)
{
	int r;

	if (pictures->point_count == WTI_PICTURE_POINTS_MAX)
		thin(pictures);
	r = wti_grow(&pictures->points, pictures->point_count + 1, &pictures->point_capacity,
		     WTI_PICTURE_POINTS_MAX);
	if (r == WT_E_LIMIT) { /* more places than points */
		pictures->points_left_out++;
		return 0;
	}
	if (!r)
		pictures->points[pictures->point_count++] = *point;
	return r;
}

/* "train.py:12 torch.add" */
static void put_site(const struct wti_seen_value *value, char ret_site[LABEL])
{
	const char *slash = strrchr(value->file, '/');

	if (*value->file)
		snprintf(ret_site, LABEL, "%s:%u %s", slash ? slash + 1 : value->file, value->line,
			 value->callee);
	else
		snprintf(ret_site, LABEL, "%s", value->callee);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

/* The worse part of a complex number. */
static double element_digits(const struct wti_seen_value *value, uint64_t element, unsigned parts)
{
	double worst = NAN;

	for (unsigned part = 0; part < parts; part++) {
		double digits = wti_seen_element(value, element * parts + part).digits;

		if (isnan(digits))
			return NAN;
		worst = fmin(worst, digits);
	}
	return worst;
}

static void fill_tensor(struct tensor *tensor, const struct wti_seen_value *value, uint64_t key)
{
	char site[LABEL];
	unsigned parts = wti_element_of(value->dtype).parts;
	uint64_t sampled = value->reals / parts;

	put_site(value, site);
	tensor->key = key;
	tensor->share = value->digits / (value->mantissa + 1);
	snprintf(tensor->label, sizeof(tensor->label), "%.400s %.90s%s%s", site, value->name,
		 *value->name ? " " : "", value->position >= 0 ? "in" : "out");
	snprintf(tensor->shape, sizeof(tensor->shape), "%s", value->shape);
	tensor->count = (uint32_t)fmin((double)sampled, WTI_PICTURE_ELEMENTS_MAX);
	for (uint32_t i = 0; i < tensor->count; i++) {
		uint64_t element = wti_seen_place(i, tensor->count, sampled);

		tensor->places[i] = wti_seen_place(element, sampled, value->count);
		tensor->digits[i] = (float)element_digits(value, element, parts);
	}
}

static struct tensor *best_of(const struct wti_pictures *pictures)
{
	struct tensor *best = pictures->tensors[0];

	for (size_t i = 1; i < pictures->tensor_count; i++)
		best = pictures->tensors[i]->share > best->share ? pictures->tensors[i] : best;
	return best;
}

static int add_tensor(struct wti_pictures *pictures, const struct wti_seen_value *value,
		      uint32_t site, uint32_t name)
{
	const int64_t words[] = {site, name, value->position};
	uint64_t key = XXH3_64bits(words, sizeof(words));
	double share = value->digits / (value->mantissa + 1);
	struct tensor *tensor = NULL;

	if (value->reals < TENSOR_MIN || share >= 1)
		return 0;
	for (size_t i = 0; i < pictures->tensor_count && !tensor; i++)
		tensor = pictures->tensors[i]->key == key ? pictures->tensors[i] : NULL;
	if (!tensor && pictures->tensor_count < WTI_PICTURE_TENSORS_MAX) {
		tensor = malloc(sizeof(*tensor));
		if (!tensor)
			return WT_E_NOMEM;
		tensor->share = 2;
		pictures->tensors[pictures->tensor_count++] = tensor;
	}
	tensor = tensor ? tensor : best_of(pictures);
	if (share < tensor->share)
		fill_tensor(tensor, value, key);
	return 0;
}

/* Root mean squares over the elements that were sampled. */
static void size_of(const struct wti_seen_value *value, struct point *point)
{
	uint64_t step = value->reals / SIZE_ELEMENTS_MAX + 1, count = 0;
	double size2 = 0, deviation2 = 0;

	for (uint64_t i = 0; i < value->reals; i += step) {
		double mean = 0, m2 = 0;

		for (unsigned run = 0; run < value->run_count; run++)
			mean += value->runs[run][i] / value->run_count;
		for (unsigned run = 0; run < value->run_count; run++)
			m2 += (value->runs[run][i] - mean) * (value->runs[run][i] - mean);
		size2 += mean * mean;
		deviation2 += m2 / value->run_count;
		count++;
	}
	point->size = count ? (float)sqrt(size2 / (double)count) : NAN;
	point->deviation = count ? (float)sqrt(deviation2 / (double)count) : NAN;
}

static int see_value(void *opaque, const struct wti_seen_value *value)
{
	struct wti_pictures *pictures = opaque;
	struct point point = {.order = value->order,
			      .step = value->step,
			      .digits = (float)value->digits,
			      .is_in = value->position >= 0};
	char site[LABEL];
	int r;

	size_of(value, &point);
	put_site(value, site);
	point.site = number_of(pictures, site, strlen(site));
	point.value = number_of(pictures, value->name, strlen(value->name));
	r = add_point(pictures, &point);
	return r ? r : add_tensor(pictures, value, point.site, point.value);
}

/* ---- Callers and callees --------------------------------------------------------------------- */

static bool is_kept(const struct wti_pictures *pictures, const struct span *span)
{
	return span->last - span->first >= pictures->shortest ||
	       (double)span->lost >= pictures->least_lost;
}

/* Half of what is too short goes, as often as it takes. */
static void drop_short(struct wti_pictures *pictures)
{
	size_t kept = 0;

	pictures->shortest = pictures->shortest ? 2 * pictures->shortest : 1;
	pictures->least_lost += 1;
	for (size_t i = 0; i < pictures->span_count; i++) {
		if (is_kept(pictures, &pictures->spans[i]))
			pictures->spans[kept++] = pictures->spans[i];
	}
	pictures->span_count = kept;
}

static int add_span(struct wti_pictures *pictures, const struct wti_seen_call *call,
		    uint32_t callee)
{
	const struct span span = {.first = call->order - call->inside,
				  .last = call->order,
				  .callee = callee,
				  .lost = (float)call->lost};
	int r;

	if (!callee || call->inside > call->order || !is_kept(pictures, &span))
		return 0;
	while (pictures->span_count == WTI_PICTURE_SPANS_MAX)
		drop_short(pictures);
	r = wti_grow(&pictures->spans, pictures->span_count + 1, &pictures->span_capacity,
		     WTI_PICTURE_SPANS_MAX);
	if (!r && is_kept(pictures, &span))
		pictures->spans[pictures->span_count++] = span;
	return r;
}

static int see_call(void *opaque, const struct wti_seen_call *call)
{
	struct wti_pictures *pictures = opaque;
	const char *text = "program";
	size_t bytes = wti_seen_caller(call, &text);
	uint32_t caller = number_of(pictures, text, bytes ? bytes : strlen(text));
	uint32_t callee = number_of(pictures, call->callee, strlen(call->callee));
	uint64_t *slot = caller && callee ? wti_map_number(&pictures->edge_index,
							   (uint64_t)caller << 32 | callee)
					  : NULL;
	struct edge *edge;

	if (!slot) /* too many, which the page has no room for anyway */
		return 0;
	if (!*slot) {
		if (wti_grow(&pictures->edges, pictures->edge_count + 1, &pictures->edge_capacity,
			     EDGES_SEEN_MAX))
			return WT_E_NOMEM;
		pictures->edges[pictures->edge_count] =
			(struct edge){.caller = caller, .callee = callee};
		*slot = ++pictures->edge_count;
	}
	edge = &pictures->edges[*slot - 1];
	edge->calls++;
	edge->lost = fmax(edge->lost, call->lost);
	return add_span(pictures, call, callee);
}

struct wti_digits_watcher wti_pictures_watcher(struct wti_pictures *pictures)
{
	return (struct wti_digits_watcher){pictures, see_value, see_call};
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void put_digits(struct wt_table *table, double bits, double base)
{
	if (isnan(bits))
		wt_table_empty(table);
	else
		wt_table_number(table, round(100 * wti_digits_in_base(bits, base)) / 100);
}

/* Six digits are more than a picture shows. */
static void put_size(struct wt_table *table, double size)
{
	char text[32];

	if (!isfinite(size)) {
		wt_table_empty(table);
		return;
	}
	snprintf(text, sizeof(text), "%.6g", size);
	wt_table_number(table, strtod(text, NULL));
}

static void put_points(struct wti_pictures *pictures, double base, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "points", "");

	wt_table_column(table, "order", "", WT_CELL_COUNT);
	wt_table_column(table, "step", "", WT_CELL_NUMBER);
	wt_table_column(table, "site", "", WT_CELL_TEXT);
	wt_table_column(table, "value", "", WT_CELL_TEXT);
	wt_table_column(table, "direction", "", WT_CELL_TEXT);
	wt_table_column(table, "digits", "", WT_CELL_NUMBER);
	wt_table_column(table, "size", "", WT_CELL_NUMBER);
	wt_table_column(table, "deviation", "", WT_CELL_NUMBER);
	if (pictures->point_count)
		qsort(pictures->points, pictures->point_count, sizeof(*pictures->points), by_order);
	for (size_t i = 0; i < pictures->point_count; i++) {
		const struct point *point = &pictures->points[i];

		wt_table_row(table);
		wt_table_count(table, point->order);
		if (point->step >= 0)
			wt_table_number(table, (double)point->step);
		else
			wt_table_empty(table);
		wti_table_word(table, text_at(pictures, point->site));
		wti_table_word(table, text_at(pictures, point->value));
		wti_table_word(table, point->is_in ? "in" : "out");
		put_digits(table, (double)point->digits, base);
		put_size(table, (double)point->size);
		put_size(table, (double)point->deviation);
	}
	if (pictures->points_left_out)
		wt_result_note(result, "%llu values are not in the pictures: the run has too many",
			       (unsigned long long)pictures->points_left_out);
}

static int worst_first(const void *a, const void *b)
{
	const struct tensor *x = *(const struct tensor *const *)a;
	const struct tensor *y = *(const struct tensor *const *)b;

	if (x->share != y->share)
		return x->share < y->share ? -1 : 1;
	return strcmp(x->label, y->label);
}

static void put_elements(struct wti_pictures *pictures, double base, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "elements", "");

	wt_table_column(table, "tensor", "", WT_CELL_TEXT);
	wt_table_column(table, "shape", "", WT_CELL_TEXT);
	wt_table_column(table, "place", "", WT_CELL_COUNT);
	wt_table_column(table, "digits", "", WT_CELL_NUMBER);
	qsort(pictures->tensors, pictures->tensor_count, sizeof(*pictures->tensors), worst_first);
	for (size_t i = 0; i < pictures->tensor_count; i++) {
		const struct tensor *tensor = pictures->tensors[i];

		for (uint32_t k = 0; k < tensor->count; k++) {
			wt_table_row(table);
			wti_table_word(table, tensor->label);
			wti_table_word(table, tensor->shape);
			wt_table_count(table, tensor->places[k]);
			put_digits(table, (double)tensor->digits[k], base);
		}
	}
}

static int most_lost_first(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost > y->lost ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void put_edges(struct wti_pictures *pictures, double base, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "edges", "");

	wt_table_column(table, "caller", "", WT_CELL_TEXT);
	wt_table_column(table, "callee", "", WT_CELL_TEXT);
	wt_table_column(table, "calls", "", WT_CELL_COUNT);
	wt_table_column(table, "lost", "", WT_CELL_NUMBER);
	if (pictures->edge_count)
		qsort(pictures->edges, pictures->edge_count, sizeof(*pictures->edges),
		      most_lost_first);
	for (size_t i = 0; i < pictures->edge_count && i < WTI_PICTURE_EDGES_MAX; i++) {
		const struct edge *edge = &pictures->edges[i];

		wt_table_row(table);
		wti_table_word(table, text_at(pictures, edge->caller));
		wti_table_word(table, text_at(pictures, edge->callee));
		wt_table_count(table, edge->calls);
		put_digits(table, edge->lost, base);
	}
}

static int by_first(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last > y->last ? -1 : x->last < y->last;
}

static void put_spans(struct wti_pictures *pictures, double base, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "spans", "");

	wt_table_column(table, "first", "", WT_CELL_COUNT);
	wt_table_column(table, "last", "", WT_CELL_COUNT);
	wt_table_column(table, "function", "", WT_CELL_TEXT);
	wt_table_column(table, "lost", "", WT_CELL_NUMBER);
	if (pictures->span_count)
		qsort(pictures->spans, pictures->span_count, sizeof(*pictures->spans), by_first);
	for (size_t i = 0; i < pictures->span_count; i++) {
		const struct span *span = &pictures->spans[i];

		wt_table_row(table);
		wt_table_count(table, span->first);
		wt_table_count(table, span->last);
		wti_table_word(table, text_at(pictures, span->callee));
		put_digits(table, (double)span->lost, base);
	}
}

void wti_pictures_report(struct wti_pictures *pictures, double base, struct wt_result *result)
{
	put_points(pictures, base, result);
	put_elements(pictures, base, result);
	put_edges(pictures, base, result);
	put_spans(pictures, base, result);
}
