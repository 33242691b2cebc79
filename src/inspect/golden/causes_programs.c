/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what a program only does because of something else that it does: packages and libraries
 * that the first one needs, files that it reads or looks at, code that it loads.
 */
#include "causes.h"

#include "golden_words.h"

/* ---- Brought along --------------------------------------------------------------------------- */

/* A package brings others along, and a library those that it needs: the first is the cause. */
void wti_follow_first(struct wti_checking *c)
{
	size_t first[2][WTI_THING_TYPES] = {{0}};

	for (size_t i = 0; i < c->count; i++) {
		size_t *leader = &first[!c->all[i].thing][wti_deviation_type(&c->all[i])];

		if (wti_thing_exactness(wti_deviation_type(&c->all[i])) != WTI_COMPARE_PRESENCE ||
		    c->all[i].leader)
			continue;
		if (*leader)
			wti_cause_follow(c, i, *leader - 1);
		else
			*leader = i + 1;
	}
}

/* ---- Read for it ----------------------------------------------------------------------------- */

static bool is_only_read(const struct wti_deviation *d)
{
	if (wti_deviation_type(d) != WTI_THING_FILE || !d->thing || !d->golden || d->is_mode ||
	    d->is_via)
		return false;
	for (size_t i = 0; i < d->off_count; i++)
		if (wti_cause_is_writing(d->offs[i].word))
			return false;
	return true;
}

/* One of those who did it is of that role. */
static bool is_by(const struct wti_checking *c, const struct wti_deviation *d, uint32_t role)
{
	return d->role == role || (d->cause && wti_cause_has_role(c, d->cause->tally, role));
}

void wti_follow_writes(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && is_only_read(&c->all[i]) &&
			    wti_cause_is_written(c, &c->all[j]) &&
			    (!c->all[j].role || is_by(c, &c->all[i], c->all[j].role)))
				wti_cause_follow(c, i, j);
}

/* ---- Only looked at -------------------------------------------------------------------------- */

/* A program that does something else looks elsewhere for it: at one look, all are said. */
static bool is_looked_at_for(const struct wti_checking *c, size_t i, size_t j)
{
	if (i == j || wti_deviation_type(&c->all[j]) != WTI_THING_FILE ||
	    (j > i && wti_cause_is_only_looked_at(c, &c->all[j])))
		return false;
	return c->all[i].role == c->all[j].role && c->all[j].thing;
}

void wti_follow_looks(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; wti_cause_is_only_looked_at(c, &c->all[i]) && j < c->count &&
				   !c->all[i].leader;
		     j++)
			if (is_looked_at_for(c, i, j))
				wti_cause_follow(c, i, j);
	for (size_t i = 0; i < c->count; i++) /* the programs that it starts look, too */
		for (size_t j = 0; wti_cause_is_only_looked_at(c, &c->all[i]) && j < c->count &&
				   !c->all[i].leader;
		     j++)
			if (i != j && !wti_cause_is_only_looked_at(c, &c->all[j]) &&
			    wti_thing_exactness(wti_deviation_type(&c->all[j])) ==
				    WTI_COMPARE_EXACT)
				wti_cause_follow(c, i, j);
}

/* ---- Loaded for it --------------------------------------------------------------------------- */

/* Who does something new needs other code for it. */
void wti_follow_doing(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; wti_deviation_type(&c->all[i]) == WTI_THING_CODE &&
				   j < c->count && !c->all[i].leader;
		     j++)
			if (wti_deviation_type(&c->all[j]) != WTI_THING_CODE &&
			    (!c->all[j].golden || !c->all[j].thing) &&
			    wti_deviation_severity(&c->all[j]) == WT_ERROR &&
			    (c->all[i].role == c->all[j].role || !c->all[j].role))
				wti_cause_follow(c, i, j);
}
