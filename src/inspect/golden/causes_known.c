/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what can be said of one deviation without looking at the others: what kind of thing it is
 * about, whether it is only more or only less of something, who did it. Which follows from
 * which is left to the other causes_*.c.
 */
#include "causes.h"

#include <string.h>

enum wti_thing_type wti_deviation_type(const struct wti_deviation *d)
{
	return d->thing ? d->thing->type : d->golden->type;
}

const char *wti_deviation_name(const struct wti_deviation *d)
{
	return d->thing ? d->thing->name : d->golden->name;
}

/* ---- Roles ----------------------------------------------------------------------------------- */

size_t wti_role_last(const char *role)
{
	size_t at = 0;

	for (const char *next = strstr(role, " > "); next; next = strstr(next + 3, " > "))
		at = (size_t)(next - role) + 3;
	return at;
}

bool wti_role_is_below(const char *role, const char *ancestor)
{
	size_t bytes = strlen(ancestor);

	return !strncmp(role, ancestor, bytes) && !strncmp(role + bytes, " > ", 3);
}

uint32_t wti_cause_role_at(const struct wti_checking *c, const struct wti_tally *tally, size_t i)
{
	if (!tally || i >= WTI_SHARES_MAX || !tally->shares[i].count || !tally->shares[i].process)
		return 0;
	return c->run->actors[tally->shares[i].process - 1].thing;
}

bool wti_cause_has_role(const struct wti_checking *c, const struct wti_tally *tally, uint32_t role)
{
	for (size_t i = 0; wti_cause_role_at(c, tally, i); i++)
		if (wti_cause_role_at(c, tally, i) == role)
			return true;
	return false;
}

/* ---- What was done --------------------------------------------------------------------------- */

bool wti_cause_is_writing(const char *word)
{
	static const enum wti_effect effects[] = {
		WTI_EFFECT_MADE,        WTI_EFFECT_REPLACED,     WTI_EFFECT_CHANGED,
		WTI_EFFECT_REMOVED,     WTI_EFFECT_MOVED,        WTI_EFFECT_LINKED,
		WTI_EFFECT_PERMISSIONS, WTI_EFFECT_SYNCED,       WTI_EFFECT_UNSYNCED,
		WTI_EFFECT_SYMLINKED,   WTI_EFFECT_WRITTEN_BYTES};
	int effect = wti_effect_by_word(word);

	for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++)
		if (effect == (int)effects[i])
			return true;
	return false;
}

bool wti_cause_is_written(const struct wti_checking *c, const struct wti_deviation *d)
{
	if (wti_deviation_type(d) != WTI_THING_FILE)
		return false;
	if (d->cause)
		return wti_cause_is_writing(d->cause->word);
	for (size_t i = 0; !d->thing && i < d->golden->fact_count; i++)
		if (wti_cause_is_writing(d->golden->facts[i].word))
			return true;
	for (const struct wti_tally *t =
		     d->thing ? wti_effects_first(c->run, wti_effects_index(c->run, d->thing))
			      : NULL;
	     t; t = wti_effects_next(c->run, t))
		if (t->total && wti_cause_is_writing(wti_effect_word(c->run, t->effect)))
			return true;
	return false;
}

bool wti_cause_is_only_looked_at(const struct wti_checking *c, const struct wti_deviation *d)
{
	if (wti_deviation_type(d) != WTI_THING_FILE || d->is_mode || d->is_via)
		return false;
	if (d->cause)
		return wti_effect_by_word(d->cause->word) < 0;
	for (size_t i = 0; !d->thing && i < d->golden->fact_count; i++)
		if (wti_effect_by_word(d->golden->facts[i].word) >= 0)
			return false;
	for (const struct wti_tally *t =
		     d->thing ? wti_effects_first(c->run, wti_effects_index(c->run, d->thing))
			      : NULL;
	     t; t = wti_effects_next(c->run, t))
		if (t->total && t->effect < WTI_EFFECT_COUNT)
			return false;
	return true;
}

/* ---- How much of it -------------------------------------------------------------------------- */

bool wti_cause_is_only_more(const struct wti_deviation *d)
{
	for (size_t i = 0; i < d->off_count; i++)
		if (!d->offs[i].tally || d->offs[i].tally->total <= d->offs[i].total.high)
			return false;
	return d->off_count && !d->off_more;
}

bool wti_cause_is_only_less(const struct wti_deviation *d)
{
	if (!d->thing)
		return !d->instead;
	for (size_t i = 0; i < d->off_count; i++)
		if (d->offs[i].tally && d->offs[i].tally->total >= d->offs[i].total.low)
			return false;
	return d->off_count && d->golden && !d->off_more && !d->is_mode && !d->is_via;
}
