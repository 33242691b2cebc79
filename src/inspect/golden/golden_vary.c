/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names with a part that is another one in every run and that no class knows. If each run has
 * exactly one thing of its own in a folder, to which the same was done as to the others', these are
 * one thing, and its name is what theirs have in common, with <varies> between.
 */
#include "golden_vary.h"

#include <string.h>

#include "base/err.h"

#define NAME_BYTES 4096

static size_t folder_bytes(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? (size_t)(slash - name) + 1 : 0;
}

/* Counts and permissions are the same; each has been seen in one run, so ranges begin at 0. */
static bool are_alike(const struct wti_golden_thing *a, const struct wti_golden_thing *b)
{
	size_t bytes = folder_bytes(a->name);

	if (a->type != b->type || a->fact_count != b->fact_count ||
	    a->permissions != b->permissions || bytes != folder_bytes(b->name) ||
	    memcmp(a->name, b->name, bytes))
		return false;
	for (size_t i = 0; i < a->fact_count; i++)
		if (strcmp(a->facts[i].word, b->facts[i].word) ||
		    a->facts[i].total.high != b->facts[i].total.high)
			return false;
	return true;
}

static bool may_vary(const struct wti_golden_thing *thing)
{
	return thing->is_optional &&
	       (thing->type == WTI_THING_FILE || thing->type == WTI_THING_PEER);
}

/* The run that has it; -1: none or several do. */
static int only_run(const struct wti_golden_thing *thing, const struct wti_effects *runs,
		    size_t count)
{
	int only = -1;

	for (size_t i = 0; i < count; i++) {
		if (!wti_effects_thing(&runs[i], thing->type, thing->name))
			continue;
		if (only >= 0)
			return -1;
		only = (int)i;
	}
	return only;
}

/* What a group of names has in common, "<varies>" between: false if there is no name for it. */
static bool name_group(char out[NAME_BYTES + 16], const struct wti_golden_thing *const *group,
		       size_t count)
{
	const char *first = group[0]->name;
	size_t prefix = strlen(first), suffix = prefix;

	for (size_t i = 1; i < count; i++) {
		const char *name = group[i]->name;
		size_t bytes = strlen(name), first_bytes = strlen(first), j = 0;

		while (j < prefix && j < bytes && name[j] == first[j])
			j++;
		prefix = j;
		for (j = 0; j < suffix && j + prefix < bytes && j + prefix < first_bytes &&
			    name[bytes - j - 1] == first[first_bytes - j - 1];)
			j++;
		suffix = j;
	}
	if (prefix < folder_bytes(first) || prefix + suffix > NAME_BYTES)
		return false;
	memcpy(out, first, prefix);
	memcpy(out + prefix, WTI_VARIES, strlen(WTI_VARIES));
	memcpy(out + prefix + strlen(WTI_VARIES), first + strlen(first) - suffix, suffix + 1);
	return true;
}

/* Renames what is below a folder whose name varies, too. */
static bool rename_all(struct wti_effects *run, const char *from, const char *to)
{
	size_t bytes = strlen(from);
	struct wti_buf name;
	bool ok = true;

	wti_buf_init(&name, 2 * NAME_BYTES);
	for (size_t i = 0; i < run->thing_count && ok; i++) {
		const char *old = run->things[i].name;

		if (strncmp(old, from, bytes) || (old[bytes] && old[bytes] != '/'))
			continue;
		wti_buf_clear(&name);
		wti_buf_printf(&name, "%s%s", to, old + bytes);
		ok = wti_effects_rename(run, (uint32_t)i, wti_buf_cstr(&name));
	}
	wti_buf_release(&name);
	return ok;
}

/* One of each run, or no group. */
static size_t find_group(const struct wti_golden *golden, size_t first,
			 const struct wti_effects *runs, size_t count,
			 const struct wti_golden_thing *group[WTI_GOLDEN_RUNS_MAX])
{
	size_t found = 0, folder = folder_bytes(golden->things[first].name);

	memset(group, 0, WTI_GOLDEN_RUNS_MAX * sizeof(*group));
	for (size_t i = first; i < golden->thing_count; i++) {
		const struct wti_golden_thing *thing = &golden->things[i];
		int run;

		/* They are sorted: what is in the folder comes together. */
		if (strncmp(thing->name, golden->things[first].name, folder))
			break;
		if (!may_vary(thing) || !are_alike(&golden->things[first], thing))
			continue;
		run = only_run(thing, runs, count);
		if (run < 0 || group[run])
			return 0;
		group[run] = thing;
		found++;
	}
	return found == count ? found : 0;
}

int wti_golden_unify(const struct wti_golden *golden, struct wti_effects *runs, size_t count,
		     bool *ret_any)
{
	const struct wti_golden_thing *group[WTI_GOLDEN_RUNS_MAX];
	char name[NAME_BYTES + 16];

	for (size_t i = 0; count > 1 && i < golden->thing_count; i++) {
		if (!may_vary(&golden->things[i]) || !find_group(golden, i, runs, count, group) ||
		    !name_group(name, group, count))
			continue;
		for (size_t j = 0; j < count; j++)
			if (!rename_all(&runs[j], group[j]->name, name))
				return WT_E_NOMEM;
		*ret_any = true;
	}
	return 0;
}

/* ---- A run that is checked ------------------------------------------------------------------- */

/* A name that has anything in the place of <varies>. */
static bool fits(const char *pattern, const char *name)
{
	const char *varies = strstr(pattern, WTI_VARIES);
	const char *rest = varies + strlen(WTI_VARIES);
	size_t prefix = (size_t)(varies - pattern), suffix = strlen(rest), bytes = strlen(name);

	return bytes > prefix + suffix && !strncmp(pattern, name, prefix) &&
	       !strcmp(name + bytes - suffix, rest) && !strchr(name + prefix, '/');
}

/* The same was done to it: at least all effects, which make it what it is. */
static bool is_used_so(const struct wti_golden_thing *golden, const struct wti_effects *run,
		       uint32_t thing)
{
	size_t same = 0;

	for (size_t i = 0; i < golden->fact_count; i++) {
		const struct wti_golden_fact *fact = &golden->facts[i];
		int effect = wti_effect_by_word(fact->word);
		const struct wti_tally *tally =
			effect < 0 ? NULL : wti_effects_tally(run, thing, (uint32_t)effect);

		if (effect < 0 || strstr(fact->word, "_bytes"))
			continue;
		if (!tally || !tally->total)
			return false;
		same++;
	}
	return same || wti_effects_first(run, thing);
}

static int adapt_to(const struct wti_golden *golden, const struct wti_golden_thing *thing,
		    struct wti_effects *run)
{
	for (size_t i = 0; i < run->thing_count; i++) {
		struct wti_buf from;
		bool ok;

		if (run->things[i].type != thing->type || !fits(thing->name, run->things[i].name) ||
		    wti_golden_thing(golden, thing->type, run->things[i].name) ||
		    !is_used_so(thing, run, (uint32_t)i))
			continue;
		wti_buf_init(&from, 2 * NAME_BYTES);
		wti_buf_text(&from, run->things[i].name);
		ok = rename_all(run, wti_buf_cstr(&from), thing->name);
		wti_buf_release(&from);
		return ok ? 0 : WT_E_NOMEM;
	}
	return 0;
}

static bool ends_with(const char *name, const char *end)
{
	size_t bytes = strlen(name), tail = strlen(end);

	return bytes >= tail && !strcmp(name + bytes - tail, end);
}

/* Format 1 has programs without their folders, and no syncs of the folders of the run. */
static bool name_as_format_1(struct wti_effects *run)
{
	bool ok = true;

	for (uint32_t i = 0; i < run->thing_count && ok; i++) {
		struct wti_thing *thing = &run->things[i];
		const char *slash = strrchr(thing->name, '/');

		if (thing->type == WTI_THING_PROGRAM && slash)
			ok = wti_effects_rename(run, i, slash + 1);
		else if (thing->type == WTI_THING_FILE && ends_with(thing->name, "/."))
			thing->type = WTI_THING_CACHE;
	}
	return ok;
}

int wti_golden_adapt(const struct wti_golden *golden, struct wti_effects *run, struct wt_err *err)
{
	if (golden->format == 1 && !name_as_format_1(run))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < golden->thing_count; i++)
		if (strstr(golden->things[i].name, WTI_VARIES) &&
		    adapt_to(golden, &golden->things[i], run))
			return wti_err(err, WT_E_NOMEM, "out of memory");
	return 0;
}
