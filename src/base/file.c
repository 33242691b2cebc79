/* SPDX-License-Identifier: Apache-2.0 */
/* Hides interrupted calls, short transfers, temporary files, and what is not a file at all. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"

#define READ_BYTES (64 * 1024)

int wti_write_all(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes) {
		ssize_t written = write(fd, at, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		if (!written)
			return -EIO; /* never seen, but it would be an endless loop */
		at += written;
		bytes -= (size_t)written;
	}
	return 0;
}

ssize_t wti_pread_all(int fd, void *data, size_t bytes, uint64_t offset)
{
	uint8_t *at = data;
	size_t left = bytes;

	if (bytes > SSIZE_MAX || offset > INT64_MAX - bytes)
		return -EINVAL;
	while (left) {
		ssize_t got = pread(fd, at, left, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		at += got;
		left -= (size_t)got;
		offset += (uint64_t)got;
	}
	return (ssize_t)(bytes - left);
}

/* One read, EINTR aside, into the end of `out`, or into nowhere to see whether there is more. */
static ssize_t read_some(int fd, struct wti_buf *out, size_t bytes)
{
	uint8_t probe;
	uint8_t *end = bytes ? wti_buf_reserve(out, bytes) : &probe;
	ssize_t got;

	if (!end)
		return -ENOMEM;
	do
		got = read(fd, end, bytes ? bytes : 1);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Up to the end of the file. It may have no size (/proc, a pipe) or still be growing. */
static int read_rest(int fd, const char *path, size_t ceiling, struct wti_buf *out,
		     struct wt_err *err)
{
	size_t room = out->ceiling - out->bytes;

	if (room > ceiling)
		room = ceiling;
	for (size_t left = room;;) {
		ssize_t got = read_some(fd, out, left < READ_BYTES ? left : READ_BYTES);

		if (got < 0) {
			errno = (int)-got;
			return wti_err_errno(err, "cannot read", path);
		}
		if (!got)
			return 0;
		if (!left)
			return wti_err(err, WT_E_LIMIT,
				       "file '%s' is larger than the %zu bytes allowed for it",
				       path, room);
		wti_buf_added(out, (size_t)got);
		left -= (size_t)got;
	}
}

/* ---- Opening -------------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode)                   ? "a FIFO"
	       : S_ISSOCK(mode)                 ? "a socket"
	       : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
						: "not a file";
}

static int refuse(const char *path, mode_t mode, struct wt_err *err)
{
	if (S_ISDIR(mode)) {
		errno = EISDIR;
		return wti_err_errno(err, "cannot read", path);
	}
	return wti_err(err, WT_E_IO,
		       "cannot read '%.200s': it is %s; give a file (or /dev/stdin, where a pipe "
		       "is meant)",
		       path, kind_of(mode));
}

/*
 * Looked at before, as opening a device can do something, and after, as it can have been exchanged:
 * O_NONBLOCK keeps a FIFO from holding us up.
 */
int wti_open_regular(const char *path, struct wt_err *err)
{
	struct stat info;
	int fd;

	if (stat(path, &info))
		return wti_err_errno(err, "cannot open", path);
	if (!S_ISREG(info.st_mode))
		return refuse(path, info.st_mode, err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return wti_err_errno(err, "cannot open", path);
	if (!fstat(fd, &info) && S_ISREG(info.st_mode))
		return fd;
	close(fd);
	return refuse(path, info.st_mode, err);
}

/* The descriptor of ours that a name stands for, as in <(...) of a shell; -1: it is no such name.
 */
static int named_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;

	if (!strcmp(path, "/dev/stdin"))
		return STDIN_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *digits = path + strlen(folders[i]);
		unsigned long fd;

		if (strncmp(path, folders[i], strlen(folders[i])) || *digits < '0' || *digits > '9')
			continue;
		fd = strtoul(digits, &end, 10);
		if (!*end && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* A name that was given to be read from: a file, or one that says itself that it is a pipe. */
int wti_open_input(const char *path, struct wt_err *err)
{
	int fd = named_descriptor(path);

	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	else if (!strcmp(path, "/dev/null"))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	else
		return wti_open_regular(path, err);
	return fd < 0 ? wti_err_errno(err, "cannot open", path) : fd;
}

int wti_file_read(const char *path, size_t ceiling, struct wti_buf *out, struct wt_err *err)
{
	size_t before = out->bytes;
	int fd = wti_open_input(path, err);
	int status;

	if (fd < 0)
		return fd;
	status = read_rest(fd, path, ceiling, out, err);
	close(fd);
	if (status)
		out->bytes = before;
	return status;
}

/* ---- Replacing ------------------------------------------------------------------------------ */

static int fill_and_rename(int fd, const char *temporary, const char *path, const void *data,
			   size_t bytes, struct wt_err *err)
{
	int status = wti_write_all(fd, data, bytes);

	/* Not every file system can, and then there is nothing to wait for. */
	if (!status && fsync(fd) && errno != EINVAL && errno != ENOTSUP)
		status = -errno;
	if (close(fd) && !status)
		status = -errno;
	if (!status && rename(temporary, path))
		status = -errno;
	if (!status)
		return 0;
	unlink(temporary);
	errno = -status;
	return wti_err_errno(err, "cannot write", path);
}

static int replace_file(const char *path, const void *data, size_t bytes, struct wt_err *err)
{
	char temporary[PATH_MAX];
	int length = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	int fd;

	if (length < 0 || (size_t)length >= sizeof(temporary))
		return wti_err(err, WT_E_ARG, "path '%.64s...' is too long", path);
	fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return wti_err_errno(err, "cannot write", path);
	return fill_and_rename(fd, temporary, path, data, bytes, err);
}

/* Standard output or error, if that is the same file; -1: neither. */
static int own_output(const struct stat *info)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat own;

		if (!fstat(fd, &own) && own.st_dev == info->st_dev && own.st_ino == info->st_ino)
			return fd;
	}
	return -1;
}

/* What is not a file takes the bytes as they are; a FIFO that nobody reads is an error. */
static int write_into(const char *path, const struct stat *info, const void *data, size_t bytes,
		      struct wt_err *err)
{
	int own = own_output(info);
	int fd = own >= 0 ? own : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int status;

	if (fd >= 0 && own < 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	status = fd < 0 ? -errno : wti_write_all(fd, data, bytes);
	if (fd >= 0 && own < 0)
		close(fd);
	if (!status)
		return 0;
	errno = -status;
	return wti_err_errno(err, "cannot write", path);
}

int wti_file_replace(const char *path, const void *data, size_t bytes, struct wt_err *err)
{
	char target[PATH_MAX];
	struct stat info, link;

	if (lstat(path, &link))
		return replace_file(path, data, bytes, err);
	if (stat(path, &info))
		return wti_err_errno(err, "cannot follow the link", path);
	if (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode) || own_output(&info) >= 0)
		return write_into(path, &info, data, bytes, err);
	if (!S_ISREG(info.st_mode))
		return wti_err(err, WT_E_IO, "cannot write '%.200s': it is not a file", path);
	if (!S_ISLNK(link.st_mode))
		return replace_file(path, data, bytes, err);
	if (!realpath(path, target)) /* the link stays, what it leads to is replaced */
		return wti_err_errno(err, "cannot follow the link", path);
	return replace_file(target, data, bytes, err);
}

/* 1: it is new; 0: it was there. */
static int make_folder(const char *path, mode_t mode, struct wt_err *err)
{
	struct stat info;

	if (!mkdir(path, mode))
		return 1;
	/* An existing folder is as good, even where making one is not allowed. */
	int error = errno;
	if (!stat(path, &info)) {
		if (S_ISDIR(info.st_mode))
			return 0;
		error = ENOTDIR;
	}
	errno = error;
	return wti_err_errno(err, "cannot make the folder", path);
}

int wti_mkdirs_kept(const char *path, mode_t mode, size_t *ret_kept_bytes, struct wt_err *err)
{
	char part[PATH_MAX];
	size_t bytes = strlen(path), kept = 0;
	int status = 0;

	*ret_kept_bytes = bytes;
	if (!bytes || bytes >= sizeof(part))
		return wti_err(err, WT_E_ARG, "path '%.64s' is %s", path,
			       bytes ? "too long" : "empty");
	memcpy(part, path, bytes + 1);
	for (size_t i = 1; i <= bytes && status >= 0; i++) {
		if ((part[i] && part[i] != '/') || part[i - 1] == '/')
			continue;
		part[i] = 0;
		status = make_folder(part, mode, err);
		if (!status)
			kept = i;
		part[i] = path[i];
	}
	*ret_kept_bytes = kept;
	return status < 0 ? status : 0;
}

int wti_mkdirs(const char *path, mode_t mode, struct wt_err *err)
{
	size_t kept_bytes;

	return wti_mkdirs_kept(path, mode, &kept_bytes, err);
}
