/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of decode_calls that are made less often, or with larger structures. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "decode_calls.h"

static char buffer[4096];

static void terminals(void)
{
	struct winsize size = {24, 80, 0, 0};
	int group = 0;

	SYS(openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY);
	SYS(ioctl, 3, TCGETS, buffer);
	SYS(ioctl, 3, TCSETSW, buffer);
	SYS(ioctl, 3, TIOCSWINSZ, &size);
	SYS(ioctl, 3, TIOCGWINSZ, &size);
	SYS(ioctl, 3, TIOCGPGRP, &group);
	SYS(close, 3);
}

static void made_oddly(void)
{
	struct clone_args args = {.flags = CLONE_PIDFD | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
				  .exit_signal = SIGCHLD,
				  .parent_tid = 0x10,
				  .child_tid = 0x20,
				  .pidfd = 0x30};
	unsigned long child =
		1ul << (SIGCHLD - 1); /* it would interrupt, at times, under a tracer */
	siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	int status;
	long pid;

	SYS(rt_sigprocmask, SIG_BLOCK, &child, NULL, 8);
	SYS(clone3, &args, 63);
	SYS(clone3, NULL, 88);
	args.flags = CLONE_VM | CLONE_FS | CLONE_SETTLS | CLONE_THREAD;
	args.stack = 0x1000;
	args.stack_size = 0x2000;
	args.tls = 0x40;
	SYS(clone3, &args, 64);
	args = (struct clone_args){.exit_signal = SIGCHLD};
	pid = SYS(clone3, &args, sizeof(args));
	if (!pid) {
		kill(getpid(), SIGSTOP);
		for (;;)
			__asm__ volatile(""); /* no call: how far it comes is not known */
	}
	SYS(wait4, pid, &status, WUNTRACED, NULL);
	SYS(kill, pid, SIGCONT);
	SYS(wait4, pid, &status, WCONTINUED, NULL);
	SYS(kill, pid, SIGTERM);
	SYS(wait4, pid, &status, 0, NULL);
	SYS(rt_sigprocmask, SIG_UNBLOCK, &child, NULL, 8);
	SYS(rt_sigqueueinfo, 99999, SIGUSR1, &info);
	SYS(setgroups, 70000, buffer);
}

static void scheduled(void)
{
	struct sched_attr attr = {.size = sizeof(attr)};

	SYS(sched_getattr, 0, &attr, sizeof(attr), 0);
	SYS(sched_setattr, 99999, &attr, 0);
}

static void timed(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigevent none = {.sigev_notify = SIGEV_NONE};
	struct epoll_event events[2];
	struct timespec soon = {0, 1000};
	struct sembuf operation = {0, 1, 0};
	stack_t stack = {.ss_sp = buffer, .ss_size = 4096, .ss_flags = 0};
	int id;

	SYS(timer_create, CLOCK_REALTIME, &event, &id);
	SYS(timer_delete, id);
	SYS(timer_create, CLOCK_REALTIME, &none, &id);
	SYS(timer_delete, id);
	SYS(sigaltstack, &stack, NULL);
	SYS(sigaltstack, NULL, &stack);
	stack.ss_flags = SS_DISABLE;
	SYS(sigaltstack, &stack, NULL);
	SYS(epoll_create1, 0);
	SYS(epoll_pwait2, 3, events, 2, &soon, NULL, 8);
	SYS(close, 3);
	SYS(semtimedop, 99999, &operation, 1, &soon);
}

static void many(void)
{
	struct iovec vectors[40];
	struct pollfd fds[40];
	struct iovec there = {buffer, 5}, here = {buffer + 100, 5};

	for (int i = 0; i < 40; i++) {
		vectors[i] = (struct iovec){"word", 4};
		fds[i] = (struct pollfd){.fd = -1};
	}
	SYS(openat, AT_FDCWD, "/dev/null", O_WRONLY);
	SYS(writev, 3, vectors, 40);
	SYS(close, 3);
	fds[0].fd = 1;
	SYS(poll, fds, 40, 0);
	memcpy(buffer, "there", 5);
	SYS(process_vm_readv, getpid(), &here, 1, &there, 1, 0);
	SYS(process_vm_writev, getpid(), &here, 1, &there, 1, 0);
}

static void datagrams(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in from;
	struct iovec vector = {buffer, 100};
	struct msghdr message = {.msg_name = &from,
				 .msg_namelen = sizeof(from),
				 .msg_iov = &vector,
				 .msg_iovlen = 1};
	struct linger linger;
	struct ucred peer;
	socklen_t bytes = sizeof(address), linger_bytes = sizeof(linger), peer_bytes = sizeof(peer);
	int pair[2];

	SYS(socket, AF_INET, SOCK_DGRAM, IPPROTO_UDP);
	SYS(bind, 3, &address, sizeof(address));
	SYS(getsockname, 3, &address, &bytes);
	SYS(sendto, 3, "datagram", 8, 0, &address, sizeof(address));
	bytes = sizeof(from);
	SYS(recvfrom, 3, buffer, 100, 0, &from, &bytes);
	SYS(sendto, 3, "datagram", 8, MSG_CONFIRM, &address, sizeof(address));
	SYS(recvmsg, 3, &message, MSG_TRUNC);
	SYS(getsockopt, 3, SOL_SOCKET, SO_LINGER, &linger, &linger_bytes);
	SYS(close, 3);
	SYS(socketpair, AF_UNIX, SOCK_SEQPACKET, 0, pair);
	SYS(getsockopt, 3, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes);
	SYS(close, 3);
	SYS(close, 4);
}

static void queues(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};

	SYS(mq_open, "wheeltap-decode", O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	SYS(mq_unlink, "wheeltap-decode");
	SYS(close, 3);
	SYS(io_setup, 1u << 30, buffer);
	SYS(fcntl, 0, F_GETOWN);
	SYS(fcntl, 0, F_SETSIG, SIGIO);
	SYS(fcntl, 0, F_GETSIG);
	SYS(fcntl, 0, F_SETSIG, 0);
}

void wtt_rest(void)
{
	terminals();
	made_oddly();
	scheduled();
	timed();
	many();
	datagrams();
	queues();
}
