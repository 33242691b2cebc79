/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the messages of protocol.h. A process is believed to be the one at the other end of the
 * socket, whatever number it says it has. A second hello of the same process comes from a program
 * that it has become by exec, or from another agent in the same program, as the image tells.
 * Children have their parent's end as well, and may send us one of their own through it: that a
 * connection lasts does not say that its process does.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "join.h"
#include "procfs.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

#define LINKS_MAX 16384u
#define DEFINITION_BYTES_MIN 16u

static void read_boot_id(uint8_t out[16])
{
	char text[64] = "";
	size_t digits = 0;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(out, 0, 16);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	for (const char *at = text; *at && digits < 32; at++) {
		unsigned digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned)(*at - 'a') + 10;
		else
			continue;
		out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | digit);
		digits++;
	}
}

void wti_join_init(struct wti_join *join, struct wti_session *session, int epoll,
		   const struct wti_join_events *events)
{
	*join = (struct wti_join){.session = session, .epoll = epoll, .events = events};
	/* The page can be written by everybody: what matters is copied while nobody else has it. */
	join->definitions_bytes_max = session->control->definitions_bytes_max;
	read_boot_id(join->boot);
}

/* It stays among the links until all of them are gone through again, as their order matters. */
static void close_link(struct wti_link *link)
{
	if (link->process)
		link->process->link = NULL;
	link->process = NULL;
	if (link->fd >= 0)
		close(link->fd); /* which takes it out of the epoll set as well */
	link->fd = -1;
}

void wti_join_release(struct wti_join *join)
{
	for (size_t i = 0; i < join->link_count; i++) {
		close_link(join->links[i]);
		free(join->links[i]);
	}
	free(join->links);
	for (size_t i = 0; i < join->process_count; i++) {
		wti_process_release(join->processes[i]);
		free(join->processes[i]);
	}
	free(join->processes);
	*join = (struct wti_join){0};
}

/* Takes the descriptor. */
static void add_link(struct wti_join *join, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP};
	struct wti_link *link = calloc(1, sizeof(*link));

	if (!link ||
	    wti_grow(&join->links, join->link_count + 1, &join->link_capacity, LINKS_MAX)) {
		free(link);
		close(fd);
		join->refused++;
		return;
	}
	link->fd = fd;
	epoll_ctl(join->epoll, EPOLL_CTL_ADD, fd, &event);
	join->links[join->link_count++] = link;
}

void wti_join_accept(struct wti_join *join)
{
	while (join->session->listener >= 0) {
		int fd = accept4(join->session->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		add_link(join, fd);
	}
}

/* A child's own socket, sent through its parent's. */
static void adopt_link(struct wti_join *join, int fd)
{
	int domain = 0, type = 0;
	socklen_t bytes = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) || domain != AF_UNIX ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) || type != SOCK_SEQPACKET)
		return;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		add_link(join, fd);
	else
		join->refused++;
}

/* The number of the process at the other end, as we would have to call it; 0: it has none here. */
static uint32_t peer_pid(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) || who.pid <= 0)
		return 0;
	return (uint32_t)who.pid;
}

static bool is_hung_up(int fd)
{
	struct pollfd look = {.fd = fd};

	return poll(&look, 1, 0) > 0 && (look.revents & POLLHUP);
}

/*
 * A descriptor of the process at the other end: of that one surely, where the kernel can say so;
 * otherwise of the one that has the number now. -1 and errno.
 */
static int peer_pidfd(int fd, uint32_t pid, bool *ret_is_sure)
{
	int pidfd = -1;
	socklen_t bytes = sizeof(pidfd);

	*ret_is_sure = true;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &bytes))
		return pidfd;
	*ret_is_sure = false;
	if (!pid) {
		errno = ENOSYS;
		return -1;
	}
	return wti_pidfd_open(pid);
}

/*
 * When the process started by our own /proc, if we have one: what it read in its own depends on its
 * time namespace, and it may have none. Where the numbers differ and its connection is closed,
 * somebody else has its pid by now.
 */
static bool is_another(const struct wti_link *link, const struct wti_message *message,
		       const struct wti_proc *proc, bool is_sure)
{
	return !is_sure && message->start_time && proc->start_time != message->start_time &&
	       is_hung_up(link->fd);
}

/* Who it is. Watches for its end; one that ended already stays at -1. */
static void identify(struct wti_join *join, struct wti_process *process,
		     const struct wti_message *message)
{
	struct wt_identity *who = &process->source.identity;
	struct epoll_event event = {.events = EPOLLIN};
	uint32_t pid = peer_pid(process->link->fd);
	struct wti_proc proc;
	bool is_sure;

	who->pid = pid ? pid : message->pid;
	process->pid_is_known = pid != 0;
	who->start_time = message->start_time;
	process->pidfd = peer_pidfd(process->link->fd, pid, &is_sure);
	if (process->pidfd < 0) {
		process->exited = errno == ESRCH || errno == EINVAL;
		return;
	}
	if (pid && wti_proc_read(pid, &proc)) {
		if (is_another(process->link, message, &proc, is_sure)) {
			close(process->pidfd);
			process->pidfd = -1;
			process->exited = true;
			return;
		}
		who->start_time = proc.start_time;
	}
	epoll_ctl(join->epoll, EPOLL_CTL_ADD, process->pidfd, &event);
}

/*
 * How often this process has joined before. What it was then is over, unless it is the same
 * program, in which several agents are at work.
 */
static uint32_t count_execs(const struct wti_join *join, struct wti_process *process)
{
	const uint32_t pid = process->source.identity.pid;
	const uint64_t start_time = process->source.identity.start_time;
	uint32_t count = 0;

	for (size_t i = 0; i < join->process_count; i++) {
		const struct wt_identity *other = &join->processes[i]->source.identity;

		if (other->pid != pid || other->start_time != start_time)
			continue;
		if (process->image && join->processes[i]->image == process->image)
			process->beside = true;
		else
			join->processes[i]->replaced = true;
		count++;
	}
	return count;
}

static struct wti_process *new_process(struct wti_join *join, struct wti_link *link,
				       const struct wti_message *message)
{
	struct wti_process *process;
	struct wt_identity *who;

	if (wti_grow(&join->processes, join->process_count + 1, &join->process_capacity,
		     WTI_SOURCES_MAX))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	who = &process->source.identity;
	memcpy(who->boot, join->boot, sizeof(who->boot));
	memcpy(who->command, message->command, sizeof(who->command));
	who->command[sizeof(who->command) - 1] = 0;
	process->link = link;
	process->own_page = message->flags & WTI_MESSAGE_OWN_PAGE;
	identify(join, process, message);
	process->image = message->image;
	who->exec = count_execs(join, process);
	process->source.ppid = message->ppid;
	process->source.number = (uint32_t)join->process_count + 1;
	process->definition_id_max = join->definitions_bytes_max / DEFINITION_BYTES_MIN;
	join->processes[join->process_count++] = process;
	return process;
}

static void hello(struct wti_join *join, struct wti_link *link, const struct wti_message *message,
		  int fd)
{
	if (link->process)
		return;
	link->process = new_process(join, link, message);
	if (!link->process) {
		join->refused++;
		return;
	}
	join->events->joined(join->events->self, link->process);
	if (wti_process_add_chunk(link->process, 0, fd))
		join->events->refused(join->events->self, link->process, "definitions");
}

static void understand(struct wti_join *join, struct wti_link *link,
		       const struct wti_message *message, int fd)
{
	struct wti_process *process = link->process;
	const char *what = NULL;

	if (message->protocol != WTI_PROTOCOL)
		return;
	if (message->type == WTI_MSG_HELLO && fd >= 0)
		hello(join, link, message, fd);
	if (message->type == WTI_MSG_LINK && fd >= 0)
		adopt_link(join, fd);
	if (!process || fd < 0)
		return;
	if (message->type == WTI_MSG_CHUNK && wti_process_add_chunk(process, message->track, fd))
		what = "definitions";
	if (message->type == WTI_MSG_RING && wti_process_add_ring(process, message, fd))
		what = "ring";
	if (message->type == WTI_MSG_BLOB && join->events->blob)
		join->events->blob(join->events->self, process, fd);
	if (message->type == WTI_MSG_PAGE && process->own_page)
		wti_session_add_page(join->session, fd);
	if (what)
		join->events->refused(join->events->self, process, what);
}

/* The descriptor of a message, others that came with it closed; -1 if there is none. */
static int take_descriptor(struct msghdr *header)
{
	int taken = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

/* False when the other end is closed. */
static bool receive(struct wti_join *join, struct wti_link *link)
{
	for (;;) {
		struct wti_message message;
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
		struct iovec part = {&message, sizeof(message)};
		struct msghdr header = {.msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = control,
					.msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(link->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		int fd;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		if (n == 0)
			return false;
		fd = take_descriptor(&header);
		if ((size_t)n == sizeof(message))
			understand(join, link, &message, fd);
		if (fd >= 0)
			close(fd);
	}
}

void wti_join_receive(struct wti_join *join, struct wti_process *process)
{
	if (process->link && !receive(join, process->link))
		close_link(process->link);
}

/*
 * In the order in which they have come: what a process was before an exec says hello before what it
 * is now. Links that come meanwhile, through others, have their turn as well.
 */
void wti_join_receive_all(struct wti_join *join)
{
	size_t kept = 0;

	for (size_t i = 0; i < join->link_count; i++) {
		struct wti_link *link = join->links[i];

		if (link->fd < 0 || !receive(join, link)) {
			close_link(link);
			free(link);
			continue;
		}
		join->links[kept++] = link;
	}
	join->link_count = kept;
}

/* Its children may still send us something through its connection, which is closed when all have
 * let go of it. */
void wti_join_forget(struct wti_process *process)
{
	if (process->link)
		process->link->process = NULL;
	process->link = NULL;
	wti_process_release(process);
}
