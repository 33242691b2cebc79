/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how blobs are named, and believes no name. */
#include "store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "trace/protocol.h"
#include "trace/run_folder.h"

int wti_replay_store_open(const char *folder)
{
	int run = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), store;

	if (run < 0)
		return -1;
	store = openat(run, WTI_RUN_BLOBS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(run);
	return store;
}

void wti_replay_store_close(int store)
{
	if (store >= 0)
		close(store);
}

static const char *read_file(int fd, uint64_t hash, uint64_t bytes, struct wti_buf *out)
{
	struct stat about;
	uint8_t *room;

	if (fstat(fd, &about) || !S_ISREG(about.st_mode))
		return "its bytes in the run's folder are not a file";
	if (about.st_size <= 0 || about.st_size > WTI_BLOB_BYTES_MAX)
		return "its bytes in the run's folder have an impossible size";
	if (bytes && (uint64_t)about.st_size != bytes)
		return "its bytes in the run's folder have another size than recorded";
	room = wti_buf_reserve(out, (size_t)about.st_size);
	if (!room)
		return "there is not enough memory for its bytes";
	if (wti_pread_all(fd, room, (size_t)about.st_size, 0) != about.st_size)
		return "its bytes in the run's folder cannot be read";
	if (XXH3_64bits(room, (size_t)about.st_size) != hash)
		return "its bytes in the run's folder are damaged: they do not have their hash";
	wti_buf_added(out, (size_t)about.st_size);
	return NULL;
}

const char *wti_replay_store_read(int store, uint64_t hash, uint64_t bytes, struct wti_buf *out)
{
	const char *why;
	char name[20];
	int fd;

	if (!hash)
		return "its bytes were not kept; record with --replayable and a larger --blobs-max";
	snprintf(name, sizeof(name), "%016" PRIx64, hash);
	fd = store < 0 ? -1 : openat(store, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return "its bytes are missing in the run's folder";
	why = read_file(fd, hash, bytes, out);
	close(fd);
	return why;
}
