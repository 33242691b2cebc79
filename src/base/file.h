/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole writes, whole reads with a ceiling, atomic replacement, folders. */
#ifndef WTI_BASE_FILE_H
#define WTI_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wheeltap/err.h>

#include "buf.h"

/* All of it, or a negative errno; EINTR and short writes are its business. */
int wti_write_all(int fd, const void *data, size_t bytes);
/* As many bytes as there are, up to `bytes`; or a negative errno. */
ssize_t wti_pread_all(int fd, void *data, size_t bytes, uint64_t offset);
/*
 * A regular file for reading: the descriptor, or a negative code. Never waits, as a FIFO would have
 * it, and does not open a device. Whatever is looked for by its name is opened by this.
 */
int wti_open_regular(const char *path, struct wt_err *err);
/*
 * As wti_open_regular(), of what the user has named. Of what is not a file only descriptors of our
 * own are opened (/dev/stdin, /dev/fd/N, which is what a shell makes of <(...)), and /dev/null.
 */
int wti_open_input(const char *path, struct wt_err *err);
/* All of such an input. */
int wti_file_read(const char *path, size_t ceiling, struct wti_buf *out, struct wt_err *err);
/*
 * Through a temporary file and a rename; mode 0600. A link stays and leads to the new file; a
 * device, a FIFO, standard output and error are written to.
 */
int wti_file_replace(const char *path, const void *data, size_t bytes, struct wt_err *err);
int wti_mkdirs(const char *path, mode_t mode, struct wt_err *err);
/* And how much of the path was there already, as the length of that part: on failure, too. */
int wti_mkdirs_kept(const char *path, mode_t mode, size_t *ret_kept_bytes, struct wt_err *err);

#endif
