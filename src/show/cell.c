/* SPDX-License-Identifier: Apache-2.0 */
/* A cell as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cell.h"

void wti_cell_number(struct wti_buf *out, double number)
{
	char text[40];

	if (!isfinite(number)) {
		wti_buf_text(out, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	wti_buf_text(out, text);
}

/* Three digits that count, so that times of a column can be compared. */
static void add_ns(struct wti_buf *out, int64_t ns)
{
	static const struct {
		const char *name;
		double ns;
		double below; /* of the next unit */
	} units[] = {{"ns", 1, 1e3},     {"us", 1e3, 1e3},  {"ms", 1e6, 1e3},     {"s", 1e9, 120},
		     {"min", 60e9, 120}, {"h", 3600e9, 48}, {"d", 86400e9, 1e300}};
	double size = fabs((double)ns);
	size_t i = 0;
	double value;

	while (size / units[i].ns >= units[i].below * 0.9995)
		i++;
	value = (double)ns / units[i].ns;
	size = fabs(value);
	wti_buf_printf(out, "%.*f %s",
		       !i || size >= 99.95 ? 0
		       : size >= 9.995     ? 1
					   : 2,
		       value, units[i].name);
}

void wti_cell_people(struct wti_buf *out, const struct wt_cell *cell)
{
	char text[32];

	switch (cell->type) {
	case WT_CELL_EMPTY:
		wti_buf_byte(out, '-');
		break;
	case WT_CELL_TEXT:
		wti_printable(out, cell->text, cell->text_bytes);
		break;
	case WT_CELL_COUNT:
		wti_buf_text(out, wti_format_count(text, cell->count));
		break;
	case WT_CELL_BYTES:
		wti_buf_text(out, wti_format_bytes(text, cell->count));
		break;
	case WT_CELL_ID:
		wti_buf_printf(out, "%llu", (unsigned long long)cell->count);
		break;
	case WT_CELL_NUMBER:
		wti_buf_printf(out, "%.6g", cell->number);
		break;
	case WT_CELL_PERCENT:
		wti_buf_printf(out, "%.1f%%", cell->number);
		break;
	case WT_CELL_NS:
		add_ns(out, cell->ns);
		break;
	}
}

void wti_cell_exact(struct wti_buf *out, const struct wt_cell *cell)
{
	switch (cell->type) {
	case WT_CELL_EMPTY:
		break;
	case WT_CELL_TEXT:
		wti_buf_append(out, cell->text, cell->text_bytes);
		break;
	case WT_CELL_COUNT:
	case WT_CELL_BYTES:
	case WT_CELL_ID:
		wti_buf_printf(out, "%llu", (unsigned long long)cell->count);
		break;
	case WT_CELL_NUMBER:
	case WT_CELL_PERCENT:
		wti_cell_number(out, cell->number);
		break;
	case WT_CELL_NS:
		wti_buf_printf(out, "%lld", (long long)cell->ns);
		break;
	}
}
