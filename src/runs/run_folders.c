/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which folders below the home are runs, without reading them. */
#include "run_folders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/grow.h"
#include "run.h"
#include "set.h"
#include "trace/run_folder.h"

void wti_run_folders_release(struct wti_run_folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->items[i].path);
	free(folders->items);
}

static int last_written_first(const void *a, const void *b)
{
	const struct wti_run_folder *x = a, *y = b;

	return (x->written_ns < y->written_ns) - (x->written_ns > y->written_ns);
}

/* -1: it is no folder of a run or a set. */
static int64_t stamp_of(int home, const char *name)
{
	static const char *const files[] = {WTI_RUN_JSON, WTI_SET_JSON};
	char path[NAME_MAX + 32];
	struct stat st;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", name, files[i]);
		if (!fstatat(home, path, &st, 0))
			return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	}
	return -1;
}

static int add_folder(struct wti_run_folders *folders, const char *home, int fd, const char *name)
{
	struct wti_run_folder item = {.written_ns = stamp_of(fd, name)};

	if (item.written_ns < 0 || folders->count >= WTI_RUNS_MAX)
		return 0;
	if (wti_grow(&folders->items, folders->count + 1, &folders->capacity, WTI_RUNS_MAX) ||
	    asprintf(&item.path, "%s/%s", home, name) < 0)
		return WT_E_NOMEM;
	folders->items[folders->count++] = item;
	return 0;
}

/* The folders of runs below the home, the last written first: nothing is read. */
int wti_run_folders(const char *home, struct wti_run_folders *ret_folders, struct wt_err *err)
{
	struct wti_run_folders folders = {.count = 0};
	DIR *dir = opendir(home);
	struct dirent *entry;
	int r = 0;

	if (!dir && errno != ENOENT)
		return wti_err_errno(err, "cannot open", home);
	while (dir && !r && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = add_folder(&folders, home, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	if (r) {
		wti_run_folders_release(&folders);
		return wti_err(err, r, "out of memory");
	}
	if (folders.count)
		qsort(folders.items, folders.count, sizeof(*folders.items), last_written_first);
	*ret_folders = folders;
	return 0;
}
