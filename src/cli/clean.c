/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb `clean`: removes runs. It only ever touches folders directly below the home that hold a
 * run.json of ours, follows no symbolic link, crosses no file system and leaves running runs alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "report.h"
#include "run.h"

#define DEPTH_MAX 32

struct clean_options {
	int64_t older_than_ns;
	uint64_t keep;
	bool yes;
	bool dry_run;
	bool json;
};

static const struct clean_options defaults = {.older_than_ns = -1, .keep = UINT64_MAX};

/* Depth is bounded, so that a made-up tree cannot exhaust the stack or the descriptors. */
static int remove_below(int parent, const char *name, dev_t device, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	struct stat st;
	int r = 0;

	if (!dir || fstat(fd, &st) || st.st_dev != device || depth > DEPTH_MAX) {
		r = dir && !errno ? -EXDEV : -(errno ? errno : EXDEV);
		if (dir)
			closedir(dir);
		else if (fd >= 0)
			close(fd);
		return r;
	}
	while (!r && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			r = -errno;
		else if (S_ISDIR(st.st_mode))
			r = remove_below(fd, entry->d_name, device, depth + 1);
		else if (unlinkat(fd, entry->d_name, 0))
			r = -errno;
	}
	closedir(dir);
	if (!r && unlinkat(parent, name, AT_REMOVEDIR))
		r = -errno;
	return r;
}

/* Looked at again right before: a link or a run that has started since is left alone. */
static int remove_run(const struct wti_run *run, struct wt_err *err)
{
	struct wti_run now;
	struct stat st;
	bool gone;
	int r;

	if (lstat(run->path, &st) || !S_ISDIR(st.st_mode))
		return wti_err(err, WT_E_ARG, "cannot remove '%s': it is not a folder", run->path);
	r = wti_run_find(run->path, &now, err);
	if (r)
		return r;
	gone = !now.has_json || !strcmp(now.status, "running");
	wti_run_release(&now);
	if (gone)
		return wti_err(err, WT_E_BUSY, "cannot remove '%s': it is running", run->path);
	errno = 0;
	r = remove_below(AT_FDCWD, run->path, st.st_dev, 0);
	if (r)
		return wti_err(err, WT_E_IO, "cannot remove '%s': %s", run->path, strerror(-r));
	return 0;
}

static int64_t ended_ns(const struct wti_run *run)
{
	if (!run->start_ns)
		return run->written_ns;
	return run->start_ns + (run->duration_ns > 0 ? run->duration_ns : 0);
}

/* Runs come newest first: the first `keep` of those that are not running stay. */
static size_t choose(const struct clean_options *o, struct wti_run *runs, size_t count,
		     struct wti_run **chosen)
{
	int64_t now_ns = (int64_t)time(NULL) * 1000000000;
	size_t picked = 0;
	uint64_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct wti_run *run = &runs[i];
		struct stat st;

		if (!strcmp(run->status, "running") || lstat(run->path, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (o->keep != UINT64_MAX && kept < o->keep) {
			kept++;
			continue;
		}
		if (o->older_than_ns >= 0 && now_ns - ended_ns(run) < o->older_than_ns)
			continue;
		chosen[picked++] = run;
	}
	return picked;
}

static bool confirm(size_t count, uint64_t bytes)
{
	char size[16], answer[16], question[80];

	if (!isatty(STDIN_FILENO)) {
		wti_warn("not asked for on a terminal: say --yes to remove %zu runs", count);
		return false;
	}
	snprintf(question, sizeof(question), "remove %zu runs (%s)? [y/N] ", count,
		 wti_format_bytes(size, bytes));
	wti_print_err(question, strlen(question));
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static void add_row(struct wt_table *table, const struct wti_run *run, uint64_t bytes)
{
	char moment[32];

	wti_format_moment(moment, run->start_ns);
	wt_table_row(table);
	wt_table_text(table, run->name, strlen(run->name));
	wt_table_text(table, run->status, strlen(run->status));
	wt_table_text(table, moment, strlen(moment));
	wt_table_count(table, bytes);
}

static int remove_all(struct wti_run **chosen, size_t count, struct wt_result *result)
{
	size_t removed = 0;

	for (size_t i = 0; i < count; i++) {
		struct wt_err err = {.offset = -1};

		if (remove_run(chosen[i], &err))
			wt_result_note(result, "%s", err.message);
		else
			removed++;
	}
	wt_result_fact_count(result, "removed", "removed", WT_CELL_COUNT, removed);
	return removed == count ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static int clean(const struct clean_options *o, struct wti_run **chosen, size_t count)
{
	struct wt_result result;
	struct wt_table *table;
	uint64_t bytes = 0;
	int code = WTI_EXIT_CLEAN;

	wt_result_init(&result, "clean");
	table = wt_result_table(&result, "runs", "");
	wt_table_column(table, "name", "run", WT_CELL_TEXT);
	wt_table_column(table, "status", "status", WT_CELL_TEXT);
	wt_table_column(table, "start", "started", WT_CELL_TEXT);
	wt_table_column(table, "bytes", "size", WT_CELL_BYTES);
	for (size_t i = 0; i < count; i++) {
		uint64_t size = wti_run_bytes(chosen[i]->path);

		add_row(table, chosen[i], size);
		bytes += size;
	}
	wt_result_fact_count(&result, "chosen", o->dry_run ? "would remove" : "", WT_CELL_COUNT,
			     count);
	wt_result_fact_count(&result, "bytes", "size", WT_CELL_BYTES, bytes);
	if (!count) {
		wt_result_note(&result, "nothing to remove below '%s'", wti_home());
	} else if (!o->dry_run && (o->yes || confirm(count, bytes))) {
		code = remove_all(chosen, count, &result);
	} else if (!o->dry_run) {
		wt_result_fact_count(&result, "removed", "removed", WT_CELL_COUNT, 0);
		code = WTI_EXIT_USAGE;
	}
	code = wti_report_result(&result, o->json, code);
	wt_result_release(&result);
	return code;
}

static int run(const void *opaque, char **arguments, size_t argument_count)
{
	const struct clean_options *o = opaque;
	struct wt_err err = {.offset = -1};
	struct wti_run **chosen;
	struct wti_run *runs;
	size_t count, picked;
	int code;

	if (o->older_than_ns < 0 && o->keep == UINT64_MAX) {
		wti_err(&err, WT_E_ARG,
			"say which runs: --older-than 7d, --keep 10, or --keep 0 "
			"for all of them");
		return wti_report_error("clean", o->json, &err);
	}
	if (wti_runs_list(&runs, &count, &err)) {
		wti_report_error("clean", o->json, &err);
		return WTI_EXIT_ENVIRONMENT;
	}
	chosen = calloc(count + 1, sizeof(*chosen));
	if (!chosen) {
		wti_runs_free(runs, count);
		return WTI_EXIT_ENVIRONMENT;
	}
	picked = choose(o, runs, count, chosen);
	code = clean(o, chosen, picked);
	free(chosen);
	wti_runs_free(runs, count);
	return code;
}

static const struct wti_option options[] = {
	{"older-than", 0, WTI_OPT_DURATION, "TIME", NULL,
	 "only runs that ended longer ago than this, such as 36h or 7d",
	 offsetof(struct clean_options, older_than_ns)},
	{"keep", 0, WTI_OPT_COUNT, "N", NULL, "keep the N newest runs",
	 offsetof(struct clean_options, keep)},
	{"yes", 'y', WTI_OPT_FLAG, NULL, NULL, "do not ask", offsetof(struct clean_options, yes)},
	{"dry-run", 0, WTI_OPT_FLAG, NULL, NULL, "only show what would be removed",
	 offsetof(struct clean_options, dry_run)},
	WTI_OPTION_JSON(struct clean_options),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_clean = {
	.name = "clean",
	.arguments = "",
	.summary = "remove old runs",
	.description =
		"Removes runs below $WHEELTAP_HOME, or ./wheeltap-runs, after asking. With both "
		"--older-than and --keep a run goes only if it is old and not among the newest "
		"N.\n\n"
		"Only folders with a run.json of wheeltap's are ever touched; running runs stay, "
		"symbolic links are not followed.",
	.examples = "wheeltap clean --older-than 7d --keep 5\n"
		    "wheeltap clean --keep 0 --yes\tall of them, without a question",
	.options = options,
	.options_bytes = sizeof(struct clean_options),
	.group = "keep",
	.run = run,
	.defaults = &defaults,
};
