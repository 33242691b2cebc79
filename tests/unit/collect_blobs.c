/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of tensors go into a folder of the recorder's own, whatever somebody else has put there. */
#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/blobs.h"

static char folder[] = "/tmp/wheeltap-test-XXXXXX";
static int folder_fd = -1;

static int memory_of(const char *text)
{
	int fd = memfd_create("blob", MFD_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? fd : -1;
}

static void put(const char *path, const char *text)
{
	int fd = openat(folder_fd, path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static bool is_still(const char *path, const char *text)
{
	char got[64] = "";
	int fd = openat(folder_fd, path, O_RDONLY);
	ssize_t bytes = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);

	if (fd >= 0)
		close(fd);
	return bytes >= 0 && !strcmp(got, text);
}

static uint64_t take_one(struct wti_blobs *blobs, const char *text)
{
	int fd = memory_of(text);
	uint64_t bytes;

	CHECK(fd >= 0);
	bytes = wti_blobs_take(blobs, fd);
	close(fd);
	return bytes;
}

static void test_kept(void)
{
	struct wti_blobs blobs;

	wti_blobs_init(&blobs, folder_fd, 1 << 20);
	CHECK_INT(take_one(&blobs, "some bytes"), 10);
	CHECK_INT(take_one(&blobs, "other bytes"), 11);
	CHECK_INT(take_one(&blobs, "some bytes"), 10); /* it is there already */
	CHECK_INT(blobs.count, 2);
	CHECK_INT(blobs.refused, 0);
	wti_blobs_release(&blobs);
}

static void test_folder_of_others(void)
{
	struct wti_blobs blobs;

	REQUIRE(!mkdirat(folder_fd, "victim", 0700));
	put("victim/.new", "mine");
	REQUIRE(!symlinkat("victim", folder_fd, "blobs"));
	wti_blobs_init(&blobs, folder_fd, 1 << 20);
	CHECK_INT(take_one(&blobs, "some bytes"), 10);
	CHECK_INT(blobs.count, 0);
	CHECK_INT(blobs.refused, 1);
	CHECK(blobs.is_broken);
	CHECK(is_still("victim/.new", "mine"));
	wti_blobs_release(&blobs);
}

static void test_link_in_the_folder(void)
{
	struct wti_blobs blobs;

	put("precious", "mine");
	wti_blobs_init(&blobs, folder_fd, 1 << 20);
	CHECK_INT(take_one(&blobs, "some bytes"), 10);
	CHECK_INT(blobs.count, 1);
	REQUIRE(!symlinkat("../precious", folder_fd, "blobs/.new"));
	CHECK_INT(take_one(&blobs, "other bytes"), 11);
	CHECK_INT(blobs.count, 1);
	CHECK_INT(blobs.refused, 1);
	CHECK(is_still("precious", "mine"));
	wti_blobs_release(&blobs);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	return remove(path);
}

static void in_folder(void (*test)(void))
{
	snprintf(folder, sizeof(folder), "/tmp/wheeltap-test-XXXXXX");
	REQUIRE(mkdtemp(folder));
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY);
	test();
	close(folder_fd);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define IN_FOLDER(name)                                                                            \
	static void name(void)                                                                     \
	{                                                                                          \
		in_folder(test_##name);                                                            \
	}

IN_FOLDER(kept)
IN_FOLDER(folder_of_others)
IN_FOLDER(link_in_the_folder)

static const struct test tests[] = {
	{"kept", kept},
	{"folder_of_others", folder_of_others},
	{"link_in_the_folder", link_in_the_folder},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
