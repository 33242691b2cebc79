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
#include "base/folder.h"
#include "base/lines.h"

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

/* None of these may be waited for: a FIFO that nobody writes to, a socket, a device, a folder. */
static void test_only_files_are_opened(void)
{
	struct wt_err err;
	struct wti_buf out;
	int fd;

	wti_buf_init(&out, 1000);
	REQUIRE(!mkfifo(in_folder("fifo"), 0600));
	CHECK_INT(wti_open_regular(in_folder("fifo"), &err), WT_E_IO);
	CHECK(strstr(err.message, "it is a FIFO"));
	CHECK_INT(wti_file_read(in_folder("fifo"), 10, &out, &err), WT_E_IO);
	REQUIRE(!symlink("fifo", in_folder("link")));
	CHECK_INT(wti_file_read(in_folder("link"), 10, &out, &err), WT_E_IO);
	CHECK_INT(wti_open_regular("/dev/zero", &err), WT_E_IO);
	CHECK(strstr(err.message, "it is a device"));
	CHECK_INT(wti_open_regular(folder, &err), WT_E_IO);
	CHECK_INT(wti_open_regular(in_folder("nothing"), &err), WT_E_MISSING);
	CHECK_INT(wti_open_regular(in_folder("nothing"), NULL), WT_E_MISSING);
	CHECK_INT(wti_file_replace(in_folder("file"), "x", 1, &err), 0);
	fd = wti_open_regular(in_folder("file"), &err);
	CHECK(fd >= 0 && !(fcntl(fd, F_GETFD) & ~FD_CLOEXEC));
	close(fd);
	wti_buf_release(&out);
}

/* What a shell makes of <(...), and the usual name of nothing. */
static void test_named_descriptors(void)
{
	struct wti_buf out;
	char name[64];
	int ends[2];

	wti_buf_init(&out, 1000);
	REQUIRE(!pipe(ends));
	CHECK_INT(wti_write_all(ends[1], "through", 7), 0);
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	CHECK_INT(wti_file_read(name, 100, &out, NULL), 0);
	CHECK_TEXT(wti_buf_cstr(&out), "through");
	close(ends[0]);
	CHECK_INT(wti_file_read(name, 100, &out, NULL), WT_E_IO); /* closed */
	CHECK_INT(wti_file_read("/dev/null", 100, &out, NULL), 0);
	CHECK_INT(out.bytes, 7);
	wti_buf_release(&out);
}

/* In place of a file comes a file; what is something else stays that. */
static void test_replace_leaves_the_rest(void)
{
	struct wt_err err;
	struct wti_buf out;
	struct stat info;

	wti_buf_init(&out, 1000);
	CHECK_INT(wti_file_replace(in_folder("real"), "old", 3, &err), 0);
	REQUIRE(!symlink("real", in_folder("to_real")));
	CHECK_INT(wti_file_replace(in_folder("to_real"), "new", 3, &err), 0);
	CHECK(!lstat(in_folder("to_real"), &info) && S_ISLNK(info.st_mode));
	CHECK_INT(wti_file_read(in_folder("real"), 10, &out, &err), 0);
	CHECK_TEXT(wti_buf_cstr(&out), "new");
	REQUIRE(!symlink("nowhere", in_folder("dangling")));
	CHECK_INT(wti_file_replace(in_folder("dangling"), "x", 1, &err), WT_E_MISSING);
	CHECK(!lstat(in_folder("dangling"), &info) && S_ISLNK(info.st_mode));
	REQUIRE(!mkfifo(in_folder("unread"), 0600));
	CHECK_INT(wti_file_replace(in_folder("unread"), "x", 1, &err), WT_E_IO);
	CHECK(!lstat(in_folder("unread"), &info) && S_ISFIFO(info.st_mode));
	wti_buf_release(&out);
}

static void test_folders_made_and_taken_back(void)
{
	struct wti_folder made;
	struct wt_err err;
	struct stat info;

	REQUIRE(!mkdir(in_folder("there"), 0755) && !chmod(in_folder("there"), 0755));
	CHECK_INT(wti_folder_make(&made, in_folder("there/a/b//"), &err), 0);
	CHECK(!stat(in_folder("there/a/b"), &info) && (info.st_mode & 0777) == 0700);
	wti_folder_unmake(&made);
	CHECK(stat(in_folder("there/a"), &info));
	CHECK(!stat(in_folder("there"), &info) && (info.st_mode & 0777) == 0755);
	CHECK_INT(wti_folder_make(&made, in_folder("there//"), &err), 0);
	CHECK(!stat(in_folder("there"), &info) && (info.st_mode & 0777) == 0700);
	wti_folder_unmake(&made);
	CHECK(!stat(in_folder("there"), &info) && (info.st_mode & 0777) == 0755);
	CHECK_INT(wti_file_replace(in_folder("there/mine"), "x", 1, &err), 0);
	CHECK_INT(wti_folder_make(&made, in_folder("there"), &err), WT_E_EXISTS);
	CHECK(strstr(err.message, "'mine' is in it"));
	CHECK(!stat(in_folder("there"), &info) && (info.st_mode & 0777) == 0755);
	/* What somebody else puts into a folder of ours keeps it from being taken back. */
	CHECK_INT(wti_folder_make(&made, in_folder("new/deep"), &err), 0);
	CHECK_INT(wti_file_replace(in_folder("new/other"), "x", 1, &err), 0);
	wti_folder_unmake(&made);
	CHECK(stat(in_folder("new/deep"), &info) && !stat(in_folder("new/other"), &info));
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	return remove(path);
}

struct seen {
	struct wti_buf all; /* "LINE:TEXT|" of each */
	unsigned stop_at;
};

static int see_line(void *self, unsigned line, const char *text, size_t bytes, struct wt_err *err)
{
	struct seen *seen = self;

	if (bytes < 100)
		wti_buf_printf(&seen->all, "%u:%.*s|", line, (int)bytes, text);
	else
		wti_buf_printf(&seen->all, "%u:%zu|", line, bytes);
	return line == seen->stop_at ? wti_err(err, WT_E_FORMAT, "enough") : 0;
}

static int lines_of(const char *text, size_t bytes, size_t line_max, struct seen *seen,
		    struct wt_err *err)
{
	wti_buf_clear(&seen->all);
	CHECK_INT(wti_file_replace(in_folder("lines"), text, bytes, NULL), 0);
	return wti_file_lines(in_folder("lines"), line_max, see_line, seen, err);
}

static void test_lines(void)
{
	struct seen seen = {0};
	struct wt_err err = {0};

	wti_buf_init(&seen.all, 1 << 20);
	CHECK_INT(lines_of("", 0, 10, &seen, &err), 0);
	CHECK_TEXT(wti_buf_cstr(&seen.all), "");
	CHECK_INT(lines_of("a\n\nbc\n", 6, 10, &seen, &err), 0);
	CHECK_TEXT(wti_buf_cstr(&seen.all), "1:a|2:|3:bc|");
	CHECK_INT(lines_of("a\nb", 3, 1, &seen, &err), 0);
	CHECK_TEXT(wti_buf_cstr(&seen.all), "1:a|2:b|");
	CHECK_INT(lines_of("a\nbb\nc", 6, 1, &seen, &err), WT_E_LIMIT);
	CHECK_TEXT(wti_buf_cstr(&seen.all), "1:a|");
	CHECK(strstr(err.message, ":2: this line is longer than the 1 bytes"));
	seen.stop_at = 1;
	CHECK_INT(lines_of("a\nb", 3, 1, &seen, &err), WT_E_FORMAT);
	CHECK_TEXT(wti_buf_cstr(&seen.all), "1:a|");
	CHECK_INT(wti_file_lines(in_folder("none"), 1, see_line, &seen, &err), WT_E_MISSING);
	wti_buf_release(&seen.all);
}

/* Longer than what is read at a time, ending at, before and behind the end of a piece. */
static void test_long_lines(void)
{
	static char text[300000];
	struct seen seen = {0};
	struct wt_err err = {0};
	char expected[64];

	wti_buf_init(&seen.all, 1 << 20);
	memset(text, 'x', sizeof(text));
	for (size_t stop = (1 << 17) - 2; stop < (1 << 17) + 2; stop++) {
		text[stop] = '\n';
		CHECK_INT(lines_of(text, sizeof(text), sizeof(text), &seen, &err), 0);
		snprintf(expected, sizeof(expected), "1:%zu|2:%zu|", stop, sizeof(text) - stop - 1);
		CHECK_TEXT(wti_buf_cstr(&seen.all), expected);
		CHECK_INT(lines_of(text, sizeof(text), stop, &seen, &err), WT_E_LIMIT);
		text[stop] = 'x';
	}
	wti_buf_release(&seen.all);
}

/* The line is refused while it is read: a descriptor of ours may have no end to wait for. */
static void test_endless_line(void)
{
	struct seen seen = {0};
	struct wt_err err = {0};
	char path[32];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	CHECK_INT(wti_file_lines(path, 1 << 20, see_line, &seen, &err), WT_E_LIMIT);
	close(fd);
}

static const struct test tests[] = {
	{"replace_and_read", test_replace_and_read},
	{"read_tight", test_read_tight},
	{"read_without_size", test_read_without_size},
	{"lines", test_lines},
	{"long_lines", test_long_lines},
	{"endless_line", test_endless_line},
	{"failures", test_failures},
	{"mkdirs", test_mkdirs},
	{"write_all", test_write_all},
	{"only_files_are_opened", test_only_files_are_opened},
	{"named_descriptors", test_named_descriptors},
	{"replace_leaves_the_rest", test_replace_leaves_the_rest},
	{"folders_made_and_taken_back", test_folders_made_and_taken_back},
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
