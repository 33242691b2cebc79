/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the inspector `contents`, a file each: objects and their tensors, settings, and the
 * calls that bring data in and take models out. Several ranks have the same objects: those of the
 * first process that has one of a name are shown, and how many processes have it.
 */
#ifndef WTI_INSPECT_CONTENTS_H
#define WTI_INSPECT_CONTENTS_H

#include <wheeltap/inspect.h>

#include "base/map.h"
#include "inspect/core/steps.h"

/* ---- Objects and their tensors --------------------------------------------------------------- */

struct wti_found_object;
struct wti_found_member;

struct wti_found {
	struct wti_symbols *symbols;
	struct wti_map index; /* name: place plus one */
	struct wti_found_object *objects;
	size_t object_count, object_capacity;
	struct wti_map member_index; /* object and name: place plus one */
	struct wti_found_member *members;
	size_t member_count, member_capacity;
	uint64_t overflow_count;
};

void wti_found_init(struct wti_found *found, struct wti_symbols *symbols);
void wti_found_release(struct wti_found *found);
/* Events of kind object and member. 0 or WT_E_NOMEM. */
int wti_found_object(struct wti_found *found, const struct wt_event *event);
int wti_found_member(struct wti_found *found, const struct wt_event *event);
/* What owns a setting. */
enum wti_found_owner {
	WTI_FOUND_TRAINER, /* an optimizer, a scheduler, a scaler, an average */
	WTI_FOUND_LOADER,  /* or a sampler */
	WTI_FOUND_OTHER,
};
enum wti_found_owner wti_found_owner(const struct wti_found *found, uint32_t owner);
/* Tables `objects`, `models`, `tensors`. */
void wti_found_tables(const struct wti_found *found, struct wt_result *result);

/* ---- Settings -------------------------------------------------------------------------------- */

struct wti_kept_setting;

struct wti_kept_settings {
	struct wti_symbols *symbols;
	struct wti_map index; /* owner and attribute: place plus one */
	struct wti_kept_setting *items;
	size_t count, capacity;
	struct wti_map agents; /* key and value, as texts: how many processes */
	uint64_t overflow_count;
};

void wti_kept_settings_init(struct wti_kept_settings *settings, struct wti_symbols *symbols);
void wti_kept_settings_release(struct wti_kept_settings *settings);
/* An event of kind state that is a number, a truth value or a text; an event of kind setting. 0 or
 * WT_E_NOMEM. */
int wti_kept_settings_state(struct wti_kept_settings *settings, const struct wt_event *event,
			    int64_t step);
int wti_kept_settings_agent(struct wti_kept_settings *settings, const struct wt_event *event);
/* Tables `settings` (of what trains), `loader_settings`, `library` (of torch), `module_settings`
 * and `agent`. */
void wti_kept_settings_tables(const struct wti_kept_settings *settings,
			      const struct wti_found *found, struct wt_result *result);

/* ---- Data in, models out --------------------------------------------------------------------- */

struct wti_traffic_batch;
struct wti_traffic_file;
struct wti_traffic_open;
struct wti_traffic_saved;

struct wti_traffic {
	struct wti_symbols *symbols;
	struct wti_map open_index; /* stream and track: place plus one */
	struct wti_traffic_open *open;
	size_t open_count, open_capacity;
	struct wti_map batch_index; /* loader and field: place plus one */
	struct wti_traffic_batch *batches;
	size_t batch_count, batch_capacity;
	struct wti_traffic_file *files;
	size_t file_count, file_capacity;
	struct wti_traffic_saved *saved; /* tensors */
	size_t saved_count, saved_capacity;
	uint64_t overflow_count;
};

void wti_traffic_init(struct wti_traffic *traffic, struct wti_symbols *symbols);
void wti_traffic_release(struct wti_traffic *traffic);
/* Events of kind call_begin, call_end, argument and tensor. 0 or WT_E_NOMEM. */
int wti_traffic_event(struct wti_traffic *traffic, const struct wt_event *event, int64_t step);
/* Tables `batches`, `files` (what was saved and loaded) and `saved_tensors` (what was in it). */
void wti_traffic_tables(const struct wti_traffic *traffic, struct wt_result *result);

/* The word for a value of an enumeration. */
uint32_t wti_symbol_of_word(struct wti_symbols *symbols, const struct wt_event *event, int field);
/* Text of a symbol into a cell. */
void wti_symbol_cell(struct wt_table *table, const struct wti_symbols *symbols, uint32_t symbol);

#endif
