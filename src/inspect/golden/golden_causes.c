/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which deviations have one cause: one of them is reported, and names the others. In order,
 * which is all that is known here of how the causes are found (causes_*.c):
 *
 *   what a new process did, or did in addition     said with the first new process
 *   a thing that took the place of another         said with the one that is missing
 *   that a process fails                           said with what it read, if another wrote that
 *   what happens less often, or in another way     said with the process that is missing, or fails
 *   files of which there is less                   said with one that is missing
 *   permissions, and the umask of children         said with the process whose umask differs
 *   the same change of permissions                 said with the first
 *   what a package or library brings along         said with the first
 *   files beside a file (x.db-wal), its folder     said with the file
 *   what is in a folder                            said with the folder
 *   what is computed from a file that differs      said with that file
 *   the same of other files of the kind            said with the first
 *   what one program reads for it                  said with what it writes
 *   what one program only looks at                 said with what else it does
 *   code that it loads for it                      said with what else it does
 */
#include <string.h>

#include "causes.h"
#include "golden_words.h"

static size_t root_of(const struct wti_checking *c, size_t i)
{
	while (c->all[i].leader)
		i = c->all[i].leader - 1;
	return i;
}

bool wti_golden_leads(const struct wti_checking *c, const struct wti_deviation *leader,
		      const struct wti_deviation *d)
{
	return d != leader && d->leader && d->thing != leader->instead &&
	       &c->all[root_of(c, (size_t)(d - c->all))] == leader;
}

bool wti_cause_follow(struct wti_checking *c, size_t i, size_t leader)
{
	size_t root = root_of(c, leader);

	if (c->all[i].leader || root == i ||
	    wti_deviation_severity(&c->all[root]) < wti_deviation_severity(&c->all[i]) ||
	    (wti_golden_in_doubt(c, &c->all[root]) && !wti_golden_in_doubt(c, &c->all[i])))
		return false;
	c->all[i].leader = root + 1;
	return true;
}

/* ---- One in the place of another ------------------------------------------------------------- */

/* The new thing is used as the missing one was. */
static bool is_stand_in(const struct wti_checking *c, const struct wti_deviation *missing,
			const struct wti_deviation *new)
{
	const struct wti_golden_thing *golden = missing->golden;
	size_t same = 0, words = 0;

	if (golden->type != new->thing->type)
		return false;
	for (size_t i = 0; i < golden->fact_count; i++) {
		if (strstr(golden->facts[i].word, "_bytes"))
			continue;
		words++;
		same += wti_golden_is_within(
			golden->type, golden->facts[i].total,
			wti_golden_total(c->run, new->thing, golden->facts[i].word));
	}
	return words && same == words;
}

static void pair_up(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct wti_deviation *missing = &c->all[i];

		if (missing->thing ||
		    wti_thing_exactness(missing->golden->type) != WTI_COMPARE_EXACT)
			continue;
		for (size_t j = 0; j < c->count && !missing->instead; j++) {
			if (c->all[j].golden || !is_stand_in(c, missing, &c->all[j]))
				continue;
			missing->instead = c->all[j].thing;
			if (!wti_cause_follow(c, j, i))
				missing->instead = NULL;
		}
	}
}

/* ---- The whole ------------------------------------------------------------------------------- */

static uint32_t role_of(const struct wti_checking *c, const struct wti_deviation *d)
{
	const struct wti_tally *tally = NULL;

	if (d->cause)
		tally = d->cause->tally;
	else if (d->thing)
		tally = wti_effects_first(c->run, wti_effects_index(c->run, d->thing));
	return wti_cause_role_at(c, tally, 0);
}

int wti_golden_find_causes(struct wti_checking *c)
{
	int r;

	for (size_t i = 0; i < c->count; i++) {
		c->all[i].cause = wti_deviation_cause(c, &c->all[i]);
		c->all[i].role = role_of(c, &c->all[i]);
	}
	r = wti_follow_new_processes(c);
	if (r)
		return r;
	pair_up(c);
	wti_follow_inputs(c);
	wti_follow_missing_processes(c);
	wti_follow_absent(c);
	wti_follow_modes(c);
	wti_follow_first(c);
	wti_follow_files(c);
	wti_follow_flow(c);
	wti_follow_alike(c);
	wti_follow_writes(c);
	wti_follow_looks(c);
	wti_follow_doing(c);
	return 0;
}
