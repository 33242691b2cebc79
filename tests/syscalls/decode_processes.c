/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of decode_calls on processes, signals, identity and the system. */
#include <asm/prctl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "decode_calls.h"

static char buffer[4096];

static void make_child(int status, int signal)
{
	long pid = SYS(clone, SIGCHLD, NULL, NULL, NULL, 0);

	if (!pid) {
		if (signal)
			kill(getpid(), signal);
		_exit(status);
	}
}

static void wait_for_children(void)
{
	struct rusage usage;
	siginfo_t info;
	int status;

	make_child(3, 0);
	SYS(wait4, -1, &status, 0, NULL);
	make_child(0, SIGKILL);
	SYS(wait4, -1, &status, __WALL, &usage);
	SYS(wait4, -1, &status, WNOHANG, NULL);
	make_child(5, 0);
	SYS(waitid, P_ALL, 0, &info, WEXITED | WNOWAIT, NULL);
	SYS(waitid, P_ALL, 0, &info, WEXITED, NULL);
	SYS(waitid, P_PID, 99999, NULL, WEXITED | WSTOPPED | WNOHANG, NULL);
}

static void run_programs(void)
{
	char *many[41] = {"program"}, *none[] = {NULL}, *one[] = {"A=1", NULL};
	char *few[] = {"program", "-x", "a quite long argument, longer than what is shown of it",
		       NULL};

	for (int i = 1; i < 40; i++)
		many[i] = "word";
	SYS(execve, "/no/such/program", few, one);
	SYS(execve, "/no/such/program", many, none);
	SYS(execveat, AT_FDCWD, "no such program", few, NULL, AT_EMPTY_PATH);
	SYS(execve, NULL, NULL, NULL);
}

static void limits(void)
{
	struct rlimit limit = {1000, 2048 * 1024};
	struct rusage usage;
	struct tms times;

	SYS(getrlimit, RLIMIT_CORE, &limit);
	SYS(prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	SYS(setrlimit, 99, &limit);
	SYS(prlimit64, 0, RLIMIT_AS, NULL, NULL);
	SYS(getrusage, RUSAGE_SELF, &usage);
	SYS(getrusage, RUSAGE_CHILDREN, NULL);
	SYS(times, &times);
	SYS(getpriority, PRIO_PROCESS, 0);
	SYS(setpriority, PRIO_PROCESS, 99999, 5);
	SYS(personality, 0xffffffff);
}

static void scheduling(void)
{
	static unsigned long cpus[16];
	unsigned cpu, node;
	struct sched_param priority = {0};
	struct timespec interval;

	SYS(sched_yield);
	SYS(sched_getaffinity, 0, sizeof(cpus), cpus);
	memset(cpus, 0, sizeof(cpus));
	cpus[0] = 5;
	SYS(sched_setaffinity, 99999, 8, cpus);
	SYS(sched_getscheduler, 0);
	SYS(sched_getparam, 0, &priority);
	SYS(sched_setscheduler, 0, SCHED_OTHER, &priority);
	SYS(sched_setparam, 99999, &priority);
	SYS(sched_get_priority_max, SCHED_FIFO);
	SYS(sched_get_priority_min, SCHED_RR);
	SYS(sched_rr_get_interval, 0, &interval);
	SYS(getcpu, &cpu, &node, NULL);
}

static void identity(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	unsigned a, b, c, groups[65];

	SYS(getpid);
	SYS(gettid);
	SYS(getppid);
	SYS(getpgrp);
	SYS(getpgid, 0);
	SYS(getsid, 0);
	SYS(setpgid, 99999, 5);
	SYS(getuid);
	SYS(geteuid);
	SYS(getgid);
	SYS(getegid);
	SYS(getresuid, &a, &b, &c);
	SYS(getresgid, &a, &b, &c);
	SYS(setresuid, -1, -1, -1);
	SYS(setreuid, -1, -1);
	SYS(setregid, -1, -1);
	SYS(getgroups, 0, NULL);
	SYS(getgroups, 65, groups);
	SYS(setfsuid, -1);
	SYS(capget, &header, NULL);
}

static void control(void)
{
	unsigned long address, bytes;
	unsigned word = 5;
	struct timespec timeout = {0, 1000};

	SYS(prctl, PR_SET_NAME, "decode_calls");
	SYS(prctl, PR_GET_NAME, buffer);
	SYS(prctl, PR_GET_DUMPABLE);
	SYS(prctl, PR_SET_DUMPABLE, 1);
	SYS(prctl, PR_SET_PDEATHSIG, 0);
	SYS(prctl, PR_SET_TIMERSLACK, 50000);
	SYS(prctl, PR_CAPBSET_READ, 0);
	SYS(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	SYS(prctl, PR_SET_CHILD_SUBREAPER, 0);
	SYS(prctl, PR_GET_CHILD_SUBREAPER, &word);
	SYS(prctl, 4711, 1, 2, 3, 4);
	SYS(arch_prctl, ARCH_GET_FS, &address);
	SYS(arch_prctl, 0x3001, &address);
	SYS(set_tid_address, &word);
	SYS(set_robust_list, &word, 24);
	SYS(get_robust_list, 0, &address, &bytes);
	SYS(rseq, NULL, 32, 1, 0x53053053);
	SYS(futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	SYS(futex, &word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	SYS(futex, &word, FUTEX_WAIT, 4, NULL);
	SYS(futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 5, &timeout);
	SYS(futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, 5,
	    &timeout, NULL, FUTEX_BITSET_MATCH_ANY);
	SYS(futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 5);
	SYS(futex, &word, FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, 1, 2, &word + 1);
	SYS(futex, &word, FUTEX_CMP_REQUEUE, 1, 2, &word + 1, 5);
	SYS(futex, &word, FUTEX_UNLOCK_PI);
	SYS(futex, &word, 99, 1, 2, 3, 4);
	SYS(kcmp, getpid(), getpid(), KCMP_FILE, 1, 1);
	SYS(kcmp, getpid(), getpid(), KCMP_VM, 0, 1);
	SYS(unshare, 0);
	SYS(seccomp, 2, 0, &word);
}

static void the_system(void)
{
	struct utsname name;

	SYS(uname, &name);
	SYS(uname, NULL);
	SYS(sysinfo, NULL);
	SYS(getrandom, buffer, 0, GRND_NONBLOCK);
	SYS(getrandom, buffer, 4, GRND_NONBLOCK);
	SYS(getrandom, buffer, 40, 0);
	SYS(getrandom, NULL, 4, 99);
	SYS(sethostname, "name", 999);
	syscall(999, 1, 2, 3, 4, 5, 6);
}

void wtt_processes(void)
{
	wait_for_children();
	run_programs();
	limits();
	scheduling();
	identity();
	control();
	the_system();
}

/* ---- Signals --------------------------------------------------------------------------------- */

static void handler(int signal)
{
	(void)signal;
}

void wtt_signals(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = {SIG_IGN, SA_RESTART, NULL, 1ul << (SIGTERM - 1)}, old;
	unsigned long set = 1ul << (SIGUSR1 - 1) | 1ul << (SIGCHLD - 1) | 1ul << 33, most = ~0ul;
	struct timespec none = {0, 0};
	stack_t stack;
	siginfo_t info;

	SYS(rt_sigaction, SIGUSR2, &action, &old, 8);
	action.handler = handler;
	action.flags = SA_NODEFER | SA_RESETHAND | SA_SIGINFO | SA_ONSTACK;
	action.mask = most;
	SYS(rt_sigaction, SIGUSR2, &action, &old, 8);
	SYS(rt_sigaction, SIGUSR2, NULL, &old, 8);
	action.handler = SIG_DFL;
	action.flags = 0;
	action.mask = 0;
	SYS(rt_sigaction, SIGUSR2, &action, NULL, 8);
	SYS(rt_sigaction, SIGKILL, &action, NULL, 8);
	SYS(rt_sigaction, 40, NULL, NULL, 8);
	SYS(rt_sigprocmask, SIG_BLOCK, &set, &most, 8);
	SYS(rt_sigprocmask, SIG_SETMASK, NULL, &most, 8);
	most = ~0ul;
	SYS(rt_sigprocmask, SIG_UNBLOCK, &most, NULL, 8);
	SYS(rt_sigprocmask, 9, &set, NULL, 8);
	SYS(rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
	SYS(kill, getpid(), SIGUSR1);
	SYS(rt_sigpending, &most, 8);
	SYS(rt_sigtimedwait, &set, &info, &none, 8);
	SYS(rt_sigtimedwait, &set, NULL, &none, 8);
	SYS(rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
	SYS(kill, 0, 0);
	SYS(tkill, 99999, SIGTERM);
	SYS(tgkill, 99999, 99999, SIGRTMIN);
	SYS(sigaltstack, NULL, &stack);
	SYS(signalfd4, -1, &set, 8, 02000000);
	SYS(close, 3);
	SYS(pidfd_open, getpid(), 0);
	SYS(pidfd_send_signal, 3, 0, NULL, 0);
	SYS(close, 3);
}
