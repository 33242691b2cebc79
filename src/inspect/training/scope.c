/* SPDX-License-Identifier: Apache-2.0 */
/* Step, epoch, stage and rank, by track. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "scope.h"

#define SCOPES_MAX (1u << 20)
#define WHOLE_PROCESS UINT32_MAX

static const struct wti_scope nowhere = {.step = -1, .epoch = -1, .rank = -1, .world = -1};

void wti_scopes_init(struct wti_scopes *scopes)
{
	*scopes = (struct wti_scopes){0};
	wti_map_init(&scopes->index, SCOPES_MAX);
}

void wti_scopes_release(struct wti_scopes *scopes)
{
	free(scopes->entries);
	wti_map_release(&scopes->index);
	*scopes = (struct wti_scopes){0};
}

static uint64_t key_of(size_t stream, uint32_t track)
{
	return (uint64_t)stream << 32 | track;
}

static struct wti_scope_entry *entry_of(struct wti_scopes *scopes, size_t stream, uint32_t track)
{
	uint64_t *slot = wti_map_number(&scopes->index, key_of(stream, track));

	if (!slot)
		return NULL;
	if (*slot)
		return &scopes->entries[*slot - 1];
	if (wti_grow(&scopes->entries, scopes->count + 1, &scopes->capacity, SCOPES_MAX))
		return NULL;
	scopes->entries[scopes->count] = (struct wti_scope_entry){.scope = nowhere};
	*slot = ++scopes->count;
	return &scopes->entries[*slot - 1];
}

static void take_context(struct wti_scope *scope, struct wti_symbols *symbols,
			 const struct wt_event *event)
{
	const char *key =
		wti_symbol_text(symbols, wti_symbol_of(symbols, event, WT_CONTEXT_FIELD_KEY));

	if (!strcmp(key, "step"))
		scope->step = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));
	else if (!strcmp(key, "epoch"))
		scope->epoch = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));
	else if (!strcmp(key, "stage"))
		scope->stage = wti_symbol_of(symbols, event, WT_CONTEXT_FIELD_TEXT);
}

static void take_rank(struct wti_scope *scope, const struct wt_event *event)
{
	scope->rank = (int32_t)wt_event_u64(event, WT_RANK_FIELD_RANK);
	scope->world = (int32_t)wt_event_u64(event, WT_RANK_FIELD_WORLD);
}

bool wti_scopes_event(struct wti_scopes *scopes, struct wti_symbols *symbols,
		      const struct wt_event *event)
{
	const uint32_t tracks[] = {event->track, WHOLE_PROCESS};

	for (size_t i = 0; i < 2; i++) {
		struct wti_scope_entry *entry = entry_of(scopes, event->stream, tracks[i]);

		if (!entry)
			return false;
		if (event->kind->number == WT_KIND_CONTEXT) {
			take_context(&entry->scope, symbols, event);
			entry->says = true;
		} else {
			take_rank(&entry->scope, event);
		}
	}
	return true;
}

struct wti_scope wti_scope_of(const struct wti_scopes *scopes, size_t stream, uint32_t track)
{
	const uint64_t *of_track = wti_map_find_number(&scopes->index, key_of(stream, track));
	const uint64_t *of_all = wti_map_find_number(&scopes->index, key_of(stream, WHOLE_PROCESS));
	struct wti_scope scope = of_all && *of_all ? scopes->entries[*of_all - 1].scope : nowhere;

	if (of_track && *of_track && scopes->entries[*of_track - 1].says) {
		struct wti_scope own = scopes->entries[*of_track - 1].scope;

		own.rank = scope.rank;
		own.world = scope.world;
		return own;
	}
	return scope;
}

void wti_scope_widen(int64_t *first, int64_t *last, int64_t step, bool is_first_time)
{
	if (is_first_time || (step >= 0 && step < *first))
		*first = step;
	if (is_first_time || step > *last)
		*last = step;
}
