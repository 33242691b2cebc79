/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a data set: which reader, features and labels apart, the hash of its file. */
#include "dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/text.h"
#include "dataset/own.h"

#define ARENA_MAX ((size_t)256 << 20)
#define WORDS_MAX ((size_t)1 << 22)

int wti_dataset_no_memory(struct wt_err *err)
{
	return wti_err(err, WT_E_NOMEM, "out of memory for a data set");
}

int wti_dataset_too_large(const struct wti_dataset *set, struct wt_err *err)
{
	return wti_err(err, WT_E_LIMIT,
		       "'%s' has more than %zu cells: inspect a part of it at a time", set->path,
		       WTI_DATASET_CELLS_MAX);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

void wti_cells_init(struct wti_cells *cells)
{
	*cells = (struct wti_cells){0};
	wti_map_init(&cells->words, WORDS_MAX);
}

void wti_cells_release(struct wti_cells *cells)
{
	free(cells->numbers);
	free(cells->texts);
	wti_map_release(&cells->words);
}

int wti_cells_add(struct wti_cells *cells, size_t index, double number, const char *word,
		  size_t word_bytes)
{
	uint64_t *slot = word ? wti_map_text(&cells->words, word, word_bytes) : NULL;
	int r = wti_grow(&cells->numbers, index + 1, &cells->number_capacity,
			 WTI_DATASET_CELLS_MAX);

	if (!r)
		r = wti_grow_zeroed(&cells->texts, index + 1, &cells->text_capacity,
				    WTI_DATASET_CELLS_MAX);
	if (r || (word && !slot))
		return r ? r : WT_E_LIMIT;
	if (slot && !*slot)
		*slot = cells->words.count;
	cells->numbers[index] = number;
	cells->texts[index] = slot ? (uint32_t)*slot : 0;
	return 0;
}

static double number_of_word(const char *word)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, of which a double holds 53 bits */

	for (; *word; word++)
		hash = (hash ^ (uint8_t)*word) * 0x100000001b3u;
	return (double)(hash >> 11);
}

/* What stands in a cell, as a text. */
static const char *cell_text(const struct wti_cells *cells, size_t index, char spelled[32])
{
	uint32_t word = cells->texts[index];

	if (word)
		return cells->words.entries[word - 1].text;
	snprintf(spelled, 32, "%.17g", cells->numbers[index]);
	return spelled;
}

/* ---- Features and labels --------------------------------------------------------------------- */

static int add_class(struct wti_dataset *set, struct wti_map *known, const char *text,
		     uint32_t *ret_label, struct wt_err *err)
{
	uint64_t *slot = wti_map_text(known, text, strlen(text));

	if (!slot)
		return wti_err(err, WT_E_LIMIT,
			       "'%s' has more than %u classes: name the column of the labels",
			       set->path, WTI_DATASET_CLASSES_MAX);
	if (!*slot) {
		set->classes[set->class_count] = wti_arena_text(&set->arena, text, strlen(text));
		if (!set->classes[set->class_count])
			return wti_dataset_no_memory(err);
		*slot = ++set->class_count;
	}
	*ret_label = (uint32_t)*slot - 1;
	return 0;
}

static int fill_labels(struct wti_dataset *set, const struct wti_cells *cells, size_t column,
		       struct wt_err *err)
{
	struct wti_map known;
	int r = 0;

	set->labels = calloc((size_t)cells->rows + 1, sizeof(*set->labels));
	set->classes = calloc(WTI_DATASET_CLASSES_MAX, sizeof(*set->classes));
	if (!set->labels || !set->classes)
		return wti_dataset_no_memory(err);
	set->class_count = 0;
	set->label_name = cells->names ? cells->names[column] : "label";
	wti_map_init(&known, WTI_DATASET_CLASSES_MAX);
	for (uint64_t i = 0; !r && i < cells->rows; i++) {
		char spelled[32];
		const char *text = cell_text(cells, i * cells->columns + column, spelled);

		r = add_class(set, &known, text, &set->labels[i], err);
	}
	wti_map_release(&known);
	return r;
}

static int fill_columns(struct wti_dataset *set, const struct wti_cells *cells, size_t label_column,
			struct wt_err *err)
{
	size_t next = 0;

	set->column = wti_arena_alloc(&set->arena, (set->columns + 1) * sizeof(*set->column));
	if (!set->column)
		return wti_dataset_no_memory(err);
	for (size_t c = 0; c < cells->columns; c++) {
		char name[32];

		if (c == label_column)
			continue;
		snprintf(name, sizeof(name), "%zu", c);
		set->column[next].name = cells->names
						 ? cells->names[c]
						 : wti_arena_text(&set->arena, name, strlen(name));
		for (uint64_t i = 0; !set->column[next].is_text && i < cells->rows; i++)
			set->column[next].is_text = cells->texts[i * cells->columns + c];
		if (!set->column[next++].name)
			return wti_dataset_no_memory(err);
	}
	return 0;
}

int wti_dataset_fill(struct wti_dataset *set, const struct wti_cells *cells, size_t label_column,
		     struct wt_err *err)
{
	double *out;
	int r;

	set->rows = cells->rows;
	set->columns = cells->columns - (label_column != WTI_NO_COLUMN);
	set->values = calloc((size_t)set->rows * set->columns + 1, sizeof(*set->values));
	r = set->values ? fill_columns(set, cells, label_column, err) : wti_dataset_no_memory(err);
	if (r)
		return r;
	out = set->values;
	for (uint64_t i = 0; i < cells->rows; i++) {
		for (size_t c = 0, next = 0; c < cells->columns; c++) {
			size_t index = i * cells->columns + c;
			char spelled[32];

			if (c == label_column)
				continue;
			*out++ = set->column[next++].is_text
					 ? number_of_word(cell_text(cells, index, spelled))
					 : cells->numbers[index];
		}
	}
	return label_column == WTI_NO_COLUMN ? 0 : fill_labels(set, cells, label_column, err);
}

bool wti_dataset_class_number(const struct wti_dataset *set, uint32_t label, uint32_t *ret)
{
	uint64_t number;

	if (!wti_parse_u64(set->classes[label], &number) || number > UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int hash_file(struct wti_dataset *set, struct wt_err *err)
{
	struct wti_sha sha;
	uint8_t block[16384];
	ssize_t got;
	int fd = wti_open_input(set->path, err);

	if (fd < 0)
		return fd;
	wti_sha_init(&sha, true);
	while ((got = read(fd, block, sizeof(block))) > 0) {
		wti_sha_add(&sha, block, (size_t)got);
		set->bytes += (uint64_t)got;
	}
	close(fd);
	wti_sha_end(&sha, set->sha);
	return got < 0 ? wti_err_errno(err, "cannot read", set->path) : 0;
}

/* By its first bytes: numpy's mark, or that of a zip file. */
static bool is_arrays(const char *path)
{
	uint8_t head[6] = {0};
	int fd = wti_open_input(path, NULL);
	ssize_t got = fd < 0 ? -1 : wti_pread_all(fd, head, sizeof(head), 0);

	if (fd >= 0)
		close(fd);
	return got >= 4 && (!memcmp(head, "\x93NUMPY", 6) || !memcmp(head, "PK\x03\x04", 4));
}

static int new_set(const char *path, struct wti_dataset **ret, struct wt_err *err)
{
	struct wti_dataset *set = calloc(1, sizeof(*set));

	if (!set)
		return wti_dataset_no_memory(err);
	wti_arena_init(&set->arena, ARENA_MAX);
	set->path = wti_arena_text(&set->arena, path, strlen(path));
	if (!set->path) {
		wti_dataset_free(set);
		return wti_dataset_no_memory(err);
	}
	*ret = set;
	return 0;
}

static int read_set(struct wti_dataset *set, const char *label, struct wt_err *err)
{
	int r = hash_file(set, err);

	if (r)
		return r;
	r = is_arrays(set->path) ? wti_dataset_read_arrays(set, set->path, err)
				 : wti_dataset_read_csv(set, set->path, label, err);
	if (!r && (!set->rows || !set->columns))
		r = wti_err(err, WT_E_FORMAT, "'%s' has no %s", set->path,
			    set->rows ? "columns" : "rows");
	return r;
}

int wti_dataset_open(const char *path, const char *label, struct wti_dataset **ret,
		     struct wt_err *err)
{
	struct wti_dataset *set = NULL;
	int r = new_set(path, &set, err);

	if (r)
		return r;
	r = read_set(set, label, err);
	if (r)
		wti_dataset_free(set);
	else
		*ret = set;
	return r;
}

int wti_dataset_take_labels(struct wti_dataset *set, const char *path, struct wt_err *err)
{
	struct wti_dataset *other = NULL;
	struct wti_cells cells;
	int r = wti_dataset_open(path, "", &other, err);

	if (r)
		return r;
	if (other->columns != 1 || other->rows != set->rows) {
		r = wti_err(
			err, WT_E_FORMAT,
			"'%s' has %llu rows and %zu columns: labels for '%s' need %llu rows and "
			"one column",
			path, (unsigned long long)other->rows, other->columns, set->path,
			(unsigned long long)set->rows);
		wti_dataset_free(other);
		return r;
	}
	wti_cells_init(&cells);
	cells.columns = 1;
	for (; !r && cells.rows < other->rows; cells.rows++)
		r = wti_cells_add(&cells, (size_t)cells.rows, other->values[cells.rows], NULL, 0);
	free(set->labels);
	free(set->classes);
	set->labels_path = wti_arena_text(&set->arena, path, strlen(path));
	r = r || !set->labels_path ? wti_dataset_no_memory(err) : fill_labels(set, &cells, 0, err);
	wti_cells_release(&cells);
	wti_dataset_free(other);
	return r;
}

void wti_dataset_free(struct wti_dataset *set)
{
	if (!set)
		return;
	free(set->values);
	free(set->labels);
	free(set->classes);
	wti_arena_release(&set->arena);
	free(set);
}
