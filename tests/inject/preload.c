/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: the allocation whose number, from 1, INJECT_ALLOC gives fails in any program, its
 * libraries included; with INJECT_AFTER=1 all after it fail too. INJECT_WRITE does the same for
 * write(2), with ENOSPC. A file of the name INJECT_FIRED is made when it has happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's own, under the names that it keeps for such as us. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);

#define EXPORTED __attribute__((visibility("default")))

static atomic_long alloc_left, write_left; /* 0: none is to fail; counts down to it */
static int and_after;

static long number_from(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	and_after = number_from("INJECT_AFTER") != 0;
	atomic_store(&write_left, number_from("INJECT_WRITE"));
	atomic_store(&alloc_left, number_from("INJECT_ALLOC"));
}

static int strikes(atomic_long *left, int error)
{
	const char *fired;

	if (!atomic_load(left) || atomic_fetch_sub(left, 1) != 1)
		return 0;
	atomic_store(left, and_after);
	fired = getenv("INJECT_FIRED");
	if (fired)
		close(open(fired, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	errno = error;
	return 1;
}

EXPORTED void *malloc(size_t bytes)
{
	return strikes(&alloc_left, ENOMEM) ? NULL : __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
	return strikes(&alloc_left, ENOMEM) ? NULL : __libc_calloc(count, bytes);
}

EXPORTED void *realloc(void *block, size_t bytes)
{
	return strikes(&alloc_left, ENOMEM) ? NULL : __libc_realloc(block, bytes);
}

/* A disk that is full keeps nobody from complaining about it on standard error. */
EXPORTED ssize_t write(int fd, const void *data, size_t bytes)
{
	if (fd != STDERR_FILENO && strikes(&write_left, ENOSPC))
		return -1;
	return syscall(SYS_write, fd, data, bytes);
}
