/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to see what a program wrote to a file without being in its way: the open file is
 * shared, so its offset at the end says how far the program came. It is read through a description
 * of our own, as the program's is usually open for writing only.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/secret.h"

#include "console.h"
#include "redirect.h"
#include "rlimits.h"

/* Far more than a traceback has, and several fit into what is read again to find one. */
#define TAIL_BYTES (256u << 10)
#define PART_BYTES (32u << 10)
#define NAME_BYTES 1024 /* run.json has room set aside for two */

bool wti_redirect_is_pipe(int fd)
{
	int flags = fcntl(fd, F_GETFL), type = 0;
	socklen_t bytes = sizeof(type);
	struct stat st;

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st))
		return false;
	if (S_ISSOCK(st.st_mode))
		return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) && type == SOCK_STREAM;
	return S_ISFIFO(st.st_mode);
}

static char *name_of(int fd)
{
	char link[64], target[NAME_BYTES] = "?";
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	n = n > 0 ? n : 1;
	target[wti_secret_mask(target, (size_t)n)] = 0;
	return strdup(target);
}

static void note(struct wti_redirect *redirect, int fd)
{
	struct stat st;
	off_t at;

	*redirect = (struct wti_redirect){.fd = -1};
	if (!wti_descriptor_given(fd) || isatty(fd) || wti_redirect_is_pipe(fd))
		return;
	redirect->to = name_of(fd);
	if (!redirect->to || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	/* Whoever appends writes to the end, wherever the offset is before. */
	at = fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
	if (at < 0)
		return;
	redirect->begin = (uint64_t)at;
	redirect->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void wti_redirects_note(struct wti_redirect redirects[2])
{
	note(&redirects[0], STDOUT_FILENO);
	note(&redirects[1], STDERR_FILENO);
}

/* ---- When the program has ended ------------------------------------------------------------- */

/* Does not change when the file was last read, where we may have it so. */
static int open_again(int fd)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOATIME | O_CLOEXEC);
	return again >= 0 ? again : open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* How far the program came; not beyond the end, where it or somebody has cut the file off. */
static uint64_t end_of(const struct wti_redirect *redirect)
{
	off_t at = lseek(redirect->fd, 0, SEEK_CUR);
	struct stat st;

	if (at < 0 || fstat(redirect->fd, &st))
		return 0;
	return (uint64_t)(at < st.st_size ? at : st.st_size);
}

/* A line that is cut could show a secret whose name is missing: the first whole one. */
static size_t whole_line(const char *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (data[i] == '\n' || data[i] == '\r')
			return i + 1;
	return bytes;
}

static void put(struct wti_console *console, const char *data, size_t bytes)
{
	while (bytes) {
		size_t part = bytes < PART_BYTES ? bytes : PART_BYTES;

		wti_console_put(console, 0, data, part);
		data += part;
		bytes -= part;
	}
}

static void keep(struct wti_redirect *redirect, uint64_t end, struct wti_console *console)
{
	uint64_t begin = redirect->begin;
	int fd = open_again(redirect->fd);
	char *data = fd >= 0 ? malloc(TAIL_BYTES) : NULL;
	char says[NAME_BYTES + 96];
	size_t skipped = 0;
	ssize_t n = -1;

	redirect->is_readable = data != NULL;
	if (end > begin + TAIL_BYTES)
		begin = end - TAIL_BYTES;
	if (data && end > begin)
		n = wti_pread_all(fd, data, (size_t)(end - begin), begin);
	if (n > 0 && begin > redirect->begin)
		skipped = whole_line(data, (size_t)n);
	if (n > 0 && begin + skipped > redirect->begin) {
		snprintf(says, sizeof(says),
			 "[wheeltap: %llu bytes of output before this are only in '%s']\n",
			 (unsigned long long)(begin + skipped - redirect->begin), redirect->to);
		put(console, says, strlen(says));
	}
	if (n > 0) {
		put(console, data + skipped, (size_t)n - skipped);
		redirect->kept_bytes = (size_t)n - skipped;
	}
	free(data);
	if (fd >= 0)
		close(fd);
}

static bool is_same(const struct wti_redirect *a, const struct wti_redirect *b)
{
	struct stat x, y;

	return a->fd >= 0 && b->fd >= 0 && !fstat(a->fd, &x) && !fstat(b->fd, &y) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void wti_redirects_keep(struct wti_redirect redirects[2], int fd)
{
	struct wti_redirect *out = &redirects[0], *err = &redirects[1];
	_Atomic uint64_t dropped = 0;
	struct wti_console console;
	bool is_one = is_same(out, err);
	uint64_t ends[2] = {out->fd < 0 ? 0 : end_of(out), err->fd < 0 ? 0 : end_of(err)};

	if (fd < 0 || (out->fd < 0 && err->fd < 0))
		return;
	if (wti_console_start(&console, fd, &dropped))
		return;
	/* Of two descriptions of one file the range that both wrote to, once. */
	if (is_one && ends[1] > ends[0])
		ends[0] = ends[1];
	if (is_one && err->begin < out->begin)
		out->begin = err->begin;
	if (out->fd >= 0)
		keep(out, ends[0], &console);
	if (is_one)
		err->is_readable = out->is_readable;
	else if (err->fd >= 0)
		keep(err, ends[1], &console);
	wti_console_close(&console);
}

void wti_redirects_release(struct wti_redirect redirects[2])
{
	for (int i = 0; i < 2; i++) {
		free(redirects[i].to);
		if (redirects[i].to && redirects[i].fd >= 0)
			close(redirects[i].fd);
		redirects[i] = (struct wti_redirect){.fd = -1};
	}
}
