/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how the calls of i386 differ from those of x86_64. */
#include "compat.h"

#include <string.h>

#include "described.h"

/* Arguments of 64 bits come in two, and others have another order or another unit. */
enum shape {
	SAME,
	OFFSET3, /* arguments 3 and 4 are one number */
	OFFSET1,
	RANGE2, /* 2 and 3, 4 and 5 */
	PAGES5, /* argument 5 counts pages */
	OTHER,  /* no such call there */
};

/* Names that differ, and names that are the same and mean something else. */
static const struct row {
	const char *name;
	const char *native;
	enum shape shape;
} rows[] = {
	{"fcntl64", "fcntl", SAME},
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

/* Strings and bytes whose number is said are the same everywhere. */
static bool is_plain(const struct wti_read *read)
{
	if (read->kind == WTI_READ_STRING)
		return true;
	return read->kind == WTI_READ_BYTES && read->length != WTI_LENGTH_FIXED &&
	       read->length != WTI_LENGTH_BITS &&
	       (read->length == WTI_LENGTH_POINTED || read->unit_bytes == 1);
}

/* Structures that are laid out alike: they were made when both were there. */
static bool is_alike(uint32_t nr)
{
	static const char *const names[] = {"statx", "openat2", "io_uring_setup"};
	const char *name = wti_call_name(WTI_ARCH_I386, nr);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Whether all that the native call has read for it can be read for this one. */
static bool is_readable(uint32_t nr, uint32_t native, size_t *ret_count)
{
	struct wti_read reads[WTI_READS_MAX];
	size_t count = wti_call_reads(WTI_ARCH_X86_64, native, reads);

	*ret_count = count;
	for (size_t i = 0; i < count; i++)
		if (!is_plain(&reads[i]) && !is_alike(nr))
			return false;
	return true;
}

uint16_t wti_compat_plan(uint32_t nr)
{
	int native = WTI_ARCH_HERE == WTI_ARCH_X86_64 ? wti_compat_number(nr) : -1;
	size_t count = 0;

	if (native < 0 || !is_readable(nr, (uint32_t)native, &count) || !count)
		return 0;
	return (uint16_t)(native + 1);
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
	}
}

void wti_compat_translate(struct wti_syscall *call)
{
	int native = call->arch == WTI_ARCH_I386 ? wti_compat_number(call->nr) : -1;
	const struct row *row;
	size_t count;

	if (native < 0)
		return;
	if (!is_readable(call->nr, (uint32_t)native, &count))
		call->flags |= WTI_SYSCALL_UNREAD;
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
