/* SPDX-License-Identifier: Apache-2.0 */
/* Comments and empty lines are passed over; everything else has to be a row like the others. */
#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a line; 0: it is not one of numbers. */
static size_t split(const char *line, double *numbers, size_t room)
{
	size_t count = 0;

	for (const char *at = line; count < room;) {
		char *end;

		numbers[count] = strtod(at, &end);
		if (end == at)
			return 0;
		count++;
		if (*end != ',')
			return *end == '\n' || !*end ? count : 0;
		at = end + 1;
	}
	return 0;
}

static bool add(struct csv *csv, const double *numbers, size_t count)
{
	double label = count ? numbers[count - 1] : -1;
	size_t row = csv->count;

	if (count < 2 || (csv->columns && count != csv->columns + 1) || row == CSV_ROWS_MAX ||
	    label < 0 || label >= CSV_CLASSES_MAX)
		return false;
	csv->columns = count - 1;
	for (size_t i = 0; i < csv->columns; i++)
		csv->rows[row][i] = (float)numbers[i];
	csv->labels[row] = (unsigned)label;
	csv->classes = csv->labels[row] + 1 > csv->classes ? csv->labels[row] + 1 : csv->classes;
	csv->count++;
	return true;
}

static void count_majority(struct csv *csv)
{
	size_t counts[CSV_CLASSES_MAX] = {0}, most = 0;

	for (size_t i = 0; i < csv->count; i++) {
		size_t count = ++counts[csv->labels[i]];

		most = count > most ? count : most;
	}
	csv->majority = csv->count ? (double)most / (double)csv->count : 0;
}

bool csv_read(struct csv *csv, const char *path)
{
	FILE *in = fopen(path, "r");
	char line[1024];
	unsigned number = 0;
	bool good = in;

	memset(csv, 0, sizeof(*csv));
	while (good && fgets(line, sizeof(line), in)) {
		double numbers[CSV_COLUMNS_MAX + 1];

		number++;
		if (line[0] != '#' && line[0] != '\n')
			good = add(csv, numbers, split(line, numbers, CSV_COLUMNS_MAX + 1));
	}
	if (in)
		fclose(in);
	if (!good || !csv->count) {
		fprintf(stderr, "cannot use '%s', line %u: make it with 'wheeltap dataset make'\n",
			path, number);
		return false;
	}
	count_majority(csv);
	return true;
}
