/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: the first and the last value of each, and how often it changed in between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "contents.h"

#define SETTINGS_MAX (1u << 16)
#define AGENT_MAX 4096u
#define TEXT_BYTES 128u
#define WORKER "worker" /* a process of a loader: the number and the seed of the first */
#define LIBRARY "torch" /* under which the agent emits what holds for the whole process */

struct wti_kept_setting {
	uint32_t owner, attribute; /* symbols */
	size_t stream;             /* of the first process that has it */
	uint32_t type;             /* enum wt_value_type */
	uint64_t first, last;      /* bits; of texts: symbols */
	uint64_t change_count;
	int64_t changed_step; /* the last; -1: not known */
};

void wti_kept_settings_init(struct wti_kept_settings *settings, struct wti_symbols *symbols)
{
	*settings = (struct wti_kept_settings){.symbols = symbols};
	wti_map_init(&settings->index, SETTINGS_MAX);
	wti_map_init(&settings->agents, AGENT_MAX);
}

void wti_kept_settings_release(struct wti_kept_settings *settings)
{
	free(settings->items);
	wti_map_release(&settings->index);
	wti_map_release(&settings->agents);
}

static int add_setting(struct wti_kept_settings *settings, uint64_t *slot,
		       const struct wti_kept_setting *setting)
{
	if (wti_grow(&settings->items, settings->count + 1, &settings->capacity,
		     (size_t)SETTINGS_MAX))
		return WT_E_NOMEM;
	settings->items[settings->count] = *setting;
	*slot = ++settings->count;
	return 0;
}

int wti_kept_settings_state(struct wti_kept_settings *settings, const struct wt_event *event,
			    int64_t step)
{
	uint32_t type = (uint32_t)wt_event_u64(event, WT_STATE_FIELD_TYPE);
	struct wti_kept_setting now = {.stream = event->stream, .type = type, .changed_step = -1};
	struct wti_kept_setting *known;
	uint64_t *slot;

	if (type == WT_VALUE_TYPE_HASH || type == WT_VALUE_TYPE_NONE)
		return 0;
	now.owner = wti_symbol_of(settings->symbols, event, WT_STATE_FIELD_OWNER);
	now.attribute = wti_symbol_of(settings->symbols, event, WT_STATE_FIELD_ATTRIBUTE);
	now.first = now.last =
		type == WT_VALUE_TYPE_TEXT
			? wti_symbol_of_word(settings->symbols, event, WT_STATE_FIELD_TEXT)
			: wt_event_u64(event, WT_STATE_FIELD_NEW);
	slot = wti_map_number(&settings->index, (uint64_t)now.owner << 32 | now.attribute);
	if (!slot) {
		settings->overflow_count++;
		return settings->index.failed ? WT_E_NOMEM : 0;
	}
	if (!*slot)
		return add_setting(settings, slot, &now);
	known = &settings->items[*slot - 1];
	if (known->stream != event->stream || (known->last == now.last && known->type == type))
		return 0;
	known->last = now.last;
	known->type = type;
	known->change_count++;
	known->changed_step = step;
	return 0;
}

static int format(char *out, size_t bytes, const struct wti_symbols *symbols, uint32_t type,
		  uint64_t bits)
{
	double number;

	switch (type) {
	case WT_VALUE_TYPE_BOOL:
		return snprintf(out, bytes, "%s", bits ? "true" : "false");
	case WT_VALUE_TYPE_INT:
		return snprintf(out, bytes, "%lld", (long long)bits);
	case WT_VALUE_TYPE_FLOAT:
		memcpy(&number, &bits, sizeof(number));
		return snprintf(out, bytes, "%.12g", number);
	default:
		return snprintf(out, bytes, "%s", wti_symbol_text(symbols, (uint32_t)bits));
	}
}

int wti_kept_settings_agent(struct wti_kept_settings *settings, const struct wt_event *event)
{
	struct wt_text key = wt_event_text(event, WT_SETTING_FIELD_KEY);
	uint32_t type = (uint32_t)wt_event_u64(event, WT_SETTING_FIELD_TYPE);
	uint64_t bits = type == WT_VALUE_TYPE_TEXT ? wti_symbol_of_word(settings->symbols, event,
									WT_SETTING_FIELD_TEXT)
						   : wt_event_u64(event, WT_SETTING_FIELD_VALUE);
	char text[4 * TEXT_BYTES];
	uint64_t *slot;
	int bytes;

	bytes = snprintf(text, sizeof(text), "%.*s%c",
			 (int)(key.bytes < TEXT_BYTES ? key.bytes : TEXT_BYTES), key.data, 1);
	format(text + bytes, sizeof(text) - (size_t)bytes, settings->symbols, type, bits);
	slot = wti_map_text(&settings->agents, text, strlen(text));
	if (!slot) {
		settings->overflow_count++;
		return settings->agents.failed ? WT_E_NOMEM : 0;
	}
	(*slot)++;
	return 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

enum subject { OF_TRAINER, OF_LOADER, OF_LIBRARY, OF_MODULE };

static enum subject subject_of(const struct wti_kept_settings *settings,
			       const struct wti_found *found,
			       const struct wti_kept_setting *setting)
{
	enum wti_found_owner owner = wti_found_owner(found, setting->owner);

	if (owner != WTI_FOUND_OTHER)
		return owner == WTI_FOUND_TRAINER ? OF_TRAINER : OF_LOADER;
	if (!strcmp(wti_symbol_text(settings->symbols, setting->owner), WORKER))
		return OF_LOADER;
	return strcmp(wti_symbol_text(settings->symbols, setting->owner), LIBRARY) ? OF_MODULE
										   : OF_LIBRARY;
}

static void put_value(struct wt_table *table, const struct wti_kept_settings *settings,
		      const struct wti_kept_setting *setting, uint64_t bits)
{
	char text[TEXT_BYTES];

	format(text, sizeof(text), settings->symbols, setting->type, bits);
	wt_table_text(table, text, strlen(text));
}

static void settings_table(const struct wti_kept_settings *settings, const struct wti_found *found,
			   enum subject subject, const char *key, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, key, key);

	wt_table_column(table, "owner", "of", WT_CELL_TEXT);
	wt_table_column(table, "setting", "setting", WT_CELL_TEXT);
	wt_table_column(table, "first", "first", WT_CELL_TEXT);
	wt_table_column(table, "last", "last", WT_CELL_TEXT);
	wt_table_column(table, "changes", "changes", WT_CELL_COUNT);
	wt_table_column(table, "changed_step", "last in step", WT_CELL_ID);
	for (size_t i = 0; i < settings->count; i++) {
		const struct wti_kept_setting *setting = &settings->items[i];

		if (subject_of(settings, found, setting) != subject)
			continue;
		wt_table_row(table);
		wti_symbol_cell(table, settings->symbols, setting->owner);
		wti_symbol_cell(table, settings->symbols, setting->attribute);
		put_value(table, settings, setting, setting->first);
		put_value(table, settings, setting, setting->last);
		wt_table_count(table, setting->change_count);
		if (setting->changed_step >= 0)
			wt_table_count(table, (uint64_t)setting->changed_step);
	}
}

static void agent_table(const struct wti_kept_settings *settings, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "agent", "how it was recorded");

	wt_table_column(table, "key", "setting", WT_CELL_TEXT);
	wt_table_column(table, "value", "value", WT_CELL_TEXT);
	wt_table_column(table, "processes", "processes", WT_CELL_COUNT);
	for (size_t i = 0; i < settings->agents.count; i++) {
		const struct wti_map_entry *entry = &settings->agents.entries[i];
		size_t key_bytes = strcspn(entry->text, "\1");

		wt_table_row(table);
		wt_table_text(table, entry->text, key_bytes);
		wt_table_text(table, entry->text + key_bytes + 1, entry->bytes - key_bytes - 1);
		wt_table_count(table, entry->value);
	}
}

void wti_kept_settings_tables(const struct wti_kept_settings *settings,
			      const struct wti_found *found, struct wt_result *result)
{
	settings_table(settings, found, OF_TRAINER, "settings", result);
	settings_table(settings, found, OF_LOADER, "loader_settings", result);
	settings_table(settings, found, OF_LIBRARY, "library", result);
	settings_table(settings, found, OF_MODULE, "module_settings", result);
	agent_table(settings, result);
}
