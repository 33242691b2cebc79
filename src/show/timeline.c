/* SPDX-License-Identifier: Apache-2.0 */
/* A line a track, eight heights a cell; a ruler above; devices and the most at once below. System
 * calls stand below their thread, queues below their device. */
#include <string.h>

#include "base/text.h"
#include "timeline.h"

static void pad(struct wti_buf *out, size_t columns)
{
	while (columns--)
		wti_buf_byte(out, ' ');
}

/* Anything that is not idle shows at least the lowest bar. */
static void add_bar(struct wti_buf *out, const struct wt_series *series, bool ascii)
{
	static const char *const all[2][9] = {{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
					      {" ", ".", ":", "-", "=", "+", "*", "%", "#"}};
	const char *const *bars = all[ascii];

	for (size_t i = 0; i < series->count; i++) {
		int height = (int)(series->y[i] * 8 / 100 + 0.5);

		if (!height && series->y[i] > 0)
			height = 1;
		wti_buf_text(out, bars[height < 0 ? 0 : height > 8 ? 8 : height]);
	}
}

static void add_label(struct wti_buf *out, const char *title, bool indented, const char *mark)
{
	struct wti_buf label;
	size_t columns = WTI_TIMELINE_LABEL - (indented ? 2 : 0);
	size_t bytes, width;
	const char *text;

	wti_buf_init(&label, 4096);
	wti_printable(&label, title, strlen(title));
	text = wti_buf_cstr(&label);
	bytes = strlen(text);
	if (wti_text_width(text, bytes) > columns) {
		size_t marked = wti_text_width(mark, strlen(mark));

		bytes = wti_text_fit(text, bytes, columns - marked);
		width = wti_text_width(text, bytes) + marked;
	} else {
		width = wti_text_width(text, bytes);
	}
	pad(out, indented ? 2 : 0);
	wti_buf_append(out, text, bytes);
	if (bytes < strlen(text))
		wti_buf_text(out, mark);
	pad(out, columns - width);
	wti_buf_inherit(out, &label);
	wti_buf_release(&label);
}

static void add_ruler(struct wti_buf *out, const struct wt_series *series,
		      const struct wti_style *style)
{
	double to = series->x_first + series->x_step * (double)series->count;
	char left[16], right[16];
	size_t used;

	wti_format_ns(left, (int64_t)series->x_first);
	wti_format_ns(right, (int64_t)(to + 0.5));
	used = strlen(left) + strlen(right);
	pad(out, WTI_TIMELINE_LABEL + 1);
	wti_ink(out, style, WTI_INK_DIM);
	wti_buf_text(out, left);
	pad(out, series->count > used ? series->count - used : 1);
	wti_buf_text(out, right);
	wti_buf_text(out, "    busy");
	wti_ink(out, style, WTI_INK_END);
	wti_buf_byte(out, '\n');
}

static const struct wt_table *table_of(const struct wt_result *result, const char *key)
{
	for (size_t i = 0; i < result->table_count; i++) {
		if (!strcmp(result->tables[i]->key, key))
			return result->tables[i];
	}
	return NULL;
}

/* Tracks and devices stand in their tables in the order of the series. */
static double utilisation(const struct wt_table *table, size_t row, const char *key)
{
	for (size_t i = 0; table && i < table->column_count && row < table->row_count; i++) {
		if (!strcmp(table->columns[i].key, key))
			return table->cells[row * table->column_count + i].number;
	}
	return 0;
}

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* A row below that of its thread needs no other name; one without stands alone. */
static const char *syscalls_label(const struct wt_series *series, const struct wt_series *above)
{
	const char *rest;

	if (!above || !begins_with(series->title, above->title))
		return NULL;
	rest = series->title + strlen(above->title);
	return *rest == ' ' ? rest + 1 : NULL;
}

static void add_row_label(struct wti_buf *out, const struct wt_series *series,
			  const struct wt_series *above, bool is_queue, const char *mark)
{
	const char *shorter =
		begins_with(series->key, "syscalls_") ? syscalls_label(series, above) : NULL;

	add_label(out, shorter ? shorter : series->title, is_queue || shorter, mark);
}

void wti_show_timeline(struct wti_buf *out, const struct wt_result *result,
		       const struct wti_style *style)
{
	const struct wt_table *tracks = table_of(result, "tracks");
	const struct wt_table *devices = table_of(result, "devices");
	size_t track = 0, device = 0;
	bool below_device = false;

	if (result->series_count)
		add_ruler(out, result->series[0], style);
	for (size_t i = 0; i < result->series_count; i++) {
		const struct wt_series *series = result->series[i];
		bool is_device = begins_with(series->key, "device_");
		double busy = is_device ? utilisation(devices, device++, "utilisation")
					: utilisation(tracks, track++, "utilisation");

		below_device |= is_device;
		add_row_label(out, series, i ? result->series[i - 1] : NULL,
			      below_device && !is_device, style->ascii ? "..." : "…");
		wti_buf_byte(out, ' ');
		wti_ink(out, style, is_device ? WTI_INK_GREEN : WTI_INK_END);
		add_bar(out, series, style->ascii);
		wti_ink(out, style, WTI_INK_END);
		wti_buf_printf(out, " %6.1f%%\n", busy);
	}
	if (devices && devices->row_count) {
		wti_buf_byte(out, '\n');
		wti_show_table(out, devices, style);
	}
}
