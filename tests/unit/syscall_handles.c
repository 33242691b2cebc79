/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors as a trace tells them: also numbers that no process has, and very many. */
#include <fcntl.h>
#include <string.h>

#include "syscall/handles.h"
#include "test.h"

enum { PID = 7, PROCESSES = 300, REPEATS = 50 };
#define FAR_BELOW_ALL 65535
#define ALL_BYTES_MAX ((size_t)64 << 20)

static struct wti_syscall call_of(const char *name, int64_t result)
{
	return (struct wti_syscall){.arch = WTI_ARCH_X86_64,
				    .nr = (uint32_t)wti_call_number(WTI_ARCH_X86_64, name),
				    .result = result};
}

/* openat() of `path`. */
static void open_as(struct wti_handles *handles, uint32_t pid, int64_t fd, const char *path)
{
	struct wti_syscall call = call_of("openat", fd);

	call.args[0] = (uint64_t)AT_FDCWD;
	call.args[1] = 0x1000;
	call.pieces[call.piece_count++] = (struct wti_piece){.address = 0x1000,
							     .data = (const uint8_t *)path,
							     .bytes = (uint32_t)strlen(path) + 1};
	CHECK_INT(wti_handles_call(handles, pid, pid, &call, NULL), 0);
}

/* What nobody can hold is freed again: under a sanitizer nothing is left behind. */
static void test_numbers_out_of_range(void)
{
	static const int64_t numbers[] = {INT32_MAX, (int64_t)1 << 31, 1 << 20, 1 << 16, INT64_MAX};
	struct wti_handles handles;

	CHECK_INT(wti_handles_init(&handles, "/here", NULL), 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (int j = 0; j < 3; j++)
			open_as(&handles, PID, numbers[i], "/data/x");
	CHECK(wti_handles_of(&handles, PID, 1 << 16) == NULL);
	open_as(&handles, PID, 3, "y");
	CHECK_TEXT(wti_handles_of(&handles, PID, 3)->name, "/here/y");
	wti_handles_release(&handles);
}

/* One call in each of many processes: what is kept does not grow with the numbers. */
static void test_high_numbers(void)
{
	struct wti_handles handles;
	size_t bytes = 0;

	CHECK_INT(wti_handles_init(&handles, NULL, NULL), 0);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		open_as(&handles, pid, FAR_BELOW_ALL, "/x");
	for (size_t i = 0; i < handles.process_count; i++)
		bytes += handles.processes[i].descriptor_count * sizeof(struct wti_descriptor);
	CHECK(bytes > 0 && bytes < ALL_BYTES_MAX);
	CHECK_TEXT(wti_handles_of(&handles, 1, FAR_BELOW_ALL)->name, "/x");
	wti_handles_release(&handles);
}

/* A folder is changed again and again, and forgotten where it is not known. */
static void test_folders(void)
{
	static char path[] = "/a/b";
	struct wti_syscall call = call_of("chdir", 0);
	struct wti_handles handles;

	call.args[0] = 0x2000;
	call.pieces[call.piece_count++] = (struct wti_piece){
		.address = 0x2000, .data = (const uint8_t *)path, .bytes = sizeof(path)};
	CHECK_INT(wti_handles_init(&handles, "/here", NULL), 0);
	for (int i = 0; i < REPEATS; i++)
		CHECK_INT(wti_handles_call(&handles, PID, PID, &call, NULL), 0);
	open_as(&handles, PID, 4, "c");
	CHECK_TEXT(wti_handles_of(&handles, PID, 4)->name, "/a/b/c");
	open_as(&handles, PID + 1, 4, "c");
	CHECK_TEXT(wti_handles_of(&handles, PID + 1, 4)->name, "/here/c");
	call.piece_count = 0;
	CHECK_INT(wti_handles_call(&handles, PID, PID, &call, NULL), 0);
	CHECK(wti_handles_process(&handles, PID)->folder == NULL);
	wti_handles_release(&handles);
}

static const struct test tests[] = {
	{"numbers_out_of_range", test_numbers_out_of_range},
	{"high_numbers", test_high_numbers},
	{"folders", test_folders},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
