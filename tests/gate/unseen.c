/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does things in ways that are easily overlooked, for test_unseen.py: late, through other doors of
 * the kernel, under other names.
 *
 *	unseen ACT [ARGUMENT...]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void put(int fd)
{
	must(write(fd, "x", 1) == 1, "write");
}

/* MILLISECONDS FILE: a process that the program does not wait for, and that syncs what it writes.
 */
static void leave_daemon(char **words)
{
	long ms = strtol(words[0], NULL, 10);
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
	pid_t child = fork();
	int fd;

	must(child >= 0, "fork");
	if (child)
		return;
	setsid();
	for (fd = 0; fd < 3; fd++)
		close(fd);
	nanosleep(&pause, NULL);
	fd = open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd))
		_exit(1);
	_exit(0);
}

static void make_uring(char **words)
{
	struct io_uring_params params;

	(void)words;
	memset(&params, 0, sizeof(params));
	if (syscall(SYS_io_uring_setup, 4, &params) < 0)
		exit(77);
}

#ifdef __x86_64__
/* A 32-bit system call from a 64-bit program: its pointers have to be below 4 GB. */
static long call32(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

/* FILE: made and written to by 32-bit calls. */
static void write32(char **words)
{
	enum { WRITE32 = 4, OPEN32 = 5, CLOSE32 = 6 };
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd;

	must(low != MAP_FAILED, "mmap");
	snprintf(low, 4096, "%s", words[0]);
	fd = call32(OPEN32, (long)low, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd == -ENOSYS)
		exit(77);
	must(fd >= 0 && call32(WRITE32, fd, (long)low, 1) == 1, words[0]);
	call32(CLOSE32, fd, 0, 0);
}
/* A message to somebody by a 32-bit call, whose structures are those of i386. */
static void send32(char **words)
{
	enum { SOCKET32 = 359, SENDMSG32 = 370 };
	struct message {
		uint32_t name, name_bytes, parts, part_count, control, control_bytes, flags;
		uint32_t part[2];
		struct sockaddr_in to;
	} *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		      -1, 0);
	uint32_t at = (uint32_t)(uintptr_t)low;
	long fd = call32(SOCKET32, AF_INET, SOCK_DGRAM, 0);

	(void)words;
	if (fd == -ENOSYS)
		exit(77);
	must(low != MAP_FAILED && fd >= 0, "socket");
	*low = (struct message){.name = at + (uint32_t)offsetof(struct message, to),
				.name_bytes = sizeof(low->to),
				.parts = at + (uint32_t)offsetof(struct message, part),
				.part_count = 1,
				.part = {at, 1},
				.to = {.sin_family = AF_INET, .sin_port = htons(9)}};
	low->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(call32(SENDMSG32, fd, (long)at, 0) == 1, "sendmsg");
}
#else
static void write32(char **words)
{
	(void)words;
	exit(77);
}

static void send32(char **words)
{
	write32(words);
}
#endif

/* FILE... */
static void write_files(char **words)
{
	for (; *words; words++) {
		int fd = open(*words, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		must(fd >= 0, *words);
		put(fd);
		close(fd);
	}
}

/* FOLDER FILE: from within the folder. */
static void write_in(char **words)
{
	must(!chdir(words[0]), words[0]);
	write_files(words + 1);
}

/* TARGET LINK FILE: through a link that the program makes and takes away. */
static void write_by_own_link(char **words)
{
	must(!symlink(words[0], words[1]), words[1]);
	write_files(words + 2);
	must(!unlink(words[1]), words[1]);
}

static void make_folder(char **words)
{
	must(!mkdir(words[0], 0755), words[0]);
}

static void remove_file(char **words)
{
	must(!unlink(words[0]), words[0]);
}

static void write_inherited(char **words)
{
	put(atoi(words[0]));
}

/* SOCKET: writes to what is passed over it. */
static void write_passed(char **words)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd;

	must(recvmsg(atoi(words[0]), &message, 0) == 1, "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	put(fd);
	usleep(200000); /* it is still open when somebody looks at it */
}

static struct sockaddr_in somewhere(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* HOW: sendto, sendmsg, sendmmsg or fastopen */
static void send_unconnected(char **words)
{
	struct sockaddr_in to = somewhere(9);
	struct iovec part = {"x", 1};
	struct mmsghdr many = {.msg_hdr = {.msg_name = &to,
					   .msg_namelen = sizeof(to),
					   .msg_iov = &part,
					   .msg_iovlen = 1}};
	bool is_fast = !strcmp(words[0], "fastopen");
	int fd = socket(AF_INET, is_fast ? SOCK_STREAM : SOCK_DGRAM, 0);

	must(fd >= 0, "socket");
	if (!strcmp(words[0], "sendmsg"))
		must(sendmsg(fd, &many.msg_hdr, 0) == 1, "sendmsg");
	else if (!strcmp(words[0], "sendmmsg"))
		must(sendmmsg(fd, &many, 1, 0) == 1, "sendmmsg");
	else if (is_fast) /* nobody listens: that it was tried is what counts */
		sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof(to));
	else
		must(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) == 1, "sendto");
}

/* ---- Calls that are not let through, or not finished ----------------------------------------- */

static void try_connect(void)
{
	struct sockaddr_in to = somewhere(9);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0, "socket");
	connect(fd, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

/* A filter that answers connect() so, and the descriptor through which it asks, if it asks. */
static int answer_connect(uint32_t action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	bool asks = action == SECCOMP_RET_USER_NOTIF;
	long fd;

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl");
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     asks ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program);
	if (fd < 0)
		exit(77);
	return (int)fd;
}

static void *connect_beside(void *opaque)
{
	(void)opaque;
	try_connect();
	return NULL;
}

/* Says EPERM to who asks, instead of the kernel. */
static void *answer(void *opaque)
{
	int fd = *(int *)opaque;
	struct seccomp_notif asked;
	struct seccomp_notif_resp said = {.error = -EPERM};

	memset(&asked, 0, sizeof(asked));
	must(!ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &asked), "SECCOMP_IOCTL_NOTIF_RECV");
	said.id = asked.id;
	must(!ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &said), "SECCOMP_IOCTL_NOTIF_SEND");
	return NULL;
}

static void ignore(int number)
{
	(void)number;
}

static void connect_filtered(const char *how)
{
	pthread_t thread;
	int fd;

	if (!strcmp(how, "errno")) {
		answer_connect(SECCOMP_RET_ERRNO | EPERM);
	} else if (!strcmp(how, "trap")) {
		signal(SIGSYS, ignore);
		answer_connect(SECCOMP_RET_TRAP);
	} else if (!strcmp(how, "kill")) {
		answer_connect(SECCOMP_RET_KILL_PROCESS);
	} else if (!strcmp(how, "kill-thread")) {
		answer_connect(SECCOMP_RET_KILL_THREAD);
		must(!pthread_create(&thread, NULL, connect_beside, NULL), "pthread_create");
		pthread_join(thread, NULL);
		return;
	} else {
		fd = answer_connect(SECCOMP_RET_USER_NOTIF);
		must(!pthread_create(&thread, NULL, answer, &fd), "pthread_create");
		try_connect();
		pthread_join(thread, NULL);
		return;
	}
	try_connect();
}

/* HOW: connects behind a filter of its own, in a child as that may be killed. */
static void connect_behind_filter(char **words)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		connect_filtered(words[0]);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* PORT: connects and does not wait until that has come to anything. */
static void connect_later(char **words)
{
	struct sockaddr_in to = somewhere(atoi(words[0]));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	must(connect(fd, (struct sockaddr *)&to, sizeof(to)) && errno == EINPROGRESS, "connect");
}

/* Whether it sleeps in connect(); without a /proc that says so, after a while. */
static bool is_connecting(pid_t pid)
{
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		sleep(1);
	if (file)
		fclose(file);
	return !*text || strtol(text, NULL, 10) == SYS_connect;
}

/* PORT SIGNAL: kills a child that waits in connect(), as nobody there accepts. */
static void kill_connecting(char **words)
{
	struct sockaddr_in to = somewhere(atoi(words[0]));
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof(to));
		_exit(1);
	}
	for (int calm = 0; calm < 5; usleep(20000))
		calm = is_connecting(child) ? calm + 1 : 0;
	kill(child, atoi(words[1]));
	waitpid(child, NULL, 0);
}

/* FILE [ptraced]: written by a child that asks not to be traced, or to be and not to be. */
static void write_untraced(char **words)
{
	long flags = CLONE_UNTRACED | (words[1] ? CLONE_PTRACE : 0);
	long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	must(child >= 0, "clone");
	if (!child) {
		int fd = open(words[0], O_WRONLY | O_CREAT | O_TRUNC, 0644);

		_exit(fd < 0 || write(fd, "x", 1) != 1);
	}
	waitpid((pid_t)child, NULL, 0);
}

/* Calls that no kernel has. */
static void call_unknown(char **words)
{
	for (; *words; words++)
		syscall(strtol(*words, NULL, 0), 1, 2, 3, 4, 5, 6);
}

/* PROGRAM ARGUMENT...: by fork and exec, as a shell does. */
static void execute(char **words)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (!child) {
		execv(words[0], words);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

/* By fork and exec with words of the program's own file, which its child has not touched yet; the
 * first does not exist, the last is a script. */
static void execute_own_words(char **words)
{
	(void)words;
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		must(child >= 0, "fork");
		if (!child && i == 0)
			execl("/nonexistent/program", "program", "one", (char *)NULL);
		if (!child && i == 1)
			execl("/bin/echo", "echo", "one", "two words", (char *)NULL);
		if (!child && i == 2)
			execl("./script", "script", "three", (char *)NULL);
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static const struct {
	const char *name;
	int least; /* arguments */
	void (*act)(char **words);
} acts[] = {
	{"daemon", 2, leave_daemon},
	{"uring", 0, make_uring},
	{"write32", 1, write32},
	{"write", 1, write_files},
	{"write-in", 2, write_in},
	{"own-link", 3, write_by_own_link},
	{"mkdir", 1, make_folder},
	{"remove", 1, remove_file},
	{"inherited", 1, write_inherited},
	{"passed", 1, write_passed},
	{"send", 1, send_unconnected},
	{"unknown", 1, call_unknown},
	{"execute", 1, execute},
	{"own-words", 0, execute_own_words},
	{"send32", 0, send32},
	{"filtered", 1, connect_behind_filter},
	{"later", 1, connect_later},
	{"killed", 2, kill_connecting},
	{"untraced", 1, write_untraced},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(*acts); i++) {
		if (strcmp(acts[i].name, argv[1]) != 0 || argc - 2 < acts[i].least)
			continue;
		acts[i].act(argv + 2);
		return 0;
	}
	fprintf(stderr, "usage: unseen ACT [ARGUMENT...]\n");
	return 2;
}
