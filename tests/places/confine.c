/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program with what a container allows: without capabilities, without new privileges, and
 * with a seccomp filter that refuses system calls as Docker's default profile does.
 *
 *   confine WORD... -- PROGRAM ARGUMENTS...
 *
 * docker      what the profile refuses to a container without capabilities: EPERM, clone3: ENOSYS
 * no-ptrace   also ptrace and memory of other processes: the profile on kernels before 4.8
 * no-memfd, no-seccomp, no-membarrier   stricter than Docker
 * no-locks    flock and the locks of fcntl: ENOLCK, as on NFS without a lock daemon; renameat2,
 *             which is rename with conditions: EINVAL
 * caps        keep capabilities
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP)
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

/* Only those that exist everywhere; the numbers of those that came later are the same everywhere.
 */
static const unsigned docker_calls[] = {
	__NR_syslog,         __NR_pivot_root,
	__NR_chroot,         __NR_acct,
	__NR_settimeofday,   __NR_mount,
	__NR_umount2,        __NR_swapon,
	__NR_swapoff,        __NR_reboot,
	__NR_sethostname,    __NR_setdomainname,
	__NR_init_module,    __NR_delete_module,
	__NR_quotactl,       __NR_vhangup,
	__NR_clock_settime,  __NR_mbind,
	__NR_set_mempolicy,  __NR_get_mempolicy,
	__NR_kexec_load,     __NR_add_key,
	__NR_request_key,    __NR_keyctl,
	__NR_migrate_pages,  __NR_unshare,
	__NR_move_pages,     __NR_perf_event_open,
	__NR_fanotify_init,  __NR_open_by_handle_at,
	__NR_setns,          __NR_kcmp,
	__NR_finit_module,   __NR_bpf,
	__NR_userfaultfd,    __NR_io_uring_setup,
	__NR_io_uring_enter, __NR_io_uring_register,
	__NR_open_tree,      __NR_move_mount,
	__NR_fsopen,         __NR_fsconfig,
	__NR_fsmount,        __NR_fspick,
	__NR_pidfd_getfd,    __NR_process_madvise,
	__NR_mount_setattr,
};
static const unsigned ptrace_calls[] = {__NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev};
static const unsigned memfd_calls[] = {__NR_memfd_create};
static const unsigned seccomp_calls[] = {__NR_seccomp};
static const unsigned membarrier_calls[] = {__NR_membarrier};

static const struct group {
	const char *word;
	const unsigned *calls;
	size_t count;
} groups[] = {
	{"docker", docker_calls, COUNT(docker_calls)},
	{"no-ptrace", ptrace_calls, COUNT(ptrace_calls)},
	{"no-memfd", memfd_calls, COUNT(memfd_calls)},
	{"no-seccomp", seccomp_calls, COUNT(seccomp_calls)},
	{"no-membarrier", membarrier_calls, COUNT(membarrier_calls)},
	{"no-locks", NULL, 0},
};

static struct sock_filter filter[256];
static unsigned short filter_count;

static void add(unsigned short code, unsigned k, unsigned char jt, unsigned char jf)
{
	filter[filter_count++] = (struct sock_filter){code, jt, jf, k};
}

static void refuse(unsigned call, unsigned outcome)
{
	add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
	add(BPF_RET | BPF_K, outcome, 0, 0);
}

/* Processes and threads, but no namespaces; clone3 has its flags in memory, where no filter looks.
 */
static void refuse_namespaces(void)
{
	refuse(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	add(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4);
	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]), 0, 0);
	add(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1);
	add(BPF_RET | BPF_K, REFUSE, 0, 0);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* What NFS may refuse. That memory can be shared through its files cannot be refused by a filter.
 */
static void refuse_locks(void)
{
	static const unsigned commands[] = {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW};

	refuse(__NR_flock, SECCOMP_RET_ERRNO | ENOLCK);
	refuse(__NR_renameat2, SECCOMP_RET_ERRNO | EINVAL);
	add(BPF_JMP | BPF_JEQ | BPF_K, __NR_fcntl, 0, 2 + 2 * COUNT(commands));
	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]), 0, 0);
	for (size_t i = 0; i < COUNT(commands); i++)
		refuse(commands[i], SECCOMP_RET_ERRNO | ENOLCK);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static const struct group *find(const char *word)
{
	for (size_t i = 0; i < COUNT(groups); i++) {
		if (!strcmp(groups[i].word, word))
			return &groups[i];
	}
	return NULL;
}

static int install(void)
{
	struct sock_fprog program = {.filter = filter};

	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program.len = filter_count;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	for (unsigned long cap = 0;
	     !prctl(PR_CAPBSET_READ, cap, 0, 0, 0) || prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
	     cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* refused to who has none: fine */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &header, none);
}

int main(int argc, char **argv)
{
	int at = 1, keep_capabilities = 0;

	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (; at < argc && strcmp(argv[at], "--"); at++) {
		const struct group *group = find(argv[at]);

		if (!group && strcmp(argv[at], "caps")) {
			fprintf(stderr, "confine: unknown word '%s'\n", argv[at]);
			return 125;
		}
		keep_capabilities |= !group;
		for (size_t i = 0; group && i < group->count; i++)
			refuse(group->calls[i], REFUSE);
		if (group && !strcmp(group->word, "docker"))
			refuse_namespaces();
		if (group && !strcmp(group->word, "no-locks"))
			refuse_locks();
	}
	if (at + 1 >= argc || (!keep_capabilities && drop_capabilities()) || install()) {
		fprintf(stderr, "confine: %s\n", at + 1 >= argc ? "no program" : strerror(errno));
		return 125;
	}
	execvp(argv[at + 1], argv + at + 1);
	perror(argv[at + 1]);
	return 127;
}
