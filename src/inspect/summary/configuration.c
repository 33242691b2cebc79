/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `configuration`: what the program ran with, in the order in which it was resolved.
 */
#include "configuration.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "event_text.h"
#include "inspect/core/cells.h"
#include "inspect/core/inspectors.h"

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX WTI_EVENT_TEXT_MAX

/* ---- The list -------------------------------------------------------------------------------- */

void wti_configuration_init(struct wti_configuration *c)
{
	*c = (struct wti_configuration){.count = 0};
	wti_arena_init(&c->arena, ARENA_MAX);
	wti_map_init(&c->index, WTI_CONFIGURATION_MAX);
}

void wti_configuration_release(struct wti_configuration *c)
{
	wti_arena_release(&c->arena);
	wti_map_release(&c->index);
	free(c->items);
	c->items = NULL;
	c->count = c->capacity = 0;
}

static const char *kept(struct wti_configuration *c, const char *text)
{
	size_t bytes = strnlen(text, TEXT_MAX);

	return bytes ? wti_arena_text(&c->arena, text, bytes) : "";
}

/* Of a key that is known: what is as before takes no room. */
static int replace(struct wti_configuration *c, struct wti_configured *known,
		   const struct wti_configured *item)
{
	const char *value = known->value, *source = known->source;

	if (strcmp(value, item->value) != 0) {
		value = kept(c, item->value);
		known->change_count += 1 + item->change_count;
	}
	if (strcmp(source, item->source) != 0)
		source = kept(c, item->source);
	if (c->arena.status == WT_E_LIMIT)
		return 0;
	if (c->arena.status)
		return WT_E_NOMEM;
	known->value = value;
	known->source = source;
	known->type = item->type;
	known->is_default = item->is_default;
	return 0;
}

int wti_configuration_add(struct wti_configuration *c, const struct wti_configured *item)
{
	uint64_t *slot = wti_map_text(&c->index, item->key, strlen(item->key));
	struct wti_configured copy = *item;

	if (!slot) {
		c->left_out_count++;
		return c->index.failed ? WT_E_NOMEM : 0;
	}
	if (*slot)
		return replace(c, &c->items[*slot - 1], item);
	copy.key = kept(c, item->key);
	copy.value = kept(c, item->value);
	copy.source = kept(c, item->source);
	if (c->arena.status == WT_E_LIMIT) {
		c->left_out_count++;
		return 0;
	}
	if (c->arena.status ||
	    wti_grow(&c->items, c->count + 1, &c->capacity, WTI_CONFIGURATION_MAX))
		return WT_E_NOMEM;
	c->items[c->count] = copy;
	*slot = ++c->count;
	return 0;
}

bool wti_configured_number(const char *value, double *ret_number)
{
	char *end;

	*ret_number = !strcmp(value, "true");
	if (!strcmp(value, "true") || !strcmp(value, "false"))
		return true;
	*ret_number = strtod(value, &end);
	return end != value && !*end;
}

/* ---- The inspector --------------------------------------------------------------------------- */

struct state {
	struct wti_configuration own, *configuration;
	bool is_table; /* nobody took them: they are the result */
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"configuration"};

	query->kinds = kinds;
	query->kind_count = 1;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	const struct wti_configuration_options *wanted = options;
	struct state *s = opaque;

	wti_configuration_init(&s->own);
	s->is_table = !wanted || !wanted->configuration;
	s->configuration = s->is_table ? &s->own : wanted->configuration;
	return 0;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	char texts[3][WTI_EVENT_TEXT_MAX + 1];
	struct state *s = opaque;
	struct wti_configured item;

	if (event->kind->number != WT_KIND_CONFIGURATION)
		return 0;
	item = (struct wti_configured){
		.key = wti_event_cstr(event, WT_CONFIGURATION_FIELD_KEY, texts[0]),
		.source = wti_event_cstr(event, WT_CONFIGURATION_FIELD_SOURCE, texts[1]),
		.value = wti_event_cstr(event, WT_CONFIGURATION_FIELD_VALUE, texts[2]),
		.type = (uint32_t)wt_event_u64(event, WT_CONFIGURATION_FIELD_TYPE),
		.is_default = wt_event_u64(event, WT_CONFIGURATION_FIELD_FLAGS) &
			      WT_CONFIGURATION_DEFAULT};
	return wti_configuration_add(s->configuration, &item)
		       ? wti_err(err, WT_E_NOMEM, "out of memory")
		       : 0;
}

static void add_table(const struct wti_configuration *c, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "configuration", "configuration");

	wt_table_column(table, "key", "setting", WT_CELL_TEXT);
	wt_table_column(table, "value", "value", WT_CELL_TEXT);
	wt_table_column(table, "origin", "given or default", WT_CELL_TEXT);
	wt_table_column(table, "source", "resolved by", WT_CELL_TEXT);
	wt_table_column(table, "changes", "changes", WT_CELL_COUNT);
	for (size_t i = 0; i < c->count; i++) {
		wt_table_row(table);
		wti_table_word(table, c->items[i].key);
		wti_table_word(table, c->items[i].value);
		wti_table_word(table, c->items[i].is_default ? "default" : "given");
		wti_table_word(table, c->items[i].source);
		wt_table_count(table, c->items[i].change_count);
	}
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	const struct state *s = opaque;

	if (s->is_table)
		add_table(s->configuration, result);
	if (s->configuration->left_out_count)
		wt_result_note(result, "too many settings: %llu are left out",
			       (unsigned long long)s->configuration->left_out_count);
	return wt_result_status(result);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_configuration_release(&s->own);
}

const struct wt_inspector wti_inspector_configuration = {
	.name = "configuration",
	.summary = "what the program ran with, as it resolved it",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
