/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a folder is claimed, locked and described without ever being half described. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

#include "collect.h"
#include "runfile.h"

#define FILE_NAME "run.json"
#define SPARE_NAME ".run.json.next"
#define SPARE_BYTES (256u << 10)
#define SAME_SECOND_MAX 1000
#define LOCK_TRIES 50

/* Whoever looks whether a run is being recorded holds the lock for a moment: try again. */
static void lock(int folder_fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(folder_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return; /* or the file system cannot: then nobody can tell */
		usleep(1000);
	}
}

static int lock_and_claim(struct wti_runfile *runfile, const char *path, struct wt_err *err)
{
	int fd;

	if (!realpath(path, runfile->folder))
		return wti_err_errno(err, "cannot use the folder", path);
	runfile->folder_fd = open(runfile->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runfile->folder_fd < 0)
		return wti_err_errno(err, "cannot open the folder", path);
	fd = openat(runfile->folder_fd, FILE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return wti_err(err, WT_E_EXISTS,
			       "'%.300s' has a run in it already; choose another folder, or remove "
			       "it with 'wheeltap clean'",
			       path);
	if (fd < 0)
		return wti_err_errno(err, "cannot write in the folder", path);
	close(fd);
	lock(runfile->folder_fd);
	return 0;
}

static void set_spare_aside(struct wti_runfile *runfile)
{
	runfile->spare_fd =
		openat(runfile->folder_fd, SPARE_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* Where that fails the file is still good for writing to when there is room again. */
	if (runfile->spare_fd >= 0)
		posix_fallocate(runfile->spare_fd, 0, SPARE_BYTES);
}

static int claim_given(struct wti_runfile *runfile, const char *folder, struct wt_err *err)
{
	int r = wti_mkdirs(folder, 0700, err);

	return r ? r : lock_and_claim(runfile, folder, err);
}

/* A name of a run as part of a file name. */
static void plain_stem(const char *stem, char out[64])
{
	size_t n = 0;

	for (const char *at = stem; *at && n < 63; at++) {
		bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			     (*at >= '0' && *at <= '9') || strchr("._-+", *at);

		out[n] = plain && !(n == 0 && *at == '.') ? *at : '_';
		n++;
	}
	out[n] = 0;
}

static int claim_new(struct wti_runfile *runfile, const char *base, const char *stem,
		     struct wt_err *err)
{
	char path[PATH_MAX], when[32], plain[64];
	time_t now = time(NULL);
	struct tm local;
	int r = wti_mkdirs(base, 0700, err);

	if (r)
		return r;
	plain_stem(stem, plain);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	for (int i = 1; i <= SAME_SECOND_MAX; i++) {
		int n = i == 1 ? snprintf(path, sizeof(path), "%s/%s-%s", base, plain, when)
			       : snprintf(path, sizeof(path), "%s/%s-%s-%d", base, plain, when, i);

		if (n < 0 || (size_t)n >= sizeof(path))
			return wti_err(err, WT_E_ARG, "the folder's name is too long");
		if (!mkdir(path, 0700))
			return lock_and_claim(runfile, path, err);
		if (errno != EEXIST)
			return wti_err_errno(err, "cannot make the folder", path);
	}
	return wti_err(err, WT_E_EXISTS, "too many runs of this second under '%.200s'", base);
}

int wti_runfile_claim(struct wti_runfile *runfile, const char *folder, const char *base,
		      const char *stem, struct wt_err *err)
{
	int r;

	*runfile = (struct wti_runfile){.folder_fd = -1, .spare_fd = -1};
	r = folder ? claim_given(runfile, folder, err) : claim_new(runfile, base, stem, err);
	if (r)
		wti_runfile_release(runfile);
	else
		set_spare_aside(runfile);
	return r;
}

/* Into the room that was set aside, then under its name. */
static int write_spare(struct wti_runfile *runfile, const struct wti_buf *text)
{
	int fd = runfile->spare_fd;

	if (lseek(fd, 0, SEEK_SET) < 0 || wti_write_all(fd, text->data, text->bytes) ||
	    ftruncate(fd, (off_t)text->bytes))
		return -1;
	return renameat(runfile->folder_fd, SPARE_NAME, runfile->folder_fd, FILE_NAME);
}

int wti_runfile_write(struct wti_runfile *runfile, const struct wti_buf *text, bool last,
		      struct wt_err *err)
{
	int r;

	if (runfile->spare_fd < 0)
		return wti_err(err, WT_E_IO, "cannot write run.json in '%s'", runfile->folder);
	r = write_spare(runfile, text);
	if (r)
		wti_err_errno(err, "cannot write run.json in", runfile->folder);
	close(runfile->spare_fd);
	runfile->spare_fd = -1;
	if (!last)
		set_spare_aside(runfile);
	return r ? WT_E_IO : 0;
}

int wti_runfile_create(const struct wti_runfile *runfile, const char *name)
{
	return openat(runfile->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		      0600);
}

void wti_runfile_abandon(struct wti_runfile *runfile)
{
	static const char *const made[] = {SPARE_NAME, FILE_NAME, "console.log", "0000.wt",
					   "syscalls.wt"};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		unlinkat(runfile->folder_fd, made[i], 0);
	rmdir(runfile->folder); /* if there is nothing else in it */
}

void wti_runfile_release(struct wti_runfile *runfile)
{
	if (runfile->spare_fd >= 0)
		close(runfile->spare_fd);
	if (runfile->folder_fd >= 0)
		close(runfile->folder_fd);
	runfile->spare_fd = runfile->folder_fd = -1;
}

bool wti_run_is_recording(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked;

	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}
