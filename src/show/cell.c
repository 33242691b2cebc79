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
	case WT_CELL_NUMBER:
		wti_buf_printf(out, "%.6g", cell->number);
		break;
	case WT_CELL_PERCENT:
		wti_buf_printf(out, "%.1f%%", cell->number);
		break;
	case WT_CELL_NS:
		wti_buf_text(out, wti_format_ns(text, cell->ns));
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
