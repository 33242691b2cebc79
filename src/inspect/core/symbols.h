/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of all streams under one numbering. Ids of names are a stream's own; rules and relations
 * compare what several processes call things, and want to compare numbers.
 */
#ifndef WTI_INSPECT_SYMBOLS_H
#define WTI_INSPECT_SYMBOLS_H

#include <stdbool.h>

#include <wheeltap/trace.h>

#include "base/map.h"

enum {
	WTI_SYMBOL_NONE = 0,  /* the empty name */
	WTI_SYMBOL_OTHER = 1, /* what found no room any more */
};

/* Of all streams together, as ranks share names: 120 bytes and the text each, 0.7 GB in all. */
#define WTI_SYMBOLS_MAX (1u << 22)

struct wti_symbol_cache { /* of one stream: id of a name -> symbol plus one */
	uint32_t *symbols;
	size_t count;
};

struct wti_symbols {
	struct wti_map texts; /* text: symbol */
	struct wti_symbol_cache *caches;
	size_t cache_count;
	size_t cached_count;  /* entries of all caches, used or not */
	uint64_t other_count; /* how often there was no room */
};

void wti_symbols_init(struct wti_symbols *symbols);
void wti_symbols_release(struct wti_symbols *symbols);
/* Of a field of type name or text. */
uint32_t wti_symbol_of(struct wti_symbols *symbols, const struct wt_event *event, int field);
uint32_t wti_symbol(struct wti_symbols *symbols, const char *text, size_t bytes);
/* As above, for literals. */
uint32_t wti_symbol_word(struct wti_symbols *symbols, const char *word);
/* As above, without adding it: WTI_SYMBOL_OTHER if there is none. */
uint32_t wti_symbol_known(const struct wti_symbols *symbols, const char *word);
/* NUL-terminated; valid as long as the symbols. */
const char *wti_symbol_text(const struct wti_symbols *symbols, uint32_t symbol);

#endif
