/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a golden as TOML: sorted, a thing a table, an act a line, so that a change is a few lines.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "golden.h"

/* A basic string of TOML: JSON's escapes are among its. */
static void add_quoted(struct wti_buf *out, const char *text)
{
	wti_buf_byte(out, '"');
	wti_json_escape(out, text, strlen(text));
	wti_buf_byte(out, '"');
}

static bool is_bare(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-")];
}

static void add_key(struct wti_buf *out, const char *word)
{
	if (is_bare(word))
		wti_buf_text(out, word);
	else
		add_quoted(out, word);
}

static void add_range(struct wti_buf *out, struct wti_range range)
{
	if (range.low != range.high)
		wti_buf_byte(out, '"');
	wti_range_text(out, range);
	if (range.low != range.high)
		wti_buf_byte(out, '"');
}

static void add_fact(struct wti_buf *out, const struct wti_golden_fact *fact)
{
	add_key(out, fact->word);
	wti_buf_text(out, " = ");
	if (!fact->step.high) {
		add_range(out, fact->total);
	} else {
		wti_buf_text(out, "{ total = ");
		add_range(out, fact->total);
		wti_buf_text(out, ", step = ");
		add_range(out, fact->step);
		wti_buf_text(out, " }");
	}
	wti_buf_byte(out, '\n');
}

static void add_thing(struct wti_buf *out, const struct wti_golden_thing *thing)
{
	wti_buf_printf(out, "\n[%s.", wti_thing_word(thing->type));
	add_quoted(out, thing->name);
	wti_buf_text(out, "]\n");
	if (thing->is_optional)
		wti_buf_text(out, "optional = true\n");
	if (thing->via) {
		wti_buf_text(out, "via = ");
		add_quoted(out, thing->via);
		wti_buf_byte(out, '\n');
	}
	if (thing->permissions)
		wti_buf_printf(out, "%s = \"%04o\"\n",
			       thing->type == WTI_THING_PROCESS ? "umask" : "mode",
			       thing->permissions & 07777);
	for (size_t i = 0; i < thing->fact_count; i++)
		add_fact(out, &thing->facts[i]);
}

/* Things of which only their presence counts are a list, not a table each. */
static void add_list(struct wti_buf *out, const struct wti_golden *golden, enum wti_thing_type type)
{
	for (int optional = 0; optional < 2; optional++) {
		bool any = false;

		for (size_t i = 0; i < golden->thing_count; i++) {
			const struct wti_golden_thing *thing = &golden->things[i];

			if (thing->type != type || thing->is_optional != (bool)optional)
				continue;
			if (!any)
				wti_buf_printf(out, "%s = [\n", optional ? "sometimes" : "always");
			any = true;
			wti_buf_text(out, "  ");
			add_quoted(out, thing->name);
			wti_buf_text(out, ",\n");
		}
		if (any)
			wti_buf_text(out, "]\n");
	}
}

static void add_lists(struct wti_buf *out, const struct wti_golden *golden)
{
	enum wti_thing_type last = WTI_THING_TYPES;

	for (size_t i = 0; i < golden->thing_count; i++) {
		enum wti_thing_type type = golden->things[i].type;

		if (wti_thing_exactness(type) != WTI_COMPARE_PRESENCE || type == last)
			continue;
		wti_buf_printf(out, "\n[%s]\n", wti_thing_word(type));
		add_list(out, golden, type);
		last = type;
	}
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare_acts(const struct wti_order *order, const struct wti_way *a,
			const struct wti_way *b)
{
	for (size_t i = 0; i < a->acts.count && i < b->acts.count; i++) {
		int r = strcmp(wti_order_text(order, a->acts.tokens[i]),
			       wti_order_text(order, b->acts.tokens[i]));

		if (r)
			return r;
	}
	return (a->acts.count > b->acts.count) - (a->acts.count < b->acts.count);
}

static int by_way(const void *a, const void *b, void *opaque)
{
	const struct wti_way *x = *(const struct wti_way *const *)a;
	const struct wti_way *y = *(const struct wti_way *const *)b;
	int r = strcmp(x->role, y->role);

	r = r ? r : (int)x->when - (int)y->when;
	return r ? r : compare_acts(opaque, x, y);
}

static void add_way(struct wti_buf *out, const struct wti_order *order, const struct wti_way *way)
{
	wti_buf_text(out, "\n[[order]]\nof = ");
	add_quoted(out, way->role);
	wti_buf_printf(out, "\nwhen = \"%s\"\nacts = [\n", wti_when_word(way->when));
	for (size_t i = 0; i < way->acts.count; i++) {
		wti_buf_text(out, "  ");
		add_quoted(out, wti_order_text(order, way->acts.tokens[i]));
		wti_buf_text(out, ",\n");
	}
	wti_buf_text(out, "]\n");
}

static void add_order(struct wti_buf *out, const struct wti_golden *golden)
{
	const struct wti_order *order = &golden->order;
	const struct wti_way **sorted = calloc(order->way_count + 1, sizeof(*sorted));
	size_t count = 0;

	if (!sorted) {
		out->status = WT_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < order->way_count; i++)
		if (!wti_order_varies(order, order->ways[i].role, order->ways[i].when))
			sorted[count++] = &order->ways[i];
	qsort_r(sorted, count, sizeof(*sorted), by_way, (void *)(uintptr_t)order);
	for (size_t i = 0; i < count; i++)
		add_way(out, order, sorted[i]);
	for (size_t i = 0; i < order->varying.count; i++) {
		const char *key = order->varying.entries[i].text; /* "1 role" */

		wti_buf_text(out, "\n[[order]]\nof = ");
		add_quoted(out, key + 2);
		wti_buf_printf(out, "\nwhen = \"%s\"\nvaries = true\n",
			       wti_when_word((enum wti_when)(key[0] - '0')));
	}
	free(sorted);
}

void wti_golden_write(const struct wti_golden *golden, struct wti_buf *out)
{
	wti_buf_text(out,
		     "# What this program does, as `wheeltap golden add` has learned it. Review "
		     "changes as you\n"
		     "# review code; `wheeltap help golden` explains it.\n");
	wti_buf_printf(out, "format = %d\nname = ", golden->format);
	add_quoted(out, golden->name);
	wti_buf_text(out, "\narch = ");
	add_quoted(out, golden->arch ? golden->arch : "");
	wti_buf_text(out, "\nrecorded = ");
	add_quoted(out, golden->recorded);
	wti_buf_printf(out, "\nruns = %llu\nsteps = ", (unsigned long long)golden->run_count);
	add_range(out, golden->steps);
	wti_buf_byte(out, '\n');
	if (golden->has_times) {
		wti_buf_text(out, "\n[times]\nstep_ns = ");
		add_range(out, golden->step_ns);
		wti_buf_text(out, "\nslower = ");
		wti_buf_printf(out, "%.2f\n", golden->slower);
	}
	for (size_t i = 0; i < golden->thing_count; i++)
		if (wti_thing_exactness(golden->things[i].type) != WTI_COMPARE_PRESENCE)
			add_thing(out, &golden->things[i]);
	add_lists(out, golden);
	add_order(out, golden);
}
