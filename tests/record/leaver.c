/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that leaves what it was started in before its first event, in one of many ways, and
 * emits then. Nothing of it may be missing without a word.
 *
 *   leaver [exec] FOLDER EVENTS WAY...
 *
 * Emits one mark, forks a child that goes all the WAYs in order and emits EVENTS marks: as it is,
 * or with "exec" as the same program once more. FOLDER is empty and may be written. Ends with 77
 * and a word on standard error where a way is not open on this machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum { NOT_OPEN = 77, NOBODY = 65534 };

static const char *folder;
static unsigned long events;

static void emit(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		wt_mark(WT_NAME("left"), i);
}

static _Noreturn void not_open(const char *way)
{
	fprintf(stderr, "%s: %s\n", way, strerror(errno));
	_exit(NOT_OPEN);
}

static bool go_private(void)
{
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static bool go_pivot(void)
{
	return go_private() && !mount("none", folder, "tmpfs", 0, NULL) && !chdir(folder) &&
	       !syscall(SYS_pivot_root, ".", ".") && !umount2(".", MNT_DETACH);
}

static bool go_without_capabilities(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {0};

	return !syscall(SYS_capset, &header, none);
}

static bool go_without_files(void)
{
	struct rlimit none = {0, 0};

	return !setrlimit(RLIMIT_NOFILE, &none);
}

/* As a sandbox does that lets a program compute and write, and nothing new be opened. */
static bool go_filtered(void)
{
	static const unsigned forbidden[] = {SYS_socket, SYS_socketpair, SYS_connect,
					     SYS_memfd_create};
	struct sock_filter code[2 * sizeof(forbidden) / sizeof(*forbidden) + 2];
	unsigned at = 0;
	struct sock_fprog program = {0, code};

	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
		code[at++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
		code[at++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)at;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Only a child is in the new namespace: goes on as that. */
static bool go_on_as_child(int what)
{
	int status, fd;
	pid_t pid;

	if (unshare(what))
		return false;
	fd = what == CLONE_NEWTIME ? open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC) : -1;
	if (what == CLONE_NEWTIME &&
	    (fd < 0 || write(fd, "boottime 1000 0\n", 16) != 16 || close(fd)))
		return false;
	pid = fork();
	if (pid <= 0)
		return pid == 0;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		_exit(3);
	_exit(WEXITSTATUS(status));
}

/* The parent, and with it the program, ends; the child goes on. */
static bool go_alone(void)
{
	pid_t pid = fork();

	if (pid > 0)
		_exit(0);
	return pid == 0 && setsid() > 0;
}

/* As long as somebody watches; with nobody's pipe held open. */
static bool go_to_sleep(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int i = 0; i < 600 && access(folder, F_OK) == 0; i++)
		usleep(100000);
	return true;
}

static bool go(const char *way)
{
	if (!strcmp(way, "user"))
		return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY);
	if (!strcmp(way, "root"))
		return !chroot(folder) && !chdir("/");
	if (!strcmp(way, "pivot"))
		return go_pivot();
	if (!strcmp(way, "proc"))
		return go_private() && !umount2("/proc", MNT_DETACH);
	if (!strcmp(way, "temporary"))
		return go_private() && !mount("none", getenv("TMPDIR"), "tmpfs", 0, NULL);
	if (!strcmp(way, "close"))
		return !close_range(3, ~0u, 0);
	if (!strcmp(way, "files"))
		return go_without_files();
	if (!strcmp(way, "capabilities"))
		return go_without_capabilities();
	if (!strcmp(way, "privileges"))
		return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(way, "seccomp"))
		return go_filtered();
	if (!strcmp(way, "userns"))
		return !unshare(CLONE_NEWUSER);
	if (!strcmp(way, "ipc"))
		return !unshare(CLONE_NEWIPC);
	if (!strcmp(way, "net"))
		return !unshare(CLONE_NEWNET);
	if (!strcmp(way, "pid"))
		return go_on_as_child(CLONE_NEWPID);
	if (!strcmp(way, "time"))
		return go_on_as_child(CLONE_NEWTIME);
	if (!strcmp(way, "alone"))
		return go_alone();
	if (!strcmp(way, "later"))
		return usleep(700000) == 0;
	if (!strcmp(way, "much-later"))
		return go_to_sleep();
	errno = EINVAL;
	return false;
}

static _Noreturn void leave(char **ways, const char *self)
{
	char count[32];

	for (size_t i = 0; ways[i]; i++)
		if (!go(ways[i]))
			not_open(ways[i]);
	if (!self) {
		emit(events);
		exit(0);
	}
	snprintf(count, sizeof(count), "%lu", events);
	execl(self, self, "-", count, (char *)NULL);
	not_open("exec");
}

int main(int argc, char **argv)
{
	bool execs = argc > 1 && !strcmp(argv[1], "exec");
	int status;
	pid_t pid;

	if (argc == 3 && !strcmp(argv[1], "-")) {
		emit(strtoul(argv[2], NULL, 10));
		return 0;
	}
	argv += execs;
	if (argc - execs < 3)
		return 2;
	folder = argv[1];
	events = strtoul(argv[2], NULL, 10);
	emit(1);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		leave(argv + 3, execs ? program_invocation_name : NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
