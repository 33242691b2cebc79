/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where agents and recorder meet, and what of it may be believed.
 *
 * The variable outlives the recording in every process that does, and the temporary folder is
 * everybody's: whatever is found under the old name may be another user's trap. So nothing is used
 * that is not our own user's and closed to all others, looked at through the descriptor that is
 * then used; nothing is opened that could make us wait; no file is mapped, as one that is cut off
 * kills whoever has it mapped; and the folder's name and the control page must have the key.
 */
#include "meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"

/* "<protocol>:<directory>" */
static const char *parse_variable(const char *text, unsigned long *ret_protocol)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*ret_protocol = strtoul(text, &end, 10);
	return *end == ':' && end[1] == '/' ? end + 1 : NULL;
}

/* "<key>.<segment>", the last part of the directory. */
static bool parse_key(struct wti_meeting *meeting)
{
	const char *last = strrchr(meeting->directory, '/') + 1;
	char *end;

	if (strlen(last) < WTI_KEY_BYTES + 2 || last[WTI_KEY_BYTES] != '.')
		return false;
	memcpy(meeting->key, last, WTI_KEY_BYTES);
	last += WTI_KEY_BYTES + 1;
	meeting->segment = -1;
	if (strcmp(last, WTI_NO_SEGMENT) == 0)
		return true;
	meeting->segment = (int)strtol(last, &end, 10);
	return *last >= '0' && *last <= '9' && *end == 0;
}

bool wti_meeting_find(struct wti_meeting *meeting, const char *variable)
{
	unsigned long protocol;
	const char *directory = variable ? parse_variable(variable, &protocol) : NULL;

	*meeting = (struct wti_meeting){0};
	if (!directory || strlen(directory) >= sizeof(meeting->directory))
		return false;
	memcpy(meeting->directory, directory, strlen(directory) + 1);
	meeting->is_other_protocol = protocol != WTI_PROTOCOL;
	return meeting->is_other_protocol || parse_key(meeting);
}

/* Closes the descriptor of what is not to be believed. */
static int believe(int fd, mode_t type)
{
	struct stat about;

	if (fd < 0)
		return -1;
	if (fstat(fd, &about) == 0 && (about.st_mode & S_IFMT) == type &&
	    about.st_uid == geteuid() && (about.st_mode & 077) == 0)
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int wti_meeting_open(const struct wti_meeting *meeting)
{
	return believe(open(meeting->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		       S_IFDIR);
}

static int open_file(const struct wti_meeting *meeting, const char *name, int how)
{
	int folder = wti_meeting_open(meeting);
	int fd, failed;

	if (folder < 0)
		return -1;
	fd = believe(openat(folder, name, how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
		     S_IFREG);
	failed = errno;
	close(folder);
	errno = failed;
	return fd;
}

ssize_t wti_meeting_read(const struct wti_meeting *meeting, const char *name, char *out,
			 size_t bytes)
{
	int fd = open_file(meeting, name, O_RDONLY);
	size_t total = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	while (total < bytes && (n = read(fd, out + total, bytes - total)) > 0)
		total += (size_t)n;
	close(fd);
	return n < 0 ? -1 : (ssize_t)total;
}

/* The two fields are at the same place in every protocol. That one is counted matters, not how
 * many at the same moment. */
void wti_meeting_mismatch(const struct wti_meeting *meeting)
{
	const uint32_t ours = WTI_PROTOCOL;
	struct wti_control control;
	int fd = open_file(meeting, WTI_CONTROL_FILE, O_RDWR);
	uint32_t count;

	if (fd < 0)
		return;
	if (pread(fd, &control, sizeof(control), 0) >=
		    (ssize_t)offsetof(struct wti_control, python_count) &&
	    control.magic == WTI_CONTROL_MAGIC) {
		count = atomic_load(&control.mismatch_count) + 1;
		(void)!pwrite(fd, &ours, sizeof(ours),
			      offsetof(struct wti_control, mismatch_protocol));
		(void)!pwrite(fd, &count, sizeof(count),
			      offsetof(struct wti_control, mismatch_count));
	}
	close(fd);
}

/* ---- The control page ----------------------------------------------------------------------- */

static bool has_key(const struct wti_meeting *meeting, const struct wti_control *control)
{
	return control->magic == WTI_CONTROL_MAGIC &&
	       memcmp(control->key, meeting->key, sizeof(control->key)) == 0;
}

/* Numbers of segments come again: that it was ours a moment ago says nothing. */
static bool segment_is_ours(int segment)
{
	const uid_t uid = geteuid();
	struct shmid_ds about;

	if (shmctl(segment, IPC_STAT, &about) != 0)
		return false;
	errno = EPERM;
	return about.shm_perm.uid == uid && about.shm_perm.cuid == uid &&
	       (about.shm_perm.mode & 077) == 0 && about.shm_segsz >= sizeof(struct wti_control);
}

/* Once it is attached its number stays its own, so that what was looked at then is what we have. */
static struct wti_control *attach(const struct wti_meeting *meeting)
{
	struct wti_control *control;

	if (meeting->segment < 0 || !segment_is_ours(meeting->segment))
		return NULL;
	control = shmat(meeting->segment, NULL, 0);
	if (control == (void *)-1)
		return NULL;
	if (segment_is_ours(meeting->segment) && has_key(meeting, control))
		return control;
	shmdt(control);
	errno = EPERM;
	return NULL;
}

/* A page for this process and those that it forks, to be handed over: what it counts must be seen.
 */
static struct wti_control *make_page(const struct wti_control *like, int *ret_fd)
{
	const int both = PROT_READ | PROT_WRITE;
	int fd = wti_memory_make("wheeltap-page", WTI_PAGE_BYTES);
	void *page = MAP_FAILED;

	if (fd >= 0)
		page = mmap(NULL, WTI_PAGE_BYTES, both, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	memcpy(page, like, sizeof(*like));
	*ret_fd = fd;
	return page;
}

static struct wti_control *copy_page(const struct wti_meeting *meeting, int *ret_fd)
{
	struct wti_control control;
	ssize_t bytes =
		wti_meeting_read(meeting, WTI_CONTROL_FILE, (char *)&control, sizeof(control));

	if (bytes < 0)
		return NULL;
	if (bytes == (ssize_t)sizeof(control) && has_key(meeting, &control))
		return make_page(&control, ret_fd);
	errno = EPERM;
	return NULL;
}

struct wti_control *wti_meeting_page(const struct wti_meeting *meeting, int *ret_fd)
{
	struct wti_control *control = attach(meeting);

	*ret_fd = -1;
	return control ? control : copy_page(meeting, ret_fd);
}

void wti_page_release(struct wti_control *control, int fd)
{
	if (fd < 0) {
		shmdt(control);
		return;
	}
	munmap(control, WTI_PAGE_BYTES);
	close(fd);
}

/* ---- The socket ----------------------------------------------------------------------------- */

bool wti_peer_is_ours(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == geteuid();
}

/* A folder whose name does not fit a socket address is reached through its descriptor. */
static bool socket_address(const struct wti_meeting *meeting, struct sockaddr_un *address,
			   int *ret_folder)
{
	const size_t room = sizeof(address->sun_path);
	const char *file = "/" WTI_SOCKET_FILE;

	*ret_folder = -1;
	address->sun_family = AF_UNIX;
	if (strlen(meeting->directory) + strlen(file) < room) {
		snprintf(address->sun_path, room, "%.100s%s", meeting->directory, file);
		return true;
	}
	*ret_folder = wti_meeting_open(meeting);
	snprintf(address->sun_path, room, "/proc/self/fd/%d%s", *ret_folder, file);
	return *ret_folder >= 0;
}

int wti_meeting_connect(const struct wti_meeting *meeting)
{
	struct sockaddr_un address;
	int folder, failed;
	int fd = -1;

	if (!socket_address(meeting, &address, &folder))
		return -1;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	failed = fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ? errno
											  : 0;
	if (!failed && !wti_peer_is_ours(fd))
		failed = EPERM;
	if (folder >= 0)
		close(folder);
	if (!failed)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = failed;
	return -1;
}

/* The folder around ours is open to all; but it must be the superuser's or our own. */
static bool outer_is_trusted(const char *outer)
{
	int fd = open(outer, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat about;
	bool trusted;

	if (fd < 0)
		return false;
	trusted = fstat(fd, &about) == 0 && (about.st_uid == 0 || about.st_uid == geteuid()) &&
		  (about.st_mode & 022) == 0;
	close(fd);
	return trusted;
}

void wti_meeting_knock(const struct wti_meeting *meeting)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct wti_knock knock = {
		.message = {.type = WTI_MSG_KNOCK,
			    .protocol = WTI_PROTOCOL,
			    .pid = (uint32_t)getpid()},
	};
	char outer[sizeof(address.sun_path)];
	size_t bytes = (size_t)(strrchr(meeting->directory, '/') - meeting->directory);
	int fd;

	if (bytes + sizeof("/" WTI_KNOCK_FILE) > sizeof(outer))
		return;
	memcpy(outer, meeting->directory, bytes);
	outer[bytes] = 0;
	if (!outer_is_trusted(outer))
		return;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s/" WTI_KNOCK_FILE, outer);
	snprintf(knock.message.command, sizeof(knock.message.command), "%.15s",
		 program_invocation_short_name);
	memcpy(knock.key, meeting->key, sizeof(knock.key));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, &knock, sizeof(knock), MSG_NOSIGNAL | MSG_DONTWAIT,
		      (struct sockaddr *)&address, sizeof(address));
	close(fd);
}
