/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the files of the private folder. Its name has the key, and so does not appear in the name
 * that the socket is bound to, as everybody may read that in /proc/net/unix. An address has 108
 * bytes; a temporary folder with a longer name, or one that cannot be written in, gives way to
 * /tmp, and that to /dev/shm.
 *
 * The control page is a segment of System V shared memory, which nobody can cut off under those who
 * have it mapped, and which is found without a path. It is marked to be removed as soon as it is
 * there, so that it lasts as long as somebody has it and no longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
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

_Static_assert(sizeof(struct wti_control) <= CONTROL_BYTES, "one page");

static int make_key(char ret_key[WTI_KEY_BYTES + 1], struct wt_err *err)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[WTI_KEY_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return wti_err_errno(err, "cannot make", "a random key");
	for (size_t i = 0; i < WTI_KEY_BYTES; i++)
		ret_key[i] = digits[random[i] % 64];
	ret_key[WTI_KEY_BYTES] = 0;
	return 0;
}

/* The page that all share; where the system has no such segments, one for ourselves. */
static int make_page(struct wti_session *session, char ret_segment[16], struct wt_err *err)
{
	int segment = shmget(IPC_PRIVATE, CONTROL_BYTES, IPC_CREAT | 0600);
	void *page = segment >= 0 ? shmat(segment, NULL, 0) : (void *)-1;

	snprintf(ret_segment, 16, "%d", segment);
	if (segment >= 0)
		shmctl(segment, IPC_RMID, NULL);
	if (page == (void *)-1) {
		memcpy(ret_segment, WTI_NO_SEGMENT, sizeof(WTI_NO_SEGMENT));
		page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	}
	if (page == MAP_FAILED)
		return wti_err(err, WT_E_NOMEM, "out of memory for the control page");
	session->control = page;
	return 0;
}

/* Agents believe what is ours and closed to others: a file system must be able to say so. */
static int check_folder(const char *path, struct wt_err *err)
{
	struct stat about;

	if (stat(path, &about))
		return wti_err_errno(err, "cannot look at", path);
	if (about.st_uid == geteuid() && !(about.st_mode & 077))
		return 0;
	return wti_err(err, WT_E_IO,
		       "cannot make '%s' private: its file system does not keep owner and mode; "
		       "set TMPDIR to a folder on another file system",
		       path);
}

static int make_outer(struct wti_session *session, const char *temporary, struct wt_err *err)
{
	const char *places[] = {temporary, "/tmp", "/dev/shm"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i] || places[i][0] != '/' ||
		    strlen(places[i]) + sizeof(TEMPLATE) > sizeof(session->folder))
			continue;
		snprintf(session->folder, sizeof(session->folder), "%s%s", places[i], TEMPLATE);
		if (mkdtemp(session->folder)) /* 0700 */
			return 0;
	}
	wti_err_errno(err, "cannot make a private folder", session->folder);
	session->folder[0] = 0;
	return WT_E_IO;
}

static int make_folder(struct wti_session *session, const char *temporary, struct wt_err *err)
{
	char key[WTI_KEY_BYTES + 1], segment[16];
	int r = make_key(key, err);

	if (!r)
		r = make_page(session, segment, err);
	if (!r)
		r = make_outer(session, temporary, err);
	if (r)
		return r;
	memcpy(session->control->key, key, WTI_KEY_BYTES);
	snprintf(session->inner, sizeof(session->inner), "%s/%s.%s", session->folder, key, segment);
	if (mkdir(session->inner, 0700)) {
		session->inner[0] = 0;
		return wti_err_errno(err, "cannot make a private folder in", session->folder);
	}
	r = check_folder(session->inner, err);
	if (!r && chmod(session->folder, 0711))
		r = wti_err_errno(err, "cannot give access to", session->folder);
	return r;
}

static void path_of(const struct wti_session *session, const char *name, char ret_path[128])
{
	snprintf(ret_path, 128, "%s/%s", session->inner, name);
}

static int make_file(const struct wti_session *session, const char *name, const void *data,
		     size_t bytes, struct wt_err *err)
{
	char path[128];
	ssize_t written;
	int fd;

	path_of(session, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return wti_err_errno(err, "cannot make", path);
	written = write(fd, data, bytes);
	if (written >= 0 && (size_t)written < bytes)
		errno = ENOSPC;
	close(fd);
	return written == (ssize_t)bytes ? 0 : wti_err_errno(err, "cannot write", path);
}

static void fill_control(struct wti_control *control, const struct wti_session_options *options)
{
	control->magic = WTI_CONTROL_MAGIC;
	control->protocol = WTI_PROTOCOL;
	control->ring_bytes = options->ring_bytes;
	control->on_full = options->on_full;
	control->rings_bytes_max = options->rings_bytes_max;
	control->block_budget_ns = options->block_ns ? options->block_ns : BLOCK_BUDGET_NS;
	control->definitions_bytes_max = options->definitions_bytes_max;
	control->recorder_pid = getpid();
	control->strings_keep = options->strings_keep;
	control->blobs_bytes_max = options->blobs_bytes_max;
	control->syscalls = options->syscalls;
	atomic_store(&control->state, WTI_RECORDING_ON);
}

/* Agents of other protocols look for a whole page. */
static int make_control(struct wti_session *session, const struct wti_session_options *options,
			struct wt_err *err)
{
	fill_control(session->control, options);
	return make_file(session, WTI_CONTROL_FILE, session->control, CONTROL_BYTES, err);
}

/* From within the folder, so that the name it is bound to is short and has no key. */
static int bind_inside(const struct wti_session *session, int fd)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = WTI_SOCKET_FILE};
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = here < 0 || chdir(session->inner) ? -1 : 0;
	int failed;

	if (!r)
		r = bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
				    chmod(WTI_SOCKET_FILE, 0600)
			    ? -1
			    : 0;
	failed = errno;
	if (here >= 0 && fchdir(here))
		r = -1;
	if (here >= 0)
		close(here);
	errno = failed;
	return r;
}

static int make_socket(struct wti_session *session, struct wt_err *err)
{
	session->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (session->listener < 0 || bind_inside(session, session->listener) ||
	    listen(session->listener, BACKLOG))
		return wti_err_errno(err, "cannot listen in", session->folder);
	return 0;
}

/* Without it those who may not join are found in /proc, if they live long enough. */
static void make_knocker(struct wti_session *session)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int on = 1;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" WTI_KNOCK_FILE, session->folder);
	session->knocker = fd;
	if (fd < 0)
		return;
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(address.sun_path, 0666)) {
		close(fd);
		session->knocker = -1;
	}
}

/* Anybody may knock; who knows the key has the variable. */
static bool is_of_ours(const struct wti_session *session, const struct wti_knock *knock,
		       ssize_t bytes)
{
	return bytes == (ssize_t)sizeof(*knock) && knock->message.type == WTI_MSG_KNOCK &&
	       !memcmp(knock->key, session->inner + strlen(session->folder) + 1, WTI_KEY_BYTES);
}

bool wti_session_knocked(const struct wti_session *session, uint32_t *ret_pid, char ret_command[16])
{
	for (;;) {
		struct wti_knock knock;
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec part = {&knock, sizeof(knock)};
		struct msghdr header = {.msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = control,
					.msg_controllen = sizeof(control)};
		ssize_t n = session->knocker < 0 ? -1
						 : recvmsg(session->knocker, &header, MSG_DONTWAIT);
		struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&header);
		struct ucred who;

		if (n < 0)
			return false;
		if (!c || c->cmsg_type != SCM_CREDENTIALS || !is_of_ours(session, &knock, n))
			continue;
		memcpy(&who, CMSG_DATA(c), sizeof(who));
		*ret_pid = (uint32_t)who.pid;
		memcpy(ret_command, knock.message.command, 16);
		ret_command[15] = 0;
		return true;
	}
}

/* What is in a file, as far as there is room; 0 if it is none of ours. */
static size_t read_file(const struct wti_session *session, const char *name, void *out,
			size_t bytes)
{
	struct stat about;
	char path[128];
	ssize_t got = -1;
	int fd;

	path_of(session, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &about) && S_ISREG(about.st_mode))
		got = read(fd, out, bytes);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

void wti_session_trouble(const struct wti_session *session, char *ret_text, size_t bytes)
{
	ret_text[read_file(session, WTI_TROUBLE_FILE, ret_text, bytes - 1)] = 0;
	ret_text[strcspn(ret_text, "\n")] = 0;
}

void wti_session_variable(const struct wti_session *session, char *ret_text, size_t bytes)
{
	snprintf(ret_text, bytes, "%u:%s", WTI_PROTOCOL, session->inner);
}

/* ---- Pages ---------------------------------------------------------------------------------- */

void wti_session_add_page(struct wti_session *session, int fd)
{
	struct stat about;
	void *page;
	int seals;

	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* done already, or it is the look that fails */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &about) ||
	    about.st_size < CONTROL_BYTES)
		return;
	if (session->page_count == WTI_SESSION_PAGES_MAX) {
		session->pages_refused++;
		return;
	}
	page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED)
		session->pages[session->page_count++] = page;
}

static void add_counts(struct wti_control *control, struct wti_session_counts *counts)
{
	counts->lost_unjoined += atomic_load(&control->lost_unjoined);
	counts->refused_rings += atomic_load(&control->refused_count);
	counts->python_count += atomic_load(&control->python_count);
	counts->stayed_out |= atomic_load(&control->stayed_out);
}

void wti_session_count(const struct wti_session *session, struct wti_session_counts *ret)
{
	struct wti_control file;

	*ret = (struct wti_session_counts){0};
	add_counts(session->control, ret);
	for (uint32_t i = 0; i < session->page_count; i++)
		add_counts(session->pages[i], ret);
	if (read_file(session, WTI_CONTROL_FILE, &file, sizeof(file)) != sizeof(file))
		return;
	ret->mismatch_count = atomic_load(&file.mismatch_count);
	ret->mismatch_protocol = atomic_load(&file.mismatch_protocol);
}

int wti_session_open(struct wti_session *session, const struct wti_session_options *options,
		     struct wt_err *err)
{
	int r;

	*session = (struct wti_session){.listener = -1, .knocker = -1};
	r = make_folder(session, options->temporary, err);
	if (!r)
		r = make_control(session, options, err);
	if (!r && options->settings)
		r = make_file(session, WTI_SETTINGS_FILE, options->settings,
			      strlen(options->settings), err);
	if (!r)
		r = make_socket(session, err);
	if (r)
		wti_session_close(session);
	else
		make_knocker(session);
	return r;
}

/* In the file, too, from which those make a page who cannot reach ours. */
static void write_over(const struct wti_session *session)
{
	const uint32_t over = WTI_RECORDING_OVER;
	char path[128];
	int fd;

	path_of(session, WTI_CONTROL_FILE, path);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	if (pwrite(fd, &over, sizeof(over), offsetof(struct wti_control, state)) < 0)
		unlink(path);
	close(fd);
}

void wti_session_over(struct wti_session *session)
{
	if (!session->control)
		return;
	atomic_store(&session->control->state, WTI_RECORDING_OVER);
	for (uint32_t i = 0; i < session->page_count; i++)
		atomic_store(&session->pages[i]->state, WTI_RECORDING_OVER);
	if (session->inner[0])
		write_over(session);
}

void wti_session_refuse(struct wti_session *session)
{
	if (session->listener >= 0)
		close(session->listener);
	if (session->knocker >= 0)
		close(session->knocker);
	session->listener = session->knocker = -1;
}

static void remove_file(const struct wti_session *session, const char *name)
{
	char path[128];

	path_of(session, name, path);
	unlink(path);
}

static void remove_folders(struct wti_session *session)
{
	char path[128];

	if (session->inner[0]) {
		remove_file(session, WTI_SOCKET_FILE);
		remove_file(session, WTI_CONTROL_FILE);
		remove_file(session, WTI_SETTINGS_FILE);
		remove_file(session, WTI_TROUBLE_FILE);
		rmdir(session->inner);
	}
	snprintf(path, sizeof(path), "%s/" WTI_KNOCK_FILE, session->folder);
	unlink(path);
	rmdir(session->folder);
	session->folder[0] = session->inner[0] = 0;
}

void wti_session_close(struct wti_session *session)
{
	wti_session_over(session);
	wti_session_refuse(session);
	while (session->page_count)
		munmap(session->pages[--session->page_count], CONTROL_BYTES);
	if (session->control)
		munmap(session->control, CONTROL_BYTES); /* which detaches a segment, too */
	session->control = NULL;
	if (session->folder[0])
		remove_folders(session);
}
