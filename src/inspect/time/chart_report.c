/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a timeline as a result: facts, tables, a series a row, and notes on what is not in
 * them. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "inspect/core/label.h"
#include "chart.h"

#define LANE_BARS_MAX 1000u /* one a pixel of a wide page; half of WTI_BARS_KEPT */
#define NAME_MAX 96u        /* bytes of a bar's */

struct window {
	int64_t from_ns, to_ns;
	int64_t device_from_ns, device_to_ns;
};

static struct window find_window(const struct wti_chart *c)
{
	struct window w = {INT64_MAX, INT64_MIN, c->device_from_ns, c->device_to_ns};

	for (size_t i = 0; i < c->row_count; i++) {
		const struct wti_busy *busy = &c->rows[i].busy;

		if (!busy->busy_ns) /* spans whose outermost was lost */
			continue;
		w.from_ns = busy->first_ns < w.from_ns ? busy->first_ns : w.from_ns;
		w.to_ns = busy->last_ns > w.to_ns ? busy->last_ns : w.to_ns;
	}
	if (w.from_ns > w.to_ns)
		w.from_ns = w.to_ns = 0;
	if (c->options.from_ns != INT64_MIN)
		w.from_ns = w.device_from_ns = c->options.from_ns;
	if (c->options.to_ns != INT64_MAX)
		w.to_ns = w.device_to_ns = c->options.to_ns;
	return w;
}

static double percent(uint64_t busy_ns, int64_t from_ns, int64_t to_ns)
{
	/* As floats: a damaged trace may have times whose difference does not fit. */
	double length = (double)to_ns - (double)from_ns;

	return length > 0 ? 100.0 * (double)busy_ns / length : 0;
}

static bool is_of_device(const struct wti_chart_row *row)
{
	return row->of.type == WTI_CHART_DEVICE || row->of.type == WTI_CHART_QUEUE;
}

static double utilisation(const struct wti_chart_row *row, const struct window *w)
{
	return is_of_device(row) ? percent(row->busy.busy_ns, w->device_from_ns, w->device_to_ns)
				 : percent(row->busy.busy_ns, w->from_ns, w->to_ns);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static struct wt_text joined(char out[WTI_LABEL_BYTES], struct wt_text first, const char *second)
{
	int bytes = snprintf(out, WTI_LABEL_BYTES, "%.*s %s", (int)first.bytes, first.data, second);

	return (struct wt_text){out, bytes < WTI_LABEL_BYTES ? (size_t)bytes : WTI_LABEL_BYTES - 1};
}

/* "rank 1", or the command with its pid: whose device it is. */
static struct wt_text process_label(char out[WTI_LABEL_BYTES], const struct wti_chart *c,
				    const struct wti_chart_row *row)
{
	const struct wt_identity *identity =
		wt_reader_identity(wt_trace_stream(c->trace, row->of.stream));
	int bytes;

	if (row->of.role.rank)
		return wti_label_number(out, "rank ", row->of.role.rank - 1);
	bytes = snprintf(out, WTI_LABEL_BYTES, "%s (%u)",
			 *identity->command ? identity->command : "process", identity->pid);
	return (struct wt_text){out, bytes < WTI_LABEL_BYTES ? (size_t)bytes : WTI_LABEL_BYTES - 1};
}

static struct wt_text device_label(char out[WTI_LABEL_BYTES], const struct wti_chart *c,
				   const struct wti_chart_row *row)
{
	char device[32], process[WTI_LABEL_BYTES];

	if (!row->is_shared)
		return wti_label_number(out, "device ", row->of.device);
	snprintf(device, sizeof(device), "device %u", row->of.device);
	return joined(out, process_label(process, c, row), device);
}

static struct wt_text row_label(char out[WTI_LABEL_BYTES], const struct wti_chart *c,
				const struct wti_chart_row *row)
{
	char thread[WTI_LABEL_BYTES];

	if (row->of.type == WTI_CHART_DEVICE)
		return device_label(out, c, row);
	if (row->of.type == WTI_CHART_SYSCALLS)
		return joined(
			out,
			wti_role_label(thread, &c->roles, row->beside_stream, row->beside_track),
			"system calls");
	return wti_role_label(out, &c->roles, row->of.stream, row->of.track);
}

static const char *type_of(const struct wti_chart_row *row)
{
	static const char *const types[] = {[WTI_CHART_THREAD] = "thread",
					    [WTI_CHART_SYSCALLS] = "system calls",
					    [WTI_CHART_DEVICE] = "device",
					    [WTI_CHART_QUEUE] = "queue"};

	return types[row->of.type];
}

static void series_key(char *out, size_t bytes, const struct wti_chart_row *row)
{
	if (row->of.type == WTI_CHART_DEVICE && row->is_shared)
		snprintf(out, bytes, "device_%zu_%u", row->of.stream, row->of.device);
	else if (row->of.type == WTI_CHART_DEVICE)
		snprintf(out, bytes, "device_%u", row->of.device);
	else
		snprintf(out, bytes, "%s_%zu_%u",
			 row->of.type == WTI_CHART_SYSCALLS ? "syscalls" : "track", row->of.stream,
			 row->of.track);
}

/* ---- Series and tables ----------------------------------------------------------------------- */

static void add_series(const struct wti_chart *c, struct wt_result *result,
		       const struct wti_chart_row *row, const struct window *w)
{
	uint32_t columns = c->options.columns ? c->options.columns : WTI_CHART_COLUMNS;
	double step = ((double)w->to_ns - (double)w->from_ns) / columns;
	char label[WTI_LABEL_BYTES], title[WTI_LABEL_BYTES], key[64];
	struct wt_text text = row_label(label, c, row);
	struct wt_series *series;

	snprintf(title, sizeof(title), "%.*s", (int)text.bytes, text.data);
	series_key(key, sizeof(key), row);
	series = wt_result_series(result, key, title, "percent", (double)w->from_ns, step, columns);
	for (uint32_t i = 0; series && i < columns; i++) {
		double from = (double)w->from_ns + i * step;

		series->y[i] = 100.0 * wti_busy_between(&row->busy, from, from + step) / step;
		if (series->y[i] > 100)
			series->y[i] = 100;
	}
}

static void add_track(const struct wti_chart *c, struct wt_table *table,
		      const struct wti_chart_row *row, const struct window *w)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = row_label(label, c, row);

	wt_table_row(table);
	wt_table_text(table, text.data, text.bytes);
	wt_table_text(table, type_of(row), strlen(type_of(row)));
	wt_table_count(table, row->of.stream);
	wt_table_count(table, row->of.track);
	wt_table_count(table, row->count);
	wt_table_ns(table, (int64_t)row->busy.busy_ns);
	wt_table_number(table, utilisation(row, w));
}

static void add_tracks(const struct wti_chart *c, struct wt_result *result, const struct window *w)
{
	struct wt_table *table = wt_result_table(result, "tracks", "");

	wt_table_column(table, "track", "track", WT_CELL_TEXT);
	wt_table_column(table, "type", "type", WT_CELL_TEXT);
	wt_table_column(table, "stream", "stream", WT_CELL_ID);
	wt_table_column(table, "id", "id", WT_CELL_ID);
	wt_table_column(table, "count", "count", WT_CELL_COUNT);
	wt_table_column(table, "busy_ns", "busy", WT_CELL_NS);
	wt_table_column(table, "utilisation", "utilisation", WT_CELL_PERCENT);
	for (size_t i = 0; i < c->row_count; i++) {
		if (c->rows[i].of.type != WTI_CHART_DEVICE)
			add_track(c, table, &c->rows[i], w);
		add_series(c, result, &c->rows[i], w);
	}
}

static bool has_shared_devices(const struct wti_chart *c)
{
	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].is_shared)
			return true;
	return false;
}

/* Whose a device is, people see where it is not clear. */
static void add_devices(const struct wti_chart *c, struct wt_result *result, const struct window *w)
{
	struct wt_table *table = wt_result_table(result, "devices", "devices");

	wt_table_column(table, "device", "device", WT_CELL_ID);
	wt_table_column(table, "process", has_shared_devices(c) ? "process" : "", WT_CELL_TEXT);
	wt_table_column(table, "operations", "operations", WT_CELL_COUNT);
	wt_table_column(table, "busy_ns", "busy", WT_CELL_NS);
	wt_table_column(table, "utilisation", "utilisation", WT_CELL_PERCENT);
	wt_table_column(table, "concurrency_max", "most at once", WT_CELL_COUNT);
	wt_table_column(table, "concurrency_max_at_ns", "first at", WT_CELL_NS);
	for (size_t i = 0; i < c->row_count; i++) {
		const struct wti_chart_row *row = &c->rows[i];
		char label[WTI_LABEL_BYTES];
		struct wt_text process;

		if (row->of.type != WTI_CHART_DEVICE)
			continue;
		process = process_label(label, c, row);
		wt_table_row(table);
		wt_table_count(table, row->of.device);
		wt_table_text(table, process.data, process.bytes);
		wt_table_count(table, row->count);
		wt_table_ns(table, (int64_t)row->busy.busy_ns);
		wt_table_number(table, utilisation(row, w));
		wt_table_count(table, (uint64_t)row->concurrency->max);
		wt_table_ns(table, row->concurrency->max_at_ns);
	}
}

/* ---- Bars ------------------------------------------------------------------------------------ */

struct lanes {
	struct wt_table *lanes; /* a row a lane */
	struct wt_table *bars;  /* a row a bar, with the number of its lane */
	uint64_t window_ns;
	size_t most; /* bars of a lane */
};

static struct lanes make_lanes(const struct wti_chart *c, struct wt_result *result,
			       const struct window *w)
{
	size_t share = c->options.bars / (c->lane_count ? c->lane_count : 1);
	struct lanes lanes = {wt_result_table(result, "lanes", ""),
			      wt_result_table(result, "bars", ""),
			      w->to_ns > w->from_ns ? (uint64_t)w->to_ns - (uint64_t)w->from_ns : 0,
			      share < LANE_BARS_MAX ? share : LANE_BARS_MAX};

	wt_table_column(lanes.lanes, "track", "", WT_CELL_TEXT);
	wt_table_column(lanes.lanes, "type", "", WT_CELL_TEXT);
	wt_table_column(lanes.lanes, "depth", "", WT_CELL_COUNT);
	wt_table_column(lanes.bars, "lane", "", WT_CELL_COUNT);
	wt_table_column(lanes.bars, "name", "", WT_CELL_TEXT);
	wt_table_column(lanes.bars, "from_ns", "", WT_CELL_NS);
	wt_table_column(lanes.bars, "to_ns", "", WT_CELL_NS);
	wt_table_column(lanes.bars, "count", "", WT_CELL_COUNT);
	wt_table_column(lanes.bars, "busy_ns", "", WT_CELL_NS);
	return lanes;
}

/* Names of kernels can have thousands of bytes; never cut within a character. */
static size_t name_bytes(struct wt_text name)
{
	size_t bytes = name.bytes;

	if (bytes <= NAME_MAX)
		return bytes;
	for (bytes = NAME_MAX; bytes && ((unsigned char)name.data[bytes] & 0xc0) == 0x80;)
		bytes--;
	return bytes;
}

static void add_bar(struct lanes *lanes, const struct wti_bar *bar)
{
	struct wt_table *table = lanes->bars;
	uint64_t busy_ns = bar->busy_ns > INT64_MAX ? INT64_MAX : bar->busy_ns;

	wt_table_row(table);
	wt_table_count(table, lanes->lanes->row_count - 1);
	wt_table_text(table, bar->name.data, name_bytes(bar->name));
	wt_table_ns(table, bar->from_ns);
	wt_table_ns(table, bar->to_ns);
	wt_table_count(table, bar->count);
	wt_table_ns(table, (int64_t)busy_ns);
}

/* A queue stands without its device: its name says whose it is where that is not clear. */
static void add_lane(struct lanes *lanes, const struct wti_chart *c, struct wti_chart_row *row,
		     uint32_t depth)
{
	struct wti_bars *bars = &row->bars[depth];
	char first[WTI_LABEL_BYTES], second[WTI_LABEL_BYTES], both[WTI_LABEL_BYTES];
	struct wt_text label = row_label(first, c, row);

	wti_bars_settle(bars, lanes->window_ns, lanes->most);
	if (!bars->count)
		return;
	if (row->is_shared) {
		snprintf(second, sizeof(second), "%.*s", (int)label.bytes, label.data);
		label = joined(both, process_label(first, c, row), second);
	}
	wt_table_row(lanes->lanes);
	wt_table_text(lanes->lanes, label.data, label.bytes);
	wt_table_text(lanes->lanes, type_of(row), strlen(type_of(row)));
	wt_table_count(lanes->lanes, depth);
	for (size_t i = 0; i < bars->count; i++)
		add_bar(lanes, &bars->all[i]);
}

/* The more lanes, the fewer bars each: the picture of a run has a bounded size. */
static void add_lanes(struct wti_chart *c, struct wt_result *result, const struct window *w)
{
	struct lanes lanes;

	if (!c->options.bars)
		return;
	lanes = make_lanes(c, result, w);
	for (size_t i = 0; i < c->row_count; i++)
		for (uint32_t depth = 0; depth < WTI_CHART_DEPTHS; depth++)
			add_lane(&lanes, c, &c->rows[i], depth);
}

/* ---- Facts and notes ------------------------------------------------------------------------- */

static void add_facts(const struct wti_chart *c, struct wt_result *result, const struct window *w)
{
	wt_result_fact_count(result, "window_from_ns", "from", WT_CELL_NS, (uint64_t)w->from_ns);
	wt_result_fact_count(result, "window_to_ns", "to", WT_CELL_NS, (uint64_t)w->to_ns);
	if (!c->op_count)
		return;
	wt_result_fact_count(result, "device_window_from_ns", "", WT_CELL_NS,
			     (uint64_t)w->device_from_ns);
	wt_result_fact_count(result, "device_window_to_ns", "", WT_CELL_NS,
			     (uint64_t)w->device_to_ns);
	wt_result_fact_count(result, "concurrency_max", "most at once", WT_CELL_COUNT,
			     (uint64_t)c->all.max);
	wt_result_fact_count(result, "concurrency_max_at_ns", "first at", WT_CELL_NS,
			     (uint64_t)c->all.max_at_ns);
}

static void add_notes(const struct wti_chart *c, struct wt_result *result)
{
	uint64_t clipped_count = 0;

	for (size_t i = 0; i < c->row_count; i++)
		clipped_count += c->rows[i].busy.clipped_count;
	if (c->lost_count)
		wt_result_note(result,
			       "%llu events were lost: tracks may seem less busy than they were",
			       (unsigned long long)c->lost_count);
	if (clipped_count)
		wt_result_note(result,
			       "%llu intervals came too late to be counted in full: "
			       "utilisation is a lower bound",
			       (unsigned long long)clipped_count);
	if (c->all.late_count)
		wt_result_note(result,
			       "%llu operations came too late to be put in order: the most "
			       "at once is a lower bound",
			       (unsigned long long)c->all.late_count);
	if (c->left_out_count)
		wt_result_note(result, "too many tracks: %llu intervals are not shown",
			       (unsigned long long)c->left_out_count);
	if (c->undrawn_count)
		wt_result_note(result, "too many tracks: %llu intervals have no bars",
			       (unsigned long long)c->undrawn_count);
	if (c->reversed_count)
		wt_result_note(result, "%llu device operations end before they start: left out",
			       (unsigned long long)c->reversed_count);
	if (c->timeless_count)
		wt_result_note(result, "%llu device operations have no times: left out",
			       (unsigned long long)c->timeless_count);
}

static void note_empty(const struct wti_chart *c, struct wt_result *result)
{
	bool before = c->before_ns != INT64_MIN, after = c->after_ns != INT64_MAX;
	char from[16], to[16];

	if (!before && !after) {
		wt_result_note(result, "nothing to draw: no spans, calls, system calls or device "
				       "operations");
		return;
	}
	wti_format_ns(from, c->before_ns);
	wti_format_ns(to, c->after_ns);
	wt_result_note(result,
		       "nothing to draw in this window: no span, call, system call or device "
		       "operation; the nearest %s%s%s%s%s",
		       before ? "before it ends at " : "", before ? from : "",
		       before && after ? ", the nearest " : "", after ? "after it begins at " : "",
		       after ? to : "");
}

void wti_chart_report(struct wti_chart *c, struct wt_result *result)
{
	struct window w;

	if (c->row_count) {
		w = find_window(c);
		add_facts(c, result, &w);
		add_tracks(c, result, &w);
		add_lanes(c, result, &w);
		add_devices(c, result, &w);
	} else {
		wt_result_set_status(result, "not_measured");
		note_empty(c, result);
	}
	add_notes(c, result);
}
