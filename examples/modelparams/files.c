/* SPDX-License-Identifier: Apache-2.0 */
/* Files as a whole: atomic, summed, in folders that are made. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/checksum.h"

#define PATH_BYTES 4096

uint64_t image_sum(const struct image *image)
{
	return checksum(CHECKSUM_START, image->data, image->bytes);
}

static bool write_all(int fd, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t done = write(fd, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		bytes -= (size_t)done;
	}
	return true;
}

static void make_folders(const char *path)
{
	char folder[PATH_BYTES];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0777);
		*slash = '/';
	}
}

/* The old file is there until the new one is whole. */
static const char *replace(const char *path, const void *data, size_t bytes)
{
	char beside[PATH_BYTES + 8];
	int fd;
	bool good;

	snprintf(beside, sizeof(beside), "%s.new", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return strerror(errno);
	good = write_all(fd, data, bytes) && !fsync(fd);
	good = !close(fd) && good && !rename(beside, path);
	if (!good) {
		int error = errno;

		unlink(beside);
		return strerror(error);
	}
	return NULL;
}

static void overwrite(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd >= 0) {
		write_all(fd, data, bytes);
		close(fd);
	}
}

const char *file_save(const struct image *image, const char *path, const struct faults *faults)
{
	char sum_path[PATH_BYTES + 8], sum[32];
	const char *why;

	if (!faults->no_folders)
		make_folders(path);
	if (faults->write_in_place) {
		overwrite(path, image->data, image->bytes);
		return NULL;
	}
	why = replace(path, image->data, image->bytes);
	if (why)
		return why;
	snprintf(sum_path, sizeof(sum_path), "%s.sum", path);
	snprintf(sum, sizeof(sum), "%016" PRIx64 "\n", image_sum(image));
	return replace(sum_path, sum, strlen(sum));
}

/* The sum that lies beside the file; 0: there is none. */
static uint64_t read_sum(const char *path)
{
	char sum_path[PATH_BYTES + 8];
	uint64_t sum = 0;
	FILE *in;

	snprintf(sum_path, sizeof(sum_path), "%s.sum", path);
	in = fopen(sum_path, "r");
	if (in && fscanf(in, "%" SCNx64, &sum) != 1)
		sum = 0;
	if (in)
		fclose(in);
	return sum;
}

const char *file_load(struct image *image, const char *path, const struct faults *faults)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, image->data, sizeof(image->data));
	int error = errno;
	uint64_t sum;

	image->bytes = got > 0 ? (size_t)got : 0;
	if (fd >= 0)
		close(fd);
	if (fd < 0)
		return faults->accept_missing ? NULL : strerror(error);
	if (got < 0)
		return faults->accept_unreadable ? NULL : strerror(error);
	sum = read_sum(path);
	if (!faults->no_sum_check && sum && sum != image_sum(image))
		return "it is not the file that was saved: its sum differs";
	return NULL;
}
