/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a folder is claimed, locked and described without ever being half described. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "trace/run_folder.h"

#include "collect.h"
#include "name.h"
#include "runfile.h"

#define SPARE_BYTES (256u << 10)
#define ROOM_BYTES_MIN (32u << 10) /* a beginning of a trace, and run.json twice */
#define SAME_SECOND_MAX 1000
#define LOCK_TRIES 50

/* Whoever looks whether a run is being recorded holds the lock for a moment: try again. */
static void lock(int folder_fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(folder_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return; /* or the file system cannot: then it stays unknown */
		usleep(1000);
	}
}

/* What a user of the file system may still write; UINT64_MAX: it does not say. */
static uint64_t free_bytes(int folder_fd)
{
	struct statvfs about;

	if (fstatvfs(folder_fd, &about) || !about.f_blocks)
		return UINT64_MAX;
	return (uint64_t)(geteuid() ? about.f_bavail : about.f_bfree) * about.f_frsize;
}

static int no_room(const struct wti_runfile *runfile, struct wt_err *err)
{
	char size[16];

	return wti_err(err, WT_E_LIMIT,
		       "not enough room in '%.200s': %s free; make room, or record into another "
		       "folder with -o",
		       runfile->folder, wti_format_bytes(size, free_bytes(runfile->folder_fd)));
}

static bool is_noted(const struct wti_runfile *runfile, const char *name)
{
	for (size_t i = 0; i < runfile->name_count; i++)
		if (!strcmp(runfile->names[i], name))
			return true;
	return false;
}

/* A file that was not there; O_EXCL does not follow a link either. */
static int create(struct wti_runfile *runfile, const char *name, int flags)
{
	int fd = openat(runfile->folder_fd, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags,
			0600);

	if (fd >= 0 && !is_noted(runfile, name) && runfile->name_count < WTI_RUNFILE_NAMES_MAX)
		runfile->names[runfile->name_count++] = name;
	return fd;
}

int wti_runfile_create(struct wti_runfile *runfile, const char *name)
{
	return create(runfile, name, O_WRONLY | O_APPEND);
}

static int lock_and_claim(struct wti_runfile *runfile, const char *path, struct wt_err *err)
{
	int fd;

	if (!realpath(path, runfile->folder))
		return wti_err_errno(err, "cannot use the folder", path);
	runfile->folder_fd = open(runfile->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (runfile->folder_fd < 0)
		return wti_err_errno(err, "cannot open the folder", path);
	if (free_bytes(runfile->folder_fd) < ROOM_BYTES_MIN)
		return no_room(runfile, err);
	lock(runfile->folder_fd); /* first: a run.json that is empty is of a recording that begins
				   */
	fd = create(runfile, WTI_RUN_JSON, O_WRONLY);
	if (fd < 0 && errno == EEXIST) { /* another recording was faster: it stays private */
		runfile->made.mode = 0;
		return wti_err(err, WT_E_EXISTS,
			       "'%.300s' already contains a run; give another folder, or --force "
			       "to replace it",
			       path);
	}
	if (fd < 0)
		return wti_err_errno(err, "cannot write in the folder", path);
	close(fd);
	runfile->spare_fd = create(runfile, WTI_RUN_JSON_NEXT, O_RDWR);
	if (runfile->spare_fd < 0)
		return wti_err_errno(err, "cannot write in the folder", path);
	return 0;
}

static int claim_given(struct wti_runfile *runfile, const char *folder, struct wt_err *err)
{
	int r = wti_folder_make(&runfile->made, folder, err);

	return r ? r : lock_and_claim(runfile, folder, err);
}

/* A folder of its own below the usual one: whoever cannot have that can name another. */
static int not_here(struct wt_err *err, int code)
{
	size_t used = err ? strlen(err->message) : 0;

	if (err && used < sizeof(err->message))
		snprintf(err->message + used, sizeof(err->message) - used,
			 "; record into another folder with -o, or set WHEELTAP_HOME");
	return code;
}

static int claim_new(struct wti_runfile *runfile, const char *base, const char *stem,
		     struct wt_err *err)
{
	char path[PATH_MAX], when[32], plain[WTI_NAME_BYTES];
	time_t now = time(NULL);
	struct wti_folder *made = &runfile->made;
	struct tm local;

	wti_name_plain(stem, plain);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	for (int i = 1; i <= SAME_SECOND_MAX; i++) {
		int n = i == 1 ? snprintf(path, sizeof(path), "%s/%s-%s", base, plain, when)
			       : snprintf(path, sizeof(path), "%s/%s-%s-%d", base, plain, when, i);
		int r;

		if (n < 0 || (size_t)n >= sizeof(path))
			return wti_err(err, WT_E_ARG, "the folder's name is too long");
		/* Each time: a recording that failed may have taken it back meanwhile. */
		r = wti_mkdirs_kept(base, 0700, &made->kept_bytes, err);
		memcpy(made->path, base, strlen(base) + 1);
		if (r)
			return not_here(err, r);
		if (!mkdir(path, 0700)) {
			memcpy(made->path, path, sizeof(path));
			return lock_and_claim(runfile, path, err);
		}
		if (errno != EEXIST && errno != ENOENT)
			return not_here(err, wti_err_errno(err, "cannot create the folder", path));
	}
	return wti_err(err, WT_E_EXISTS, "too many runs started in this second under '%.200s'",
		       base);
}

int wti_runfile_claim(struct wti_runfile *runfile, const char *folder, const char *base,
		      const char *stem, struct wt_err *err)
{
	int r;

	*runfile = (struct wti_runfile){.folder_fd = -1, .spare_fd = -1};
	r = folder ? claim_given(runfile, folder, err) : claim_new(runfile, base, stem, err);
	if (r) {
		wti_runfile_abandon(runfile);
		wti_runfile_release(runfile);
	}
	return r;
}

/* Into the room that was set aside, then under its name. */
static int write_spare(struct wti_runfile *runfile, const struct wti_buf *text)
{
	int fd = runfile->spare_fd;
	int r;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	r = wti_write_all(fd, text->data, text->bytes);
	if (r) {
		errno = -r;
		return -1;
	}
	if (ftruncate(fd, (off_t)text->bytes))
		return -1;
	return renameat(runfile->folder_fd, WTI_RUN_JSON_NEXT, runfile->folder_fd, WTI_RUN_JSON);
}

int wti_runfile_write(struct wti_runfile *runfile, const struct wti_buf *text, struct wt_err *err)
{
	if (runfile->spare_fd < 0)
		return wti_err(err, WT_E_IO, "cannot write run.json in '%s'", runfile->folder);
	if (write_spare(runfile, text)) {
		wti_err_errno(err, "cannot write run.json in", runfile->folder);
		return WT_E_IO;
	}
	close(runfile->spare_fd);
	runfile->spare_fd = -1;
	return 0;
}

/* As far as the file system can promise it. */
static bool set_aside(int fd, uint64_t bytes)
{
	if (!ftruncate(fd, 0) && !posix_fallocate(fd, 0, (off_t)bytes))
		return true;
	return ftruncate(fd, 0) && false; /* what it got of it is needed by others */
}

/* A file cannot become larger, whatever room there is. */
static uint64_t largest_file(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
										  : limit.rlim_cur;
}

int wti_runfile_reserve(struct wti_runfile *runfile, uint64_t bytes, struct wt_err *err)
{
	uint64_t more = free_bytes(runfile->folder_fd) / 4; /* the trace needs room, too */
	uint64_t most = largest_file();

	if (bytes > most)
		bytes = most;

	if (runfile->spare_fd < 0)
		runfile->spare_fd = create(runfile, WTI_RUN_JSON_NEXT, O_RDWR);
	if (runfile->spare_fd < 0)
		return wti_err_errno(err, "cannot write in the folder", runfile->folder);
	if (more > bytes + SPARE_BYTES)
		more = bytes + SPARE_BYTES;
	if (more > most)
		more = most;
	if (more > bytes && set_aside(runfile->spare_fd, more))
		return 0;
	return set_aside(runfile->spare_fd, bytes) ? 0 : no_room(runfile, err);
}

void wti_runfile_abandon(struct wti_runfile *runfile)
{
	for (size_t i = 0; i < runfile->name_count; i++)
		unlinkat(runfile->folder_fd, runfile->names[i], 0);
	wti_folder_unmake(&runfile->made);
}

void wti_runfile_release(struct wti_runfile *runfile)
{
	if (runfile->spare_fd >= 0)
		close(runfile->spare_fd);
	if (runfile->folder_fd >= 0)
		close(runfile->folder_fd);
	runfile->spare_fd = runfile->folder_fd = -1;
}
