/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which deviations have one cause: one of them is reported, and names the others. In order:
 *
 *   what a new process did, or did in addition     said with the first new process
 *   a thing that took the place of another         said with the one that is missing
 *   what happens less often, without a process     said with the process that is missing
 *   what a package or library brings along         said with the first
 *   files beside a file (x.db-wal), its folder     said with the file
 *   what is computed from a file that differs      said with that file
 *   the same of other files of the sort            said with the first
 *   what one program only looks at                 said with what it does else
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "golden_words.h"

struct causes {
	struct wti_checking *c;
	uint32_t *of_thing; /* by thing of the run: its deviation plus one */
	uint32_t *busy;     /* by thing: the new process that touched it, its deviation plus one */
};

/* The place in a role from which its last program stands: behind "make > " in "make > cc". */
static size_t last_of(const char *role)
{
	size_t at = 0;

	for (const char *next = strstr(role, " > "); next; next = strstr(next + 3, " > "))
		at = (size_t)(next - role) + 3;
	return at;
}

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

/* What is worse is never hidden behind what is not so bad, nor what is sure behind what is in doubt
 * and therefore not reported. */
static bool follow(struct wti_checking *c, size_t i, size_t leader)
{
	size_t root = root_of(c, leader);

	if (c->all[i].leader || root == i ||
	    wti_deviation_severity(&c->all[root]) < wti_deviation_severity(&c->all[i]) ||
	    (wti_golden_in_doubt(c, &c->all[root]) && !wti_golden_in_doubt(c, &c->all[i])))
		return false;
	c->all[i].leader = root + 1;
	return true;
}

static enum wti_thing_type type_of(const struct wti_deviation *d)
{
	return d->thing ? d->thing->type : d->golden->type;
}

static const char *name_of(const struct wti_deviation *d)
{
	return d->thing ? d->thing->name : d->golden->name;
}

static uint32_t index_of(const struct wti_checking *c, const struct wti_thing *thing)
{
	return (uint32_t)(thing - c->run->things);
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
			if (!follow(c, j, i))
				missing->instead = NULL;
		}
	}
}

/* ---- New processes --------------------------------------------------------------------------- */

/* The deviation plus one of the sort of process that this one is; 0: there is none. */
static uint32_t process_deviation(const struct causes *k, uint32_t process)
{
	uint32_t thing = process ? k->c->run->actors[process - 1].thing : 0;

	return thing && k->c->is_surplus[process - 1] ? k->of_thing[thing - 1] : 0;
}

static void find_busy(struct causes *k)
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

static bool is_only_more(const struct wti_deviation *d)
{
	for (size_t i = 0; i < d->off_count; i++)
		if (!d->offs[i].tally || d->offs[i].tally->total <= d->offs[i].total.high)
			return false;
	return d->off_count && !d->off_more;
}

/* A process that a new process starts: its role begins with the other's. */
static void follow_parents(struct causes *k, size_t i)
{
	const char *role = name_of(&k->c->all[i]);

	for (size_t j = 0; j < k->c->count; j++) {
		const struct wti_deviation *other = &k->c->all[j];
		size_t bytes = strlen(name_of(other));

		if (j != i && type_of(other) == WTI_THING_PROCESS && !other->golden &&
		    !strncmp(role, name_of(other), bytes) && !strncmp(role + bytes, " > ", 3) &&
		    follow(k->c, i, j))
			return;
	}
}

/* A program that is not executed any more goes with the process that is not started any more. */
static void follow_missing_process(struct causes *k, size_t i)
{
	const char *program = name_of(&k->c->all[i]);
	const char *slash = strrchr(program, '/');

	program = slash ? slash + 1 : program;
	for (size_t j = 0; j < k->c->count; j++) {
		const char *role = name_of(&k->c->all[j]);

		if (type_of(&k->c->all[j]) == WTI_THING_PROCESS && k->c->all[j].golden &&
		    last_of(role) && !strcmp(role + last_of(role), program) && follow(k->c, i, j))
			return;
	}
}

static void follow_processes(struct causes *k)
{
	struct wti_checking *c = k->c;

	for (size_t i = 0; i < c->count; i++) {
		struct wti_deviation *d = &c->all[i];
		uint32_t leader = 0;

		if (type_of(d) == WTI_THING_PROGRAM && d->golden)
			follow_missing_process(k, i);
		if (!d->thing)
			continue;
		if (d->thing->type == WTI_THING_PROCESS) {
			if (!d->golden)
				follow_parents(k, i);
			continue;
		}
		if (!d->golden)
			leader = process_deviation(k, d->thing->process);
		if (!leader && (!d->golden || is_only_more(d)))
			leader = k->busy[index_of(c, d->thing)];
		if (leader)
			follow(c, i, leader - 1);
	}
}

/* ---- Processes that are missing -------------------------------------------------------------- */

static bool is_only_less(const struct wti_deviation *d)
{
	if (!d->thing)
		return !d->instead;
	for (size_t i = 0; i < d->off_count; i++)
		if (d->offs[i].tally && d->offs[i].tally->total >= d->offs[i].total.low)
			return false;
	return d->off_count && d->golden && !d->off_more && !d->is_mode && !d->is_via;
}

static bool are_siblings(const char *a, const char *b)
{
	size_t bytes = last_of(a);

	return bytes && bytes == last_of(b) && !memcmp(a, b, bytes);
}

/*
 * What a process did that is not started any more is not in the golden by process: whatever
 * happens less often is taken for its part. A sibling that is started in addition took its place.
 */
static void follow_missing(struct wti_checking *c)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < c->count && first == SIZE_MAX; i++)
		if (type_of(&c->all[i]) == WTI_THING_PROCESS && is_only_less(&c->all[i]))
			first = i;
	for (size_t i = 0; i < c->count && first != SIZE_MAX; i++) {
		struct wti_deviation *d = &c->all[i];
		bool is_process = type_of(d) == WTI_THING_PROCESS;

		if (i != first &&
		    (is_only_less(d) || (is_process && is_only_more(d) &&
					 are_siblings(name_of(d), name_of(&c->all[first])))))
			follow(c, i, first);
	}
}

/* ---- Brought along --------------------------------------------------------------------------- */

/* A package brings others along, and a library those that it needs: the first is the cause. */
static void follow_first(struct wti_checking *c)
{
	size_t first[2][WTI_THING_TYPES] = {{0}};

	for (size_t i = 0; i < c->count; i++) {
		size_t *leader = &first[!c->all[i].thing][type_of(&c->all[i])];

		if (wti_thing_exactness(type_of(&c->all[i])) != WTI_COMPARE_PRESENCE ||
		    c->all[i].leader)
			continue;
		if (*leader)
			follow(c, i, *leader - 1);
		else
			*leader = i + 1;
	}
}

/* ---- Beside a file --------------------------------------------------------------------------- */

/* "x.db-wal" and "x.db.lock" beside "x.db"; "folder/." beside "folder/file". */
static bool is_beside(const char *name, const char *file)
{
	size_t bytes = strlen(file), own = strlen(name);
	const char *slash = strrchr(file, '/');

	if (own > 2 && !strcmp(name + own - 2, "/."))
		return slash && (size_t)(slash - file) == own - 2 && !memcmp(name, file, own - 2) &&
		       strcmp(name, file) != 0;
	return !strncmp(name, file, bytes) && name[bytes] && strchr("-.~", name[bytes]) &&
	       !strchr(name + bytes, '/');
}

/* Whether it is a folder that is synced more or less often, with `file` in it. */
static bool is_folder_of(const struct wti_deviation *d, const char *file)
{
	size_t bytes = strlen(name_of(d));

	return d->cause && !strcmp(d->cause->word, "synced") && !strncmp(file, name_of(d), bytes) &&
	       file[bytes] == '/' && !strchr(file + bytes + 1, '/');
}

static void follow_files(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && type_of(&c->all[i]) == WTI_THING_FILE &&
			    type_of(&c->all[j]) == WTI_THING_FILE &&
			    (is_beside(name_of(&c->all[i]), name_of(&c->all[j])) ||
			     is_folder_of(&c->all[i], name_of(&c->all[j]))))
				follow(c, i, j);
}

/* ---- Computed from it ------------------------------------------------------------------------ */

/* The sort of process of one of the first that did this to the thing; 0: no more. */
static uint32_t role_at(const struct wti_checking *c, const struct wti_tally *tally, size_t i)
{
	if (!tally || i >= WTI_SHARES_MAX || !tally->shares[i].count || !tally->shares[i].process)
		return 0;
	return c->run->actors[tally->shares[i].process - 1].thing;
}

static uint32_t role_of(const struct wti_checking *c, const struct wti_deviation *d)
{
	const struct wti_tally *tally = NULL;

	if (d->cause)
		tally = d->cause->tally;
	else if (d->thing)
		tally = wti_effects_first(c->run, index_of(c, d->thing));
	return role_at(c, tally, 0);
}

static bool has_role(const struct wti_checking *c, const struct wti_tally *tally, uint32_t role)
{
	for (size_t i = 0; role_at(c, tally, i); i++)
		if (role_at(c, tally, i) == role)
			return true;
	return false;
}

static bool has_other_role(const struct wti_checking *c, const struct wti_tally *tally,
			   uint32_t role)
{
	for (size_t i = 0; role_at(c, tally, i); i++)
		if (role_at(c, tally, i) != role)
			return true;
	return false;
}

/* A program writes `to`, having read `from`, which another program wrote: as a compiler's output
 * is the assembler's input. */
static bool is_made_from(const struct wti_checking *c, const struct wti_deviation *to,
			 const struct wti_deviation *from)
{
	const struct wti_tally *wrote, *writes, *reads;

	if (!from->thing || !wti_deviation_off(from, "written_bytes"))
		return false;
	wrote = wti_effects_tally(c->run, index_of(c, from->thing), WTI_DEED_WRITTEN_BYTES);
	reads = wti_effects_tally(c->run, index_of(c, from->thing), WTI_DEED_OPENED);
	writes = wti_effects_tally(c->run, index_of(c, to->thing), WTI_DEED_WRITTEN_BYTES);
	for (size_t i = 0; role_at(c, writes, i); i++)
		if (has_role(c, reads, role_at(c, writes, i)) &&
		    has_other_role(c, wrote, role_at(c, writes, i)))
			return true;
	return false;
}

static void follow_flow(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct wti_off *cause = c->all[i].cause;

		if (!c->all[i].thing || !cause || strcmp(cause->word, "written_bytes") != 0)
			continue;
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && is_made_from(c, &c->all[i], &c->all[j]))
				follow(c, i, j);
	}
}

/* ---- The same of others ---------------------------------------------------------------------- */

/* In one folder, and with the same extension. */
static bool are_of_a_sort(const char *a, const char *b)
{
	const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
	const char *dot_a, *dot_b;

	if (!slash_a || !slash_b || slash_a - a != slash_b - b ||
	    memcmp(a, b, (size_t)(slash_a - a)) != 0)
		return false;
	dot_a = strrchr(slash_a, '.');
	dot_b = strrchr(slash_b, '.');
	return dot_a && dot_b && !strcmp(dot_a, dot_b);
}

static bool are_alike(const struct wti_deviation *a, const struct wti_deviation *b)
{
	return type_of(a) == WTI_THING_FILE && type_of(b) == WTI_THING_FILE && a->role == b->role &&
	       !a->thing == !b->thing && !a->golden == !b->golden && !a->cause == !b->cause &&
	       (!a->cause || !strcmp(a->cause->word, b->cause->word)) &&
	       are_of_a_sort(name_of(a), name_of(b));
}

static void follow_alike(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < i && !c->all[i].leader; j++)
			if (!c->all[i].instead && !c->all[j].instead &&
			    are_alike(&c->all[j], &c->all[i]))
				follow(c, i, j);
}

/* ---- Only looked at -------------------------------------------------------------------------- */

/* Nothing was done to it, and nothing found in it: other names were asked for, or more often. */
static bool is_only_looked_at(const struct wti_checking *c, const struct wti_deviation *d)
{
	if (type_of(d) != WTI_THING_FILE || !d->thing || d->is_mode || d->is_via)
		return false;
	if (d->cause)
		return wti_deed_by_word(d->cause->word) < 0;
	for (const struct wti_tally *t = wti_effects_first(c->run, index_of(c, d->thing)); t;
	     t = wti_effects_next(c->run, t))
		if (t->total && t->deed < WTI_DEED_COUNT)
			return false;
	return true;
}

/* A program that does something else looks elsewhere for it: at one look, all are said. */
static void follow_looks(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->all[i].leader || !is_only_looked_at(c, &c->all[i]))
			continue;
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && c->all[j].thing && type_of(&c->all[j]) == WTI_THING_FILE &&
			    c->all[i].role == c->all[j].role &&
			    (j < i || !is_only_looked_at(c, &c->all[j])))
				follow(c, i, j);
	}
}

/* ---- The whole ------------------------------------------------------------------------------- */

int wti_golden_find_causes(struct wti_checking *c)
{
	struct causes k = {.c = c};

	k.of_thing = calloc(c->run->thing_count + 1, sizeof(*k.of_thing));
	k.busy = calloc(c->run->thing_count + 1, sizeof(*k.busy));
	if (!k.of_thing || !k.busy) {
		free(k.of_thing);
		free(k.busy);
		return WT_E_NOMEM;
	}
	for (size_t i = 0; i < c->count; i++) {
		c->all[i].cause = wti_deviation_cause(c, &c->all[i]);
		c->all[i].role = role_of(c, &c->all[i]);
		if (c->all[i].thing)
			k.of_thing[index_of(c, c->all[i].thing)] = (uint32_t)i + 1;
	}
	find_busy(&k);
	follow_processes(&k);
	pair_up(c);
	follow_missing(c);
	follow_first(c);
	follow_files(c);
	follow_flow(c);
	follow_alike(c);
	follow_looks(c);
	free(k.of_thing);
	free(k.busy);
	return 0;
}
