/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the files of the private folder. The socket is bound through the folder's short name, as an
 * address has 108 bytes; a temporary folder with a longer name gives way to /tmp.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"

#include "session.h"

#define BACKLOG 4096
#define CONTROL_BYTES 4096
#define BLOCK_BUDGET_NS 100000000 /* a process may wait this long for room in a minute */
#define TEMPLATE "/wheeltap-XXXXXX"

static int make_folder(struct wti_session *session, const char *temporary, struct wt_err *err)
{
	if (!temporary || temporary[0] != '/' ||
	    strlen(temporary) + sizeof(TEMPLATE) > sizeof(session->folder))
		temporary = "/tmp";
	snprintf(session->folder, sizeof(session->folder), "%s%s", temporary, TEMPLATE);
	if (mkdtemp(session->folder)) /* 0700 */
		return 0;
	wti_err_errno(err, "cannot make a private folder", session->folder);
	session->folder[0] = 0;
	return WT_E_IO;
}

static void fill_control(struct wti_control *control, const struct wti_session_options *options)
{
	control->magic = WTI_CONTROL_MAGIC;
	control->protocol = WTI_PROTOCOL;
	control->ring_bytes = options->ring_bytes;
	control->on_full = options->on_full;
	control->rings_bytes_max = options->rings_bytes_max;
	control->block_budget_ns = BLOCK_BUDGET_NS;
	control->definitions_bytes_max = options->definitions_bytes_max;
	control->recorder_pid = getpid();
	control->strings_keep = options->strings_keep;
	control->blobs_bytes_max = options->blobs_bytes_max;
	control->syscalls = options->syscalls;
	atomic_store(&control->state, WTI_RECORDING_ON);
}

static int make_control(struct wti_session *session, const struct wti_session_options *options,
			struct wt_err *err)
{
	char path[128];
	void *page = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/control", session->folder);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return wti_err_errno(err, "cannot make", path);
	/* Allocated now, so that nobody meets a SIGBUS on a full disk. */
	errno = posix_fallocate(fd, 0, CONTROL_BYTES);
	if (!errno)
		page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		wti_err_errno(err, "cannot make the control page", path);
	close(fd);
	if (page == MAP_FAILED)
		return WT_E_IO;
	session->control = page;
	fill_control(session->control, options);
	return 0;
}

static int make_socket(struct wti_session *session, struct wt_err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", session->folder);
	session->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (session->listener < 0 ||
	    bind(session->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(address.sun_path, 0600) || listen(session->listener, BACKLOG))
		return wti_err_errno(err, "cannot listen on", address.sun_path);
	return 0;
}

static int make_settings(const struct wti_session *session, const char *settings,
			 struct wt_err *err)
{
	char path[128];
	ssize_t written;
	int fd;

	if (!settings)
		return 0;
	snprintf(path, sizeof(path), "%s/" WTI_SETTINGS_FILE, session->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return wti_err_errno(err, "cannot make", path);
	written = write(fd, settings, strlen(settings));
	close(fd);
	if (written != (ssize_t)strlen(settings))
		return wti_err_errno(err, "cannot write", path);
	return 0;
}

void wti_session_trouble(const struct wti_session *session, char *ret_text, size_t bytes)
{
	char path[128];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/" WTI_TROUBLE_FILE, session->folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		got = read(fd, ret_text, bytes - 1);
		close(fd);
	}
	ret_text[got > 0 ? got : 0] = 0;
	ret_text[strcspn(ret_text, "\n")] = 0;
}

int wti_session_open(struct wti_session *session, const struct wti_session_options *options,
		     struct wt_err *err)
{
	int r;

	*session = (struct wti_session){.listener = -1};
	r = make_folder(session, options->temporary, err);
	if (!r)
		r = make_control(session, options, err);
	if (!r)
		r = make_settings(session, options->settings, err);
	if (!r)
		r = make_socket(session, err);
	if (r)
		wti_session_close(session);
	return r;
}

void wti_session_over(struct wti_session *session)
{
	if (session->control)
		atomic_store(&session->control->state, WTI_RECORDING_OVER);
}

void wti_session_refuse(struct wti_session *session)
{
	if (session->listener >= 0)
		close(session->listener);
	session->listener = -1;
}

static void remove_file(const struct wti_session *session, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", session->folder, name);
	unlink(path);
}

void wti_session_close(struct wti_session *session)
{
	wti_session_over(session);
	wti_session_refuse(session);
	if (session->control)
		munmap(session->control, CONTROL_BYTES);
	session->control = NULL;
	if (!session->folder[0])
		return;
	remove_file(session, "socket");
	remove_file(session, "control");
	remove_file(session, WTI_SETTINGS_FILE);
	remove_file(session, WTI_TROUBLE_FILE);
	rmdir(session->folder);
	session->folder[0] = 0;
}
