/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which files a recorder makes. Follows no symbolic link and crosses no file system. */
#include "remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "trace/run_folder.h"
#include "set.h"

#define DEPTH_MAX 32

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

static int refuse_elsewhere(const struct wti_run *run, struct wt_err *err)
{
	return wti_err(err, WT_E_BUSY,
		       "cannot remove '%.200s': it may be running on '%.64s'; remove it there, or "
		       "with `wheeltap clean --elsewhere %.200s` if it has ended",
		       run->path, run->elsewhere, run->path);
}

int wti_run_remove(const struct wti_run *run, bool elsewhere, struct wt_err *err)
{
	struct wti_run now;
	struct stat st;
	bool is_busy;
	int r;

	if (lstat(run->path, &st) || !S_ISDIR(st.st_mode))
		return wti_err(err, WT_E_ARG, "cannot remove '%s': it is not a folder", run->path);
	r = wti_run_find_path(run->path, &now, err);
	if (r)
		return r;
	is_busy = !now.has_json || (!strcmp(now.status, "running") && !now.elsewhere[0]);
	if (now.elsewhere[0] && !elsewhere)
		r = refuse_elsewhere(&now, err);
	wti_run_release(&now);
	if (r)
		return r;
	if (is_busy)
		return wti_err(err, WT_E_BUSY, "cannot remove '%s': it is running", run->path);
	errno = 0;
	r = remove_below(AT_FDCWD, run->path, st.st_dev, 0);
	if (r)
		return wti_err(err, WT_E_IO, "cannot remove '%s': %s", run->path, strerror(-r));
	return 0;
}

/* ---- What a run holds ------------------------------------------------------------------------ */

static bool is_stream(const char *name)
{
	size_t bytes = strlen(name), digits = strspn(name, "0123456789.");

	return bytes > 3 && !strcmp(name + bytes - 3, ".wt") &&
	       (digits == bytes - 2 || !strcmp(name, WTI_RUN_SYSCALLS ".wt"));
}

static bool is_ours(const char *name)
{
	static const char *const names[] = {".",
					    "..",
					    WTI_RUN_JSON,
					    WTI_RUN_JSON_NEXT,
					    WTI_RUN_CONSOLE,
					    WTI_RUN_BLOBS,
					    WTI_RUN_TAGS,
					    WTI_SET_JSON,
					    NULL};

	for (size_t i = 0; names[i]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_stream(name);
}

/* A run of a set: "01". */
static bool is_of_set(const char *folder, const char *name)
{
	char path[PATH_MAX];

	return name[strspn(name, "0123456789")] == 0 &&
	       snprintf(path, sizeof(path), "%s/" WTI_SET_JSON, folder) < (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

static int holds_only_ours(const char *folder, bool is_in_set, struct wt_err *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	int r = 0;

	if (!dir)
		return wti_err_errno(err, "cannot open", folder);
	while (!r && (entry = readdir(dir))) {
		if (is_ours(entry->d_name))
			continue;
		if (!is_in_set && is_of_set(folder, entry->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) <
			    (int)sizeof(path))
			r = holds_only_ours(path, true, err);
		else
			r = wti_err(err, WT_E_ARG,
				    "cannot remove the run '%.200s': it contains '%.64s', which "
				    "the recorder did not write; move that elsewhere first",
				    folder, entry->d_name);
	}
	closedir(dir);
	return r;
}

int wti_run_holds_only_ours(const char *folder, struct wt_err *err)
{
	return holds_only_ours(folder, false, err);
}

int wti_run_replace(const char *folder, struct wt_err *err)
{
	struct wti_run run;
	struct stat st;
	int r;

	if (lstat(folder, &st))
		return errno == ENOENT ? 0 : wti_err_errno(err, "cannot open", folder);
	r = wti_run_find_path(folder, &run, err);
	if (r)
		return r;
	if (!run.has_json)
		r = rmdir(folder) ? wti_err(err, WT_E_EXISTS,
					    "'%.200s' is not a wheeltap run, so --force does not "
					    "replace it; give another folder",
					    folder)
				  : 0;
	else
		r = wti_run_holds_only_ours(folder, err);
	if (!r && run.has_json)
		r = wti_run_remove(&run, false, err);
	wti_run_release(&run);
	return r;
}
