/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory belongs to the program too, which may change or cut it while it is copied: it is read
 * by pread, never mapped, and named by what was really written.
 */
#include "blobs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/protocol.h"
#include "trace/run_folder.h"

#define NEW_NAME ".new"

enum { PIECE_BYTES = 1 << 20 };

void wti_blobs_init(struct wti_blobs *blobs, int run_fd, uint64_t bytes_max)
{
	*blobs = (struct wti_blobs){.run_fd = run_fd, .folder_fd = -1, .bytes_max = bytes_max};
}

void wti_blobs_release(struct wti_blobs *blobs)
{
	if (blobs->folder_fd >= 0)
		close(blobs->folder_fd);
	blobs->folder_fd = -1;
}

/* A folder of ours: one that somebody else has put there could lead anywhere. */
static bool open_folder(struct wti_blobs *blobs)
{
	if (blobs->folder_fd < 0 && !mkdirat(blobs->run_fd, WTI_RUN_BLOBS, 0700))
		blobs->folder_fd = openat(blobs->run_fd, WTI_RUN_BLOBS,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return blobs->folder_fd >= 0;
}

static bool write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n <= 0)
			return false;
		data += n;
		bytes -= (size_t)n;
	}
	return true;
}

/* Copies exactly `bytes`. */
static bool copy(int from, int to, uint64_t bytes, uint64_t *ret_hash)
{
	XXH3_state_t *state = XXH3_createState();
	char *piece = malloc(PIECE_BYTES);
	uint64_t done = 0;

	if (state && piece)
		XXH3_64bits_reset(state);
	while (state && piece && done < bytes) {
		size_t wanted = bytes - done < PIECE_BYTES ? (size_t)(bytes - done) : PIECE_BYTES;
		ssize_t n = pread(from, piece, wanted, (off_t)done);

		if (n <= 0 || !write_all(to, piece, (size_t)n))
			break;
		XXH3_64bits_update(state, piece, (size_t)n);
		done += (uint64_t)n;
	}
	if (done == bytes && state)
		*ret_hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	free(piece);
	return done == bytes && bytes;
}

static bool keep(struct wti_blobs *blobs, int fd, uint64_t bytes)
{
	char name[20];
	uint64_t hash;
	int file;
	bool done;

	if (!open_folder(blobs))
		return false;
	file = openat(blobs->folder_fd, NEW_NAME,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	done = copy(fd, file, bytes, &hash);
	done = close(file) == 0 && done;
	snprintf(name, sizeof(name), "%016" PRIx64, done ? hash : 0);
	if (done && faccessat(blobs->folder_fd, name, F_OK, 0) == 0) {
		unlinkat(blobs->folder_fd, NEW_NAME, 0); /* another process had it too */
		return true;
	}
	done = done && renameat(blobs->folder_fd, NEW_NAME, blobs->folder_fd, name) == 0;
	if (!done)
		unlinkat(blobs->folder_fd, NEW_NAME, 0);
	blobs->bytes += done ? bytes : 0;
	blobs->count += done;
	return done;
}

uint64_t wti_blobs_take(struct wti_blobs *blobs, int fd)
{
	struct stat about;
	uint64_t bytes;

	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size <= 0) {
		blobs->refused++;
		return 0;
	}
	bytes = (uint64_t)about.st_size;
	if (blobs->is_broken || bytes > WTI_BLOB_BYTES_MAX ||
	    bytes > blobs->bytes_max - blobs->bytes) {
		blobs->refused++;
	} else if (!keep(blobs, fd, bytes)) {
		blobs->is_broken = true;
		blobs->refused++;
	}
	return bytes;
}
