/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as text where no strace can be asked: memory that is missing or cut, the other
 * architecture, calls that never returned, descriptors by name.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "syscall/decode.h"
#include "test.h"

static struct wti_syscall call;
static char text[4096];

/* A call of this number on x86-64 that returned `result`. */
static void begin(uint32_t nr, int64_t result)
{
	memset(&call, 0, sizeof(call));
	call.arch = WTI_ARCH_X86_64;
	call.nr = nr;
	call.result = result;
}

static void piece(uint64_t address, const void *data, uint32_t bytes, uint8_t when)
{
	call.pieces[call.piece_count++] =
		(struct wti_piece){.address = address, .data = data, .bytes = bytes, .when = when};
}

static const char *line_with(const struct wti_decode_options *options)
{
	struct wti_buf out;

	wti_buf_init(&out, sizeof(text));
	wti_decode_line(&out, 0, &call, options);
	snprintf(text, sizeof(text), "%s", wti_buf_cstr(&out));
	wti_buf_release(&out);
	return text;
}

static const char *line(void)
{
	return line_with(NULL);
}

static void test_missing(void)
{
	begin(SYS_openat, 3);
	call.args[0] = (uint64_t)AT_FDCWD;
	call.args[1] = 0x1000;
	CHECK_TEXT(line(), "openat(AT_FDCWD, 0x1000, O_RDONLY)      = 3");
	piece(0x1000, "/etc/hosts", 11, WTI_AT_ENTRY);
	CHECK_TEXT(line(), "openat(AT_FDCWD, \"/etc/hosts\", O_RDONLY) = 3");
	call.pieces[0].bytes = 4; /* no NUL: there was more */
	CHECK_TEXT(line(), "openat(AT_FDCWD, \"/etc\"..., O_RDONLY)   = 3");
	call.pieces[0].address = 0x0ffe; /* within a larger piece */
	CHECK_TEXT(line(), "openat(AT_FDCWD, \"tc\"..., O_RDONLY)     = 3");
	call.pieces[0].when = WTI_AT_EXIT;
	CHECK_TEXT(line(), "openat(AT_FDCWD, 0x1000, O_RDONLY)      = 3");
}

static void test_cut_structures(void)
{
	uint8_t zeros[64] = {0};

	begin(SYS_fstat, 0);
	call.args[0] = 3;
	call.args[1] = 0x1000;
	piece(0x1000, zeros, sizeof(zeros), WTI_AT_EXIT); /* 144 are needed */
	CHECK_TEXT(line(), "fstat(3, 0x1000)                        = 0");
	begin(SYS_writev, 10);
	call.args[1] = 0x1000;
	call.args[2] = UINT64_MAX;
	piece(0x1000, zeros, 40, WTI_AT_ENTRY); /* two and a half */
	CHECK_TEXT(line(),
		   "writev(0, [{iov_base=NULL, iov_len=0}, {iov_base=NULL, iov_len=0}, ...], "
		   "18446744073709551615) = 10");
	begin(SYS_poll, 1);
	call.args[0] = 0x1000;
	call.args[1] = UINT32_MAX;
	piece(0x1000, zeros, 12, WTI_AT_ENTRY);
	CHECK_TEXT(line(), "poll([{fd=0, events=0}, ...], 4294967295, 0) = 1");
}

static void test_wraps_around(void)
{
	begin(SYS_write, 5);
	call.args[1] = UINT64_MAX - 1; /* address + length is beyond all memory */
	call.args[2] = 5;
	piece(UINT64_MAX - 1, "hello", 5, WTI_AT_ENTRY);
	CHECK_TEXT(line(), "write(0, \"hello\", 5)                    = 5");
	call.args[1] = 2;
	CHECK_TEXT(line(), "write(0, 0x2, 5)                        = 5");
}

static void test_results(void)
{
	begin(SYS_read, -4);
	CHECK_TEXT(line(), "read(0, NULL, 0)                        = -1 EINTR (Interrupted system "
			   "call)");
	begin(SYS_read, -512);
	call.flags = WT_SYSCALL_RESTARTS;
	CHECK_TEXT(line(),
		   "read(0, NULL, 0)                        = ? ERESTARTSYS (To be restarted "
		   "if SA_RESTART is set)");
	begin(SYS_read, -4000);
	CHECK_TEXT(line(), "read(0, NULL, 0)                        = -1 (errno 4000)");
	begin(SYS_mmap, -5000); /* an address, not an error */
	CHECK_TEXT(line(), "mmap(NULL, 0, PROT_NONE, MAP_FILE, 0, 0) = 0xffffffffffffec78");
}

static void test_unfinished(void)
{
	begin(SYS_read, 0);
	call.args[1] = 0x1000;
	call.flags = WT_SYSCALL_UNFINISHED;
	CHECK_TEXT(line(), "read(0,  <unfinished ...>)              = ?");
	begin(SYS_kill, 0);
	call.flags = WT_SYSCALL_UNFINISHED;
	CHECK_TEXT(line(), "kill(0, 0)                              = ?");
	begin(SYS_exit_group, 0);
	call.args[0] = 3;
	call.flags = WT_SYSCALL_UNFINISHED;
	CHECK_TEXT(line(), "exit_group(3)                           = ?");
	begin(SYS_read, 7);
	call.flags = WT_SYSCALL_JOINED;
	CHECK_TEXT(line(), "read(0, NULL, 0)                        = 7");
}

static void test_unknown(void)
{
	begin(1023, 5);
	call.args[5] = 6;
	CHECK_TEXT(line(), "syscall_0x3ff(0, 0, 0, 0, 0, 0x6)       = 5");
	begin(0, 5);
	call.arch = 77;
	CHECK_TEXT(line(), "syscall_0(0, 0, 0, 0, 0, 0)             = 5");
	begin(UINT32_MAX, -1);
	CHECK_TEXT(line(), "syscall_0xffffffff(0, 0, 0, 0, 0, 0)    = -1 EPERM (Operation not "
			   "permitted)");
}

/* Numbers and layouts of aarch64. */
static void test_other_architecture(void)
{
	uint8_t stat[128] = {0};
	uint32_t mode = S_IFREG | 0644;
	uint64_t size = 4711;

	begin(80, 0); /* fstat */
	call.arch = WTI_ARCH_AARCH64;
	call.args[0] = 3;
	call.args[1] = 0x1000;
	memcpy(stat + 16, &mode, sizeof(mode));
	memcpy(stat + 48, &size, sizeof(size));
	piece(0x1000, stat, sizeof(stat), WTI_AT_EXIT);
	CHECK_TEXT(line(), "fstat(3, {st_mode=S_IFREG|0644, st_size=4711, ...}) = 0");
	begin(220, 99); /* clone: tls stands before child_tidptr */
	call.arch = WTI_ARCH_AARCH64;
	call.args[0] = 0x00280000 | 0x00100000 | SIGCHLD;
	call.args[2] = 0x20;
	call.args[3] = 0x30;
	call.args[4] = 0x40;
	CHECK_TEXT(line(), "clone(child_stack=NULL, flags=CLONE_SETTLS|CLONE_PARENT_SETTID|"
			   "CLONE_CHILD_CLEARTID|SIGCHLD, parent_tid=[99], tls=0x30, "
			   "child_tidptr=0x40) = 99");
}

static void test_string_limit(void)
{
	static const struct wti_decode_options longer = {.string_max = 40};
	char content[64];

	memset(content, 'x', sizeof(content));
	begin(SYS_write, 64);
	call.args[1] = 0x1000;
	call.args[2] = 64;
	piece(0x1000, content, sizeof(content), WTI_AT_ENTRY);
	CHECK_TEXT(line(), "write(0, \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"..., 64) = 64");
	CHECK_TEXT(line_with(&longer),
		   "write(0, \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"..., 64) = 64");
}

static bool name_of(const void *opaque, int32_t fd, struct wt_text *ret_name)
{
	static const char odd[] = "/a<b>\n";

	*ret_name = fd == 3 ? (struct wt_text){odd, sizeof(odd) - 1} : (struct wt_text){"/", 1};
	return fd == 3 || fd == AT_FDCWD;
}

static void test_descriptors_by_name(void)
{
	static const struct wti_decode_files files = {name_of, NULL};
	static const struct wti_decode_options options = {.files = &files};

	begin(SYS_dup2, 3);
	call.args[0] = 4;
	call.args[1] = 3;
	CHECK_TEXT(line_with(&options), "dup2(4, 3</a\\074b\\076\\012>)             = "
					"3</a\\074b\\076\\012>");
	begin(SYS_unlinkat, 0);
	call.args[0] = (uint64_t)AT_FDCWD;
	CHECK_TEXT(line_with(&options), "unlinkat(AT_FDCWD</>, NULL, 0)          = 0");
	begin(SYS_close, -9);
	call.args[0] = (uint64_t)-1;
	CHECK_TEXT(line_with(&options), "close(-1)                               = -1 EBADF (Bad "
					"file descriptor)");
}

static void test_arguments(void)
{
	struct wti_buf out;

	begin(SYS_openat, 3);
	call.args[0] = (uint64_t)AT_FDCWD;
	wti_buf_init(&out, 100);
	CHECK(wti_decode_argument(&out, &call, 0, NULL));
	CHECK_TEXT(wti_buf_cstr(&out), "AT_FDCWD");
	CHECK(!wti_decode_argument(&out, &call, 3, NULL)); /* no mode without O_CREAT */
	CHECK(!wti_decode_argument(&out, &call, 4, NULL));
	CHECK(!wti_decode_argument(&out, &call, 99, NULL));
	wti_buf_release(&out);
}

/* A buffer that is full ends quietly: the caller asks once, at the end. */
static void test_no_room(void)
{
	struct wti_buf out;

	begin(SYS_openat, 3);
	wti_buf_init(&out, 10);
	wti_decode_line(&out, 0, &call, NULL);
	CHECK_INT(wti_buf_status(&out), WT_E_LIMIT);
	wti_buf_release(&out);
}

static const struct test tests[] = {
	{"missing", test_missing},
	{"cut_structures", test_cut_structures},
	{"wraps_around", test_wraps_around},
	{"results", test_results},
	{"unfinished", test_unfinished},
	{"unknown", test_unknown},
	{"other_architecture", test_other_architecture},
	{"string_limit", test_string_limit},
	{"descriptors_by_name", test_descriptors_by_name},
	{"arguments", test_arguments},
	{"no_room", test_no_room},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
