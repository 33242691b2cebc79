/* SPDX-License-Identifier: Apache-2.0 */
/* Names, what is to be read for a call, and expressions. */
#include <stdlib.h>
#include <sys/syscall.h>

#include "syscall/described.h"
#include "syscall/expr.h"
#include "test.h"

static void test_names(void)
{
	CHECK_TEXT(wti_call_name(WTI_ARCH_X86_64, 0), "read");
	CHECK_TEXT(wti_call_name(WTI_ARCH_X86_64, 257), "openat");
	CHECK_TEXT(wti_call_name(WTI_ARCH_AARCH64, 56), "openat");
	CHECK_TEXT(wti_call_name(WTI_ARCH_AARCH64, 79), "newfstatat");
	CHECK_TEXT(wti_call_name(WTI_ARCH_AARCH64, 222), "mmap");
	CHECK_TEXT(wti_call_name(WTI_ARCH_X86_64, 1023), NULL);
	CHECK_TEXT(wti_call_name(WTI_ARCH_X86_64, UINT32_MAX), NULL);
	CHECK_INT(wti_call_number(WTI_ARCH_X86_64, "futex"), 202);
	CHECK_INT(wti_call_number(WTI_ARCH_AARCH64, "futex"), 98);
	CHECK_INT(wti_call_number(WTI_ARCH_AARCH64, "open"), -1);
	CHECK_INT(wti_call_number(WTI_ARCH_HERE, "clone3"), SYS_clone3);
	CHECK_TEXT(wti_call_name(99, 0), NULL);
}

/* A misspelt name in syscalls.txt would be a call that is never shown. */
static void test_all_are_known(void)
{
	for (uint32_t i = 0; i < wti_calls_count; i++) {
		bool known = wti_call_number(WTI_ARCH_X86_64, wti_calls[i].name) >= 0 ||
			     wti_call_number(WTI_ARCH_AARCH64, wti_calls[i].name) >= 0;

		if (!known)
			test_fail(__FILE__, __LINE__, "no headers know '%s'", wti_calls[i].name);
	}
}

static void test_reads(void)
{
	struct wti_read reads[WTI_READS_MAX];
	size_t count = wti_call_reads(WTI_ARCH_X86_64, SYS_openat, reads);

	CHECK_INT(count, 1);
	CHECK_INT(reads[0].arg, 1);
	CHECK_INT(reads[0].kind, WTI_READ_STRING);
	CHECK_INT(reads[0].flags, WTI_READ_CONSTANT);
	CHECK_INT(wti_call_reads(WTI_ARCH_X86_64, SYS_write, reads), 1);
	CHECK_INT(reads[0].length, WTI_LENGTH_ARG);
	CHECK_INT(reads[0].length_arg, 2);
	CHECK_INT(wti_call_reads(WTI_ARCH_X86_64, SYS_execve, reads), 3);
	CHECK_INT(reads[0].flags, 0); /* gone at the end */
	CHECK_INT(wti_call_reads(WTI_ARCH_X86_64, SYS_getpid, reads), 0);
	CHECK_INT(wti_call_reads(WTI_ARCH_X86_64, 1000, reads), 0);
	CHECK_INT(wti_call_reads(WTI_ARCH_X86_64, SYS_fstat, reads), 1);
	CHECK_INT(reads[0].bytes_max, 144);
	CHECK_INT(wti_call_reads(WTI_ARCH_AARCH64, 80, reads), 1);
	CHECK_INT(reads[0].bytes_max, 128);
}

static void test_reads_are_bounded(void)
{
	struct wti_read reads[WTI_READS_MAX];

	for (uint32_t nr = 0; nr < WTI_CALLS_MAX; nr++) {
		size_t count = wti_call_reads(WTI_ARCH_X86_64, nr, reads);

		for (size_t i = 0; i < count; i++) {
			CHECK(reads[i].arg < WTI_CALL_ARGS && reads[i].length_arg < WTI_CALL_ARGS);
			CHECK(reads[i].bytes_max > 0);
			CHECK(reads[i].when == WTI_AT_ENTRY || reads[i].when == WTI_AT_EXIT);
		}
	}
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static struct wti_call_set compile(const char *text)
{
	struct wti_call_set set = {0};
	struct wt_err err = {0};

	if (wti_expr_compile(WTI_ARCH_X86_64, text, &set, &err))
		test_fail(__FILE__, __LINE__, "'%s': %s", text, err.message);
	return set;
}

static bool has(const struct wti_call_set *set, const char *name)
{
	return wti_call_set_has(set, (uint32_t)wti_call_number(WTI_ARCH_X86_64, name));
}

static void test_expressions(void)
{
	struct wti_call_set set = compile("openat,read");

	CHECK_INT(wti_call_set_count(&set), 2);
	CHECK(has(&set, "openat") && has(&set, "read") && !has(&set, "write"));
	set = compile("!futex,mmap");
	CHECK(!has(&set, "futex") && !has(&set, "mmap") && has(&set, "read"));
	CHECK(wti_call_set_has(&set, 1000));
	set = compile("%file");
	CHECK(has(&set, "openat") && has(&set, "execve") && !has(&set, "read"));
	set = compile("%file,!execve");
	CHECK(has(&set, "openat") && !has(&set, "execve"));
	set = compile("/^p(read|write)/,brk");
	CHECK(has(&set, "pread64") && has(&set, "pwritev2") && has(&set, "brk"));
	CHECK(!has(&set, "process_vm_readv"));
	set = compile("/^[a-z]{3,3}$/");
	CHECK(has(&set, "brk") && has(&set, "dup") && !has(&set, "dup2"));
	set = compile("/^open");
	CHECK(has(&set, "openat") && !has(&set, "mq_open"));
	set = compile("?no_such_call,read");
	CHECK_INT(wti_call_set_count(&set), 1);
	set = compile("all");
	CHECK_INT(wti_call_set_count(&set), WTI_CALLS_MAX);
	set = compile("none");
	CHECK_INT(wti_call_set_count(&set), 0);
	set = compile("!%network,%desc");
	CHECK(!has(&set, "connect") && !has(&set, "read") && has(&set, "getpid"));
}

static void check_error(const char *text, int64_t offset, const char *part)
{
	struct wti_call_set set = {{7}};
	struct wt_err err = {.offset = -1};

	CHECK_INT(wti_expr_compile(WTI_ARCH_X86_64, text, &set, &err), WT_E_ARG);
	CHECK_INT(err.offset, offset);
	if (!strstr(err.message, part))
		test_fail(__FILE__, __LINE__, "'%s' gives '%s', not '%s'", text, err.message, part);
	CHECK_INT(set.bits[0], 7); /* untouched */
}

static void test_errors(void)
{
	check_error("read,opnat", 5, "position 6; did you mean 'openat'?");
	check_error("", 0, "missing");
	check_error("read,,write", 5, "missing at position 6");
	check_error("read,", 5, "missing");
	check_error("!", 1, "missing");
	check_error("file", 0, "the class '%file'");
	check_error("%fle", 0, "unknown class '%fle'");
	check_error("/(/", 0, "bad regular expression");
	check_error("/^zz/", 0, "no system call matches");
	check_error("//", 0, "missing");
	check_error("qqqqqqqqqqqq", 0, "man 2 syscalls");
}

static const struct test tests[] = {
	{"names", test_names},
	{"all_are_known", test_all_are_known},
	{"reads", test_reads},
	{"reads_are_bounded", test_reads_are_bounded},
	{"expressions", test_expressions},
	{"errors", test_errors},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
