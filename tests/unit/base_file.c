/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders, in a temporary folder that is removed at the end. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

static char folder[] = "/tmp/wheeltap-test-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void test_replace_and_read(void)
{
	const char *path = in_folder("a");
	struct wt_err err;
	struct wti_buf out;
	struct stat info;

	wti_buf_init(&out, 1000);
	CHECK_INT(wti_file_replace(path, "first", 5, &err), 0);
	CHECK_INT(wti_file_replace(path, "second", 6, &err), 0);
	CHECK(!stat(path, &info) && (info.st_mode & 0777) == 0600);
	CHECK_INT(wti_buf_text(&out, "> "), 0);
	CHECK_INT(wti_file_read(path, 6, &out, &err), 0);
	CHECK_TEXT(wti_buf_cstr(&out), "> second");
	CHECK_INT(wti_file_read(path, 5, &out, &err), WT_E_LIMIT);
	CHECK_TEXT(wti_buf_cstr(&out), "> second"); /* as before */
	CHECK(strstr(err.message, "is larger than the 5 bytes"));
	wti_buf_release(&out);
}

/* The ceiling of the buffer counts as well, and exactly full is not too full. */
static void test_read_tight(void)
{
	struct wti_buf out;

	CHECK_INT(wti_file_replace(in_folder("tight"), "12345678", 8, NULL), 0);
	wti_buf_init(&out, 8);
	CHECK_INT(wti_file_read(in_folder("tight"), 1 << 20, &out, NULL), 0);
	CHECK_INT(out.bytes, 8);
	wti_buf_clear(&out);
	wti_buf_byte(&out, 'x');
	CHECK_INT(wti_file_read(in_folder("tight"), 1 << 20, &out, NULL), WT_E_LIMIT);
	CHECK_INT(out.bytes, 1);
	wti_buf_release(&out);
}

static void test_read_without_size(void)
{
	struct wti_buf out;

	wti_buf_init(&out, 1 << 20);
	CHECK_INT(wti_file_read("/proc/self/stat", 1 << 20, &out, NULL), 0);
	CHECK(out.bytes > 10);
	wti_buf_release(&out);
}

static void test_failures(void)
{
	struct wt_err err;
	struct wti_buf out;
	char path[5000];

	wti_buf_init(&out, 1000);
	CHECK_INT(wti_file_read(in_folder("nothing"), 10, &out, &err), WT_E_MISSING);
	CHECK_INT(wti_file_read(folder, 10, &out, &err), WT_E_IO);
	CHECK_INT(wti_file_replace(in_folder("no/such"), "", 0, &err), WT_E_MISSING);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	CHECK_INT(wti_file_replace(path, "", 0, &err), WT_E_ARG);
	CHECK_INT(wti_mkdirs(path, 0700, &err), WT_E_ARG);
	CHECK_INT(wti_mkdirs("", 0700, &err), WT_E_ARG);
	/* A folder cannot be replaced, and the temporary file does not stay behind. */
	CHECK_INT(wti_mkdirs(in_folder("d/e"), 0700, &err), 0);
	CHECK_INT(wti_file_replace(in_folder("d/e"), "", 0, &err), WT_E_IO);
	CHECK(!rmdir(in_folder("d/e")));
	CHECK(!rmdir(in_folder("d")));
	wti_buf_release(&out);
}

static void test_mkdirs(void)
{
	struct wt_err err;
	struct stat info;

	CHECK_INT(wti_mkdirs(in_folder("x//y/z/"), 0700, &err), 0);
	CHECK(!stat(in_folder("x/y/z"), &info) && S_ISDIR(info.st_mode));
	CHECK_INT(info.st_mode & 0777, 0700);
	CHECK_INT(wti_mkdirs(in_folder("x/y"), 0700, &err), 0);
	CHECK_INT(wti_mkdirs("/", 0700, &err), 0);
	CHECK_INT(wti_file_replace(in_folder("plain"), "", 0, &err), 0);
	CHECK_INT(wti_mkdirs(in_folder("plain"), 0700, &err), WT_E_MISSING);
	CHECK_INT(wti_mkdirs(in_folder("plain/below"), 0700, &err), WT_E_MISSING);
	CHECK(strstr(err.message, "Not a directory"));
}

static void test_write_all(void)
{
	static const size_t bytes = 1 << 20;
	char *data = calloc(1, bytes), *back = malloc(bytes);
	int fd = open(in_folder("all"), O_RDWR | O_CREAT, 0600);

	REQUIRE(data && back && fd >= 0);
	for (size_t i = 0; i < bytes; i++)
		data[i] = (char)(i * 7 >> 3);
	CHECK_INT(wti_write_all(fd, data, bytes), 0);
	CHECK_INT(wti_pread_all(fd, back, bytes, 0), bytes);
	CHECK_BYTES(back, data, bytes);
	CHECK_INT(wti_pread_all(fd, back, 100, bytes - 10), 10);
	CHECK_INT(wti_pread_all(fd, back, 100, bytes + 10), 0);
	CHECK_INT(wti_pread_all(fd, back, 100, UINT64_MAX), -EINVAL);
	close(fd);
	CHECK_INT(wti_write_all(fd, data, 1), -EBADF);
	CHECK_INT(wti_pread_all(fd, data, 1, 0), -EBADF);
	free(data);
	free(back);
	fd = open("/dev/full", O_WRONLY);
	CHECK_INT(wti_write_all(fd, "x", 1), -ENOSPC);
	close(fd);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	return remove(path);
}

static const struct test tests[] = {
	{"replace_and_read", test_replace_and_read},
	{"read_tight", test_read_tight},
	{"read_without_size", test_read_without_size},
	{"failures", test_failures},
	{"mkdirs", test_mkdirs},
	{"write_all", test_write_all},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	status = test_main(tests, argc, argv);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return status;
}
