/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which deviations of files go together: by their names and folders, by what is computed from
 * what, by permissions, by being of one kind, or because there is one round less of all of them.
 */
#include "causes.h"

#include <ctype.h>
#include <string.h>

#include "golden_words.h"

/* ---- Less of all ----------------------------------------------------------------------------- */

static bool is_input(const struct wti_deviation *d)
{
	for (size_t i = 0; i < d->golden->fact_count; i++)
		if (wti_cause_is_writing(d->golden->facts[i].word))
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
void wti_follow_absent(struct wti_checking *c)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < c->count; i++) {
		const struct wti_deviation *d = &c->all[i];

		if (wti_deviation_type(d) == WTI_THING_FILE && !d->thing && !d->instead &&
		    !d->leader && !wti_cause_is_only_looked_at(c, d) &&
		    (first == SIZE_MAX || (is_input(d) && !is_input(&c->all[first]))))
			first = i;
	}
	for (size_t i = 0; i < c->count && first != SIZE_MAX; i++)
		if (i != first && wti_deviation_type(&c->all[i]) == WTI_THING_FILE &&
		    is_done_less(&c->all[i]))
			wti_cause_follow(c, i, first);
}

/* ---- Permissions ----------------------------------------------------------------------------- */

static bool is_only_mode(const struct wti_deviation *d)
{
	return d->is_mode && !d->off_count && !d->is_via;
}

static bool is_same_mode(const struct wti_deviation *a, const struct wti_deviation *b)
{
	return is_only_mode(a) && a->is_mode && b->is_mode &&
	       wti_deviation_type(a) == wti_deviation_type(b) &&
	       a->golden->permissions == b->golden->permissions &&
	       a->thing->permissions == b->thing->permissions;
}

void wti_follow_modes(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++) {
			const struct wti_deviation *d = &c->all[i], *other = &c->all[j];
			bool is_umask =
				other->is_mode && wti_deviation_type(other) == WTI_THING_PROCESS;

			if (i != j && is_only_mode(d) && is_umask &&
			    (wti_deviation_type(d) != WTI_THING_PROCESS ||
			     wti_role_is_below(wti_deviation_name(d), wti_deviation_name(other))))
				wti_cause_follow(c, i, j);
			else if (j < i && is_same_mode(d, other))
				wti_cause_follow(c, i, j);
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
	size_t bytes = strlen(wti_deviation_name(d));

	return d->cause && !strcmp(d->cause->word, "synced") &&
	       !strncmp(file, wti_deviation_name(d), bytes) && file[bytes] == '/' &&
	       !strchr(file + bytes + 1, '/');
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
		return is_inside(d->thing->via, wti_deviation_name(folder));
	if (d->golden == folder->golden || d->thing == folder->thing) /* both NULL */
		return is_inside(wti_deviation_name(d), wti_deviation_name(folder));
	return is_inside(wti_deviation_name(d), wti_deviation_name(folder)) && d->cause &&
	       folder->cause && !strcmp(d->cause->word, folder->cause->word);
}

/* It is renamed to the other now, or it was and stays. */
static bool is_renamed_to(const struct wti_deviation *d, const struct wti_deviation *other)
{
	if (!d->thing)
		return other->thing && other->thing->via &&
		       !strcmp(other->thing->via, wti_deviation_name(d));
	return !d->golden && other->golden && other->golden->via &&
	       !strcmp(other->golden->via, wti_deviation_name(d));
}

void wti_follow_files(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && wti_deviation_type(&c->all[i]) == WTI_THING_FILE &&
			    wti_deviation_type(&c->all[j]) == WTI_THING_FILE &&
			    (is_beside(wti_deviation_name(&c->all[i]),
				       wti_deviation_name(&c->all[j])) ||
			     is_folder_of(&c->all[i], wti_deviation_name(&c->all[j])) ||
			     is_in_folder(&c->all[i], &c->all[j]) ||
			     is_renamed_to(&c->all[i], &c->all[j])))
				wti_cause_follow(c, i, j);
}

/* ---- Computed from it ------------------------------------------------------------------------ */

static bool has_other_role(const struct wti_checking *c, const struct wti_tally *tally,
			   uint32_t role)
{
	for (size_t i = 0; wti_cause_role_at(c, tally, i); i++)
		if (wti_cause_role_at(c, tally, i) != role)
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
	wrote = wti_effects_tally(c->run, wti_effects_index(c->run, from->thing),
				  WTI_EFFECT_WRITTEN_BYTES);
	reads = wti_effects_tally(c->run, wti_effects_index(c->run, from->thing),
				  WTI_EFFECT_OPENED);
	writes = wti_effects_tally(c->run, wti_effects_index(c->run, to->thing),
				   WTI_EFFECT_WRITTEN_BYTES);
	for (size_t i = 0; wti_cause_role_at(c, writes, i); i++)
		if (wti_cause_has_role(c, reads, wti_cause_role_at(c, writes, i)) &&
		    has_other_role(c, wrote, wti_cause_role_at(c, writes, i)))
			return true;
	return false;
}

/* What a program writes to a temporary file is on its way to another. */
static bool is_on_the_way(const struct wti_deviation *d, const struct wti_deviation *to)
{
	return to->thing && to->golden && wti_deviation_type(to) == WTI_THING_FILE &&
	       d->role == to->role && strstr(wti_deviation_name(d), "<temp>") &&
	       !strstr(wti_deviation_name(to), "<temp>");
}

void wti_follow_flow(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct wti_off *cause = c->all[i].cause;

		if (!c->all[i].thing || !cause || strcmp(cause->word, "written_bytes") != 0)
			continue;
		for (size_t j = 0; j < c->count && !c->all[i].leader; j++)
			if (i != j && (is_made_from(c, &c->all[i], &c->all[j]) ||
				       is_on_the_way(&c->all[i], &c->all[j])))
				wti_cause_follow(c, i, j);
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
	return wti_deviation_type(d) == WTI_THING_FILE && d->cause &&
	       !strcmp(d->cause->word, "synced") && (!d->cause->tally || !d->cause->tally->total);
}

static bool are_alike(const struct wti_deviation *a, const struct wti_deviation *b)
{
	if (is_unsynced(a) && is_unsynced(b))
		return true;
	return wti_deviation_type(a) == WTI_THING_FILE && wti_deviation_type(b) == WTI_THING_FILE &&
	       a->role == b->role && !a->thing == !b->thing && !a->golden == !b->golden &&
	       !a->cause == !b->cause && (!a->cause || !strcmp(a->cause->word, b->cause->word)) &&
	       are_of_a_kind(wti_deviation_name(a), wti_deviation_name(b));
}

void wti_follow_alike(struct wti_checking *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < i && !c->all[i].leader; j++)
			if (!c->all[i].instead && !c->all[j].instead &&
			    are_alike(&c->all[j], &c->all[i]))
				wti_cause_follow(c, i, j);
}
