/* SPDX-License-Identifier: Apache-2.0 */
/* What a level records, and what another does not. */
#include <string.h>

#include "level.h"
#include "relation.h"

#define DETAILS (WTI_LEVEL_LEAN | WTI_LEVEL_NORMAL | WTI_LEVEL_FULL)

const char *const wti_levels[WTI_LEVELS] = {"lean", "normal", "full", "picked"};

static bool is_text(struct wt_text text, const char *word)
{
	return text.bytes == strlen(word) && !memcmp(text.data, word, text.bytes);
}

void wti_levels_take(uint32_t *levels, const struct wt_event *event)
{
	struct wt_text key, value;

	if (event->kind->number != WT_KIND_SETTING)
		return;
	key = wt_event_text(event, WT_SETTING_FIELD_KEY);
	value = wt_event_text(event, WT_SETTING_FIELD_TEXT);
	if (is_text(key, "picked"))
		*levels |= WTI_LEVEL_PICKED;
	for (uint32_t i = 0; is_text(key, "detail") && 1u << i & DETAILS; i++)
		if (is_text(value, wti_levels[i]))
			*levels |= 1u << i;
}

void wti_levels_words(struct wti_buf *out, uint32_t levels)
{
	bool any = false;

	for (uint32_t i = 0; i < WTI_LEVELS; i++) {
		if (!(levels >> i & 1))
			continue;
		wti_buf_printf(out, "%s%s", any ? " and " : "", wti_levels[i]);
		any = true;
	}
}

static uint32_t lowest(uint32_t levels)
{
	return levels & DETAILS & -(levels & DETAILS);
}

static uint32_t highest(uint32_t levels)
{
	uint32_t bit = WTI_LEVEL_FULL;

	while (bit && !(levels & bit))
		bit >>= 1;
	return bit;
}

/* Some of what it was learned from records more than some of the run. */
static bool reports_less(uint32_t of_run, uint32_t of_pack)
{
	return lowest(of_run) < highest(of_pack) ||
	       (of_run & WTI_LEVEL_PICKED && !(of_pack & WTI_LEVEL_PICKED));
}

bool wti_levels_differ(uint32_t of_pack, uint32_t of_run)
{
	return of_pack & DETAILS && of_run & DETAILS &&
	       (reports_less(of_run, of_pack) || reports_less(of_pack, of_run));
}

/* The acts of a training loop are recorded at every level, whatever is picked. */
static bool is_of_a_level(const struct wti_pack *pack, const struct wti_invariant *invariant,
			  uint32_t symbol)
{
	const char *name = wti_symbol_text(&pack->symbols, symbol);

	return wti_term_by_word(wti_relations[invariant->relation], name) == WTI_NO_TERM &&
	       strchr(name, '.') && !wti_is_act(name);
}

/* It says that a call is there. */
static bool is_of_presence(const struct wti_pack *pack, const struct wti_invariant *invariant)
{
	bool is = is_of_a_level(pack, invariant, invariant->fact.a);

	if (invariant->fact.form != WTI_FORM_CALLS && invariant->fact.form != WTI_FORM_SINCE &&
	    invariant->fact.form != WTI_FORM_BEFORE)
		return false;
	if (invariant->fact.form == WTI_FORM_BEFORE)
		is = is || is_of_a_level(pack, invariant, invariant->fact.b);
	for (uint32_t i = 0; i < invariant->then_count; i++)
		is = is || is_of_a_level(pack, invariant, invariant->then[i]);
	return is;
}

bool wti_levels_explain(const struct wti_pack *pack, uint32_t of_run,
			const struct wti_invariant *invariant)
{
	bool is_of_values = wti_relations[invariant->relation]->measures & WTI_NEEDS_ARGUMENTS;

	if (!wti_levels_differ(pack->levels, of_run))
		return false;
	if (reports_less(of_run, pack->levels) && is_of_presence(pack, invariant))
		return true;
	/* Of calls that all levels record, they record arguments that others leave out. */
	return (reports_less(pack->levels, of_run) || is_of_values) &&
	       is_of_a_level(pack, invariant, invariant->subject[0]);
}
