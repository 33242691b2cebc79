/* SPDX-License-Identifier: Apache-2.0 */
/* Hides temporary files, and what the system may have against them. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "show/terminal.h"

char *wti_temporary_name(const char *path)
{
	char *name;

	return asprintf(&name, "%s.XXXXXX", path) < 0 ? NULL : name;
}

int wti_check_absent(const char *path, bool force, struct wt_err *err)
{
	struct stat info;

	if (lstat(path, &info))
		return 0;
	if (force && S_ISREG(info.st_mode))
		return 0;
	if (force)
		return wti_err(err, WT_E_EXISTS, "cannot replace '%s': it is not a file", path);
	return wti_err(err, WT_E_EXISTS,
		       "'%s' exists already; give another name with -o, or --force to replace it",
		       path);
}

int wti_put_in_place(const char *temporary, const char *path, bool force, struct wt_err *err)
{
	if (force) {
		if (!rename(temporary, path))
			return 0;
		return wti_err_errno(err, "cannot write", path);
	}
	if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	/* Some file systems cannot promise it: then looking first must do. */
	if (errno != EINVAL && errno != ENOSYS)
		return wti_err_errno(err, "cannot write", path);
	if (wti_check_absent(path, false, err))
		return WT_E_EXISTS;
	return rename(temporary, path) ? wti_err_errno(err, "cannot write", path) : 0;
}

int wti_sink_open(struct wti_export_sink *sink, const char *path, bool force, struct wt_err *err)
{
	int status;

	*sink = (struct wti_export_sink){.fd = -1, .spill_bytes = WTI_SINK_BUFFER};
	wti_buf_init(&sink->buf, WTI_SINK_CEILING);
	if (!strcmp(path, "-")) {
		sink->fd = STDOUT_FILENO;
		return 0;
	}
	status = wti_check_absent(path, force, err);
	if (status)
		return status;
	sink->path = strdup(path);
	sink->temporary = wti_temporary_name(path);
	if (!sink->path || !sink->temporary) {
		free(sink->temporary);
		sink->temporary = NULL;
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	sink->fd = mkostemp(sink->temporary, O_CLOEXEC); /* mode 0600 */
	if (sink->fd < 0) {
		free(sink->temporary);
		sink->temporary = NULL;
		return wti_err_errno(err, "cannot write", path);
	}
	return 0;
}

static int write_out(struct wti_export_sink *sink)
{
	const char *text = (const char *)sink->buf.data;
	size_t bytes = sink->buf.bytes;
	struct wti_buf safe;
	int r;

	if (sink->is_binary || wti_terminal_safe(text, bytes, false) == bytes) {
		sink->bytes += bytes;
		return wti_write_all(sink->fd, text, bytes);
	}
	wti_buf_init(&safe, 4 * bytes + 1);
	wti_terminal_escape(&safe, text, bytes, false);
	sink->bytes += safe.bytes;
	r = wti_buf_status(&safe) ? -ENOMEM : wti_write_all(sink->fd, safe.data, safe.bytes);
	wti_buf_release(&safe);
	return r;
}

int wti_sink_flush(struct wti_export_sink *sink, struct wt_err *err)
{
	int status = wti_buf_status(&sink->buf);

	if (status)
		return wti_err(err, status, "cannot write '%s': an event does not fit into memory",
			       sink->path ? sink->path : "standard output");
	status = write_out(sink);
	if (status == -ENOMEM)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (status) {
		errno = -status;
		return wti_err_errno(err, "cannot write",
				     sink->path ? sink->path : "standard output");
	}
	wti_buf_clear(&sink->buf);
	return 0;
}

int wti_sink_commit(struct wti_export_sink *sink, bool force, struct wt_err *err)
{
	int status = wti_sink_flush(sink, err);

	if (status || !sink->temporary)
		return status;
	status = close(sink->fd);
	sink->fd = -1;
	if (status)
		return wti_err_errno(err, "cannot write", sink->path);
	status = wti_put_in_place(sink->temporary, sink->path, force, err);
	if (status)
		return status;
	free(sink->temporary);
	sink->temporary = NULL;
	return 0;
}

void wti_sink_release(struct wti_export_sink *sink)
{
	if (sink->path && sink->fd >= 0)
		close(sink->fd);
	if (sink->temporary)
		unlink(sink->temporary);
	free(sink->temporary);
	free(sink->path);
	wti_buf_release(&sink->buf);
	*sink = (struct wti_export_sink){.fd = -1};
}
