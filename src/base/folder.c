/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what of a path was there before, and whom a folder belongs to. */
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "file.h"

#define PRIVATE 0700

/* The name of anything that is in the folder; empty: there is nothing. */
static int first_entry(int fd, char ret_name[NAME_MAX + 1])
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again >= 0 ? fdopendir(again) : NULL;
	struct dirent *entry;

	ret_name[0] = 0;
	if (!dir && again >= 0)
		close(again);
	if (!dir)
		return -1;
	while (!ret_name[0] && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			snprintf(ret_name, NAME_MAX + 1, "%s", entry->d_name);
	closedir(dir);
	return 0;
}

static int check_empty(int fd, const char *path, struct wt_err *err)
{
	char name[NAME_MAX + 1];

	if (first_entry(fd, name))
		return wti_err_errno(err, "cannot read the folder", path);
	if (!name[0])
		return 0;
	if (!faccessat(fd, "run.json", F_OK, AT_SYMLINK_NOFOLLOW))
		return wti_err(err, WT_E_EXISTS,
			       "'%.200s' already contains a run; give another folder, remove the "
			       "run with 'wheeltap clean %.200s', or record with --force",
			       path, path);
	return wti_err(err, WT_E_EXISTS,
		       "folder '%.200s' is not empty ('%.64s' is in it); give one that is new or "
		       "empty",
		       path, name);
}

/*
 * What is in a run is private, so the folder has to be. A file system without modes can do nothing
 * about it, nor can we; another user's folder stays as it is, and is refused if others may enter.
 */
static int make_private(struct wti_folder *folder, int fd, struct wt_err *err)
{
	struct stat info;

	if (fstat(fd, &info))
		return wti_err_errno(err, "cannot look at the folder", folder->path);
	if (!(info.st_mode & 077))
		return 0;
	if (!fchmod(fd, PRIVATE)) {
		folder->mode = info.st_mode & 07777;
		return 0;
	}
	if (info.st_uid == geteuid())
		return 0;
	return wti_err(err, WT_E_ARG,
		       "folder '%.200s' belongs to another user, and others may look into it; give "
		       "one that is new",
		       folder->path);
}

static int take_existing(struct wti_folder *folder, struct wt_err *err)
{
	int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return wti_err_errno(err, "cannot use the folder", folder->path);
	r = check_empty(fd, folder->path, err);
	if (!r)
		r = make_private(folder, fd, err);
	close(fd);
	return r;
}

/* Slashes at the end are none of its name. */
static void trim(char *path)
{
	for (size_t bytes = strlen(path); bytes > 1 && path[bytes - 1] == '/'; bytes--)
		path[bytes - 1] = 0;
}

int wti_folder_make(struct wti_folder *folder, const char *path, struct wt_err *err)
{
	int r;

	*folder = (struct wti_folder){0};
	r = wti_mkdirs_kept(path, PRIVATE, &folder->kept_bytes, err);
	if (strlen(path) >= sizeof(folder->path))
		return r;
	memcpy(folder->path, path, strlen(path) + 1);
	trim(folder->path);
	if (!r) /* a new one, too: another process may have put something into it meanwhile */
		r = take_existing(folder, err);
	if (r)
		wti_folder_unmake(folder);
	return r;
}

/* Of a path without its last part, and without slashes at the end of what is left. */
static size_t parent_bytes(const char *path, size_t bytes)
{
	while (bytes && path[bytes - 1] == '/')
		bytes--;
	while (bytes && path[bytes - 1] != '/')
		bytes--;
	while (bytes && path[bytes - 1] == '/')
		bytes--;
	return bytes;
}

void wti_folder_unmake(const struct wti_folder *folder)
{
	char part[PATH_MAX];
	size_t bytes = strlen(folder->path);

	memcpy(part, folder->path, bytes + 1);
	if (folder->mode)
		chmod(part, folder->mode);
	while (bytes > folder->kept_bytes) {
		rmdir(part); /* unless there is something in it, which is not ours */
		bytes = parent_bytes(part, bytes);
		part[bytes] = 0;
	}
}
