/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what follows from processes: what a new one did, what one leaves undone that is missing or
 * fails, and that one fails because of what it read. Hides how the deviation of a process of the
 * run is found.
 */
#include "causes.h"

#include <stdlib.h>
#include <string.h>

#include "golden_words.h"

struct processes {
	struct wti_checking *c;
	uint32_t *of_thing; /* by thing of the run: its deviation plus one */
	uint32_t *busy;     /* by thing: the new process that touched it, its deviation plus one */
};

/* ---- New processes --------------------------------------------------------------------------- */

/* The deviation plus one of the kind of process that this one is; 0: there is none. */
static uint32_t process_deviation(const struct processes *k, uint32_t process)
{
	uint32_t thing = process ? k->c->run->actors[process - 1].thing : 0;

	return thing && k->c->is_surplus[process - 1] ? k->of_thing[thing - 1] : 0;
}

static void find_busy(struct processes *k)
{
	const struct wti_effects *run = k->c->run;

	for (size_t i = 0; i < run->actor_count; i++) {
		const struct wti_actor *actor = &run->actors[i];
		uint32_t deviation =
			process_deviation(k, actor->process ? actor->process : (uint32_t)i + 1);

		for (size_t j = 0; deviation && j < actor->act_count; j++)
			if (!k->busy[actor->acts[j].thing])
				k->busy[actor->acts[j].thing] = deviation;
	}
}

/* A process that a new process starts: its role begins with the other's. */
static void follow_parents(struct processes *k, size_t i)
{
	const char *role = wti_deviation_name(&k->c->all[i]);

	for (size_t j = 0; j < k->c->count; j++) {
		const struct wti_deviation *other = &k->c->all[j];

		if (j != i && wti_deviation_type(other) == WTI_THING_PROCESS && !other->golden &&
		    wti_role_is_below(role, wti_deviation_name(other)) &&
		    wti_cause_follow(k->c, i, j))
			return;
	}
}

/* Who starts a new process may start it beside another. */
static void follow_new_child(struct processes *k, size_t i)
{
	const struct wti_deviation *d = &k->c->all[i];

	for (size_t j = 0; d->off_count == 1 && !strcmp(d->offs[0].word, "at_once") &&
			   !d->is_mode && j < k->c->count;
	     j++)
		if (wti_deviation_type(&k->c->all[j]) == WTI_THING_PROCESS &&
		    !k->c->all[j].golden &&
		    wti_role_is_below(wti_deviation_name(&k->c->all[j]), wti_deviation_name(d)) &&
		    wti_cause_follow(k->c, i, j))
			return;
}

/* A program that is not executed any more goes with the process that is not started any more. */
static void follow_missing_process(struct processes *k, size_t i)
{
	const char *program = wti_deviation_name(&k->c->all[i]);
	const char *slash = strrchr(program, '/');

	program = slash ? slash + 1 : program;
	for (size_t j = 0; j < k->c->count; j++) {
		const char *role = wti_deviation_name(&k->c->all[j]);

		if (wti_deviation_type(&k->c->all[j]) == WTI_THING_PROCESS && k->c->all[j].golden &&
		    wti_role_last(role) && !strcmp(role + wti_role_last(role), program) &&
		    wti_cause_follow(k->c, i, j))
			return;
	}
}

/* Which of several processes of a kind is the one too many, nobody knows. */
static bool is_started_more(const struct processes *k, uint32_t role)
{
	const struct wti_deviation *d =
		k->of_thing[role - 1] ? &k->c->all[k->of_thing[role - 1] - 1] : NULL;

	return d && d->cause && !strcmp(d->cause->word, "started") && wti_cause_is_only_more(d);
}

/* A script is read by who runs it. */
static void follow_program(struct processes *k, size_t i)
{
	for (size_t j = 0; j < k->c->count; j++)
		if (wti_deviation_type(&k->c->all[j]) == WTI_THING_PROGRAM &&
		    !k->c->all[j].golden &&
		    !strcmp(wti_deviation_name(&k->c->all[j]), wti_deviation_name(&k->c->all[i])) &&
		    wti_cause_follow(k->c, i, j))
			return;
}

static void follow_processes(struct processes *k)
{
	struct wti_checking *c = k->c;

	for (size_t i = 0; i < c->count; i++) {
		struct wti_deviation *d = &c->all[i];
		uint32_t leader = 0;

		if (wti_deviation_type(d) == WTI_THING_PROGRAM && d->golden)
			follow_missing_process(k, i);
		if (wti_deviation_type(d) == WTI_THING_FILE && !d->golden)
			follow_program(k, i);
		if (!d->thing || d->leader)
			continue;
		if (d->thing->type == WTI_THING_PROCESS) {
			if (!d->golden)
				follow_parents(k, i);
			else
				follow_new_child(k, i);
			continue;
		}
		if (!d->golden)
			leader = process_deviation(k, d->thing->process);
		if (!leader && (!d->golden || wti_cause_is_only_more(d)))
			leader = k->busy[wti_effects_index(c->run, d->thing)];
		if (!leader && !d->golden && d->role && is_started_more(k, d->role))
			leader = k->of_thing[d->role - 1];
		if (leader)
			wti_cause_follow(c, i, leader - 1);
	}
}

int wti_follow_new_processes(struct wti_checking *c)
{
	struct processes k = {.c = c};
	int r = WT_E_NOMEM;

	k.of_thing = calloc(c->run->thing_count + 1, sizeof(*k.of_thing));
	k.busy = calloc(c->run->thing_count + 1, sizeof(*k.busy));
	if (k.of_thing && k.busy) {
		for (size_t i = 0; i < c->count; i++)
			if (c->all[i].thing)
				k.of_thing[wti_effects_index(c->run, c->all[i].thing)] =
					(uint32_t)i + 1;
		find_busy(&k);
		follow_processes(&k);
		r = 0;
	}
	free(k.of_thing);
	free(k.busy);
	return r;
}

/* ---- Processes that are missing -------------------------------------------------------------- */

static bool are_siblings(const char *a, const char *b)
{
	size_t bytes = wti_role_last(a);

	return bytes && bytes == wti_role_last(b) && !memcmp(a, b, bytes);
}

static bool ends_otherwise(const struct wti_deviation *d)
{
	return wti_deviation_type(d) == WTI_THING_PROCESS && d->cause && wti_off_is_end(d->cause);
}

/* A process that is missing, or else the innermost one that ends in another way: the process that
 * started it may only pass its status on. SIZE_MAX: there is none. */
static size_t find_failing(const struct wti_checking *c)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < c->count; i++)
		if (wti_deviation_type(&c->all[i]) == WTI_THING_PROCESS &&
		    (wti_cause_is_only_less(&c->all[i]) || c->all[i].instead) &&
		    !ends_otherwise(&c->all[i]))
			return i;
	for (size_t i = 0; i < c->count; i++)
		if (ends_otherwise(&c->all[i]) && !c->all[i].leader &&
		    (found == SIZE_MAX || wti_role_is_below(wti_deviation_name(&c->all[i]),
							    wti_deviation_name(&c->all[found]))))
			found = i;
	return found;
}

/*
 * What a process did that is not started any more, or that fails, is not in the golden by process:
 * whatever happens less often, or in another way, is taken for its part. A sibling that is started
 * in addition took its place, and who started it may end otherwise for it.
 */
static bool is_part_of(const struct wti_checking *c, const struct wti_deviation *d,
		       const struct wti_deviation *failing)
{
	if (wti_deviation_type(d) == WTI_THING_PROCESS)
		return wti_cause_is_only_less(d) || ends_otherwise(d) ||
		       (wti_cause_is_only_more(d) &&
			are_siblings(wti_deviation_name(d), wti_deviation_name(failing)));
	if (wti_cause_is_only_less(d) ||
	    (failing->thing && d->role == wti_effects_index(c->run, failing->thing) + 1))
		return true;
	return wti_deviation_type(d) == WTI_THING_FILE && d->golden && !wti_cause_is_only_more(d);
}

/* Who fails has read what another wrote otherwise. */
void wti_follow_inputs(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && ends_otherwise(&c->all[i]); j++)
			if (c->all[i].thing && c->all[j].thing &&
			    wti_cause_is_written(c, &c->all[j]) &&
			    wti_cause_has_role(
				    c,
				    wti_effects_tally(c->run,
						      wti_effects_index(c->run, c->all[j].thing),
						      WTI_EFFECT_OPENED),
				    wti_effects_index(c->run, c->all[i].thing) + 1) &&
			    c->all[j].role != wti_effects_index(c->run, c->all[i].thing) + 1 &&
			    wti_cause_follow(c, i, j))
				break;
}

void wti_follow_missing_processes(struct wti_checking *c)
{
	size_t first = find_failing(c);

	for (size_t i = 0; i < c->count && first != SIZE_MAX; i++)
		if (i != first && is_part_of(c, &c->all[i], &c->all[first]))
			wti_cause_follow(c, i, first);
}
