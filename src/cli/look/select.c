/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds by their names, and where the last events begin. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "select.h"

void wti_select_release(struct wti_select *select)
{
	free(select->kinds_memory);
	select->kinds_memory = NULL;
}

static bool kind_exists(const struct wt_trace *trace, const char *name)
{
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; j < wt_reader_kind_count(reader); j++) {
			if (!strcmp(wt_reader_kind_at(reader, j)->name, name))
				return true;
		}
	}
	return wt_kind_by_name(name) != NULL;
}

static int check_kind(const struct wt_trace *trace, const char *name, struct wt_err *err)
{
	const char *names[WTI_SELECT_KINDS_MAX];
	size_t count = 0;
	const char *near;

	if (kind_exists(trace, name))
		return 0;
	for (; count < wt_kind_builtin_count() && count < WTI_SELECT_KINDS_MAX; count++)
		names[count] = wt_kind_builtin_at(count)->name;
	near = wti_suggest(name, names, count);
	if (near)
		return wti_err(err, WT_E_ARG, "unknown kind '%.64s'; did you mean '%s'?", name,
			       near);
	return wti_err(err, WT_E_ARG, "unknown kind '%.64s'; 'wheeltap info' lists those of a run",
		       name);
}

static char *join_kinds(const struct wti_list *list)
{
	struct wti_buf all;
	char *text;

	wti_buf_init(&all, 1u << 20);
	for (size_t i = 0; i < list->count; i++) {
		wti_buf_text(&all, list->items[i]);
		wti_buf_byte(&all, ',');
	}
	text = strdup(wti_buf_cstr(&all));
	wti_buf_release(&all);
	return text;
}

static int select_kinds(struct wti_select *select, const struct wti_list *list,
			const struct wt_trace *trace, struct wt_err *err)
{
	char *rest;

	if (!list->count)
		return 0;
	select->kinds_memory = rest = join_kinds(list);
	if (!rest)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	while (*rest) {
		char *word = rest;
		int r;

		rest += strcspn(rest, ",");
		if (*rest)
			*rest++ = 0;
		if (!*word)
			continue;
		if (select->query.kind_count == WTI_SELECT_KINDS_MAX)
			return wti_err(err, WT_E_ARG, "too many kinds; leave --kind out for all");
		r = check_kind(trace, word, err);
		if (r)
			return r;
		select->kinds[select->query.kind_count++] = word;
	}
	select->query.kinds = select->kinds;
	return 0;
}

static void add_context(struct wti_select *select, const char *key, const char *value)
{
	struct wt_query *query = &select->query;

	if (!value || query->condition_count == WTI_SELECT_MAX)
		return;
	select->conditions[query->condition_count++] = (struct wt_condition){key, value};
	query->conditions = select->conditions;
}

static bool is_number(const char *text, size_t bytes)
{
	char digits[32];
	uint64_t number;

	if (bytes >= sizeof(digits))
		return false;
	memcpy(digits, text, bytes);
	digits[bytes] = 0;
	return wti_parse_u64(digits, &number);
}

/* "12", "-1", "3-5" */
static bool is_range(const char *text)
{
	size_t first = (*text == '-') + strcspn(text + (*text == '-'), "-");

	if (!is_number(text + (*text == '-'), first - (*text == '-')))
		return false;
	return !text[first] || is_number(text + first + 1, strlen(text + first + 1));
}

/* Steps and epochs are whole numbers, so that nothing could match another word. */
static int add_number(struct wti_select *select, const char *key, const char *value,
		      struct wt_err *err)
{
	if (value && !is_range(value))
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for --%s; it takes a whole number such as 100, "
			       "or a range such as 3-5",
			       value, key);
	add_context(select, key, value);
	return 0;
}

int wti_select(struct wti_select *select, const struct wti_time_window *window,
	       const struct wti_wanted_events *events, const struct wt_trace *trace,
	       struct wt_err *err)
{
	int r;

	*select = (struct wti_select){0};
	wt_query_init(&select->query);
	select->query.from_ns = window->from_ns;
	select->query.to_ns = window->to_ns;
	select->query.name = events->name;
	select->query.track = events->track;
	r = add_number(select, "step", events->step, err);
	add_context(select, "stage", events->stage);
	r = r ? r : add_number(select, "epoch", events->epoch, err);
	return r ? r : select_kinds(select, &events->kinds, trace, err);
}

bool wti_select_bounds(const struct wt_trace *trace, const char *key, int64_t *ret_first,
		       int64_t *ret_last)
{
	static const char *const kinds[] = {"context"};
	size_t bytes = strlen(key);
	struct wt_cursor *cursor;
	struct wt_query query;
	struct wt_event event;
	bool any = false;

	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = 1;
	if (wt_cursor_open(trace, &query, &cursor, NULL))
		return false;
	while (wt_cursor_next(cursor, &event, NULL) > 0) {
		struct wt_text name = wt_event_text(&event, WT_CONTEXT_FIELD_KEY);
		int64_t value = wt_event_i64(&event, WT_CONTEXT_FIELD_VALUE);

		if (name.bytes != bytes || memcmp(name.data, key, bytes) ||
		    wt_event_u64(&event, WT_CONTEXT_FIELD_TYPE) != WT_VALUE_TYPE_INT)
			continue;
		*ret_first = any && *ret_first < value ? *ret_first : value;
		*ret_last = any && *ret_last > value ? *ret_last : value;
		any = true;
	}
	wt_cursor_free(cursor);
	return any;
}

struct start {
	int64_t ns;
	uint64_t rows;
};

static int latest_first(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static bool wanted(const struct wt_query *query, const struct wt_kind *kind)
{
	for (size_t i = 0; kind && i < query->kind_count; i++) {
		if (!strcmp(query->kinds[i], kind->name))
			return true;
	}
	return !query->kinds;
}

static size_t collect(const struct wti_select *select, const struct wt_trace *trace, size_t stream,
		      struct start *starts, size_t count)
{
	const struct wt_reader *reader = wt_trace_stream(trace, stream);

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		if (wanted(&select->query, wt_reader_kind(reader, block->kind)))
			starts[count++] = (struct start){
				wt_trace_ns(trace, stream, block->time_min), block->rows};
	}
	return count;
}

int64_t wti_select_tail(const struct wti_select *select, const struct wt_trace *trace,
			uint64_t count)
{
	size_t block_count = 0, n = 0;
	int64_t from_ns = INT64_MIN;
	struct start *starts;
	uint64_t rows = 0;

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
		block_count += wt_reader_block_count(wt_trace_stream(trace, i));
	starts = calloc(block_count + 1, sizeof(*starts));
	if (!starts)
		return INT64_MIN;
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
		n = collect(select, trace, i, starts, n);
	qsort(starts, n, sizeof(*starts), latest_first);
	for (size_t i = 0; i < n && from_ns == INT64_MIN; i++) {
		rows += starts[i].rows;
		if (rows >= count && i + 1 < n)
			from_ns = starts[i].ns;
	}
	free(starts);
	return from_ns;
}
