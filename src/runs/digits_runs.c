/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens the runs of sets: SET/set.json, SET/01, SET/02 ... */
#include "digits_runs.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "ending.h"
#include "inspect/digits/merge.h"
#include "set.h"

struct paths {
	char **all;
	size_t count, capacity;
};

static int add_path(struct paths *paths, const char *path, struct wt_err *err)
{
	int r = wti_grow(&paths->all, paths->count + 1, &paths->capacity, WTI_MERGE_RUNS_MAX);
	char *copy = r ? NULL : strdup(path);

	if (r == WT_E_LIMIT)
		return wti_err(err, r, "more than %u runs", WTI_MERGE_RUNS_MAX);
	if (!copy)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	paths->all[paths->count++] = copy;
	return 0;
}

static void paths_release(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->all[i]);
	free(paths->all);
}

/* Whether the folder is a set; its path if it is. */
static bool is_set(const struct wti_front *front, const char *word, char path[PATH_MAX])
{
	const char *const bases[] = {"", front->home};
	char json[PATH_MAX + 16];

	for (size_t i = 0; word && i < 2; i++) {
		if (i && (!bases[i] || *word == '/'))
			continue;
		if (snprintf(path, PATH_MAX, "%s%s%s", bases[i], i ? "/" : "", word) >= PATH_MAX)
			continue;
		snprintf(json, sizeof(json), "%s/set.json", path);
		if (!access(json, R_OK))
			return true;
	}
	return false;
}

/* Runs of a set are called by numbers. */
static int is_run(const struct dirent *entry)
{
	const char *at = entry->d_name;

	while (isdigit((unsigned char)*at))
		at++;
	return *entry->d_name && !*at;
}

static int add_set(struct paths *paths, const char *folder, struct wt_err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_run, alphasort), r = 0;
	char path[PATH_MAX + 300];

	if (count < 0)
		return wti_err(err, WT_E_IO, "cannot read the set '%s'", folder);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		r = r ? r : add_path(paths, path, err);
		free(entries[i]);
	}
	free(entries);
	if (!r && !count)
		r = wti_err(err, WT_E_MISSING, "the set '%s' has no runs", folder);
	return r;
}

/* The latest may be a set as well. */
static int add_word(const struct wti_front *front, const char *word, struct paths *paths,
		    struct wt_err *err)
{
	char path[PATH_MAX];
	struct wti_run run;
	int r;

	if (is_set(front, word, path))
		return add_set(paths, path, err);
	r = wti_run_or_set_find(front, word, &run, err);
	if (r)
		return r;
	r = run.is_set || is_set(front, run.path, path) ? add_set(paths, run.path, err)
							: add_path(paths, run.path, err);
	wti_run_release(&run);
	return r;
}

/* A set knows how it was recorded, even where no agent said so. */
static void ask_set(const struct wti_front *front, const char *path, struct wti_digits_runs *runs)
{
	struct wti_set set;

	if (runs->noisy || wti_set_find(front, path, &set, NULL))
		return;
	if (*set.noise && strcmp(set.noise, "off")) {
		runs->noisy = runs->readable;
		snprintf(runs->noise, sizeof(runs->noise), "%s", set.noise);
	}
	wti_set_release(&set);
}

static void describe(struct wti_digits_runs *runs, unsigned i)
{
	const struct wti_opened_run *opened = &runs->opened[i];
	struct wti_digits_run *run = &runs->runs[i];
	struct wti_buf words;
	char noise[32];

	run->trace = opened->trace;
	run->name = opened->run.name;
	run->ended_early = wti_ended_early(opened->run.status);
	if (run->ended_early) {
		wti_buf_init(&words, 4096);
		wti_ending_words(&words, &opened->run);
		snprintf(run->ending, sizeof(run->ending), "%s", wti_buf_cstr(&words));
		wti_buf_release(&words);
		runs->is_cut = true;
	}
	if (!wti_digits_noise_of(opened->trace, noise, sizeof(noise)))
		return;
	if (!runs->noisy++)
		memcpy(runs->noise, noise, sizeof(noise));
}

static int open_all(const struct wti_front *front, const struct paths *paths,
		    struct wti_digits_runs *runs, struct wt_result *result, struct wt_err *err)
{
	struct wt_err last = {.offset = -1};

	runs->opened = calloc(paths->count + 1, sizeof(*runs->opened));
	runs->runs = calloc(paths->count + 1, sizeof(*runs->runs));
	if (!runs->opened || !runs->runs)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < paths->count; i++) {
		unsigned at = runs->count++;

		last = (struct wt_err){.offset = -1};
		if (wti_open(front, paths->all[i], &runs->opened[at], &last)) {
			const char *name = strrchr(paths->all[i], '/');

			runs->opened[at].run.name = strdup(name ? name + 1 : paths->all[i]);
			runs->runs[at].name = runs->opened[at].run.name;
			runs->is_cut = true;
			if (!runs->runs[at].name)
				return wti_err(err, WT_E_NOMEM, "out of memory");
			if (paths->count > 1)
				wti_note_error(result, paths->all[i], &last);
			continue;
		}
		runs->is_cut |= wti_note_damage(&runs->opened[at], result) != 0;
		runs->readable++;
		describe(runs, at);
	}
	if (runs->readable)
		return 0;
	*err = last;
	return err->code ? err->code : WT_E_MISSING;
}

int wti_digits_runs_open(const struct wti_front *front, char *const *words, size_t word_count,
			 struct wti_digits_runs *ret_runs, struct wt_result *result,
			 struct wt_err *err)
{
	struct wti_digits_runs runs = {0};
	struct paths paths = {0};
	int r = word_count ? 0 : add_word(front, NULL, &paths, err);

	for (size_t i = 0; i < word_count && !r; i++)
		r = add_word(front, words[i], &paths, err);
	r = r ? r : open_all(front, &paths, &runs, result, err);
	for (size_t i = 0; i < word_count && !r; i++)
		ask_set(front, words[i], &runs);
	if (!r && !word_count)
		ask_set(front, NULL, &runs);
	if (!r && strchr(runs.noise, ':'))
		runs.noise_bits = strtod(strchr(runs.noise, ':') + 1, NULL);
	paths_release(&paths);
	if (r)
		wti_digits_runs_close(&runs);
	else
		*ret_runs = runs;
	return r;
}

void wti_digits_runs_close(struct wti_digits_runs *runs)
{
	for (unsigned i = 0; runs->opened && i < runs->count; i++) {
		if (runs->opened[i].trace)
			wti_close(&runs->opened[i]);
		else
			free(runs->opened[i].run.name);
	}
	free(runs->opened);
	free(runs->runs);
}
