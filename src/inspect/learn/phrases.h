/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs and partial results of version 1, which wheeltap 0.1 wrote: they have English phrases where
 * later ones have identifiers ("loss of a micro-batch", now "microbatch_loss"). Ids of invariants
 * are made from the phrases still, so that suppressions go on meaning what they meant.
 */
#ifndef WTI_LEARN_PHRASES_H
#define WTI_LEARN_PHRASES_H

#include "inspect/core/symbols.h"

enum { WTI_PACK_VERSION = 2, WTI_PACK_VERSION_OF_PHRASES = 1 };

/* What a phrase of a relation is called now, or itself; `relation` is "" for what is of none. */
uint32_t wti_symbol_of_phrase(struct wti_symbols *symbols, const char *relation,
			      const char *phrase);
/* The other way; in `text` unless it stays somewhere else. What came later has no phrase: then it
 * is the word itself. */
const char *wti_phrase_of_word(const char *relation, const char *word, char *text, size_t bytes);

#endif
