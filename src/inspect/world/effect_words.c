/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the words for effects: as goldens have them, and as acts in an order. */
#include <string.h>

#include "act_order.h"

/* In goldens and JSON; as an act. */
static const struct {
	const char *word, *act;
} words[WTI_EFFECT_COUNT] = {
	[WTI_EFFECT_MADE] = {"made", "make"},
	[WTI_EFFECT_REPLACED] = {"replaced", "replace"},
	[WTI_EFFECT_CHANGED] = {"changed", "change"},
	[WTI_EFFECT_REMOVED] = {"removed", "remove"},
	[WTI_EFFECT_MOVED] = {"moved", "move"},
	[WTI_EFFECT_LINKED] = {"linked", "link"},
	[WTI_EFFECT_PERMISSIONS] = {"permissions", "set permissions of"},
	[WTI_EFFECT_EXECUTED] = {"executed", "execute"},
	[WTI_EFFECT_CONNECTED] = {"connected", "connect to"},
	[WTI_EFFECT_LISTENED] = {"listened", "listen at"},
	[WTI_EFFECT_ACCEPTED] = {"accepted", "accept at"},
	[WTI_EFFECT_LOADED] = {"loaded", "load"},
	[WTI_EFFECT_STARTED] = {"started", "start"},
	[WTI_EFFECT_THREADS] = {"threads", "start threads of"},
	[WTI_EFFECT_SYNCED] = {"synced", "sync"},
	[WTI_EFFECT_UNSYNCED] = {"unsynced", "replace unsynced"},
	[WTI_EFFECT_OPENED] = {"opened", "open"},
	[WTI_EFFECT_LEFT_OPEN] = {"left_open", "leave open"},
	[WTI_EFFECT_WRITTEN_BYTES] = {"written_bytes", "write"},
	[WTI_EFFECT_READ_BYTES] = {"read_bytes", "read"},
	[WTI_EFFECT_CALLED] = {"called", "call"},
	[WTI_EFFECT_FILES] = {"files", ""},
	[WTI_EFFECT_SYMLINKED] = {"symlinked", "link"},
	[WTI_EFFECT_AT_ONCE] = {"at_once", ""},
};

const char *wti_effect_word(const struct wti_effects *fx, uint32_t effect)
{
	if (effect < WTI_EFFECT_COUNT)
		return words[effect].word;
	return effect >= WTI_EFFECT_CALL && effect - WTI_EFFECT_CALL < fx->calls.count
		       ? fx->calls.entries[effect - WTI_EFFECT_CALL].text
		       : "?";
}

int wti_effect_by_word(const char *word)
{
	for (int i = 0; i < WTI_EFFECT_COUNT; i++)
		if (!strcmp(words[i].word, word))
			return i;
	return -1;
}

const char *wti_act_word(const struct wti_effects *fx, uint32_t effect)
{
	return effect < WTI_EFFECT_COUNT ? words[effect].act : wti_effect_word(fx, effect);
}

const struct wti_tally *wti_effects_tally_by_word(const struct wti_effects *fx,
						  const struct wti_thing *thing, const char *word)
{
	int effect = wti_effect_by_word(word);
	const uint64_t *slot;

	if (!thing)
		return NULL;
	if (effect >= 0)
		return wti_effects_tally(fx, wti_effects_index(fx, thing), (uint32_t)effect);
	slot = wti_map_find_text(&fx->calls, word, strlen(word));
	return slot ? wti_effects_tally(fx, wti_effects_index(fx, thing),
					WTI_EFFECT_CALL + (uint32_t)*slot - 1)
		    : NULL;
}
