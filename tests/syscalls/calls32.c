/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes calls of i386 whose arguments point to structures, for test_foreign.py: from a 64-bit
 * program, by int 0x80, as there may be no compiler for 32-bit ones. Everything that the calls
 * point to is below 4 GB, at the same address in every run. getppid() comes before and after them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOW 0x10000000u
#define LOW_BYTES 65536u

static uint8_t *low = (uint8_t *)(uintptr_t)LOW;
static uint32_t used;

/* 0: the kernel has no such calls. */
static long call(long nr, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"((long)a), "c"((long)b), "d"((long)c), "S"((long)d),
			   "D"((long)e)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

/* Where the bytes are now. */
static uint32_t put(const void *data, uint32_t bytes)
{
	uint32_t at = LOW + used;

	memcpy(low + used, data, bytes);
	used += (bytes + 15) / 16 * 16;
	return at;
}

static uint32_t text(const char *word)
{
	return put(word, (uint32_t)strlen(word) + 1);
}

static uint32_t room(uint32_t bytes)
{
	uint32_t at = LOW + used;

	used += (bytes + 15) / 16 * 16;
	return at;
}

#define WORDS(...) put((uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}))

static void call_files(const char *second)
{
	enum {
		EXECVE = 11,
		SENDFILE = 187,
		READV = 145,
		WRITEV = 146,
		STAT64 = 195,
		FSTAT64 = 197,
		FCNTL64 = 221,
		UTIMES = 271,
		FSTATAT64 = 300,
		UTIMENSAT = 320,
		STATFS = 99,
		LSTAT64 = 196
	};
	int fd = memfd_create("file", 0);
	uint8_t lock[24] = {F_WRLCK, 0};
	uint32_t small[4] = {F_RDLCK, 1, 5, 0};
	uint32_t path = text("/nonexistent/file"), word = text("word"), other = text(second);

	lock[4] = 7;  /* l_start, at 4 bytes: i386 aligns it so */
	lock[12] = 9; /* l_len */
	call(EXECVE, path, WORDS(word, other, 0), WORDS(word, 0), 0, 0);
	call(WRITEV, (uint32_t)fd, WORDS(word, 4, other, 5), 2, 0, 0);
	lseek(fd, 0, SEEK_SET);
	call(READV, (uint32_t)fd, WORDS(room(4), 4, room(8), 8), 2, 0, 0);
	call(STAT64, text("/dev/null"), room(96), 0, 0, 0);
	call(LSTAT64, path, room(96), 0, 0, 0);
	call(FSTAT64, (uint32_t)fd, room(96), 0, 0, 0);
	call(FSTATAT64, (uint32_t)AT_FDCWD, text("/"), room(96), 0, 0);
	call(FCNTL64, (uint32_t)fd, 13, put(lock, sizeof(lock)), 0, 0);
	call(FCNTL64, (uint32_t)fd, F_SETLK, put(small, sizeof(small)), 0, 0);
	call(FCNTL64, (uint32_t)fd, F_GETFL, 0, 0, 0);
	call(UTIMES, path, WORDS(1, 2, 3, 4), 0, 0, 0);
	call(UTIMENSAT, (uint32_t)AT_FDCWD, path, WORDS(1, 2, 3, 0x3ffffffe), 0, 0);
	call(SENDFILE, (uint32_t)fd, (uint32_t)fd, WORDS(1), 0, 0);
	call(STATFS, path, room(64), 0, 0, 0);
	call(STATFS, text("/proc"), room(64), 0, 0, 0);
	close(fd);
}

static void call_times(void)
{
	enum {
		NANOSLEEP = 162,
		CLOCK_GETRES = 266,
		CLOCK_GETRES64 = 406,
		SETITIMER = 104,
		GETITIMER = 105,
		FUTEX = 240,
		TIMERFD_CREATE = 322,
		TIMERFD_SETTIME = 325,
		FUTEX64 = 422,
		PPOLL = 309,
		PSELECT6 = 308,
		POLL = 168,
		NEWSELECT = 142
	};
	int fds[2] = {-1, -1};
	struct pollfd one = {.events = POLLIN};
	uint64_t set = 0;
	long timer;

	call(NANOSLEEP, WORDS(0, 1000), room(8), 0, 0, 0);
	call(NANOSLEEP, WORDS((uint32_t)-1, 1000), 0, 0, 0, 0);
	call(CLOCK_GETRES, 1, room(8), 0, 0, 0);
	call(CLOCK_GETRES64, 1, room(16), 0, 0, 0);
	call(SETITIMER, 1, WORDS(0, 0, 1000, 5), room(16), 0, 0);
	call(SETITIMER, 1, WORDS(0, 0, 0, 0), 0, 0, 0);
	call(FUTEX, WORDS(1), 0, 1, WORDS(0, 1000), 0);
	call(FUTEX64, WORDS(1), 0, 1, WORDS(0, 0, 1000, 0), 0);
	timer = call(TIMERFD_CREATE, 1, 0, 0, 0, 0);
	call(TIMERFD_SETTIME, (uint32_t)timer, 0, WORDS(0, 0, 100, 7), 0, 0);
	close((int)timer);
	if (pipe(fds))
		exit(1);
	one.fd = fds[0];
	set = UINT64_C(1) << fds[0];
	call(POLL, put(&one, sizeof(one)), 1, 0, 0, 0);
	call(PPOLL, put(&one, sizeof(one)), 1, WORDS(0, 1000), 0, 0);
	call(NEWSELECT, (uint32_t)fds[0] + 1, put(&set, sizeof(set)), 0, 0, WORDS(0, 1000));
	close(fds[0]);
	close(fds[1]);
}

static void call_process(void)
{
	enum {
		SIGACTION = 174,
		SIGALTSTACK = 186,
		GETRUSAGE = 77,
		SETRLIMIT = 75,
		UGETRLIMIT = 191,
		PRLIMIT64 = 340,
		SIGPROCMASK = 175
	};
	uint32_t action = WORDS(0x1234, 0x10000000, 0x5678, 0x200, 0); /* SA_RESTART, SIGUSR1 */

	call(SIGACTION, SIGUSR2, action, room(20), 8, 0);
	call(SIGACTION, SIGUSR2, WORDS(0, 0, 0, 0, 0), room(20), 8, 0);
	call(SIGPROCMASK, 0, WORDS(0x200, 0), room(8), 8, 0);
	call(SIGALTSTACK, WORDS(room(8192), 0, 8192), 0, 0, 0, 0);
	call(SIGALTSTACK, WORDS(0, 2, 0), room(12), 0, 0, 0); /* SS_DISABLE */
	call(GETRUSAGE, (uint32_t)-1, room(72), 0, 0, 0);     /* of children: there are none */
	call(UGETRLIMIT, 4, room(8), 0, 0, 0);                /* RLIMIT_CORE */
	call(SETRLIMIT, 4, WORDS(0, 0), 0, 0, 0);
	call(PRLIMIT64, 0, 4, 0, room(16), 0);
}

static void call_sockets(void)
{
	enum { SENDMSG = 370, RECVMSG = 372, SOCKETPAIR = 360, EPOLL_CTL = 255 };
	uint32_t pair = room(8), word = text("hello"), into = room(16), passed = room(16);
	uint32_t control = WORDS(16, SOL_SOCKET, SCM_RIGHTS, 0);
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = 5};
	int fds[2], poll = epoll_create1(0);

	call(SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, pair, 0);
	memcpy(fds, low + (pair - LOW), sizeof(fds));
	call(SENDMSG, (uint32_t)fds[0], WORDS(0, 0, WORDS(word, 5), 1, control, 16, 0), 0, 0, 0);
	call(RECVMSG, (uint32_t)fds[1], WORDS(0, 0, WORDS(into, 16), 1, passed, 16, 0), 0, 0, 0);
	call(EPOLL_CTL, (uint32_t)poll, EPOLL_CTL_ADD, (uint32_t)fds[0], put(&event, sizeof(event)),
	     0);
	close(poll);
	close(fds[0]);
	close(fds[1]);
}

int main(int argc, char **argv)
{
	if (mmap(low, LOW_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != low)
		return 1;
	if (call(20, 0, 0, 0, 0, 0) != getpid()) /* getpid */
		return 77;
	syscall(SYS_getppid);
	call_files(argc > 1 ? argv[1] : "other");
	call_times();
	call_process();
	call_sockets();
	syscall(SYS_getppid);
	return 0;
}
