/* SPDX-License-Identifier: Apache-2.0 */
/* One numbering for the names of all streams. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "symbols.h"

/* A damaged file may name any id: those beyond, and those for which there is no room, are looked up
 * each time. */
#define CACHED_ID_MAX (1u << 22)
#define CACHED_IN_ALL_MAX (1u << 25)

void wti_symbols_init(struct wti_symbols *symbols)
{
	*symbols = (struct wti_symbols){0};
	wti_map_init(&symbols->texts, WTI_SYMBOLS_MAX);
	wti_symbol(symbols, "", 0);
	wti_symbol_word(symbols, "(other)");
}

void wti_symbols_release(struct wti_symbols *symbols)
{
	for (size_t i = 0; i < symbols->cache_count; i++)
		free(symbols->caches[i].symbols);
	free(symbols->caches);
	wti_map_release(&symbols->texts);
	*symbols = (struct wti_symbols){0};
}

/* The map keeps insertion order, so that the place of an entry is its symbol. */
uint32_t wti_symbol(struct wti_symbols *symbols, const char *text, size_t bytes)
{
	size_t before = symbols->texts.count;
	uint64_t *slot = wti_map_text(&symbols->texts, text, bytes);

	if (!slot) {
		symbols->other_count++;
		return WTI_SYMBOL_OTHER;
	}
	if (symbols->texts.count > before)
		*slot = before;
	return (uint32_t)*slot;
}

uint32_t wti_symbol_word(struct wti_symbols *symbols, const char *word)
{
	return wti_symbol(symbols, word, strlen(word));
}

uint32_t wti_symbol_known(const struct wti_symbols *symbols, const char *word)
{
	const uint64_t *slot = wti_map_find_text(&symbols->texts, word, strlen(word));

	return slot ? (uint32_t)*slot : WTI_SYMBOL_OTHER;
}

const char *wti_symbol_text(const struct wti_symbols *symbols, uint32_t symbol)
{
	return symbol < symbols->texts.count ? symbols->texts.entries[symbol].text : "";
}

/* Where the symbol of a stream's name is kept, or NULL. */
static uint32_t *cached(struct wti_symbols *symbols, size_t stream, uint64_t id)
{
	struct wti_symbol_cache *cache;
	size_t before;

	if (id >= CACHED_ID_MAX ||
	    wti_grow_zeroed(&symbols->caches, stream + 1, &symbols->cache_count, WTI_NO_CEILING))
		return NULL;
	cache = &symbols->caches[stream];
	before = cache->count;
	if (id >= before && symbols->cached_count + id - before > CACHED_IN_ALL_MAX)
		return NULL;
	if (wti_grow_zeroed(&cache->symbols, id + 1, &cache->count, CACHED_ID_MAX))
		return NULL;
	symbols->cached_count += cache->count - before;
	return &cache->symbols[id];
}

uint32_t wti_symbol_of(struct wti_symbols *symbols, const struct wt_event *event, int field)
{
	struct wt_text text;
	uint32_t *slot = NULL;
	uint32_t symbol;

	if (field >= event->kind->field_count) /* an older trace */
		return WTI_SYMBOL_NONE;
	if (event->kind->fields[field].type == WT_TYPE_NAME)
		slot = cached(symbols, event->stream, wt_event_u64(event, field));
	if (slot && *slot)
		return *slot - 1;
	text = wt_event_text(event, field);
	symbol = wti_symbol(symbols, text.data, text.bytes);
	if (slot)
		*slot = symbol + 1;
	return symbol;
}
