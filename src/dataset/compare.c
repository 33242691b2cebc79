/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are the same: within a data set, and between several that should have none in common.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/err.h"
#include "base/map.h"
#include "dataset/codes.h"
#include "dataset/dataset.h"

/* Zero has one sign, and all that is missing is the same. */
static double canonical(double value)
{
	return value == 0 ? 0 : isnan(value) ? NAN : value;
}

static uint64_t hash_row(const double *row, size_t columns)
{
	uint64_t hash = columns;

	for (size_t c = 0; c < columns; c++) {
		double value = canonical(row[c]);

		hash = XXH3_64bits_withSeed(&value, sizeof(value), hash);
	}
	return hash;
}

static bool is_same(const double *a, const double *b, size_t columns)
{
	for (size_t c = 0; c < columns; c++) {
		double x = canonical(a[c]), y = canonical(b[c]);

		if (memcmp(&x, &y, sizeof(x)))
			return false;
	}
	return true;
}

/* A row of any of the sets, by its number among all of them. */
struct rows {
	const struct wti_dataset *const *sets;
	size_t count;
	uint64_t *begin; /* of each set, and the end of the last */
};

static size_t set_of(const struct rows *rows, uint64_t row)
{
	size_t set = 0;

	while (row >= rows->begin[set + 1])
		set++;
	return set;
}

static const double *row_at(const struct rows *rows, uint64_t row, size_t *ret_set)
{
	*ret_set = set_of(rows, row);
	return wti_dataset_row(rows->sets[*ret_set], row - rows->begin[*ret_set]);
}

static const char *class_of(const struct rows *rows, uint64_t row)
{
	size_t set = set_of(rows, row);
	const struct wti_dataset *in = rows->sets[set];

	return in->labels ? in->classes[in->labels[row - rows->begin[set]]] : NULL;
}

/* Rows without a label have the same one. */
static bool has_same_label(const struct rows *rows, uint64_t a, uint64_t b)
{
	const char *x = class_of(rows, a), *y = class_of(rows, b);

	return !x || !y ? x == y : !strcmp(x, y);
}

static uint64_t hash_label(const struct rows *rows, uint64_t row)
{
	const char *label = class_of(rows, row);

	return label ? XXH3_64bits(label, strlen(label)) : 0;
}

/* The first row of that content, and of that label if it counts. Rows whose hash alone is the same
 * count as different. */
static int first_rows(const struct rows *rows, bool by_label, uint64_t *first)
{
	struct wti_map by_hash;
	int r = 0;

	wti_map_init(&by_hash, WTI_DATASET_CELLS_MAX);
	for (uint64_t i = 0; !r && i < rows->begin[rows->count]; i++) {
		size_t set, other;
		const double *row = row_at(rows, i, &set);
		size_t columns = rows->sets[set]->columns;
		uint64_t hash = hash_row(row, columns) ^ (by_label ? hash_label(rows, i) : 0);
		uint64_t *slot = wti_map_number(&by_hash, hash);
		const double *before = slot && *slot ? row_at(rows, *slot - 1, &other) : NULL;

		first[i] = i;
		if (!slot)
			r = WT_E_NOMEM;
		else if (!before)
			*slot = i + 1;
		else if (rows->sets[other]->columns == columns && is_same(row, before, columns) &&
			 (!by_label || has_same_label(rows, *slot - 1, i)))
			first[i] = *slot - 1;
	}
	wti_map_release(&by_hash);
	return r;
}

/* ---- Findings -------------------------------------------------------------------------------- */

/* What two sets, or a set and itself, have in common. */
struct common {
	uint64_t rows;     /* of the second */
	uint64_t first[2]; /* the first such pair */
	uint64_t contradicting;
	uint64_t contradiction[2];
};

static struct common *common_of(const struct rows *rows, struct common *all, uint64_t a, uint64_t b)
{
	return &all[set_of(rows, a) * rows->count + set_of(rows, b)];
}

static void add_row(struct common *common, uint64_t first, uint64_t row)
{
	if (common->rows++)
		return;
	common->first[0] = first;
	common->first[1] = row;
}

/* Within a set a row with another label is a contradiction, and `again` only if a row before has
 * its label, too. `twin`: the first row of that label as well. */
static void add_pair(const struct rows *rows, struct common *all, uint64_t first, uint64_t twin,
		     uint64_t row)
{
	struct common *common = common_of(rows, all, first, row);
	bool is_within = set_of(rows, first) == set_of(rows, row);

	if (!is_within)
		add_row(common, first, row);
	else if (twin != row && set_of(rows, twin) == set_of(rows, row))
		add_row(common, twin, row);
	if (!class_of(rows, first) || !class_of(rows, row) || has_same_label(rows, first, row) ||
	    common->contradicting++)
		return;
	common->contradiction[0] = first;
	common->contradiction[1] = row;
}

static void report_contradiction(const struct rows *rows, const struct common *common,
				 struct wt_result *result)
{
	uint64_t a = common->contradiction[0], b = common->contradiction[1];
	const struct wti_dataset *x = rows->sets[set_of(rows, a)], *y = rows->sets[set_of(rows, b)];
	char evidence[600];

	if (!common->contradicting)
		return;
	snprintf(evidence, sizeof(evidence),
		 "%llu rows; the first: row %llu of '%.150s' is '%.60s', row %llu of '%.150s' is "
		 "'%.60s'",
		 (unsigned long long)common->contradicting,
		 (unsigned long long)(a - rows->begin[set_of(rows, a)]), x->path, class_of(rows, a),
		 (unsigned long long)(b - rows->begin[set_of(rows, b)]), y->path,
		 class_of(rows, b));
	wti_dataset_report(result, WTI_SET_CONTRADICTION, WT_ERROR, y, common->contradicting,
			   wti_dataset_codes[WTI_SET_CONTRADICTION].title, evidence);
}

static void report_common(const struct rows *rows, size_t a, size_t b, const struct common *common,
			  struct wt_result *result)
{
	const struct wti_dataset *x = rows->sets[a], *y = rows->sets[b];
	char title[512], evidence[256];

	if (!common->rows)
		return;
	snprintf(evidence, sizeof(evidence),
		 "%llu of %llu rows; the first is row %llu, which is row "
		 "%llu %s",
		 (unsigned long long)common->rows, (unsigned long long)y->rows,
		 (unsigned long long)(common->first[1] - rows->begin[b]),
		 (unsigned long long)(common->first[0] - rows->begin[a]),
		 a == b ? "again" : "of the other");
	if (a == b) {
		wti_dataset_report(result, WTI_SET_DUPLICATES, WT_WARNING, y, common->rows,
				   wti_dataset_codes[WTI_SET_DUPLICATES].title, evidence);
	} else {
		snprintf(title, sizeof(title), "rows of '%.200s' are in '%.200s', too", y->path,
			 x->path);
		wti_dataset_report(result, WTI_SET_LEAK, WT_ERROR, y, common->rows, title,
				   evidence);
	}
}

static int compare(const struct rows *rows, struct wt_result *result)
{
	size_t row_count = (size_t)rows->begin[rows->count];
	uint64_t *first = calloc(row_count + 1, sizeof(*first));
	uint64_t *twin = calloc(row_count + 1, sizeof(*twin));
	struct common *common = calloc(rows->count * rows->count + 1, sizeof(*common));
	int r = first && twin && common ? first_rows(rows, false, first) : WT_E_NOMEM;

	r = r ? r : first_rows(rows, true, twin);
	for (uint64_t i = 0; !r && i < row_count; i++)
		if (first[i] != i)
			add_pair(rows, common, first[i], twin[i], i);
	for (size_t i = 0; !r && i < rows->count * rows->count; i++) {
		report_common(rows, i / rows->count, i % rows->count, &common[i], result);
		report_contradiction(rows, &common[i], result);
	}
	free(first);
	free(twin);
	free(common);
	return r;
}

int wti_dataset_compare(const struct wti_dataset *const *sets, size_t count,
			struct wt_result *result, struct wt_err *err)
{
	struct rows rows = {sets, count, calloc(count + 1, sizeof(*rows.begin))};
	int r = WT_E_NOMEM;

	for (size_t i = 0; rows.begin && i < count; i++)
		rows.begin[i + 1] = rows.begin[i] + sets[i]->rows;
	if (rows.begin)
		r = compare(&rows, result);
	free(rows.begin);
	return r ? wti_err(err, r, "out of memory for comparing rows") : 0;
}
