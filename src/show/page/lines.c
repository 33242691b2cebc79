/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses lines until there are enough, then reads each file once. A file that is not there, or is
 * shorter than it was, has no lines to show: never an error.
 */
#include "lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define AROUND 3u
#define FILE_MAX (8u << 20)
#define TEXT_MAX 400u
#define LEAST 1. /* bits: less than that is one rounding */

struct chosen {
	const char *file;
	size_t rank; /* of its file: the worst first */
	uint64_t line;
	double lost;
};

struct choice {
	struct chosen all[WTI_PAGE_LINES_MAX];
	size_t count, files;
};

static const struct wt_table *table_of(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->table_count; i++) {
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	}
	return NULL;
}

/* The number of the column; -1: there is none. */
static int column_of(const struct wt_table *table, const char *key)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (!strcmp(table->columns[i].key, key))
			return (int)i;
	}
	return -1;
}

static void choose_line(struct choice *choice, const char *file, uint64_t line, double lost)
{
	size_t rank = choice->files;

	for (size_t i = 0; i < choice->count; i++) {
		if (strcmp(choice->all[i].file, file) != 0)
			continue;
		rank = choice->all[i].rank;
		if (choice->all[i].line != line)
			continue;
		choice->all[i].lost = lost > choice->all[i].lost ? lost : choice->all[i].lost;
		return;
	}
	if (choice->count == WTI_PAGE_LINES_MAX)
		return;
	choice->files += rank == choice->files;
	choice->all[choice->count++] = (struct chosen){file, rank, line, lost};
}

static void choose(struct choice *choice, const struct wt_table *sites)
{
	int file = column_of(sites, "file"), line = column_of(sites, "line");
	int lost = column_of(sites, "lost");

	for (size_t row = 0; file >= 0 && line >= 0 && lost >= 0 && row < sites->row_count; row++) {
		const struct wt_cell *cells = &sites->cells[row * sites->column_count];
		uint64_t at = cells[line].type == WT_CELL_COUNT ? cells[line].count : 0;

		if (cells[file].type != WT_CELL_TEXT || !*cells[file].text || !at ||
		    cells[lost].type != WT_CELL_NUMBER || !(cells[lost].number >= LEAST))
			continue;
		choose_line(choice, cells[file].text, at, cells[lost].number);
		for (uint64_t i = 1; i <= AROUND; i++) {
			if (at > i)
				choose_line(choice, cells[file].text, at - i, 0);
			choose_line(choice, cells[file].text, at + i, 0);
		}
	}
}

static int by_place(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool read_file(const char *file, const char *directory, struct wti_buf *text)
{
	struct wt_err err = {.offset = -1};
	char path[PATH_MAX];
	ssize_t bytes;
	int length, fd;

	wti_buf_clear(text);
	length = *file == '/' || !directory
			 ? snprintf(path, sizeof(path), "%s", file)
			 : snprintf(path, sizeof(path), "%s/%s", directory, file);
	if (length < 0 || (size_t)length >= sizeof(path))
		return false;
	fd = wti_open_regular(path, &err);
	if (fd < 0)
		return false;
	do {
		uint8_t part[65536];

		bytes = wti_pread_all(fd, part, sizeof(part), text->bytes);
		if (bytes > 0)
			wti_buf_append(text, part, (size_t)bytes);
	} while (bytes > 0 && !text->status);
	close(fd);
	return bytes == 0 && !text->status;
}

/* Lines of one file, sorted: in one pass over its text. */
static void put_lines(struct wt_table *table, const struct chosen *lines, size_t count,
		      const struct wti_buf *text)
{
	const char *from = (const char *)text->data, *end = from + text->bytes;
	uint64_t number = 1;

	for (size_t i = 0; i < count && from < end; number++) {
		const char *stop = memchr(from, '\n', (size_t)(end - from));
		size_t bytes = (size_t)((stop ? stop : end) - from);

		if (lines[i].line == number) {
			wt_table_row(table);
			wt_table_text(table, lines[i].file, strlen(lines[i].file));
			wt_table_count(table, number);
			wt_table_text(table, from, bytes < TEXT_MAX ? bytes : TEXT_MAX);
			wt_table_number(table, lines[i].lost);
			i++;
		}
		from = stop ? stop + 1 : end;
	}
}

void wti_page_lines(struct wt_result *result, const char *directory)
{
	const struct wt_table *sites = table_of(result, "sites");
	struct choice *choice = calloc(1, sizeof(*choice));
	struct wt_table *table;
	struct wti_buf text;

	if (!sites || !choice) {
		free(choice);
		return;
	}
	choose(choice, sites);
	if (choice->count)
		qsort(choice->all, choice->count, sizeof(*choice->all), by_place);
	table = wt_result_table(result, "source", "");
	wt_table_column(table, "file", "", WT_CELL_TEXT);
	wt_table_column(table, "line", "", WT_CELL_COUNT);
	wt_table_column(table, "text", "", WT_CELL_TEXT);
	wt_table_column(table, "lost", "", WT_CELL_NUMBER);
	wti_buf_init(&text, FILE_MAX);
	for (size_t i = 0, end; i < choice->count; i = end) {
		for (end = i + 1;
		     end < choice->count && choice->all[end].rank == choice->all[i].rank;)
			end++;
		if (read_file(choice->all[i].file, directory, &text))
			put_lines(table, &choice->all[i], end - i, &text);
	}
	wti_buf_release(&text);
	free(choice);
}
