/* SPDX-License-Identifier: Apache-2.0 */
/* Where runs are, and which one a word means. What stands in run.json is runjson.c's business. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "run.h"
#include "run_folders.h"
#include "runjson.h"
#include "set.h"

#define DEPTH_MAX 8   /* of folders in a run */
#define DATE_DIGITS 8 /* YYYYMMDD */
/* Below the home: a link to the run that was last recorded into a folder of its own (-o). */
#define ELSEWHERE ".elsewhere"

void wti_run_release(struct wti_run *run)
{
	free(run->path);
	free(run->name);
	free(run->command);
	free(run->directory);
	free(run->label);
	*run = (struct wti_run){0};
}

static bool is_stream(const char *name)
{
	size_t bytes = strlen(name);

	return bytes > 3 && !strcmp(name + bytes - 3, ".wt");
}

static char *last_part(const char *path)
{
	size_t bytes = strlen(path);
	const char *end, *begin;

	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--;
	end = begin = path + bytes;
	while (begin > path && begin[-1] != '/')
		begin--;
	return strndup(begin, (size_t)(end - begin));
}

/* WT_E_MISSING if there is nothing at that path. */
static int load(const char *path, struct wti_run *ret_run, struct wt_err *err)
{
	struct wti_run run = {.duration_ns = -1, .events = -1, .lost = -1};
	struct stat st;
	int r = 0;

	if (stat(path, &st))
		return wti_err_errno(err, "cannot open", path);
	run.is_folder = S_ISDIR(st.st_mode);
	snprintf(run.status, sizeof(run.status), "unknown");
	run.path = strdup(path);
	run.name = last_part(path);
	if (run.is_folder)
		r = wti_runjson_load(path, &run, err);
	if (run.is_folder && !r && !run.has_json && !run.json_damage[0])
		r = wti_set_load(path, &run, err);
	if (!run.command)
		run.command = strdup("");
	if (r || !run.path || !run.name || !run.command) {
		wti_run_release(&run);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	*ret_run = run;
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct wti_run *x = a, *y = b;

	int64_t x_ns = x->start_ns ? x->start_ns : x->written_ns;
	int64_t y_ns = y->start_ns ? y->start_ns : y->written_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return -strcmp(x->name, y->name);
}

static int add_run(struct wti_run **runs, size_t *count, size_t *capacity, const char *path,
		   struct wt_err *err)
{
	struct wti_run run;

	if (load(path, &run, NULL))
		return 0;
	if (!run.has_json || *count >= WTI_RUNS_MAX) {
		wti_run_release(&run);
		return 0;
	}
	if (wti_grow(runs, *count + 1, capacity, WTI_RUNS_MAX)) {
		wti_run_release(&run);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	(*runs)[(*count)++] = run;
	return 0;
}

int wti_runs_list(const struct wti_front *front, struct wti_run **ret_runs, size_t *ret_count,
		  struct wt_err *err)
{
	const char *home = front->home;
	struct wti_run *runs = NULL;
	size_t count = 0, capacity = 0;
	DIR *dir = opendir(home);
	struct dirent *entry;
	int r = 0;

	if (!dir && errno != ENOENT)
		return wti_err_errno(err, "cannot open", home);
	while (dir && !r && (entry = readdir(dir))) {
		char *path;

		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&path, "%s/%s", home, entry->d_name) < 0) {
			r = wti_err(err, WT_E_NOMEM, "out of memory");
			break;
		}
		r = add_run(&runs, &count, &capacity, path, err);
		free(path);
	}
	if (dir)
		closedir(dir);
	if (r) {
		wti_runs_free(runs, count);
		return r;
	}
	if (count)
		qsort(runs, count, sizeof(*runs), newest_first);
	*ret_runs = runs;
	*ret_count = count;
	return 0;
}

void wti_runs_free(struct wti_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wti_run_release(&runs[i]);
	free(runs);
}

/* A link, as that needs no room in a file; where there is no home, nothing older would be found. */
void wti_run_remember(const char *home, const char *folder)
{
	char whole[PATH_MAX], link[PATH_MAX], temporary[PATH_MAX];

	if (*folder == '/')
		snprintf(whole, sizeof(whole), "%s", folder);
	else if (!getcwd(link, sizeof(link)) ||
		 snprintf(whole, sizeof(whole), "%s/%s", link, folder) >= (int)sizeof(whole))
		return;
	if (snprintf(link, sizeof(link), "%s/" ELSEWHERE, home) >= (int)sizeof(link) ||
	    snprintf(temporary, sizeof(temporary), "%s.%d", link, (int)getpid()) >=
		    (int)sizeof(temporary) ||
	    symlink(whole, temporary))
		return;
	if (rename(temporary, link))
		unlink(temporary);
}

/* False: there is none, or it is gone. */
static bool find_elsewhere(const struct wti_front *front, struct wti_run *ret_run)
{
	char link[PATH_MAX], path[PATH_MAX];
	struct wti_run run;

	if (snprintf(link, sizeof(link), "%s/" ELSEWHERE, front->home) >= (int)sizeof(link) ||
	    !realpath(link, path) || load(path, &run, NULL))
		return false;
	if (run.has_json)
		*ret_run = run;
	else
		wti_run_release(&run);
	return run.has_json;
}

/* How many bytes of the folder's name come before -DATE-TIME, or -DATE-TIME-NUMBER; 0: it has none.
 */
static size_t stem_bytes(const char *name)
{
	static const char digits[] = "0123456789";
	size_t bytes = strlen(name);
	unsigned parts = 0;

	for (const char *dash; (dash = memrchr(name, '-', bytes)) && parts < 3; parts++) {
		size_t count = strspn(dash + 1, digits);

		if (!count || dash + 1 + count != name + bytes)
			break;
		bytes = (size_t)(dash - name);
		if (count == DATE_DIGITS && parts)
			return bytes;
	}
	return 0;
}

/* By the name that it was given, or by what its folder is called after that, as `ls` shows it. */
static bool is_called(const struct wti_run *run, const char *word)
{
	size_t bytes = stem_bytes(run->name);

	return (run->label && !strcmp(run->label, word)) ||
	       (bytes && strlen(word) == bytes && !memcmp(run->name, word, bytes));
}

/* ---- The newest ------------------------------------------------------------------------------ */

/* A run.json is written when its run begins, and again when it ends: so no run began after it. The
 * clock that files are stamped with is a little behind. */
#define STAMP_SLACK_NS 1000000000LL

/*
 * The newest run below the home of that name, or of any (NULL). As newest means last begun, and a
 * run that ended last may have begun early, those that were written since the newest one so far
 * began are read, and no others: one or two of ten thousand. False: there is none.
 */
static bool find_newest(const struct wti_run_folders *folders, const char *name,
			struct wti_run *ret_run)
{
	struct wti_run best = {.path = NULL}, run;

	for (size_t i = 0; i < folders->count; i++) {
		const struct wti_run_folder *item = &folders->items[i];

		if (best.path && item->written_ns + STAMP_SLACK_NS <
					 (best.start_ns ? best.start_ns : best.written_ns))
			break;
		if (load(item->path, &run, NULL))
			continue;
		if (run.has_json && (!name || is_called(&run, name)) &&
		    (!best.path || newest_first(&run, &best) < 0)) {
			struct wti_run older = best;

			best = run;
			run = older;
		}
		wti_run_release(&run);
	}
	*ret_run = best;
	return best.path;
}

static int find_latest(const struct wti_front *front, struct wti_run *ret_run, struct wt_err *err)
{
	struct wti_run_folders folders;
	struct wti_run elsewhere, run;
	bool found, is_elsewhere;
	int r = wti_run_folders(front->home, &folders, err);

	if (r)
		return r;
	found = find_newest(&folders, NULL, &run);
	wti_run_folders_release(&folders);
	is_elsewhere = find_elsewhere(front, &elsewhere);
	if (!found && !is_elsewhere)
		return wti_err(err, WT_E_MISSING,
			       "no runs below '%s'; record one with 'wheeltap record -- PROGRAM', "
			       "or give the folder of a run",
			       front->home);
	if (found && is_elsewhere) {
		is_elsewhere = newest_first(&elsewhere, &run) < 0;
		wti_run_release(is_elsewhere ? &run : &elsewhere);
	}
	*ret_run = is_elsewhere ? elsewhere : run;
	return 0;
}

int wti_run_find_path(const char *path, struct wti_run *ret_run, struct wt_err *err)
{
	return load(path, ret_run, err);
}

/* The newest run that `record` was asked to call so, or has called so after its program. */
static bool find_named(const struct wti_front *front, const char *name, struct wti_run *ret_run)
{
	struct wti_run_folders folders;
	struct wti_run run;
	bool found;

	if (wti_run_folders(front->home, &folders, NULL))
		return false;
	found = find_newest(&folders, name, &run);
	wti_run_folders_release(&folders);
	if (found)
		*ret_run = run;
	return found;
}

/* A folder or file beside us that has the name of a run, such as the program or its data. */
static bool is_no_run(const struct wti_run *run)
{
	if (run->is_folder)
		return !run->has_json && !run->json_damage[0];
	return !is_stream(run->path);
}

static void take_named(const struct wti_front *front, const char *word, struct wti_run *run)
{
	struct wti_run named;

	if (strchr(word, '/') || !is_no_run(run) || !find_named(front, word, &named))
		return;
	wti_run_release(run);
	*run = named;
}

/* Into `near`: the run below the home that was most likely meant; false: none is like it. */
static bool suggest(const struct wti_front *front, const char *word, char near[NAME_MAX + 1])
{
	char *last = last_part(word);
	const char **names = NULL, *found = NULL;
	struct wti_run *runs = NULL;
	size_t count = 0, name_count = 0;

	if (last && !wti_runs_list(front, &runs, &count, NULL))
		names = calloc(2 * count + 1, sizeof(*names));
	for (size_t i = 0; names && i < count; i++) {
		if (runs[i].label)
			names[name_count++] = runs[i].label;
		names[name_count++] = runs[i].name;
	}
	if (names)
		found = wti_suggest(last, names, name_count);
	if (found)
		snprintf(near, NAME_MAX + 1, "%s", found);
	free(names);
	free(last);
	wti_runs_free(runs, count);
	return found;
}

static int no_such_run(const struct wti_front *front, const char *word, struct wt_err *err)
{
	char near[NAME_MAX + 1];
	const char *what = strchr(word, '/') ? "no such file or folder, and no run"
					     : "no run of that name here or";

	if (suggest(front, word, near))
		return wti_err(err, WT_E_MISSING, "no run '%s'; did you mean '%s'?", word, near);
	return wti_err(err, WT_E_MISSING,
		       "no run '%s': %s below '%s'; 'wheeltap ls' lists the runs", word, what,
		       front->home);
}

int wti_run_or_set_find(const struct wti_front *front, const char *word, struct wti_run *ret_run,
			struct wt_err *err)
{
	struct wti_run run;
	char *below;
	int r, below_r;

	if (!word || !strcmp(word, "latest"))
		return find_latest(front, ret_run, err);
	r = load(word, ret_run, err);
	if (!r)
		take_named(front, word, ret_run);
	if (!r || (err && err->code != WT_E_MISSING))
		return r;
	if (strchr(word, '/') && find_named(front, word, ret_run)) /* `record -n` takes them */
		return 0;
	if (*word == '/')
		return no_such_run(front, word, err);
	if (asprintf(&below, "%s/%s", front->home, word) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	below_r = load(below, &run, NULL);
	free(below);
	if (!below_r && strchr(word, '/') && !(run.is_folder && run.has_json)) {
		wti_run_release(&run); /* a run of a set, and nothing else */
		return no_such_run(front, word, err);
	}
	if (!below_r)
		*ret_run = run;
	else if (strchr(word, '/') || !find_named(front, word, ret_run))
		return no_such_run(front, word, err);
	return 0;
}

int wti_run_find(const struct wti_front *front, const char *word, struct wti_run *ret_run,
		 struct wt_err *err)
{
	struct wti_run run;
	int r = wti_run_or_set_find(front, word, &run, err);

	if (r)
		return r;
	if (run.is_set) {
		r = wti_err(err, WT_E_ARG,
			    "'%.200s' is a set of %zu runs: give one of them, such as "
			    "'%.200s/01', or compare them with 'wheeltap digits'",
			    run.path, run.run_count, run.path);
		wti_run_release(&run);
		return r;
	}
	*ret_run = run;
	return 0;
}

static void add_below(int parent, const char *name, unsigned depth, struct wti_run_size *size)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode))
			size->disk_bytes += (uint64_t)st.st_size;
		if (S_ISREG(st.st_mode) && !depth && is_stream(entry->d_name))
			size->stream_bytes += (uint64_t)st.st_size;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			add_below(fd, entry->d_name, depth + 1, size);
	}
	closedir(dir);
}

struct wti_run_size wti_run_size(const char *path)
{
	struct wti_run_size size = {0};
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		size.stream_bytes = size.disk_bytes = (uint64_t)st.st_size;
	else
		add_below(AT_FDCWD, path, 0, &size);
	return size;
}

const char *wti_format_moment(char out[32], int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!ns || !localtime_r(&seconds, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(out, 32, "-");
	return out;
}
