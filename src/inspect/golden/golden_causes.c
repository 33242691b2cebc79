/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which deviations have one cause: one of them is reported, and names the others. In order:
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
 *   what one program only looks at                 said with what it does else
 *   code that it loads for it                      said with what it does else
 */
#include <ctype.h>
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

/* ---- What is known of each ------------------------------------------------------------------- */

/* The kind of process of one of the first that did this to the thing; 0: no more. */
static uint32_t role_at(const struct wti_checking *c, const struct wti_tally *tally, size_t i)
{
	if (!tally || i >= WTI_SHARES_MAX || !tally->shares[i].count || !tally->shares[i].process)
		return 0;
	return c->run->actors[tally->shares[i].process - 1].thing;
}

static bool has_role(const struct wti_checking *c, const struct wti_tally *tally, uint32_t role)
{
	for (size_t i = 0; role_at(c, tally, i); i++)
		if (role_at(c, tally, i) == role)
			return true;
	return false;
}

static bool is_writing(const char *word)
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

/* It is written in another way, or was written before, or is now. */
static bool is_written(const struct wti_checking *c, const struct wti_deviation *d)
{
	if (type_of(d) != WTI_THING_FILE)
		return false;
	if (d->cause)
		return is_writing(d->cause->word);
	for (size_t i = 0; !d->thing && i < d->golden->fact_count; i++)
		if (is_writing(d->golden->facts[i].word))
			return true;
	for (const struct wti_tally *t = d->thing ? wti_effects_first(c->run, index_of(c, d->thing))
						  : NULL;
	     t; t = wti_effects_next(c->run, t))
		if (t->total && is_writing(wti_effect_word(c->run, t->effect)))
			return true;
	return false;
}

/* Nothing was done to it, and nothing found in it: other names were asked for, or more often. */
static bool is_only_looked_at(const struct wti_checking *c, const struct wti_deviation *d)
{
	if (type_of(d) != WTI_THING_FILE || d->is_mode || d->is_via)
		return false;
	if (d->cause)
		return wti_effect_by_word(d->cause->word) < 0;
	for (size_t i = 0; !d->thing && i < d->golden->fact_count; i++)
		if (wti_effect_by_word(d->golden->facts[i].word) >= 0)
			return false;
	for (const struct wti_tally *t = d->thing ? wti_effects_first(c->run, index_of(c, d->thing))
						  : NULL;
	     t; t = wti_effects_next(c->run, t))
		if (t->total && t->effect < WTI_EFFECT_COUNT)
			return false;
	return true;
}

/* `role` is that of a process that the process of `ancestor` started, itself or by others. */
static bool is_below(const char *role, const char *ancestor)
{
	size_t bytes = strlen(ancestor);

	return !strncmp(role, ancestor, bytes) && !strncmp(role + bytes, " > ", 3);
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

/* The deviation plus one of the kind of process that this one is; 0: there is none. */
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

/* Who starts a new process may start it beside another. */
static void follow_new_child(struct causes *k, size_t i)
{
	const struct wti_deviation *d = &k->c->all[i];

	for (size_t j = 0; d->off_count == 1 && !strcmp(d->offs[0].word, "at_once") &&
			   !d->is_mode && j < k->c->count;
	     j++)
		if (type_of(&k->c->all[j]) == WTI_THING_PROCESS && !k->c->all[j].golden &&
		    is_below(name_of(&k->c->all[j]), name_of(d)) && follow(k->c, i, j))
			return;
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

/* Which of several processes of a kind is the one too many, nobody knows. */
static bool is_started_more(const struct causes *k, uint32_t role)
{
	const struct wti_deviation *d =
		k->of_thing[role - 1] ? &k->c->all[k->of_thing[role - 1] - 1] : NULL;

	return d && d->cause && !strcmp(d->cause->word, "started") && is_only_more(d);
}

/* A script is read by who runs it. */
static void follow_program(struct causes *k, size_t i)
{
	for (size_t j = 0; j < k->c->count; j++)
		if (type_of(&k->c->all[j]) == WTI_THING_PROGRAM && !k->c->all[j].golden &&
		    !strcmp(name_of(&k->c->all[j]), name_of(&k->c->all[i])) && follow(k->c, i, j))
			return;
}

static void follow_processes(struct causes *k)
{
	struct wti_checking *c = k->c;

	for (size_t i = 0; i < c->count; i++) {
		struct wti_deviation *d = &c->all[i];
		uint32_t leader = 0;

		if (type_of(d) == WTI_THING_PROGRAM && d->golden)
			follow_missing_process(k, i);
		if (type_of(d) == WTI_THING_FILE && !d->golden)
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
		if (!leader && (!d->golden || is_only_more(d)))
			leader = k->busy[index_of(c, d->thing)];
		if (!leader && !d->golden && d->role && is_started_more(k, d->role))
			leader = k->of_thing[d->role - 1];
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

static bool ends_otherwise(const struct wti_deviation *d)
{
	return type_of(d) == WTI_THING_PROCESS && d->cause && wti_off_is_end(d->cause);
}

/* A process that is missing, or else the innermost that ends otherwise: who started it may only
 * pass that on. SIZE_MAX: there is none. */
static size_t find_failing(const struct wti_checking *c)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < c->count; i++)
		if (type_of(&c->all[i]) == WTI_THING_PROCESS &&
		    (is_only_less(&c->all[i]) || c->all[i].instead) && !ends_otherwise(&c->all[i]))
			return i;
	for (size_t i = 0; i < c->count; i++)
		if (ends_otherwise(&c->all[i]) && !c->all[i].leader &&
		    (found == SIZE_MAX || is_below(name_of(&c->all[i]), name_of(&c->all[found]))))
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
	if (type_of(d) == WTI_THING_PROCESS)
		return is_only_less(d) || ends_otherwise(d) ||
		       (is_only_more(d) && are_siblings(name_of(d), name_of(failing)));
	if (is_only_less(d) || (failing->thing && d->role == index_of(c, failing->thing) + 1))
		return true;
	return type_of(d) == WTI_THING_FILE && d->golden && !is_only_more(d);
}

/* Who fails has read what another wrote otherwise. */
static void follow_inputs(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && ends_otherwise(&c->all[i]); j++)
			if (c->all[i].thing && c->all[j].thing && is_written(c, &c->all[j]) &&
			    has_role(c,
				     wti_effects_tally(c->run, index_of(c, c->all[j].thing),
						       WTI_EFFECT_OPENED),
				     index_of(c, c->all[i].thing) + 1) &&
			    c->all[j].role != index_of(c, c->all[i].thing) + 1 && follow(c, i, j))
				break;
}

static void follow_missing(struct wti_checking *c)
{
	size_t first = find_failing(c);

	for (size_t i = 0; i < c->count && first != SIZE_MAX; i++)
		if (i != first && is_part_of(c, &c->all[i], &c->all[first]))
			follow(c, i, first);
}

static bool is_input(const struct wti_deviation *d)
{
	for (size_t i = 0; i < d->golden->fact_count; i++)
		if (is_writing(d->golden->facts[i].word))
			return false;
	return true;
}

/* Nothing is done to it more often than before, but for attempts that fail. */
static bool is_done_less(const struct wti_deviation *d)
{
	bool any = !d->thing && !d->instead;

	for (size_t i = 0; d->thing && d->golden && i < d->off_count; i++) {
		const struct wti_off *off = &d->offs[i];
		bool is_less = !off->tally || off->tally->total < off->total.low;

		if (!is_less && !strchr(off->word, ' '))
			return false;
		any |= is_less;
	}
	return any && !d->off_more && !d->is_mode;
}

/* One round less: a file that is not used any more, rather one that was read, and all that there
 * is less of besides. */
static void follow_absent(struct wti_checking *c)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < c->count; i++) {
		const struct wti_deviation *d = &c->all[i];

		if (type_of(d) == WTI_THING_FILE && !d->thing && !d->instead && !d->leader &&
		    !is_only_looked_at(c, d) &&
		    (first == SIZE_MAX || (is_input(d) && !is_input(&c->all[first]))))
			first = i;
	}
	for (size_t i = 0; i < c->count && first != SIZE_MAX; i++)
		if (i != first && type_of(&c->all[i]) == WTI_THING_FILE && is_done_less(&c->all[i]))
			follow(c, i, first);
}

/* ---- Permissions ----------------------------------------------------------------------------- */

static bool is_only_mode(const struct wti_deviation *d)
{
	return d->is_mode && !d->off_count && !d->is_via;
}

static bool is_same_mode(const struct wti_deviation *a, const struct wti_deviation *b)
{
	return is_only_mode(a) && a->is_mode && b->is_mode && type_of(a) == type_of(b) &&
	       a->golden->permissions == b->golden->permissions &&
	       a->thing->permissions == b->thing->permissions;
}

static void follow_modes(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++) {
			const struct wti_deviation *d = &c->all[i], *other = &c->all[j];
			bool is_umask = other->is_mode && type_of(other) == WTI_THING_PROCESS;

			if (i != j && is_only_mode(d) && is_umask &&
			    (type_of(d) != WTI_THING_PROCESS ||
			     is_below(name_of(d), name_of(other))))
				follow(c, i, j);
			else if (j < i && is_same_mode(d, other))
				follow(c, i, j);
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

static bool is_inside(const char *name, const char *folder)
{
	size_t bytes = strlen(folder);

	return !strncmp(name, folder, bytes) && name[bytes] == '/';
}

/* Both are new or missing, or removed more or less often, or it comes out of a new folder. */
static bool is_in_folder(const struct wti_deviation *d, const struct wti_deviation *folder)
{
	if (d->is_via && !d->off_count && d->thing->via && !folder->golden)
		return is_inside(d->thing->via, name_of(folder));
	if (d->golden == folder->golden || d->thing == folder->thing) /* both NULL */
		return is_inside(name_of(d), name_of(folder));
	return is_inside(name_of(d), name_of(folder)) && d->cause && folder->cause &&
	       !strcmp(d->cause->word, folder->cause->word);
}

/* It is renamed to the other now, or it was and stays. */
static bool is_renamed_to(const struct wti_deviation *d, const struct wti_deviation *other)
{
	if (!d->thing)
		return other->thing && other->thing->via && !strcmp(other->thing->via, name_of(d));
	return !d->golden && other->golden && other->golden->via &&
	       !strcmp(other->golden->via, name_of(d));
}

static void follow_files(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && type_of(&c->all[i]) == WTI_THING_FILE &&
			    type_of(&c->all[j]) == WTI_THING_FILE &&
			    (is_beside(name_of(&c->all[i]), name_of(&c->all[j])) ||
			     is_folder_of(&c->all[i], name_of(&c->all[j])) ||
			     is_in_folder(&c->all[i], &c->all[j]) ||
			     is_renamed_to(&c->all[i], &c->all[j])))
				follow(c, i, j);
}

/* ---- Computed from it ------------------------------------------------------------------------ */

static uint32_t role_of(const struct wti_checking *c, const struct wti_deviation *d)
{
	const struct wti_tally *tally = NULL;

	if (d->cause)
		tally = d->cause->tally;
	else if (d->thing)
		tally = wti_effects_first(c->run, index_of(c, d->thing));
	return role_at(c, tally, 0);
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
	wrote = wti_effects_tally(c->run, index_of(c, from->thing), WTI_EFFECT_WRITTEN_BYTES);
	reads = wti_effects_tally(c->run, index_of(c, from->thing), WTI_EFFECT_OPENED);
	writes = wti_effects_tally(c->run, index_of(c, to->thing), WTI_EFFECT_WRITTEN_BYTES);
	for (size_t i = 0; role_at(c, writes, i); i++)
		if (has_role(c, reads, role_at(c, writes, i)) &&
		    has_other_role(c, wrote, role_at(c, writes, i)))
			return true;
	return false;
}

/* What a program writes to a temporary file is on its way to another. */
static bool is_on_the_way(const struct wti_deviation *d, const struct wti_deviation *to)
{
	return to->thing && to->golden && type_of(to) == WTI_THING_FILE && d->role == to->role &&
	       strstr(name_of(d), "<temp>") && !strstr(name_of(to), "<temp>");
}

static void follow_flow(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct wti_off *cause = c->all[i].cause;

		if (!c->all[i].thing || !cause || strcmp(cause->word, "written_bytes") != 0)
			continue;
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && (is_made_from(c, &c->all[i], &c->all[j]) ||
				       is_on_the_way(&c->all[i], &c->all[j])))
				follow(c, i, j);
	}
}

/* ---- The same of others ---------------------------------------------------------------------- */

/* "part-aa" and "part-ab", "m9" and "m10": the same up to a number or two letters at the end. */
static bool are_numbered(const char *a, const char *b)
{
	size_t same = 0, bytes_a = strlen(a), bytes_b = strlen(b);

	while (a[same] && a[same] == b[same])
		same++;
	while (same && isdigit((unsigned char)a[same - 1]))
		same--;
	if (!same)
		return false;
	return (strspn(a + same, "0123456789") == bytes_a - same &&
		strspn(b + same, "0123456789") == bytes_b - same) ||
	       (bytes_a == bytes_b && bytes_a - same <= 2 && same > 2);
}

/* In one folder, and with the same extension, or numbered. */
static bool are_of_a_kind(const char *a, const char *b)
{
	const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
	const char *dot_a, *dot_b;

	if (!slash_a || !slash_b || slash_a - a != slash_b - b ||
	    memcmp(a, b, (size_t)(slash_a - a)) != 0)
		return false;
	dot_a = strrchr(slash_a, '.');
	dot_b = strrchr(slash_b, '.');
	if (dot_a && dot_b)
		return !strcmp(dot_a, dot_b);
	return !dot_a && !dot_b && are_numbered(slash_a + 1, slash_b + 1);
}

/* Who leaves the syncs out does that for all that it writes. */
static bool is_unsynced(const struct wti_deviation *d)
{
	return type_of(d) == WTI_THING_FILE && d->cause && !strcmp(d->cause->word, "synced") &&
	       (!d->cause->tally || !d->cause->tally->total);
}

static bool are_alike(const struct wti_deviation *a, const struct wti_deviation *b)
{
	if (is_unsynced(a) && is_unsynced(b))
		return true;
	return type_of(a) == WTI_THING_FILE && type_of(b) == WTI_THING_FILE && a->role == b->role &&
	       !a->thing == !b->thing && !a->golden == !b->golden && !a->cause == !b->cause &&
	       (!a->cause || !strcmp(a->cause->word, b->cause->word)) &&
	       are_of_a_kind(name_of(a), name_of(b));
}

static void follow_alike(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < i && !c->all[i].leader; j++)
			if (!c->all[i].instead && !c->all[j].instead &&
			    are_alike(&c->all[j], &c->all[i]))
				follow(c, i, j);
}

/* ---- Read for it ----------------------------------------------------------------------------- */

static bool is_only_read(const struct wti_deviation *d)
{
	if (type_of(d) != WTI_THING_FILE || !d->thing || !d->golden || d->is_mode || d->is_via)
		return false;
	for (size_t i = 0; i < d->off_count; i++)
		if (is_writing(d->offs[i].word))
			return false;
	return true;
}

/* One of those who did it is of that role. */
static bool is_by(const struct wti_checking *c, const struct wti_deviation *d, uint32_t role)
{
	return d->role == role || (d->cause && has_role(c, d->cause->tally, role));
}

static void follow_writes(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && is_only_read(&c->all[i]) && is_written(c, &c->all[j]) &&
			    (!c->all[j].role || is_by(c, &c->all[i], c->all[j].role)))
				follow(c, i, j);
}

/* ---- Only looked at -------------------------------------------------------------------------- */

/* A program that does something else looks elsewhere for it: at one look, all are said. */
static bool is_looked_at_for(const struct wti_checking *c, size_t i, size_t j)
{
	if (i == j || type_of(&c->all[j]) != WTI_THING_FILE ||
	    (j > i && is_only_looked_at(c, &c->all[j])))
		return false;
	return c->all[i].role == c->all[j].role && c->all[j].thing;
}

static void follow_looks(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0;
		     is_only_looked_at(c, &c->all[i]) && j < c->count && !c->all[i].leader; j++)
			if (is_looked_at_for(c, i, j))
				follow(c, i, j);
	for (size_t i = 0; i < c->count; i++) /* the programs that it starts look, too */
		for (size_t j = 0;
		     is_only_looked_at(c, &c->all[i]) && j < c->count && !c->all[i].leader; j++)
			if (i != j && !is_only_looked_at(c, &c->all[j]) &&
			    wti_thing_exactness(type_of(&c->all[j])) == WTI_COMPARE_EXACT)
				follow(c, i, j);
}

/* ---- Loaded for it --------------------------------------------------------------------------- */

/* Who does something new needs other code for it. */
static void follow_doing(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0;
		     type_of(&c->all[i]) == WTI_THING_CODE && j < c->count && !c->all[i].leader;
		     j++)
			if (type_of(&c->all[j]) != WTI_THING_CODE &&
			    (!c->all[j].golden || !c->all[j].thing) &&
			    wti_deviation_severity(&c->all[j]) == WT_ERROR &&
			    (c->all[i].role == c->all[j].role || !c->all[j].role))
				follow(c, i, j);
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
	follow_inputs(c);
	follow_missing(c);
	follow_absent(c);
	follow_modes(c);
	follow_first(c);
	follow_files(c);
	follow_flow(c);
	follow_alike(c);
	follow_writes(c);
	follow_looks(c);
	follow_doing(c);
	free(k.of_thing);
	free(k.busy);
	return 0;
}
