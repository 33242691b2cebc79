/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a model file gets to its place as a whole or not at all. */
#include "model/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "model/format.h"

int wti_model_put(int fd, const void *data, size_t bytes, struct wt_err *err)
{
	int r = wti_write_all(fd, data, bytes);

	if (!r)
		return 0;
	errno = -r;
	return wti_err_errno(err, "cannot write", "the model");
}

struct putting {
	int fd;
	struct wt_err *err;
};

static int put_block(void *cookie, const void *data, size_t bytes)
{
	struct putting *putting = cookie;

	return wti_model_put(putting->fd, data, bytes, putting->err);
}

int wti_model_put_tensor(struct wti_model *model, const struct wti_model_tensor *tensor, int fd,
			 struct wt_err *err)
{
	struct putting putting = {fd, err};

	return wti_model_walk(model, tensor, put_block, &putting, err);
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* The rights that a new file would have: mkstemp() gives it to its owner alone. */
static void give_usual_rights(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	fchmod(fd, 0666 & ~mask);
}

static int write_to(struct wti_model *model, const struct wti_model_format *format, int fd,
		    const char *path, struct wt_err *err)
{
	int r = format->write(model, fd, err);

	if (r)
		return r;
	give_usual_rights(fd);
	return fsync(fd) ? wti_err_errno(err, "cannot write", path) : 0;
}

static void sync_folder(const char *path)
{
	char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	int fd;

	if (folder && slash)
		slash[slash == folder] = 0;
	fd = folder ? open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

int wti_model_save(struct wti_model *model, const struct wti_model_format *format, const char *path,
		   struct wt_err *err)
{
	size_t bytes = strlen(path) + sizeof(".XXXXXX");
	char *temporary = malloc(bytes);
	int fd, r;

	if (!temporary)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	snprintf(temporary, bytes, "%s.XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		r = wti_err_errno(err, "cannot write", path);
		free(temporary);
		return r;
	}
	r = write_to(model, format, fd, path, err);
	close(fd);
	if (!r && rename(temporary, path))
		r = wti_err_errno(err, "cannot write", path);
	if (r)
		unlink(temporary);
	else
		sync_folder(path);
	free(temporary);
	return r;
}
