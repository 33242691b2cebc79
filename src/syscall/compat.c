/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how the calls of i386 differ from those of x86_64. */
#include "compat.h"

#include <fcntl.h>
#include <string.h>

#include "described.h"

/* Commands of fcntl64() for locks of large files: F_GETLK and the two behind it on x86_64. */
enum { GETLK64 = 12, SETLKW64 = 14 };

/* Arguments of 64 bits come in two, and others have another order or another unit. */
enum shape {
	SAME,
	OFFSET3, /* arguments 3 and 4 are one number */
	OFFSET1,
	RANGE2, /* 2 and 3, 4 and 5 */
	PAGES5, /* argument 5 counts pages */
	LOCKS,  /* argument 1 is one of three commands more */
	OTHER,  /* no such call there */
};

/* Names that differ, and names that are the same and mean something else. */
static const struct row {
	const char *name;
	const char *native;
	enum shape shape;
} rows[] = {
	{"fcntl64", "fcntl", LOCKS},
	{"stat64", "stat", SAME},
	{"lstat64", "lstat", SAME},
	{"fstat64", "fstat", SAME},
	{"fstatat64", "newfstatat", SAME},
	{"ugetrlimit", "getrlimit", SAME},
	{"_newselect", "select", SAME},
	{"clock_gettime64", "clock_gettime", SAME},
	{"clock_settime64", "clock_settime", SAME},
	{"clock_getres_time64", "clock_getres", SAME},
	{"clock_nanosleep_time64", "clock_nanosleep", SAME},
	{"futex_time64", "futex", SAME},
	{"ppoll_time64", "ppoll", SAME},
	{"pselect6_time64", "pselect6", SAME},
	{"utimensat_time64", "utimensat", SAME},
	{"recvmmsg_time64", "recvmmsg", SAME},
	{"mq_timedsend_time64", "mq_timedsend", SAME},
	{"mq_timedreceive_time64", "mq_timedreceive", SAME},
	{"rt_sigtimedwait_time64", "rt_sigtimedwait", SAME},
	{"timerfd_gettime64", "timerfd_gettime", SAME},
	{"timerfd_settime64", "timerfd_settime", SAME},
	{"timer_gettime64", "timer_gettime", SAME},
	{"timer_settime64", "timer_settime", SAME},
	{"semtimedop_time64", "semtimedop", SAME},
	{"sched_rr_get_interval_time64", "sched_rr_get_interval", SAME},
	{"pread64", "pread64", OFFSET3},
	{"pwrite64", "pwrite64", OFFSET3},
	{"truncate64", "truncate", OFFSET1},
	{"ftruncate64", "ftruncate", OFFSET1},
	{"fallocate", "fallocate", RANGE2},
	{"sendfile64", "sendfile", SAME},
	{"mmap2", "mmap", PAGES5},
	{"chown32", "chown", SAME},
	{"lchown32", "lchown", SAME},
	{"fchown32", "fchown", SAME},
	{"mmap", NULL, OTHER},   /* all arguments in memory */
	{"select", NULL, OTHER}, /* likewise */
	{"clone", NULL, OTHER},  /* another order */
	{"sync_file_range", NULL, OTHER},
	{"readahead", NULL, OTHER},
	{"fadvise64", NULL, OTHER},
	{"lookup_dcookie", NULL, OTHER},
	{"fanotify_mark", NULL, OTHER},
	{"stat", NULL, OTHER}, /* older structures, of other layout everywhere */
	{"lstat", NULL, OTHER},
	{"fstat", NULL, OTHER},
	{"chown", NULL, OTHER}, /* numbers of 16 bits */
	{"lchown", NULL, OTHER},
	{"fchown", NULL, OTHER},
};

/* Calls about the process itself, its memory, its time and what it may look at. */
static const char *const harmless[] = {
	"brk",
	"mmap2",
	"munmap",
	"mprotect",
	"set_thread_area",
	"get_thread_area",
	"modify_ldt",
	"sigreturn",
	"rt_sigreturn",
	"sigaction",
	"sigprocmask",
	"signal",
	"ssetmask",
	"sgetmask",
	"sigpending",
	"sigsuspend",
	"stat",
	"lstat",
	"fstat",
	"stat64",
	"lstat64",
	"fstat64",
	"fstatat64",
	"oldstat",
	"oldlstat",
	"oldfstat",
	"statfs64",
	"fstatfs64",
	"_llseek",
	"readdir",
	"ugetrlimit",
	"olduname",
	"oldolduname",
	"uname",
	"nice",
	"time",
	"stime",
	"clone",
	"select",
	"_newselect",
	"waitpid",
	"sync_file_range",
	"readahead",
	"fadvise64",
	"fadvise64_64",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getresuid",
	"getresgid",
	"getgroups",
	"getuid32",
	"geteuid32",
	"getgid32",
	"getegid32",
	"getresuid32",
	"getresgid32",
	"getgroups32",
	"clock_gettime64",
	"clock_getres_time64",
	"clock_nanosleep_time64",
	"futex_time64",
	"ppoll_time64",
	"pselect6_time64",
	"timerfd_gettime64",
	"timerfd_settime64",
	"timer_gettime64",
	"timer_settime64",
	"sched_rr_get_interval_time64",
	"rt_sigtimedwait_time64",
	"utimensat_time64",
	"io_pgetevents_time64",
};

static const struct row *row_of(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

int wti_compat_number(uint32_t nr)
{
	const struct wti_named *named = wti_named(WTI_ARCH_I386, nr);
	const struct row *row = named ? row_of(named->name) : NULL;

	if (!named || (row && row->shape == OTHER))
		return -1;
	return row ? wti_call_number(WTI_ARCH_X86_64, row->native) : named->call;
}

static uint64_t joined(const struct wti_syscall *call, unsigned low)
{
	return (uint32_t)call->args[low] | call->args[low + 1] << 32;
}

static void move_arguments(struct wti_syscall *call, enum shape shape)
{
	if (shape == OFFSET3) {
		call->args[3] = joined(call, 3);
	} else if (shape == OFFSET1) {
		call->args[1] = joined(call, 1);
	} else if (shape == RANGE2) {
		call->args[2] = joined(call, 2);
		call->args[3] = joined(call, 4);
	} else if (shape == PAGES5) {
		call->args[5] *= 4096;
	} else if (shape == LOCKS && call->args[1] >= GETLK64 && call->args[1] <= SETLKW64) {
		call->args[1] = call->args[1] - GETLK64 + F_GETLK;
	}
}

void wti_compat_translate(struct wti_syscall *call)
{
	int native = call->arch == WTI_ARCH_I386 ? wti_compat_number(call->nr) : -1;
	const struct row *row;

	if (native < 0)
		return;
	row = row_of(wti_call_name(WTI_ARCH_I386, call->nr));
	move_arguments(call, row ? row->shape : SAME);
	call->arch = WTI_ARCH_X86_64;
	call->nr = (uint32_t)native;
}

bool wti_compat_is_harmless(uint32_t nr)
{
	const char *name = wti_call_name(WTI_ARCH_I386, nr);

	for (size_t i = 0; name && i < sizeof(harmless) / sizeof(*harmless); i++)
		if (!strcmp(harmless[i], name))
			return true;
	return false;
}
