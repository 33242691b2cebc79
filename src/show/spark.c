/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the heights, and which value stands for several. */
#include "spark.h"

#include <math.h>

#define HEIGHTS 8

static double farthest(const double *values, size_t count, double middle)
{
	double found = NAN;

	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]) &&
		    (isnan(found) || fabs(values[i] - middle) > fabs(found - middle)))
			found = values[i];
	return found;
}

static void put(struct wti_buf *out, double value, double low, double high, bool ascii)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char plain[] = "_.-:=+*#";
	double share = high > low ? (value - low) / (high - low) : 0.5;
	int height = (int)(share * (HEIGHTS - 1) + 0.5);

	if (isnan(value))
		wti_buf_byte(out, 'x');
	else if (ascii)
		wti_buf_byte(out, (uint8_t)plain[height]);
	else
		wti_buf_text(out, blocks[height]);
}

void wti_show_spark(struct wti_buf *out, const double *values, size_t count, size_t columns,
		    bool ascii)
{
	double low = INFINITY, high = -INFINITY;
	size_t width = count < columns ? count : columns;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			continue;
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	for (size_t i = 0; i < width; i++) {
		size_t from = i * count / width, to = (i + 1) * count / width;

		put(out, farthest(values + from, to - from, low + (high - low) / 2), low, high,
		    ascii);
	}
}
