/* SPDX-License-Identifier: Apache-2.0 */
/* Hides interrupted calls, short transfers and temporary files. */
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

int wti_file_read(const char *path, size_t ceiling, struct wti_buf *out, struct wt_err *err)
{
	size_t before = out->bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int status;

	if (fd < 0)
		return wti_err_errno(err, "cannot open", path);
	status = read_rest(fd, path, ceiling, out, err);
	close(fd);
	if (status)
		out->bytes = before;
	return status;
}

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

int wti_file_replace(const char *path, const void *data, size_t bytes, struct wt_err *err)
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

static int make_folder(const char *path, mode_t mode, struct wt_err *err)
{
	struct stat info;

	if (!mkdir(path, mode))
		return 0;
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

int wti_mkdirs(const char *path, mode_t mode, struct wt_err *err)
{
	char part[PATH_MAX];
	size_t bytes = strlen(path);
	int status = 0;

	if (!bytes || bytes >= sizeof(part))
		return wti_err(err, WT_E_ARG, "path '%.64s' is %s", path,
			       bytes ? "too long" : "empty");
	memcpy(part, path, bytes + 1);
	for (size_t i = 1; i <= bytes && !status; i++) {
		if ((part[i] && part[i] != '/') || part[i - 1] == '/')
			continue;
		part[i] = 0;
		status = make_folder(part, mode, err);
		part[i] = path[i];
	}
	return status;
}
