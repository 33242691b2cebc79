/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the wrapped functions (ld --wrap) and the table of live blocks. */
#include "inject.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define LIVE_MAX 8192 /* a power of two */

static struct {
	uint64_t alloc_left; /* 0: none is to fail */
	bool alloc_after;
	uint64_t system_left;
	bool system_after;
	int error;
	bool short_writes;
	uint64_t writes;
	bool fired;
	void *live[LIVE_MAX]; /* open addressing; a freed one leaves a tombstone */
	size_t live_count;
} state;

#define TOMBSTONE ((void *)&state)

void inject_alloc(uint64_t nth, bool and_after)
{
	state.alloc_left = nth;
	state.alloc_after = and_after;
	state.fired = false;
}

void inject_system(uint64_t nth, int error, bool and_after)
{
	state.system_left = nth;
	state.system_after = and_after;
	state.error = error;
	state.fired = false;
}

void inject_short_writes(void)
{
	state.short_writes = true;
	state.writes = 0;
	state.fired = false;
}

bool inject_stop(void)
{
	state.alloc_left = state.system_left = 0;
	state.short_writes = false;
	return state.fired;
}

size_t inject_live(void)
{
	if (!state.live_count)
		memset(state.live, 0, sizeof(state.live)); /* the tombstones too */
	return state.live_count;
}

static bool strikes(uint64_t *left, bool and_after)
{
	if (!*left || --*left)
		return false;
	*left = and_after;
	state.fired = true;
	return true;
}

static bool alloc_fails(void)
{
	if (!strikes(&state.alloc_left, state.alloc_after))
		return false;
	errno = ENOMEM;
	return true;
}

static bool system_fails(void)
{
	if (!strikes(&state.system_left, state.system_after))
		return false;
	errno = state.error;
	return true;
}

/* ---- Which blocks live ---- */

static size_t slot_of(const void *block)
{
	return (size_t)(((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15 >> 40) % LIVE_MAX;
}

static void *remember(void *block)
{
	size_t at = slot_of(block);

	if (!block || state.live_count > LIVE_MAX / 2)
		return block;
	while (state.live[at] && state.live[at] != TOMBSTONE)
		at = (at + 1) % LIVE_MAX;
	state.live[at] = block;
	state.live_count++;
	return block;
}

/* Blocks of others (getline) are not ours to count. */
static void forget(const void *block)
{
	size_t at = slot_of(block);

	for (size_t i = 0; block && state.live[at] && i < LIVE_MAX; i++) {
		if (state.live[at] == block) {
			state.live[at] = TOMBSTONE;
			state.live_count--;
			return;
		}
		at = (at + 1) % LIVE_MAX;
	}
}

/* ---- Memory ---- */

#define WRAPPED(result, name, ...)                                                                 \
	result __real_##name(__VA_ARGS__);                                                         \
	result __wrap_##name(__VA_ARGS__);                                                         \
	result __wrap_##name(__VA_ARGS__)

WRAPPED(void *, malloc, size_t bytes)
{
	return alloc_fails() ? NULL : remember(__real_malloc(bytes));
}

WRAPPED(void *, calloc, size_t count, size_t bytes)
{
	return alloc_fails() ? NULL : remember(__real_calloc(count, bytes));
}

WRAPPED(void *, realloc, void *block, size_t bytes)
{
	void *moved = alloc_fails() ? NULL : __real_realloc(block, bytes);

	if (!moved)
		return NULL;
	forget(block);
	return remember(moved);
}

WRAPPED(void *, reallocarray, void *block, size_t count, size_t bytes)
{
	void *moved = alloc_fails() ? NULL : __real_reallocarray(block, count, bytes);

	if (!moved)
		return NULL;
	forget(block);
	return remember(moved);
}

WRAPPED(void, free, void *block)
{
	forget(block);
	__real_free(block);
}

WRAPPED(char *, strdup, const char *text)
{
	return alloc_fails() ? NULL : remember(__real_strdup(text));
}

int __wrap_asprintf(char **ret_text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret_text, const char *format, ...)
{
	va_list args;
	int bytes;

	if (alloc_fails())
		return -1;
	va_start(args, format);
	bytes = vasprintf(ret_text, format, args);
	va_end(args);
	if (bytes >= 0)
		remember(*ret_text);
	return bytes;
}

/* Like the C library's scandir64, which keeps to itself what it allocates. */
WRAPPED(int, scandir64, const char *path, struct dirent ***ret_entries,
	int (*filter)(const struct dirent *),
	int (*compare)(const struct dirent **, const struct dirent **))
{
	return alloc_fails() ? -1 : __real_scandir64(path, ret_entries, filter, compare);
}

WRAPPED(ZSTD_CCtx *, ZSTD_createCCtx, void)
{
	return alloc_fails() ? NULL : __real_ZSTD_createCCtx();
}

WRAPPED(ZSTD_DCtx *, ZSTD_createDCtx, void)
{
	return alloc_fails() ? NULL : __real_ZSTD_createDCtx();
}

/* ---- The disk ---- */

WRAPPED(ssize_t, write, int fd, const void *data, size_t bytes)
{
	if (system_fails())
		return -1;
	if (state.short_writes && bytes > 1) {
		state.fired = true;
		if (++state.writes % 3 == 0) {
			errno = EINTR;
			return -1;
		}
		bytes = bytes / 2 + 1;
	}
	return __real_write(fd, data, bytes);
}

WRAPPED(int, fsync, int fd)
{
	return system_fails() ? -1 : __real_fsync(fd);
}

WRAPPED(int, rename, const char *from, const char *to)
{
	return system_fails() ? -1 : __real_rename(from, to);
}

WRAPPED(int, mkostemp64, char *path, int flags)
{
	return system_fails() ? -1 : __real_mkostemp64(path, flags);
}

WRAPPED(int, close, int fd)
{
	bool fails = system_fails();
	int error = errno;
	int status = __real_close(fd);

	errno = fails ? error : errno;
	return fails ? -1 : status;
}
