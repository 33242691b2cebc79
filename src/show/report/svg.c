/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the geometry of a picture: where its axes are and how wide a column is. */
#include "svg.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/markup.h"

/* Units of the picture; on a telephone one is about a pixel, on a wide page one and a half. */
enum { WIDTH = 400, HEIGHT = 180, LEFT = 46, RIGHT = 8, TOP = 12, BOTTOM = 30 };
enum { COLUMNS = 2 * (WIDTH - LEFT - RIGHT), TICKS_X = 5, TICKS_Y = 4 };
/* From here on the lower values could not be told apart on a plain axis. */
#define LOGARITHMIC_FROM 1000.

struct column {
	double low, high, last;
	bool has_value, has_nonfinite;
};

struct plane {
	double x_from, x_to;
	double low, high; /* logarithms on a logarithmic axis */
	bool is_logarithmic;
};

static double low_of(const struct wt_series *series, size_t i)
{
	return series->low ? series->low[i] : series->y[i];
}

static double high_of(const struct wt_series *series, size_t i)
{
	return series->high ? series->high[i] : series->y[i];
}

static bool is_nonfinite(const struct wt_series *series, size_t i)
{
	return series->nonfinite ? series->nonfinite[i] : !isfinite(series->y[i]);
}

static bool measure(const struct wt_series *series, struct plane *plane)
{
	double low = DBL_MAX, high = -DBL_MAX;

	for (size_t i = 0; i < series->count; i++) {
		if (isfinite(low_of(series, i)))
			low = fmin(low, low_of(series, i));
		if (isfinite(high_of(series, i)))
			high = fmax(high, high_of(series, i));
	}
	*plane = (struct plane){.x_from = series->x_first,
				.x_to = series->x_first +
					(double)(series->count - 1) * series->x_step,
				.low = low,
				.high = high};
	if (low > high)
		return false;
	if (low > 0 && high / low > LOGARITHMIC_FROM) {
		plane->is_logarithmic = true;
		plane->low = log10(low);
		plane->high = log10(high);
	} else if (low == high) {
		plane->low -= fabs(low) > 0 ? fabs(low) * 0.1 : 1;
		plane->high += fabs(high) > 0 ? fabs(high) * 0.1 : 1;
	}
	if (plane->x_to <= plane->x_from)
		plane->x_to = plane->x_from + 1;
	return isfinite(plane->high - plane->low);
}

static double y_of(const struct plane *plane, double value)
{
	double share = ((plane->is_logarithmic ? log10(value) : value) - plane->low) /
		       (plane->high - plane->low);

	return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
}

static double x_of_column(size_t column)
{
	return LEFT + (double)column / 2;
}

static size_t column_of(const struct plane *plane, const struct wt_series *series, size_t i)
{
	double x = series->x_first + (double)i * series->x_step;
	double share = (x - plane->x_from) / (plane->x_to - plane->x_from);
	double column = share * (COLUMNS - 1) + 0.5;

	return column <= 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : (size_t)column;
}

static void fill(struct column *columns, const struct plane *plane, const struct wt_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		struct column *column = &columns[column_of(plane, series, i)];
		double low = low_of(series, i), high = high_of(series, i);

		column->has_nonfinite |= is_nonfinite(series, i);
		if (!isfinite(low) || !isfinite(high))
			continue;
		column->low = column->has_value ? fmin(column->low, low) : low;
		column->high = column->has_value ? fmax(column->high, high) : high;
		column->last = series->y[i];
		column->has_value = true;
	}
}

/* ---- What is drawn --------------------------------------------------------------------------- */

/* From the lowest to the highest value of each column that has more than one. */
static void put_ranges(struct wti_buf *out, const struct column *columns, const struct plane *plane)
{
	wti_buf_text(out, "<path class=\"range\" d=\"");
	for (size_t i = 0; i < COLUMNS; i++)
		if (columns[i].has_value && columns[i].high > columns[i].low)
			wti_buf_printf(out, "M%.1f %.1fV%.1f", x_of_column(i),
				       y_of(plane, columns[i].low), y_of(plane, columns[i].high));
	wti_buf_text(out, "\"/>");
}

/* Through the last values, interrupted where there was none that is a number. */
static void put_line(struct wti_buf *out, const struct column *columns, const struct plane *plane)
{
	bool is_open = false;
	size_t count = 0, only = 0;

	wti_buf_text(out, "<path class=\"line\" d=\"");
	for (size_t i = 0; i < COLUMNS; i++) {
		if (columns[i].has_value) {
			wti_buf_printf(out, "%c%.1f %.1f", is_open ? 'L' : 'M', x_of_column(i),
				       y_of(plane, columns[i].last));
			only = i;
			count++;
			is_open = true;
		}
		is_open &= !columns[i].has_nonfinite;
	}
	wti_buf_text(out, "\"/>");
	if (count == 1)
		wti_buf_printf(out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>",
			       x_of_column(only), y_of(plane, columns[only].last));
}

static void put_nonfinite(struct wti_buf *out, const struct column *columns)
{
	bool is_any = false;

	for (size_t i = 0; i < COLUMNS; i++)
		is_any |= columns[i].has_nonfinite;
	if (!is_any)
		return;
	wti_buf_text(out, "<path class=\"nonfinite\" d=\"");
	for (size_t i = 0; i < COLUMNS; i++)
		if (columns[i].has_nonfinite)
			wti_buf_printf(out, "M%.1f %dV%d", x_of_column(i), TOP, HEIGHT - BOTTOM);
	wti_buf_text(out, "\"/>");
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that there are at most so many steps. */
static double nice_step(double span, int steps)
{
	double rough = span / steps;
	double power = pow(10, floor(log10(rough)));

	for (int i = 0; i < 3; i++) {
		static const double times[] = {1, 2, 5};

		if (times[i] * power >= rough)
			return times[i] * power;
	}
	return 10 * power;
}

static void put_number(struct wti_buf *out, double number)
{
	double size = fabs(number);
	char text[32];

	if (size >= 1e6 || (size > 0 && size < 1e-3))
		snprintf(text, sizeof(text), "%.2g", number);
	else
		snprintf(text, sizeof(text), "%.6g", number);
	wti_buf_text(out, text);
}

static void put_tick_y(struct wti_buf *out, double y, double value)
{
	wti_buf_printf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" ",
		       LEFT, y, WIDTH - RIGHT, LEFT - 4, y + 4);
	wti_buf_text(out, "text-anchor=\"end\">");
	put_number(out, value);
	wti_buf_text(out, "</text>");
}

static void put_axis_y(struct wti_buf *out, const struct plane *plane)
{
	double span = plane->high - plane->low;
	double step = plane->is_logarithmic ? ceil(span / TICKS_Y) : nice_step(span, TICKS_Y);

	for (int i = 0; i <= 2 * TICKS_Y; i++) {
		double at = (ceil(plane->low / step) + i) * step;
		double value = plane->is_logarithmic    ? pow(10, at)
			       : fabs(at) < step * 1e-9 ? 0
							: at;

		if (!(at <= plane->high + step * 1e-9))
			break;
		put_tick_y(out, y_of(plane, value), value);
	}
}

static void put_axis_x(struct wti_buf *out, const struct plane *plane, const char *x_word)
{
	double step = fmax(1, nice_step(plane->x_to - plane->x_from, TICKS_X));

	for (int i = 0; i <= 2 * TICKS_X; i++) {
		double at = (ceil(plane->x_from / step) + i) * step;
		double share = (at - plane->x_from) / (plane->x_to - plane->x_from);
		double x = LEFT + share * (WIDTH - LEFT - RIGHT);

		if (!(share <= 1))
			break;
		wti_buf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">", x,
			       HEIGHT - BOTTOM + 14, share > 0.95 ? "end" : "middle");
		put_number(out, at);
		wti_buf_text(out, "</text>");
	}
	wti_buf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
		       (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4);
	wti_markup_text(out, x_word);
	wti_buf_text(out,
		     plane->is_logarithmic ? "; values on a logarithmic scale</text>" : "</text>");
}

bool wti_svg_series(struct wti_buf *out, const struct wt_series *series, const char *x_word)
{
	struct column *columns;
	struct plane plane;

	if (!series->count || !measure(series, &plane))
		return false;
	columns = calloc(COLUMNS, sizeof(*columns));
	if (!columns) {
		out->status = WT_E_NOMEM;
		return true;
	}
	fill(columns, &plane, series);
	wti_buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
	wti_markup_text(out, series->title);
	wti_buf_text(out, "\">");
	put_axis_y(out, &plane);
	put_axis_x(out, &plane, x_word);
	put_nonfinite(out, columns);
	put_ranges(out, columns, &plane);
	put_line(out, columns, &plane);
	wti_buf_text(out, "</svg>\n");
	free(columns);
	return true;
}
