/* SPDX-License-Identifier: Apache-2.0 */
/* Which save of the run each file of a model should be: by its name, or by what is in it. */
#include <stdlib.h>
#include <string.h>

#include "judging.h"

/* ---- By what is in it ----------------------------------------------------------------------- */

static void count_scores(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;

	for (size_t i = 0; i < origin->options.count; i++) {
		uint32_t last = WTI_NO_GROUP;

		for (uint32_t at = origin->sighted[i]; at; at = origin->sightings[at - 1].next) {
			const struct wti_origin_sighting *seen = &origin->sightings[at - 1];
			uint32_t group;

			if (seen->how != WTI_ORIGIN_SAVED || seen->is_turned ||
			    strcmp(wti_origin_text(origin, seen->name),
				   origin->options.tensors[i].name))
				continue;
			group = origin->saves[seen->save].group;
			judging->scores[group] += group != last;
			last = group;
		}
	}
}

uint32_t wti_match_best(const struct wti_origin_judging *judging)
{
	uint32_t best = WTI_NO_GROUP;

	for (uint32_t i = 0; i < judging->origin->save_count; i++)
		if (judging->scores[i] &&
		    (best == WTI_NO_GROUP || judging->scores[i] >= judging->scores[best]))
			best = i;
	return best;
}

/* ---- By its name ---------------------------------------------------------------------------- */

/* Where the component begins that ends at `end`. */
static size_t begin_of(const char *path, size_t end)
{
	while (end && path[end - 1] != '/')
		end--;
	return end;
}

static size_t without_slashes(const char *path, size_t end)
{
	while (end && path[end - 1] == '/')
		end--;
	return end;
}

size_t wti_match_path(const char *one, const char *other)
{
	size_t a = strlen(one), b = strlen(other), count = 0;

	for (;; count++) {
		size_t a_begin, b_begin;

		a = without_slashes(one, a);
		b = without_slashes(other, b);
		a_begin = begin_of(one, a);
		b_begin = begin_of(other, b);
		if (!a || !b || a - a_begin != b - b_begin ||
		    memcmp(one + a_begin, other + b_begin, a - a_begin) != 0)
			return count;
		a = a_begin;
		b = b_begin;
	}
}

/*
 * The last one to this name, in folders that are called the same as far as any are. Of several
 * paths that are equally good, as for a copy in another folder, the one with most of its tensors.
 */
static uint32_t find_by_name(const struct wti_origin_judging *judging, const char *path)
{
	const struct wti_origin *origin = judging->origin;
	uint32_t found = WTI_NO_GROUP;
	size_t best = 1;

	for (size_t i = 0; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];
		size_t same;

		if (save->is_load || save->path == WTI_SYMBOL_NONE)
			continue;
		same = wti_match_path(wti_origin_text(origin, save->path), path);
		if (same < best || (same == best && found != WTI_NO_GROUP &&
				    save->path != origin->saves[found].path &&
				    judging->scores[save->group] < judging->scores[found]))
			continue;
		best = same;
		found = save->group;
	}
	return found;
}

/* ---- Files of a model ----------------------------------------------------------------------- */

/* A model may have thousands of files; their tensors come one file after the other, mostly. */
static uint32_t part_of_file(struct wti_origin_judging *judging,
			     const struct wti_origin_tensor *tensor, uint32_t last)
{
	const char *file = tensor->file;

	if (last < judging->part_count && !strcmp(judging->parts[last].file, file))
		return last;
	for (uint32_t i = 0; i < judging->part_count; i++)
		if (!strcmp(judging->parts[i].file, file))
			return i;
	judging->parts[judging->part_count] = (struct wti_origin_part){
		.file = file, .place = tensor->place, .group = WTI_NO_GROUP};
	return (uint32_t)judging->part_count++;
}

static void find_parts(struct wti_origin_judging *judging)
{
	const struct wti_origin_options *options = &judging->origin->options;
	uint32_t last = 0;

	for (size_t i = 0; i < options->count; i++) {
		last = part_of_file(judging, &options->tensors[i], last);
		judging->part_of[i] = last;
	}
}

/*
 * Files that belong together are written in one step: what was written before that is left from an
 * earlier save. Where a file has no save of its own, nothing is known of it.
 */
static void mark_stale(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	int64_t newest = -1;

	for (size_t i = 0; i < judging->part_count; i++)
		if (judging->parts[i].group != WTI_NO_GROUP &&
		    origin->saves[judging->parts[i].group].step > newest)
			newest = origin->saves[judging->parts[i].group].step;
	for (size_t i = 0; i < judging->part_count; i++) {
		uint32_t group = judging->parts[i].group;
		int64_t step = group != WTI_NO_GROUP ? origin->saves[group].step : -1;

		judging->parts[i].is_stale = step >= 0 && step < newest;
		if (step == newest)
			judging->group = group;
	}
}

static void name_parts(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	uint32_t whole = find_by_name(judging, origin->options.place);

	judging->group = whole;
	for (size_t i = 0; i < judging->part_count; i++)
		judging->parts[i].group = whole != WTI_NO_GROUP
						  ? whole
						  : find_by_name(judging, judging->parts[i].place);
	judging->is_whole = whole != WTI_NO_GROUP || judging->part_count == 1;
	if (whole == WTI_NO_GROUP)
		mark_stale(judging);
}

int wti_match_parts(struct wti_origin_judging *judging)
{
	const struct wti_origin *origin = judging->origin;
	size_t count = origin->options.count;

	judging->scores = calloc(origin->save_count + 1, sizeof(*judging->scores));
	judging->parts = calloc(count + 1, sizeof(*judging->parts));
	judging->part_of = calloc(count + 1, sizeof(*judging->part_of));
	if (!judging->scores || !judging->parts || !judging->part_of)
		return WT_E_NOMEM;
	count_scores(judging);
	find_parts(judging);
	name_parts(judging);
	return 0;
}
