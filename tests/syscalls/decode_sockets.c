/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of decode_calls on time, sockets, pipes, and waiting for them. */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <fcntl.h>
#include <time.h>

#include "decode_calls.h"

static char buffer[4096];

void wtt_time(void)
{
	struct timespec spec = {0, 1000}, left;
	struct timeval value;
	struct itimerval timer = {{0, 0}, {100, 5}};
	struct itimerspec spans = {{0, 0}, {100, 5}}, old;
	int id = -1;
	long now;

	SYS(time, &now);
	SYS(gettimeofday, &value, NULL);
	SYS(clock_gettime, CLOCK_MONOTONIC, &spec);
	SYS(clock_gettime, 99, &spec);
	SYS(clock_getres, CLOCK_REALTIME, &spec);
	spec = (struct timespec){0, 1000};
	SYS(nanosleep, &spec, NULL);
	SYS(nanosleep, &spec, &left);
	SYS(clock_nanosleep, CLOCK_MONOTONIC, 0, &spec, NULL);
	SYS(clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &spec, NULL);
	SYS(setitimer, ITIMER_REAL, &timer, NULL);
	memset(&timer, 0, sizeof(timer));
	SYS(setitimer, ITIMER_REAL, &timer, NULL);
	SYS(getitimer, ITIMER_PROF, &timer);
	SYS(alarm, 0);
	SYS(timer_create, CLOCK_MONOTONIC, NULL, &id);
	SYS(timer_settime, id, 0, &spans, NULL);
	SYS(timer_delete, id);
	SYS(timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	SYS(timerfd_settime, 3, 0, &spans, &old);
	SYS(timerfd_gettime, 99, &old);
	SYS(close, 3);
}

/* ---- Sockets --------------------------------------------------------------------------------- */

static void options(int fd)
{
	struct linger linger = {1, 5};
	struct timeval timeout = {5, 0};
	int one = 1, value;
	socklen_t bytes = sizeof(value);

	SYS(setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	SYS(setsockopt, fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	SYS(setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	SYS(setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	SYS(setsockopt, fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	SYS(setsockopt, fd, 77, 5, &one, sizeof(one));
	SYS(getsockopt, fd, SOL_SOCKET, SO_ERROR, &value, &bytes);
	SYS(getsockopt, fd, SOL_SOCKET, SO_TYPE, &value, &bytes);
	SYS(getsockopt, fd, SOL_SOCKET, 4711, &value, &bytes);
}

static void over_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = htons(1), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_storage peer;
	socklen_t bytes = sizeof(address);

	SYS(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	options(3);
	SYS(bind, 3, &address, sizeof(address));
	SYS(listen, 3, 5);
	SYS(getsockname, 3, &address, &bytes);
	SYS(socket, AF_INET, SOCK_STREAM, IPPROTO_IP);
	SYS(connect, 4, &address, sizeof(address));
	bytes = sizeof(peer);
	SYS(accept4, 3, &peer, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
	SYS(getpeername, 5, &peer, &bytes);
	SYS(sendto, 4, "hello", 5, MSG_NOSIGNAL, NULL, 0);
	SYS(recvfrom, 5, buffer, 100, 0, NULL, NULL);
	SYS(recvfrom, 5, buffer, 100, MSG_DONTWAIT | MSG_PEEK, NULL, NULL);
	SYS(shutdown, 4, SHUT_WR);
	SYS(shutdown, 4, 9);
	SYS(close, 5);
	SYS(close, 4);
	SYS(accept, 99, NULL, NULL);
	SYS(close, 3);
	SYS(socket, AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
	SYS(connect, 3, &six, sizeof(six));
	SYS(close, 3);
	SYS(socket, 4711, 3, 0);
}

static void over_unix(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/no/such/socket"};
	struct sockaddr_un hidden = {.sun_family = AF_UNIX, .sun_path = "\0hidden"};
	struct sockaddr_nl netlink = {.nl_family = AF_NETLINK};
	struct iovec vector = {"message", 7}, into = {buffer, 100};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.align = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr plain = {.msg_iov = &vector, .msg_iovlen = 1};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct msghdr received = {.msg_iov = &into, .msg_iovlen = 1};
	struct sockaddr_un from;
	socklen_t bytes = sizeof(from);
	int pair[2], one = 1;

	memcpy(control.bytes + sizeof(struct cmsghdr), &one, sizeof(one));
	SYS(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	SYS(connect, 3, &address, offsetof(struct sockaddr_un, sun_path) + 16);
	SYS(bind, 3, &hidden, offsetof(struct sockaddr_un, sun_path) + 7);
	SYS(close, 3);
	SYS(socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
	SYS(getsockname, 3, &from, &bytes);
	SYS(sendmsg, 3, &plain, 0);
	SYS(recvmsg, 4, &received, 0);
	SYS(sendmsg, 3, &message, MSG_NOSIGNAL);
	received.msg_control = &control;
	received.msg_controllen = sizeof(control);
	SYS(recvmsg, 4, &received, MSG_CMSG_CLOEXEC);
	SYS(close, 5);
	SYS(recvmsg, 4, &received, MSG_DONTWAIT);
	SYS(close, 4);
	SYS(close, 3);
	SYS(socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	SYS(bind, 3, &netlink, sizeof(netlink));
	SYS(close, 3);
}

void wtt_sockets(void)
{
	over_tcp();
	over_unix();
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void poll_and_select(void)
{
	struct pollfd fds[] = {
		{.fd = 3, .events = POLLIN | POLLPRI}, {.fd = 4, .events = POLLOUT}, {.fd = -1}};
	struct timespec soon = {0, 1000};
	struct timeval no_time = {0, 0};
	fd_set in, out;

	SYS(poll, fds, 1, 0);
	SYS(poll, fds, 3, -1);
	SYS(poll, NULL, 0, 1);
	SYS(ppoll, fds, 1, &soon, NULL, 8);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(3, &in);
	FD_SET(4, &out);
	SYS(select, 5, &in, &out, NULL, &no_time);
	FD_SET(3, &in);
	SYS(select, 4, &in, NULL, NULL, &no_time);
	FD_SET(4, &out);
	SYS(pselect6, 5, NULL, &out, NULL, &soon, NULL);
	SYS(select, 0, NULL, NULL, NULL, &no_time);
}

static void with_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLRDHUP,
				    .data.u64 = 0x500000003},
			   events[4];

	SYS(epoll_create1, EPOLL_CLOEXEC);
	SYS(epoll_ctl, 5, EPOLL_CTL_ADD, 3, &event);
	SYS(epoll_ctl, 5, EPOLL_CTL_MOD, 3, &event);
	SYS(epoll_wait, 5, events, 4, 0);
	SYS(write, 4, "x", 1);
	SYS(epoll_wait, 5, events, 4, -1);
	SYS(epoll_pwait, 5, events, 4, 0, NULL, 8);
	SYS(epoll_ctl, 5, EPOLL_CTL_DEL, 3, NULL);
	SYS(epoll_ctl, 5, 99, 3, &event);
	SYS(close, 5);
}

static void shared_memory(void)
{
	struct sembuf operations[] = {{0, 1, SEM_UNDO}, {0, -1, IPC_NOWAIT}};
	long id = SYS(shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600), at;

	at = SYS(shmat, id, NULL, SHM_RDONLY);
	SYS(shmdt, at);
	SYS(shmctl, id, IPC_RMID, NULL);
	id = SYS(semget, IPC_PRIVATE, 1, IPC_CREAT | IPC_EXCL | 0600);
	SYS(semop, id, operations, 2);
	SYS(semctl, id, 0, IPC_RMID, 0);
	SYS(msgget, 0x1234, 0600);
}

void wtt_waiting(void)
{
	int pipes[2], bytes = 0;
	struct winsize size;

	SYS(pipe2, pipes, O_CLOEXEC | O_NONBLOCK);
	SYS(write, 4, "in the pipe", 11);
	SYS(ioctl, 3, FIONREAD, &bytes);
	SYS(ioctl, 3, TIOCGWINSZ, &size);
	SYS(ioctl, 3, TCGETS, buffer);
	SYS(ioctl, 3, FIONBIO, &bytes);
	SYS(ioctl, 3, FIOCLEX);
	SYS(ioctl, 3, 0xc0204642, buffer);
	SYS(tee, 3, 4, 10, SPLICE_F_NONBLOCK);
	SYS(splice, 3, NULL, 4, NULL, 10, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	SYS(read, 3, buffer, 100);
	poll_and_select();
	with_epoll();
	SYS(close, 3);
	SYS(close, 4);
	SYS(pipe, pipes);
	SYS(close, 3);
	SYS(close, 4);
	shared_memory();
}
